"use strict";
/* Points sorted into cells, dots as pixels, colours of groups. */

const GRID = 128;
const PALETTE = [
  "#3b6fb6", "#e0833a", "#3d9a7d", "#b5506f", "#8c6fc4", "#b79b2b",
  "#3fa3c2", "#c9615a", "#6d9a3f", "#a8749f", "#8a7358", "#5b7fd6",
];
const GREY = "#9aa0a8";
const OTHERS = "others";

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
