"use strict";
/* The map: points drawn pixel by pixel, so that hundreds of thousands move smoothly without a
   graphics card. Points lie in cells; a cell shows no more of them than its pixels can hold. */

const NAMED = 28; // groups whose names may be shown
const MOST_NAMES = 60; // single nodes named when few are in sight

class MapView extends Plane {
  /**
   * @param canvas  the element to draw on
   * @param data    see Plane
   * @param calls   {onPick(node), onHover(node or -1), names(nodes) -> Promise<[{node, text}]>,
   *                covers() -> boxes that lie over the canvas}
   */
  constructor(canvas, data, calls = {}) {
    super(canvas, data);
    this.calls = calls;
    this.known = new Map(); // names of single nodes that were fetched
    this.marks = { lines: [], dots: [], here: null };
    this.only = null; // a group to show alone
    this.hovered = -1;
    this.frames = []; // milliseconds of recent frames, for tests
    this.colors = this.groups.map((_, g) => rgb(groupColor(this.groups, g)));
    this.centers = this.findCenters();
    this.stamps = new Map();
    this.home();
    this.listen();
    this.resize();
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  /* What is drawn on top. */

  /** @param marks {lines: [[from, to]], dots: [{at, color, ring}], here: [x, y] | null} */
  setMarks(marks) {
    this.marks = marks;
    this.draw();
  }

  setOnly(group) {
    this.only = group;
    this.draw();
  }

  /** Middle of some nodes by weight, drawn to where most of them lie (Weiszfeld's steps). */
  middle(nodes, weights) {
    let x = 0, y = 0, sum = 0;
    nodes.forEach((i, k) => {
      x += weights[k] * this.points[2 * i];
      y += weights[k] * this.points[2 * i + 1];
      sum += weights[k];
    });
    if (!sum) return null;
    x /= sum;
    y /= sum;
    for (let round = 0; round < 20; round++) {
      let nx = 0, ny = 0, total = 0;
      nodes.forEach((i, k) => {
        const px = this.points[2 * i], py = this.points[2 * i + 1];
        const w = weights[k] / Math.max(1e-4, Math.hypot(px - x, py - y));
        nx += w * px;
        ny += w * py;
        total += w;
      });
      x = nx / total;
      y = ny / total;
    }
    return [x, y];
  }

  draw() {
    if (this.pending || !this.image) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      const began = performance.now();
      this.drawNow();
      this.frames.push(performance.now() - began);
      if (this.frames.length > 600) this.frames.shift();
    });
  }

  theme() {
    const style = getComputedStyle(this.canvas);
    const read = (name, other) => style.getPropertyValue(name).trim() || other;
    return {
      paper: read("--map-paper", "#ffffff"),
      ink: read("--map-ink", "#1d232b"),
      halo: read("--map-halo", "#ffffff"),
      accent: read("--map-accent", "#c2410c"),
      font: style.fontFamily || "sans-serif",
    };
  }

  drawNow() {
    const look = this.theme();
    const [r, g, b] = rgb(look.paper);
    this.pixels.fill((255 << 24) | (b << 16) | (g << 8) | r);
    this.drawPoints();
    this.context.putImageData(this.image, 0, 0);
    this.drawMarks(look);
    this.drawNames(look);
  }

  stamp(visible) {
    const room = Math.sqrt((this.width * this.height) / Math.max(visible, 1));
    const most = (4.5 + 0.5 * Math.log2(Math.max(1, this.zoom))) * this.ratio;
    const radius = Math.round(4 * Math.min(most, Math.max(0.8 * this.ratio, 0.26 * room))) / 4;
    if (!this.stamps.has(radius)) this.stamps.set(radius, makeStamp(radius));
    return this.stamps.get(radius);
  }

  drawPoints() {
    const sight = this.sight(), [c0, r0, c1, r1] = sight;
    const { cells, pixels, width, height } = this;
    const scale = this.scale;
    // Whole pixels: the picture shifts as one, without flicker.
    const ox = Math.round(width / 2 - this.cx * scale), oy = Math.round(height / 2 + this.cy * scale);
    // Points on top of each other leave room for larger dots.
    const stamp = this.stamp(this.countSeen(sight, 10));
    const side = (2 / GRID) * scale;
    const budget = Math.ceil((6 * side * side) / stamp.size) + 4;
    const { reach, dx, dy, cover, size } = stamp;
    const offset = Int32Array.from(dx, (x, k) => dy[k] * width + x);
    // Marks stand out from points that step back.
    // Shares are of 64: then all products stay small integers, which is several times quicker.
    const full = this.marks.here ? 30 : 51;
    const strong = Int32Array.from(cover, (c) => Math.ceil(c * full));
    const faint = Int32Array.from(cover, (c) => Math.ceil(c * 6));
    const redBlue = Int32Array.from(this.colors, ([r, , b]) => r | (b << 16));
    const green = Int32Array.from(this.colors, ([, g]) => g << 8);
    this.drawn = 0;
    for (let row = r0; row <= r1; row++) {
      for (let column = c0; column <= c1; column++) {
        const begin = cells.start[row * GRID + column];
        const end = Math.min(cells.start[row * GRID + column + 1], begin + budget);
        for (let k = begin; k < end; k++) {
          const px = (ox + cells.x[k] * scale) | 0, py = (oy - cells.y[k] * scale) | 0;
          if (px < reach || py < reach || px >= width - reach || py >= height - reach) continue;
          const g = cells.group[k], rb = redBlue[g], gg = green[g];
          const shares = this.only === null || this.only === g ? strong : faint;
          const at = py * width + px;
          for (let s = 0; s < size; s++) {
            const a = shares[s], rest = 64 - a, p = at + offset[s], old = pixels[p];
            pixels[p] =
              0xff000000 |
              (((Math.imul(old & 0xff00ff, rest) + Math.imul(rb, a)) >> 6) & 0xff00ff) |
              (((Math.imul(old & 0x00ff00, rest) + Math.imul(gg, a)) >> 6) & 0x00ff00);
          }
        }
        this.drawn += Math.max(0, end - begin);
      }
    }
  }

  drawMarks(look) {
    const c = this.context, u = this.ratio;
    const place = (at) => (Array.isArray(at) ? this.screen(...at) : this.screen(this.points[2 * at], this.points[2 * at + 1]));
    c.lineWidth = 1.5 * u;
    c.strokeStyle = look.accent;
    c.globalAlpha = 0.55;
    for (const [from, to] of this.marks.lines) {
      const [x0, y0] = place(from), [x1, y1] = place(to);
      c.beginPath();
      c.moveTo(x0, y0);
      c.quadraticCurveTo((x0 + x1) / 2 + (y1 - y0) * 0.12, (y0 + y1) / 2 - (x1 - x0) * 0.12, x1, y1);
      c.stroke();
    }
    c.globalAlpha = 1;
    for (const dot of this.marks.dots) this.ring(place(dot.at), dot.strong ? 7 : 5, look, dot.fill);
    if (this.hovered >= 0) this.ring(place(this.hovered), 6, look, null);
    if (this.marks.here) this.star(place(this.marks.here), look);
  }

  ring([x, y], radius, look, fill) {
    const c = this.context, u = this.ratio;
    c.beginPath();
    c.arc(x, y, radius * u, 0, 7);
    c.lineWidth = 4 * u;
    c.strokeStyle = look.halo;
    c.stroke();
    c.lineWidth = 2 * u;
    c.strokeStyle = fill || look.ink;
    c.stroke();
  }

  star([x, y], look) {
    const c = this.context, u = this.ratio;
    c.beginPath();
    for (let k = 0; k < 10; k++) {
      const reach = (k % 2 ? 4.5 : 10) * u, turn = (k * Math.PI) / 5 - Math.PI / 2;
      c.lineTo(x + reach * Math.cos(turn), y + reach * Math.sin(turn));
    }
    c.closePath();
    c.lineWidth = 4 * u;
    c.strokeStyle = look.halo;
    c.stroke();
    c.fillStyle = look.accent;
    c.fill();
  }

  /* Names: of groups where many points are in sight, of nodes where few are. */

  /** Where each of the large groups is densest. */
  findCenters() {
    const most = Math.min(NAMED, this.groups.length);
    const bins = Array.from({ length: most }, () => new Map());
    const side = 48;
    for (let i = 0; i < this.group.length; i++) {
      const g = this.group[i];
      if (g >= most) continue;
      const bx = Math.floor(((this.points[2 * i] + 1) / 2) * side), by = Math.floor(((this.points[2 * i + 1] + 1) / 2) * side);
      const key = by * side + bx, bin = bins[g].get(key) || [0, 0, 0];
      bin[0]++;
      bin[1] += this.points[2 * i];
      bin[2] += this.points[2 * i + 1];
      bins[g].set(key, bin);
    }
    return bins.map((found) => {
      let best = [0, 0, 0];
      for (const bin of found.values()) if (bin[0] > best[0]) best = bin;
      return best[0] ? [best[1] / best[0], best[2] / best[0]] : null;
    });
  }

  drawNames(look) {
    const c = this.context, u = this.ratio, taken = [];
    c.textBaseline = "middle";
    c.textAlign = "center";
    c.lineJoin = "round";
    if (this.calls.covers) taken.push(...this.calls.covers().map((box) => this.onCanvas(box)));
    if (this.marks.here) {
      const [x, y] = this.screen(...this.marks.here);
      taken.push([x - 12 * u, y - 12 * u, x + 12 * u, y + 12 * u]);
    }
    for (const dot of this.marks.dots) {
      if (dot.name) this.nameAt(this.screen(this.points[2 * dot.at], this.points[2 * dot.at + 1]), dot.name, look, taken, { shift: 15, weight: 600, size: 12 });
    }
    const seen = this.inSight(MOST_NAMES);
    if (seen) this.nameNodes(seen, look, taken);
    else this.nameGroups(look, taken);
  }

  /** A box of the window in pixels of the canvas. */
  onCanvas({ left, top, right, bottom }) {
    const own = this.canvas.getBoundingClientRect(), u = this.ratio;
    return [(left - own.left) * u, (top - own.top) * u, (right - own.left) * u, (bottom - own.top) * u];
  }

  nameGroups(look, taken) {
    this.centers.forEach((center, g) => {
      if (!center || this.groups[g].name === OTHERS || (this.only !== null && this.only !== g)) return;
      this.nameAt(this.screen(...center), this.groups[g].name, look, taken, { shift: 0, weight: 600, size: 12 });
    });
  }

  nameNodes(seen, look, taken) {
    const missing = seen.filter((i) => !this.known.has(i));
    if (missing.length) this.fetchNames(missing);
    for (const i of seen) {
      const one = this.known.get(i);
      if (!one) continue;
      this.nameAt(this.screen(this.points[2 * i], this.points[2 * i + 1]), one, look, taken, { shift: 12, weight: 400, size: 11 });
    }
  }

  fetchNames(nodes) {
    if (!this.calls.names || this.fetching) return;
    this.fetching = true;
    this.calls
      .names(nodes)
      .then((found) => {
        found.forEach((one, k) => this.known.set(nodes[k], one.text || one.node));
        this.draw();
      })
      .catch(() => {})
      .finally(() => (this.fetching = false));
  }

  nameAt([x, y], text, look, taken, { shift, weight, size }) {
    const c = this.context, u = this.ratio;
    const shown = text.length > 34 ? text.slice(0, 33).trimEnd() + "…" : text;
    c.font = `${weight} ${size * u}px ${look.font}`;
    const half = c.measureText(shown).width / 2 + 3 * u, tall = (size / 2 + 3) * u;
    const cy = y + shift * u;
    const box = [x - half, cy - tall, x + half, cy + tall];
    if (box[0] < 0 || box[1] < 0 || box[2] > this.width || box[3] > this.height) return;
    if (taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1])) return;
    taken.push(box);
    c.lineWidth = 3.5 * u;
    c.strokeStyle = look.halo;
    c.globalAlpha = 0.85;
    c.strokeText(shown, x, cy);
    c.globalAlpha = 1;
    c.fillStyle = look.ink;
    c.fillText(shown, x, cy);
  }

  /* Mouse, fingers and keys. */

  listen() {
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
    };
    const down = new Map();
    let moved = 0;
    this.canvas.addEventListener("pointerdown", (event) => {
      this.trip = null;
      this.canvas.setPointerCapture(event.pointerId);
      down.set(event.pointerId, at(event));
      moved = 0;
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const now = at(event), before = down.get(event.pointerId);
      if (!before) {
        this.hover(this.nearest(...now));
        return;
      }
      const others = [...down].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      if (others.length) {
        const [ox, oy] = others[0];
        const factor = Math.hypot(now[0] - ox, now[1] - oy) / Math.max(1, Math.hypot(before[0] - ox, before[1] - oy));
        this.zoomBy(factor, (now[0] + ox) / 2, (now[1] + oy) / 2);
      } else {
        this.panBy(now[0] - before[0], now[1] - before[1]);
      }
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      down.set(event.pointerId, now);
    });
    const up = (event) => {
      if (down.delete(event.pointerId) && moved < 5 * this.ratio && event.type === "pointerup") {
        const node = this.nearest(...at(event));
        if (node >= 0 && this.calls.onPick) this.calls.onPick(node);
      }
    };
    this.canvas.addEventListener("pointerup", up);
    this.canvas.addEventListener("pointercancel", up);
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.trip = null;
        this.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...at(event));
      },
      { passive: false },
    );
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    if (this.calls.onHover) this.calls.onHover(node);
    this.draw();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 0.12 * Math.min(this.width, this.height);
    const acts = {
      ArrowLeft: () => this.panBy(step, 0),
      ArrowRight: () => this.panBy(-step, 0),
      ArrowUp: () => this.panBy(0, step),
      ArrowDown: () => this.panBy(0, -step),
      "+": () => this.zoomBy(1.4),
      "=": () => this.zoomBy(1.4),
      "-": () => this.zoomBy(1 / 1.4),
      0: () => this.home(),
      Enter: () => {
        const node = this.nearest(this.width / 2, this.height / 2, 1e4);
        if (node >= 0 && this.calls.onPick) this.calls.onPick(node);
      },
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    this.trip = null;
    acts[event.key]();
  }
}
