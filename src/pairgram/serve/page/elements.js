"use strict";
/* Making elements, and putting numbers and texts into words. */

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

/** Words that carried the score, and neighbours of the node that are near the query. */
function reasonsOf({ words, pieces, target_words: theirs, neighbours }, openNode) {
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
    el("button", { class: "link mono", type: "button", onclick: () => openNode(other.node) }, clip(other.node, 24)),
    el("span", { class: "text" }, other.text)))));
  return parts.length ? parts : [el("p", { class: "quiet" }, "Nothing that can be named.")];
}
