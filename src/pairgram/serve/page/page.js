"use strict";
/* The page: text in, suggestions out, decisions kept, all of it on the map. */

const WAIT = 130; // milliseconds after a key before the server is asked
const SHOWN = 12; // suggestions
const SOURCE = "pairgram:item";
class Page {
  constructor() {
    this.server = new Server({
      onGone: () => ($("gone").hidden = false),
      onBack: () => this.back(),
      askToken: () => this.askToken(),
    });
    this.map = new MapPane(this.server, (id) => this.openNode(id, false));
    new NodeSearch(this.server, (id) => this.openNode(id));
    this.query = { kind: "text" }; // or {kind: "node", node, text, position}
    this.answer = null;
    this.added = []; // ids that became nodes of the model
    this.listen();
    this.start();
  }

  async start() {
    try {
      this.model = await this.server.get("/model");
    } catch (error) {
      this.say(error.message, true);
      return;
    }
    const reads = this.model.reads_text;
    this.showModel();
    this.showLabels();
    $("add").hidden = !this.model.writable || !reads;
    this.decisions = new Decisions(this.model.fingerprint, () => this.showDecisions());
    this.restore();
    this.showDecisions();
    if (!reads) this.noText();
    this.ask();
    await this.loadMap();
  }

  showModel() {
    const { method, nodes, edges } = this.model;
    $("model").textContent = `${method} · ${number(nodes)} nodes · ${number(edges)} links`;
  }

  showLabels() {
    const chosen = $("label").value, { labels } = this.model;
    $("label").replaceChildren(el("option", { value: "" }, "all labels"), ...labels.map((name) => el("option", {}, name)));
    $("label").value = labels.includes(chosen) ? chosen : "";
    $("only").hidden = !labels.length;
  }

  /** Take up the model that is served now, where it is another one. */
  async renew() {
    const { fingerprint, generation, nodes } = this.model;
    this.model = await this.server.get("/model");
    this.showModel();
    this.showLabels();
    if (this.model.fingerprint !== fingerprint) this.decisions.moveTo(this.model.fingerprint);
    const same = this.model.fingerprint === fingerprint && this.model.generation === generation && this.model.nodes === nodes;
    if (!same || !this.map.view) await this.loadMap();
  }

  async loadMap() {
    await this.map.load();
    this.markMap();
  }

  /** The item and its suggestions on the map; `strong` is the row in focus. */
  markMap(strong = -1) {
    this.map.mark(this.answer, this.query, strong);
  }

  noText() {
    $("text").disabled = true;
    $("text").placeholder = "This model learns from links alone: find a node above, or pick one on the map.";
  }

  async back() {
    $("gone").hidden = true;
    if (!this.model) return this.start();
    try {
      await this.renew();
    } catch (error) {
      return this.say(error.message, true);
    }
    this.ask();
  }

  /* The item that is being placed. */

  restore() {
    let kept = {};
    try {
      kept = JSON.parse(localStorage.getItem(SOURCE) || "{}");
    } catch {
      /* What was kept cannot be read: begin afresh. */
    }
    $("id").value = kept.id || this.freshId();
    $("text").value = kept.text || "";
  }

  keepItem() {
    try {
      localStorage.setItem(SOURCE, JSON.stringify({ id: $("id").value, text: $("text").value.slice(0, MOST_TEXT) }));
    } catch {
      /* Nothing depends on it. */
    }
  }

  freshId() {
    const used = new Set([...this.added, ...this.decisions.list.map((one) => one.source)]);
    let k = 1;
    while (used.has(`new-${k}`)) k++;
    return `new-${k}`;
  }

  nextItem() {
    this.query = { kind: "text" };
    $("text").value = "";
    $("id").value = this.freshId();
    this.keepItem();
    this.ask();
    $("text").focus();
  }

