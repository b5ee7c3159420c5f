"use strict";
// A click on a frame shows it in full width; a click on the lowest frame shows all again.
// Ctrl-F, or a click on "Search", colours the frames whose names contain a text.
(function () {
  const svg = document.documentElement;
  const width = +svg.getAttribute("data-width"), margin = +svg.getAttribute("data-margin");
  const letter = +svg.getAttribute("data-letter");
  const span = width - 2 * margin;
  const found = document.getElementById("found");
  const frames = Array.from(document.querySelectorAll("g.f"), (group) => {
    const rect = group.querySelector("rect");
    const title = group.querySelector("title").textContent;
    return {
      group, rect, title,
      text: group.querySelector("text"),
      name: title.slice(0, title.lastIndexOf(": ")),
      x: +rect.getAttribute("x"), y: +rect.getAttribute("y"), w: +rect.getAttribute("width"),
      fill: rect.getAttribute("fill"),
    };
  });
  const all = frames[0];

  function label(frame, x, w) {
    const letters = Math.floor((w - 6) / letter);
    if (letters < 3) {
      if (frame.text) frame.text.textContent = "";
      return;
    }
    if (!frame.text) {
      frame.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      frame.text.setAttribute("y", frame.y + 13);
      frame.group.appendChild(frame.text);
    }
    const name = frame.name;
    frame.text.textContent = name.length > letters ? name.slice(0, letters - 2) + ".." : name;
    frame.text.setAttribute("x", x + 3);
  }

  function zoom(to) {
    const scale = span / to.w;
    for (const frame of frames) {
      const below = frame.y > to.y && frame.x <= to.x + 1e-3 && frame.x + frame.w >= to.x + to.w - 1e-3;
      const inside = frame.y <= to.y && frame.x >= to.x - 1e-3 && frame.x + frame.w <= to.x + to.w + 1e-3;
      frame.group.style.display = below || inside ? "" : "none";
      if (!below && !inside) continue;
      const x = below ? margin : margin + (frame.x - to.x) * scale;
      const w = below ? span : frame.w * scale;
      frame.rect.setAttribute("x", x);
      frame.rect.setAttribute("width", w);
      frame.group.style.opacity = below && frame !== to ? 0.6 : 1;
      label(frame, x, w);
    }
  }

  function search() {
    const wanted = window.prompt("Frames whose names have this text; nothing shows all as they were", "");
    if (wanted === null) return;
    const low = wanted.toLowerCase();
    // A frame within a matching one is counted with it.
    let counted = [], sum = 0;
    for (const frame of frames) {
      const hit = low !== "" && frame.name.toLowerCase().includes(low);
      frame.rect.setAttribute("fill", hit ? "#e600e6" : frame.fill);
      if (!hit) continue;
      const within = counted.some((it) => it.y > frame.y && it.x <= frame.x + 1e-3 && it.x + it.w >= frame.x + frame.w - 1e-3);
      if (!within) sum += frame.w;
      counted.push(frame);
    }
    const share = (100 * sum / all.w).toFixed(2);
    found.textContent = low === "" ? "" : counted.length + " found, " + share + "% of the cycles";
  }

  for (const frame of frames) frame.group.addEventListener("click", () => zoom(frame));
  document.getElementById("search").addEventListener("click", search);
  window.addEventListener("keydown", (event) => {
    if (event.key === "Escape") zoom(all);
    if ((event.ctrlKey || event.metaKey) && event.key === "f") {
      event.preventDefault();
      search();
    }
  });
})();
