"use strict";
/* Where a map is looked at: from points to pixels and back, moving, and what is in sight. */

class Plane {
  /**
   * @param canvas  the element that is drawn on
   * @param data    {points: Float32Array (2n), group: Uint16Array (n), groups: [{name, size}]}
   */
  constructor(canvas, { points, group, groups }) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.points = points;
    this.group = group;
    this.groups = groups;
    this.cells = new Cells(points, group);
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
}