  /** Make the item a node of the model. */
  async add() {
    const id = this.source, text = $("text").value.trim();
    if (!text || this.query.kind === "node") return this.say("Type the text of a new item first.", true);
    try {
      const { nodes } = await this.server.post("/add", { nodes: [{ id, text }] });
      this.added.push(id);
      this.model.nodes = nodes;
      this.showModel();
      await this.ask();
      this.say(`${id} is a node of the model now.`);
    } catch (error) {
      this.say(error.message, true);
    }
  }

  get source() {
    return this.query.kind === "node" ? this.query.node : $("id").value.replace(/\s+/g, " ").trim() || "new-1";
  }

  typed() {
    if (this.query.kind === "node") this.query = { kind: "text" };
    this.decisions?.retext(this.source, $("text").value);
    this.keepItem();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT);
  }

  /** Suggest links of a known node. */
  async about(node) {
    this.query = { kind: "node", ...node };
    await this.ask();
    if (this.answer?.suggestions.length) this.focusRow(0);
  }

  async ask() {
    clearTimeout(this.timer);
    this.asking?.abort();
    const isNode = this.query.kind === "node", text = $("text").value;
    $("text-label").textContent = isNode ? `Links of ${clip(this.query.node, 30)}` : "New item";
    $("id").disabled = isNode;
    if (!isNode && !text.trim()) return this.clear();
    if (!isNode && text.length > MOST_TEXT) {
      this.clear();
      return this.say(`The text has ${number(text.length)} characters; ${number(MOST_TEXT)} are read at most.`, true);
    }
    const asking = (this.asking = new AbortController());
    $("list").classList.add("stale");
    const began = performance.now();
    try {
      const only = $("label").value ? { label: [$("label").value] } : {};
      this.answer = await this.server.post("/suggest", { ...this.asked(), ...only, k: SHOWN }, asking.signal);
      const took = Math.round(performance.now() - began);
      if (this.answer.generation !== this.model.generation) await this.renew();
      this.showList();
      this.sayFound(took);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof GoneError)) this.clear();
      this.say(error.message, true);
    } finally {
      if (this.asking === asking) $("list").classList.remove("stale");
    }
  }

  /** The query as the server reads it. */
  asked() {
    return this.query.kind === "node" ? { node: this.query.node } : { text: $("text").value };
  }

  sayFound(took) {
    const { suggestions, match } = this.answer;
    const count = suggestions.length;
    const doubt = match === false ? " · no good match" : "";
    this.say(`${count} suggestion${count === 1 ? "" : "s"}${doubt} · ${took} ms`);
  }

  clear() {
    this.answer = null;
    $("list").classList.remove("stale");
    this.say("");
    this.showList();
  }

  say(line, wrong = false) {
    $("status").textContent = line;
    $("status").classList.toggle("wrong", wrong);
  }

  /* The list. */

  showList() {
    const found = this.answer ? this.answer.suggestions : [];
    const scores = found.map((one) => one.score);
    const low = Math.min(...scores), high = Math.max(...scores);
    const words = new Set(this.answer ? this.answer.words : []);
    $("list").replaceChildren(...found.map((one, i) => this.row(one, i, words, (one.score - low) / (high - low || 1))));
    $("empty").hidden = found.length > 0;
    this.markMap();
    this.markVerdicts();
    $("scroll").scrollTop = 0;
  }

  row(one, i, words, share) {
    const bar = el("i");
    bar.style.width = `${Math.round(12 + 88 * share)}%`;
    const chance = one.probability === null ? "" : ` · ${Math.round(100 * one.probability)} %`;
    const score = `${one.score.toPrecision(3)}${chance}`;
    const open = el(
      "button",
      { class: "open", type: "button", "aria-expanded": "false", onclick: () => this.toggle(i) },
      el("span", { class: "title" }, ...marked(one.text || one.node, words)),
      el("span", { class: "facts" },
        el("span", { class: "mono" }, one.node),
        el("span", { class: "bar", title: `score ${score}` }, bar),
        el("span", {}, links(one.degree)),
        el("span", { class: "why" }, one.relation ? `${one.relation} · ${one.why}` : one.why)),
    );
    const name = clip(one.text || one.node, 60);
    const yes = el("button", { class: "yes", type: "button", "aria-pressed": "false", "aria-label": `Accept ${name}`, title: "Accept (A)", onclick: () => this.decide(i, "accept") }, svg("M3 8.5l3.2 3.2L13 5"));
    const no = el("button", { class: "no", type: "button", "aria-pressed": "false", "aria-label": `Reject ${name}`, title: "Reject (R)", onclick: () => this.decide(i, "reject") }, svg("M4 4l8 8M12 4l-8 8"));
    return el("li", { "data-node": one.node, onfocusin: () => this.markMap(i) }, open, el("div", { class: "acts" }, yes, no));
  }

  rows() {
    return [...$("list").children];
  }

  /** The row that has the focus, or -1. */
  focused() {
    return this.rows().findIndex((row) => row.contains(document.activeElement));
  }

  focusRow(i) {
    const rows = this.rows();
    if (i < 0) $("text").focus();
    else if (rows.length) rows[Math.min(i, rows.length - 1)].querySelector(".open").focus();
  }

  /** Show or hide why a node is suggested. */
  async toggle(i) {
    const row = this.rows()[i], open = row.querySelector(".open"), shown = row.querySelector(".reasons");
    if (shown) {
      shown.remove();
      open.setAttribute("aria-expanded", "false");
      return;
    }
    const one = this.answer.suggestions[i];
    const reasons = el("div", { class: "reasons" });
    row.append(reasons);
    open.setAttribute("aria-expanded", "true");
    this.showReasons(reasons, one);
  }

  async showReasons(reasons, one) {
    const open = el("button", { class: "link", type: "button", onclick: () => this.openNode(one.node) }, `Show ${clip(one.node, 30)} and its neighbours`);
    const wait = el("p", { class: "quiet" }, "Looking for what carried it…");
    reasons.append(wait, open);
    try {
      const said = await this.server.post("/explain", { ...this.asked(), target: one.node });
      wait.replaceWith(...reasonsOf(said, (id) => this.openNode(id)));
    } catch (error) {
      wait.textContent = error.message;
    }
  }

  /* Decisions. */

  decide(i, verdict) {
    const one = this.answer?.suggestions[i];
    if (!one) return;
    const isNew = this.query.kind === "text";
    const text = isNew ? $("text").value : this.query.text;
    this.decisions.decide({ source: this.source, text, isNew, target: one.node, targetText: one.text, verdict });
  }

  undo() {
    const undone = this.decisions?.undo();
    if (!undone) return;
    const { one, restored } = undone;
    const verdict = one.verdict === "accept" ? "accepted" : "rejected";
    this.say(`${restored ? "Again" : "Undone"}: ${verdict} ${clip(one.targetText || one.target, 40)}`);
  }

  showDecisions() {
    const accepted = this.decisions.count("accept"), rejected = this.decisions.count("reject");
    const any = accepted + rejected > 0;
    $("counts").textContent = any ? `${accepted} accepted, ${rejected} rejected` : "No decisions yet";
    $("undo").disabled = !this.decisions.canUndo;
    $("export-links").disabled = !accepted;
    $("export-items").disabled = !this.decisions.items();
    const shown = this.decisions.list.slice().reverse();
    $("decided").replaceChildren(
      ...shown.map((one) => el("li", { class: one.verdict },
        el("span", { class: "sign", "aria-hidden": "true" }, one.verdict === "accept" ? "✓" : "✕"),
        el("span", { class: "unseen" }, one.verdict === "accept" ? "accepted" : "rejected"),
        el("span", { class: "mono" }, `${one.source} → ${one.target}`),
        el("span", { class: "text quiet" }, one.targetText))),
    );
    this.markVerdicts();
  }

  markVerdicts() {
    if (!this.decisions) return;
    for (const row of this.rows()) {
      const verdict = this.decisions.find(this.source, row.dataset.node)?.verdict;
      row.className = verdict || "";
      row.querySelector(".yes").setAttribute("aria-pressed", String(verdict === "accept"));
      row.querySelector(".no").setAttribute("aria-pressed", String(verdict === "reject"));
    }
  }

  /** The card of a node: text, degree, neighbours. */
  async openNode(id, move = true) {
    let one;
    try {
      one = await this.server.get(`/nodes/${id.split("/").map(encodeURIComponent).join("/")}`);
    } catch (error) {
      return this.say(error.message, true);
    }
    const card = $("node");
    card.replaceChildren(
      el("button", { class: "icon shut", type: "button", "aria-label": "Close", onclick: () => this.closeNode() }, "×"),
      el("h2", { tabindex: "-1" }, one.text || one.node),
      el("p", { class: "quiet" }, el("span", { class: "mono" }, one.node), ` · ${links(one.degree)}`),
      el("div", { class: "line" },
        el("button", { class: "main", type: "button", onclick: () => this.about(one) }, "Suggest links"),
        el("button", { class: "plain", type: "button", onclick: () => this.map.show(one) }, "Show on the map")),
      el("h3", {}, one.degree ? "Neighbours" : "No neighbours"),
      el("ul", { class: "near" }, ...one.neighbours.slice(0, 60).map((other) => el("li", {},
        el("button", { class: "link mono", type: "button", onclick: () => this.openNode(other.node) }, clip(other.node, 24)),
        el("span", { class: "text" }, other.text)))),
    );
    if (one.degree > 60) card.append(el("p", { class: "quiet" }, `and ${number(one.degree - 60)} more`));
    card.hidden = false;
    card.scrollTop = 0;
    card.querySelector("h2").focus({ preventScroll: true });
    if (move) this.map.show(one);
  }

  closeNode() {
    $("node").hidden = true;
    $("text").focus();
  }

  /* Keys, buttons and dialogs. */

  askToken() {
    const dialog = $("token");
    $("token-value").value = "";
    dialog.showModal();
    return new Promise((resolve) => {
      dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok" ? $("token-value").value : null), { once: true });
    });
  }

  key(event) {
    const writing = event.target.matches("input, textarea, select");
    if (document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") this.nextItem();
    else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !writing) this.undo();
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === "Escape") this.closeNode();
    else if (event.target === $("text") && event.key === "ArrowDown" && this.atEnd()) this.focusRow(0);
    else if (writing || !this.rowKey(event)) return;
    event.preventDefault();
  }

  /** Keys outside of text boxes; true where one was meant. */
  rowKey(event) {
    const at = this.focused(), key = event.key.toLowerCase();
    if (event.target === $("map") && (key.startsWith("arrow") || key === "enter")) return false;
    if (at >= 0 && key === "arrowdown") this.focusRow(at + 1);
    else if (at >= 0 && key === "arrowup") this.focusRow(at - 1);
    else if (at >= 0 && (key === "a" || key === "r")) {
      this.decide(at, key === "a" ? "accept" : "reject");
      this.focusRow(at + 1);
    } else if (key === "u") this.undo();
    else if (key === "/") $("find").focus();
    else if (key === "m") $("map").focus();
    else if (key === "?") $("help").showModal();
    else return false;
    return true;
  }

  atEnd() {
    return $("text").selectionEnd === $("text").value.length;
  }

  listen() {
    $("item").addEventListener("submit", (event) => event.preventDefault());
    $("text").addEventListener("input", () => this.typed());
    $("id").addEventListener("input", () => {
      this.keepItem();
      this.markVerdicts();
    });
    $("add").addEventListener("click", () => this.add());
    $("label").addEventListener("change", () => this.ask());
    $("next").addEventListener("click", () => this.nextItem());
    $("undo").addEventListener("click", () => this.undo());
    $("export-links").addEventListener("click", () => download("links.tsv", this.decisions.links()));
    $("export-items").addEventListener("click", () => download("items.tsv", this.decisions.items()));
    $("help-open").addEventListener("click", () => $("help").showModal());
    $("token-cancel").addEventListener("click", () => $("token").close(""));
    $("theme").addEventListener("click", () => this.turnTheme());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  turnTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("pairgram:theme", root.dataset.theme);
    this.map.view?.draw();
  }
}

window.page = new Page();
