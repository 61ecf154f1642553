"use strict";
/* The map in a page of its own: its data are in the page. */

async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function start() {
  const about = JSON.parse(new TextDecoder().decode(await unpack("data")));
  const data = await unpack("points"), n = about.nodes;
  const said = document.getElementById("said"), find = document.getElementById("find");
  const say = (i) => {
    said.hidden = i < 0;
    if (i >= 0) said.textContent = `${about.names[i]}  ${about.texts[i]}`;
  };
  const view = new MapView(
    document.getElementById("map"),
    { points: new Float32Array(data, 0, 2 * n), group: new Uint16Array(data, 8 * n, n), groups: about.groups },
    {
      onHover: say,
      onPick: (i) => view.show([i]),
      covers: () => [document.getElementById("groups").getBoundingClientRect()],
      names: async (nodes) => nodes.map((i) => ({ node: about.names[i], text: about.texts[i] })),
    },
  );
  window.view = view;
  document.getElementById("about").textContent =
    `${n.toLocaleString("en-US")} nodes · ${about.method.toUpperCase()} · coloured by ${about.coloring}`;
  legend(view, about);
  find.addEventListener("input", () => search(view, about, find.value, say));
}

/** The ten largest groups; a click shows one alone. */
function legend(view, about) {
  const list = document.getElementById("groups");
  about.groups.slice(0, 10).forEach((group, g) => {
    const button = document.createElement("button"), dot = document.createElement("i");
    const name = document.createElement("span"), size = document.createElement("b");
    dot.style.background = groupColor(about.groups, g);
    name.textContent = group.name || "(no label)";
    size.textContent = group.size.toLocaleString("en-US");
    button.append(dot, name, size);
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      for (const other of list.querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", String(on));
      view.setOnly(on ? g : null);
    });
    const item = document.createElement("li");
    item.append(button);
    list.append(item);
  });
}

/** Ids and texts that hold what is typed; the chosen one is shown. */
function search(view, about, typed, say) {
  const exact = about.names.indexOf(typed);
  if (exact >= 0) {
    view.hovered = exact;
    view.show([exact]);
    say(exact);
    return;
  }
  const low = typed.trim().toLowerCase(), hits = [];
  for (let i = 0; low && i < about.names.length && hits.length < 12; i++) {
    if (about.names[i].toLowerCase().startsWith(low) || about.texts[i].toLowerCase().includes(low)) hits.push(i);
  }
  document.getElementById("hits").replaceChildren(
    ...hits.map((i) => {
      const option = document.createElement("option");
      option.value = about.names[i];
      option.label = about.texts[i];
      return option;
    }),
  );
}

start();
