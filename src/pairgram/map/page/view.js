"use strict";
/* The map: points drawn pixel by pixel, so that hundreds of thousands move smoothly without a
   graphics card. Points lie in cells; a cell shows no more of them than its pixels can hold. */

const GRID = 128;
const PALETTE = [
  "#3b6fb6", "#e0833a", "#3d9a7d", "#b5506f", "#8c6fc4", "#b79b2b",
  "#3fa3c2", "#c9615a", "#6d9a3f", "#a8749f", "#8a7358", "#5b7fd6",
];
const GREY = "#9aa0a8";
const OTHERS = "others";
const NAMED = 28; // groups whose names may be shown
const MOST_NAMES = 60; // single nodes named when few are in sight

function rgb(color) {
  const n = parseInt(color.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** Colour of a group by its number. */
function groupColor(groups, g) {
  return groups[g] && groups[g].name === OTHERS ? GREY : PALETTE[g % PALETTE.length];
}

/** Points sorted by cell; within a cell in an order without pattern, so that any part is fair. */
class Cells {
  constructor(points, group) {
    const n = group.length;
    this.x = new Float32Array(n);
    this.y = new Float32Array(n);
    this.group = new Uint16Array(n);
    this.node = new Uint32Array(n); // place in the arrays as given
    this.start = new Uint32Array(GRID * GRID + 1);
    const cell = new Uint16Array(n);
    for (let i = 0; i < n; i++) {
      cell[i] = Cells.of(points[2 * i + 1]) * GRID + Cells.of(points[2 * i]);
      this.start[cell[i] + 1]++;
    }
    for (let c = 0; c < GRID * GRID; c++) this.start[c + 1] += this.start[c];
    const next = this.start.slice();
    for (let k = 0, i = 0; k < n; k++, i = (i + this.stride(n)) % n) {
      const at = next[cell[i]]++;
      this.x[at] = points[2 * i];
      this.y[at] = points[2 * i + 1];
      this.group[at] = group[i];
      this.node[at] = i;
    }
  }

  /** A step through all n places that visits each once. */
  stride(n) {
    if (this.step === undefined) {
      const gcd = (a, b) => (b ? gcd(b, a % b) : a);
      this.step = Math.max(1, Math.floor(n * 0.6180339887));
      while (gcd(this.step, n) !== 1) this.step++;
    }
    return this.step;
  }

  static of(value) {
    return Math.min(GRID - 1, Math.max(0, Math.floor(((value + 1) / 2) * GRID)));
  }
}

/** A dot of some radius as pixels: offsets and how much of each is covered. */
function makeStamp(radius) {
  const reach = Math.ceil(radius);
  const dx = [], dy = [], cover = [];
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      const share = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x, y)));
      if (share > 0.04) {
        dx.push(x);
        dy.push(y);
        cover.push(share);
      }
    }
  }
  return { reach, dx, dy, cover, size: dx.length };
}

class MapView {
  /**
   * @param canvas  the element to draw on
   * @param data    {points: Float32Array (2n), group: Uint16Array (n), groups: [{name, size}]}
   * @param calls   {onPick(node), onHover(node or -1), names(nodes) -> Promise<[{node, text}]>,
   *                covers() -> boxes that lie over the canvas}
   */
  constructor(canvas, data, calls = {}) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.points = data.points;
    this.group = data.group;
    this.groups = data.groups;
    this.cells = new Cells(data.points, data.group);
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

  /* Where the view is: the point at the middle, and pixels per unit. */

  home() {
    const box = this.quantileBox();
    this.fit = box;
    this.cx = (box[0] + box[2]) / 2;
    this.cy = (box[1] + box[3]) / 2;
    this.zoom = 1;
    this.draw();
  }

  /** The box of all but the outermost points; a few strays must not make the rest small. */
  quantileBox() {
    const n = this.group.length, step = Math.max(1, Math.floor(n / 20000));
    const xs = [], ys = [];
    for (let i = 0; i < n; i += step) {
      xs.push(this.points[2 * i]);
      ys.push(this.points[2 * i + 1]);
    }
    if (!n) return [-1, -1, 1, 1];
    const at = (values, q) => values[Math.min(values.length - 1, Math.floor(q * values.length))];
    xs.sort((a, b) => a - b);
    ys.sort((a, b) => a - b);
    return [at(xs, 0.004), at(ys, 0.004), at(xs, 0.996), at(ys, 0.996)];
  }

  get scale() {
    const [x0, y0, x1, y1] = this.fit;
    const wide = this.width / Math.max(x1 - x0, 1e-6), high = this.height / Math.max(y1 - y0, 1e-6);
    return 0.9 * Math.min(wide, high) * this.zoom;
  }

  screen(x, y) {
    return [this.width / 2 + (x - this.cx) * this.scale, this.height / 2 - (y - this.cy) * this.scale];
  }

