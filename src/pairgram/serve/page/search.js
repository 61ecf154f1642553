"use strict";
/* Search in known nodes: a box, and a list to choose from. */

class NodeSearch {
  /** @param onChoose called with the id of the node that was chosen */
  constructor(server, onChoose) {
    this.server = server;
    this.onChoose = onChoose;
    $("find").addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.find(), WAIT);
    });
    $("find").addEventListener("keydown", (event) => this.key(event));
    $("find").addEventListener("blur", () => this.close());
  }

  async find() {
    const typed = $("find").value;
    this.asking?.abort();
    if (!typed.trim()) return this.close();
    const finding = (this.asking = new AbortController());
    try {
      const { nodes } = await this.server.get(`/nodes?limit=12&query=${encodeURIComponent(typed.slice(0, 500))}`, finding.signal);
      this.show(nodes);
    } catch (error) {
      if (error.name !== "AbortError") this.close();
    }
  }

  show(nodes) {
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

  close() {
    $("found").hidden = true;
    $("find").setAttribute("aria-expanded", "false");
    $("find").removeAttribute("aria-activedescendant");
  }

  choose(node) {
    clearTimeout(this.timer);
    this.close();
    $("find").value = "";
    this.onChoose(node);
  }

  key(event) {
    const rows = [...$("found").querySelectorAll("[data-node]")];
    const now = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
    if (event.key === "Escape") {
      $("find").value = "";
      this.close();
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
}
