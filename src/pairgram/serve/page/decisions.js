"use strict";
/* What was accepted and rejected: kept in the browser, undone one by one, exported as files. */

class Decisions {
  /** @param key what this model is called in the browser's storage */
  constructor(key, onChange) {
    this.key = `pairgram:decisions:${key}`;
    this.onChange = onChange;
    this.list = Decisions.read(this.key);
    this.takenBack = null; // what the last click took back, and from where
  }

  static read(key) {
    try {
      const kept = JSON.parse(localStorage.getItem(key) || "[]");
      return Array.isArray(kept) ? kept : [];
    } catch {
      return [];
    }
  }

  /** Another model is served: what was decided goes with it. */
  moveTo(key) {
    const before = this.list;
    this.key = `pairgram:decisions:${key}`;
    const kept = Decisions.read(this.key).filter((one) => !this.find(one.source, one.target));
    this.list = [...kept, ...before];
    this.takenBack = null;
    this.keep();
  }

  /** @param decision {source, text, isNew, target, targetText, verdict: "accept" | "reject"} */
  decide(decision) {
    const at = this.list.findIndex((one) => one.source === decision.source && one.target === decision.target);
    const [same] = at < 0 ? [null] : this.list.splice(at, 1);
    // The same verdict again takes it back.
    const takesBack = same?.verdict === decision.verdict;
    if (!takesBack) this.list.push({ ...decision, before: same });
    this.takenBack = takesBack ? { at, one: same } : null;
    this.keep();
  }

  /** Undo the last decision, or the taking back of one: gives {one, restored}, null where there is none. */
  undo() {
    if (this.takenBack) {
      const { at, one } = this.takenBack;
      this.list.splice(at, 0, one);
      this.takenBack = null;
      this.keep();
      return { one, restored: true };
    }
    const one = this.list.pop();
    if (!one) return null;
    if (one.before) this.list.push(one.before);
    this.keep();
    return { one, restored: false };
  }

  get canUndo() {
    return this.list.length > 0 || this.takenBack !== null;
  }

  find(source, target) {
    return this.list.find((one) => one.source === source && one.target === target);
  }

  has(source) {
    return this.list.some((one) => one.source === source);
  }

  count(verdict) {
    return this.list.filter((one) => one.verdict === verdict).length;
  }

  /** A text that was changed after a decision is the text of that item. */
  retext(source, text) {
    if (!text.trim()) return;
    const stale = this.list.filter((one) => one.isNew && one.source === source && one.text !== text);
    for (const one of stale) one.text = text;
    if (stale.length) this.keep();
  }

  keep() {
    try {
      localStorage.setItem(this.key, JSON.stringify(this.list));
    } catch {
      /* Storage is full or forbidden: decisions last as long as the page. */
    }
    this.onChange();
  }

  /** Accepted links, one a line: source, tab, target. */
  links() {
    const accepted = this.list.filter((one) => one.verdict === "accept");
    return accepted.map((one) => `${one.source}\t${one.target}\n`).join("");
  }

  /** New items that have an accepted link: id, tab, text. */
  items() {
    const accepted = this.list.filter((one) => one.verdict === "accept" && one.isNew);
    const texts = new Map(accepted.map((one) => [one.source, one.text.replace(/\s+/g, " ").trim()]));
    return [...texts].map(([id, text]) => `${id}\t${text}\n`).join("");
  }
}

function download(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "text/tab-separated-values" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
