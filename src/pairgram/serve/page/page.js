"use strict";
/* The page: text in, suggestions out, decisions kept, all of it on the map. */

const LEGEND = 8;
const WAIT = 130; // milliseconds after a key before the server is asked
const SHOWN = 12; // suggestions
const SOURCE = "pairgram:item";

const $ = (id) => document.getElementById(id);

/** An element with attributes, listeners (onclick: …) and children. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function svg(path) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  made.setAttribute("viewBox", "0 0 16 16");
  made.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const look = { d: path, fill: "none", stroke: "currentColor", "stroke-width": "2", "stroke-linecap": "round", "stroke-linejoin": "round" };
  for (const [name, value] of Object.entries(look)) line.setAttribute(name, value);
  made.append(line);
  return made;
}

const number = (value) => value.toLocaleString("en-US");
const links = (degree) => `${number(degree)} ${degree === 1 ? "link" : "links"}`;
const clip = (text, most) => (text.length > most ? text.slice(0, most - 1).trimEnd() + "…" : text);

/** A text with some of its words marked. */
function marked(text, words) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (!words.has(found[0].toLowerCase().normalize("NFC"))) continue;
    parts.push(text.slice(end, found.index), el("mark", {}, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}

class Page {
  constructor() {
    this.server = new Server({
      onGone: () => ($("gone").hidden = false),
      onBack: () => this.back(),
      askToken: () => this.askToken(),
    });
    this.query = { kind: "text" }; // or {kind: "node", node, text, position}
    this.answer = null;
    this.opened = null;
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
    const { writable, reads_text: reads, labels } = this.model;
    this.showModel();
    $("label").append(...labels.map((name) => el("option", {}, name)));
    $("only").hidden = !labels.length;
    $("add").hidden = !writable || !reads;
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

  noText() {
    $("text").disabled = true;
    $("text").placeholder = "This model learns from links alone: find a node above, or pick one on the map.";
  }

  async back() {
    $("gone").hidden = true;
    if (!this.model) return this.start();
    this.ask();
    if (!this.view) await this.loadMap();
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
    const used = new Set(this.decisions.list.map((one) => one.source));
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
      this.model.nodes = nodes;
      this.showModel();
      await this.ask();
      this.say(`${id} is a node of the model now.`);
    } catch (error) {
      this.say(error.message, true);
    }
  }

  get source() {
    return this.query.kind === "node" ? this.query.node : $("id").value.trim() || "new-1";
  }

  typed() {
    if (this.query.kind === "node") this.query = { kind: "text" };
    this.decisions?.retext(this.source, $("text").value);
    this.keepItem();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT);
  }

  /** Suggest links of a known node. */
  about(node) {
    this.query = { kind: "node", ...node };
    this.ask();
    $("list").focus();
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
      this.opened = null;
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
      wait.replaceWith(...this.reasons(said));
    } catch (error) {
      wait.textContent = error.message;
    }
  }

  /** Words that carried the score, and neighbours of the node that are near the query. */
  reasons({ words, pieces, target_words: theirs, neighbours }) {
    const most = Math.max(1e-9, ...[...words, ...theirs].map((one) => Math.abs(one.effect)));
    const chips = (list) => el("ul", { class: "words" }, ...list.map((one) => {
      const chip = el("li", { class: one.effect < 0 ? "against" : null, title: `${one.effect > 0 ? "+" : ""}${one.effect.toPrecision(2)}` }, one.word);
      chip.style.setProperty("--share", Math.max(0, one.effect / most).toFixed(2));
      return chip;
    }));
    const parts = [];
    const part = (title, list, content) => list.length && parts.push(el("h3", {}, title), content);
    part("Words of the query", words, chips(words));
    part("Letters of unknown words", pieces, chips(pieces));
    part("Words of the suggestion", theirs, chips(theirs));
    part("Its neighbours that are nearest", neighbours, el("ul", { class: "near" }, ...neighbours.map((other) => el("li", {},
      el("button", { class: "link mono", type: "button", onclick: () => this.openNode(other.node) }, clip(other.node, 24)),
      el("span", { class: "text" }, other.text)))));
    return parts.length ? parts : [el("p", { class: "quiet" }, "Nothing that can be named.")];
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
    const last = this.decisions?.undo();
    if (last) this.say(`Undone: ${last.verdict === "accept" ? "accepted" : "rejected"} ${clip(last.targetText || last.target, 40)}`);
  }

  showDecisions() {
    const accepted = this.decisions.count("accept"), rejected = this.decisions.count("reject");
    const any = accepted + rejected > 0;
    $("counts").textContent = any ? `${accepted} accepted, ${rejected} rejected` : "No decisions yet";
    $("undo").disabled = !any;
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

  /* The map. */

  async loadMap() {
    try {
      const about = await this.server.get("/map");
      const answer = await this.server.fetch("GET", "/map/points");
      const data = await answer.arrayBuffer();
      const n = about.nodes;
      this.view = new MapView(
        $("map"),
        { points: new Float32Array(data, 0, 2 * n), group: new Uint16Array(data, 8 * n, n), groups: about.groups },
        {
          onPick: (at) => this.pick(at),
          onHover: (at) => this.hover(at),
          names: (nodes) => this.nodesAt(nodes),
          covers: () => [...document.querySelectorAll(".map .card:not([hidden])")].map((card) => card.getBoundingClientRect()),
        },
      );
      $("map").setAttribute("aria-label", `Map of ${number(n)} nodes in ${about.groups.length} groups`);
      this.showLegend(about);
      this.markMap();
    } catch (error) {
      $("map-wait").textContent = `No map: ${error.message}`;
      return;
    }
    $("map-wait").hidden = true;
  }

  showLegend({ groups, coloring }) {
    $("legend-title").textContent = coloring === "label" ? "Labels" : "Communities";
    $("groups").replaceChildren(
      ...groups.slice(0, LEGEND).map((group, g) => {
        const dot = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        dot.setAttribute("viewBox", "0 0 8 8");
        const round = document.createElementNS("http://www.w3.org/2000/svg", "circle");
        for (const [name, value] of [["cx", 4], ["cy", 4], ["r", 4], ["fill", groupColor(groups, g)]]) round.setAttribute(name, value);
        dot.append(round);
        return el("li", {}, el("button", { type: "button", "aria-pressed": "false", onclick: (event) => this.only(g, event.currentTarget) },
          dot, el("span", { class: "text" }, group.name || "(no label)"), el("span", { class: "quiet" }, number(group.size))));
      }),
    );
  }

  only(group, button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const other of $("groups").querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(on));
    this.view.setOnly(on ? group : null);
  }

  /** The item, its suggestions and lines to them; `strong` is the row in focus. */
  markMap(strong = -1) {
    if (!this.view) return;
    const found = this.answer ? this.answer.suggestions : [];
    const placed = found.map((one, i) => ({ ...one, i })).filter((one) => one.position !== null);
    const node = this.query.kind === "node" && this.answer ? this.query.position : null;
    if (!placed.length && node === null) {
      this.shown = null;
      return this.view.setMarks({ lines: [], dots: [], here: null });
    }
    // The nearest few say where a new item lies.
    const near = placed.slice(0, 6), best = placed.length ? placed[0].score : 0;
    const here = node !== null
      ? [this.view.points[2 * node], this.view.points[2 * node + 1]]
      : this.view.middle(near.map((one) => one.position), near.map((one) => Math.exp(one.score - best)));
    const accent = getComputedStyle($("map")).getPropertyValue("--map-accent").trim();
    this.view.setMarks({
      here,
      lines: placed.map((one) => [here, one.position]),
      dots: placed.map((one) => ({ at: one.position, strong: one.i === strong, fill: one.i === strong ? accent : null, name: one.i === strong || (strong < 0 && one.i === 0) ? one.text || one.node : null })),
    });
    const key = placed.map((one) => one.node).join("\n");
    if (this.shown !== key) {
      this.shown = key;
      this.view.show([...near.map((one) => one.position), ...(node === null ? [] : [node])]);
    }
  }

  async nodesAt(places) {
    const query = places.slice(0, 200).map((at) => `at=${at}`).join("&");
    return (await this.server.get(`/map/nodes?${query}`)).nodes;
  }

  async pick(at) {
    try {
      const [one] = await this.nodesAt([at]);
      this.openNode(one.node, false);
    } catch (error) {
      this.say(error.message, true);
    }
  }

  hover(at) {
    clearTimeout(this.hoverTimer);
    if (at < 0) {
      $("hover").hidden = true;
      return;
    }
    this.hoverTimer = setTimeout(async () => {
      try {
        const [one] = await this.nodesAt([at]);
        if (this.view.hovered !== at) return;
        $("hover").textContent = one.text ? `${one.node}  ${one.text}` : one.node;
        $("hover").hidden = false;
      } catch {
        $("hover").hidden = true;
      }
    }, 60);
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
        el("button", { class: "plain", type: "button", onclick: () => this.showOnMap(one) }, "Show on the map")),
      el("h3", {}, one.degree ? "Neighbours" : "No neighbours"),
      el("ul", { class: "near" }, ...one.neighbours.slice(0, 60).map((other) => el("li", {},
        el("button", { class: "link mono", type: "button", onclick: () => this.openNode(other.node) }, clip(other.node, 24)),
        el("span", { class: "text" }, other.text)))),
    );
    if (one.degree > 60) card.append(el("p", { class: "quiet" }, `and ${number(one.degree - 60)} more`));
    card.hidden = false;
    card.scrollTop = 0;
    card.querySelector("h2").focus({ preventScroll: true });
    if (move) this.showOnMap(one);
  }

  showOnMap(one) {
    if (!this.view || one.position === null) return;
    this.view.hovered = one.position;
    this.view.show([one.position]);
  }

  closeNode() {
    $("node").hidden = true;
    $("text").focus();
  }

  /* Search in known nodes. */

  async find() {
    const typed = $("find").value;
    this.finding?.abort();
    if (!typed.trim()) return this.closeFound();
    const finding = (this.finding = new AbortController());
    try {
      const { nodes } = await this.server.get(`/nodes?limit=12&query=${encodeURIComponent(typed.slice(0, 500))}`, finding.signal);
      this.showFound(nodes);
    } catch (error) {
      if (error.name !== "AbortError") this.closeFound();
    }
  }

  showFound(nodes) {
    const rows = nodes.map((one, i) => el("li", { role: "option", id: `found-${i}`, "aria-selected": String(i === 0), "data-node": one.node, onpointerdown: (event) => {
      event.preventDefault();
      this.choose(one.node);
    } }, el("span", { class: "mono" }, one.node), el("span", { class: "text" }, one.text), el("span", { class: "quiet" }, links(one.degree))));
    if (!rows.length) rows.push(el("li", { class: "none" }, "No node has these words."));
    $("found").replaceChildren(...rows);
    $("found").hidden = false;
    $("find").setAttribute("aria-expanded", "true");
    $("find").setAttribute("aria-activedescendant", nodes.length ? "found-0" : "");
  }

  closeFound() {
    $("found").hidden = true;
    $("find").setAttribute("aria-expanded", "false");
    $("find").removeAttribute("aria-activedescendant");
  }

  choose(node) {
    clearTimeout(this.findTimer);
    this.closeFound();
    $("find").value = "";
    this.openNode(node);
  }

  findKey(event) {
    const rows = [...$("found").querySelectorAll("[data-node]")];
    const now = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
    if (event.key === "Escape") {
      $("find").value = "";
      this.closeFound();
      $("text").focus();
    } else if (event.key === "Enter" && rows[now]) {
      this.choose(rows[now].dataset.node);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && rows.length) {
      const next = (now + (event.key === "ArrowDown" ? 1 : rows.length - 1)) % rows.length;
      rows.forEach((row, i) => row.setAttribute("aria-selected", String(i === next)));
      rows[next].scrollIntoView({ block: "nearest" });
      $("find").setAttribute("aria-activedescendant", rows[next].id);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
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
    const writing = event.target.matches("input, textarea");
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
    $("find").addEventListener("input", () => {
      clearTimeout(this.findTimer);
      this.findTimer = setTimeout(() => this.find(), WAIT);
    });
    $("find").addEventListener("keydown", (event) => this.findKey(event));
    $("find").addEventListener("blur", () => this.closeFound());
    $("zoom-in").addEventListener("click", () => this.view?.zoomBy(1.6));
    $("zoom-out").addEventListener("click", () => this.view?.zoomBy(1 / 1.6));
    $("zoom-home").addEventListener("click", () => this.view?.home());
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
    this.view?.draw();
  }
}

window.page = new Page();