  plane(sx, sy) {
    return [this.cx + (sx - this.width / 2) / this.scale, this.cy - (sy - this.height / 2) / this.scale];
  }

  resize() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const box = this.canvas.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width * ratio));
    const height = Math.max(1, Math.round(box.height * ratio));
    if (this.image && width === this.width && height === this.height) return;
    this.ratio = ratio;
    this.width = this.canvas.width = width;
    this.height = this.canvas.height = height;
    this.image = this.context.createImageData(width, height);
    this.pixels = new Int32Array(this.image.data.buffer);
    this.draw();
  }

  panBy(dx, dy) {
    this.cx -= dx / this.scale;
    this.cy += dy / this.scale;
    this.draw();
  }

  zoomBy(factor, sx = this.width / 2, sy = this.height / 2) {
    const [x, y] = this.plane(sx, sy);
    this.zoom = Math.min(4000, Math.max(0.5, this.zoom * factor));
    const [nx, ny] = this.plane(sx, sy);
    this.cx += x - nx;
    this.cy += y - ny;
    this.draw();
  }

  /** Move to some nodes, unless all are in sight already. */
  show(nodes) {
    const list = nodes.filter((i) => i >= 0 && i < this.group.length);
    if (!list.length) return;
    let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity;
    for (const i of list) {
      x0 = Math.min(x0, this.points[2 * i]);
      x1 = Math.max(x1, this.points[2 * i]);
      y0 = Math.min(y0, this.points[2 * i + 1]);
      y1 = Math.max(y1, this.points[2 * i + 1]);
    }
    const base = this.scale / this.zoom;
    const room = Math.max((x1 - x0) * 1.7, 60 / base);
    const tall = Math.max((y1 - y0) * 1.7, 60 / base);
    const zoom = Math.min(12, Math.max(0.7, Math.min(this.width / (room * base), this.height / (tall * base))));
    this.glide((x0 + x1) / 2, (y0 + y1) / 2, zoom);
  }

  /** Travel there in a third of a second; at once for those who asked for less motion. */
  glide(cx, cy, zoom) {
    const from = { cx: this.cx, cy: this.cy, zoom: this.zoom }, began = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const trip = (this.trip = {});
    const step = (now) => {
      if (this.trip !== trip) return;
      const t = still ? 1 : Math.min(1, (now - began) / 350), s = t * t * (3 - 2 * t);
      this.cx = from.cx + (cx - from.cx) * s;
      this.cy = from.cy + (cy - from.cy) * s;
      this.zoom = from.zoom * Math.pow(zoom / from.zoom, s);
      this.draw();
      if (t < 1) requestAnimationFrame(step);
    };
    step(began);
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

  /** Cells in sight: first and last column and row. */
  sight() {
    const [x0, y1] = this.plane(0, 0), [x1, y0] = this.plane(this.width, this.height);
    return [Cells.of(x0), Cells.of(y0), Cells.of(x1), Cells.of(y1)];
  }

  /** Points in sight; of one cell no more than `most` count. */
  countSeen([c0, r0, c1, r1], most = Infinity) {
    const start = this.cells.start;
    let seen = 0;
    for (let r = r0; r <= r1; r++) {
      for (let c = r * GRID + c0; c <= r * GRID + c1; c++) seen += Math.min(most, start[c + 1] - start[c]);
    }
    return seen;
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

  /** Nodes in sight, or null when there are more than `most`. */
  inSight(most) {
    const sight = this.sight(), [c0, r0, c1, r1] = sight;
    const [x0, y1] = this.plane(0, 0), [x1, y0] = this.plane(this.width, this.height);
    if (this.countSeen(sight) > 40 * most) return null;
    const found = [];
    for (let r = r0; r <= r1; r++) {
      for (let k = this.cells.start[r * GRID + c0]; k < this.cells.start[r * GRID + c1 + 1]; k++) {
        const x = this.cells.x[k], y = this.cells.y[k];
        if (x < x0 || x > x1 || y < y0 || y > y1) continue;
        if (found.length === most) return null;
        found.push(this.cells.node[k]);
      }
    }
    return found;
  }

  /** The node nearest to a place on the screen, within some pixels, or -1. */
  nearest(sx, sy, within = 14) {
    const reach = (within * this.ratio) / this.scale, [x, y] = this.plane(sx, sy);
    let best = reach * reach, found = -1;
    for (let r = Cells.of(y - reach); r <= Cells.of(y + reach); r++) {
      const begin = this.cells.start[r * GRID + Cells.of(x - reach)];
      const end = this.cells.start[r * GRID + Cells.of(x + reach) + 1];
      for (let k = begin; k < end; k++) {
        const dx = this.cells.x[k] - x, dy = this.cells.y[k] - y, d = dx * dx + dy * dy;
        if (d < best) {
          best = d;
          found = this.cells.node[k];
        }
      }
    }
    return found;
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
