"use strict";
/* The map beside the list: its legend, the item on it, and nodes that are picked. */

const LEGEND = 8;

class MapPane {
  /** @param onPick called with the id of a node that was picked */
  constructor(server, onPick) {
    this.server = server;
    this.onPick = onPick;
    $("zoom-in").addEventListener("click", () => this.view?.zoomBy(1.6));
    $("zoom-out").addEventListener("click", () => this.view?.zoomBy(1 / 1.6));
    $("zoom-home").addEventListener("click", () => this.view?.home());
  }

  async load() {
    try {
      const about = await this.server.get("/map");
      const answer = await this.server.fetch("GET", "/map/points");
      const data = await answer.arrayBuffer();
      const n = about.nodes;
      // Another model: a fresh canvas, without the listeners of the map before.
      if (this.view) $("map").replaceWith($("map").cloneNode());
      this.shown = null;
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
  mark(answer, query, strong = -1) {
    if (!this.view) return;
    const found = answer ? answer.suggestions : [];
    const placed = found.map((one, i) => ({ ...one, i })).filter((one) => one.position !== null);
    const node = query.kind === "node" && answer ? query.position : null;
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
    const [one] = await this.nodesAt([at]).catch(() => []);
    if (one) this.onPick(one.node);
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

  /** Go to a node. */
  show(one) {
    if (!this.view || one.position === null) return;
    this.view.hovered = one.position;
    this.view.show([one.position]);
  }
}
