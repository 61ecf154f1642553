"use strict";
/* What was accepted and rejected: kept in the browser, undone one by one, exported as files. */

class Decisions {
  /** @param key what this model is called in the browser's storage */
  constructor(key, onChange) {
    this.key = `pairgram:decisions:${key}`;
    this.onChange = onChange;
    this.list = Decisions.read(this.key);
  }

  static read(key) {
    try {
      const kept = JSON.parse(localStorage.getItem(key) || "[]");
      return Array.isArray(kept) ? kept : [];
    } catch {
      return [];
    }
  }

  /** @param decision {source, text, isNew, target, targetText, verdict: "accept" | "reject"} */
  decide(decision) {
    const same = this.find(decision.source, decision.target);
    this.list = this.list.filter((one) => one !== same);
    // The same verdict again takes it back.
    if (!same || same.verdict !== decision.verdict) this.list.push({ ...decision, before: same || null });
    this.keep();
  }

  undo() {
    const last = this.list.pop();
    if (last && last.before) this.list.push(last.before);
    if (last) this.keep();
    return last;
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
