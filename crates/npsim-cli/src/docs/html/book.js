"use strict";
// Search over the sections of all pages, in `search-index.js`, and the reader's choice of light or dark.
const store = (() => { try { return window.localStorage; } catch { return null; } })();
const themes = ["auto", "light", "dark"];
const button = document.getElementById("theme");
function show(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = "Theme: " + theme;
}
let theme = store?.getItem("npsim-theme");
if (!themes.includes(theme)) theme = "auto";
show(theme);
button.hidden = false;
button.addEventListener("click", () => {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length];
  store?.setItem("npsim-theme", theme);
  show(theme);
});

const field = document.getElementById("search");
const list = document.getElementById("found");
const contents = document.getElementById("contents");
field.hidden = false;
function score(section, words) {
  const title = section.title.toLowerCase(), text = section.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const inTitle = title.includes(word), inText = text.includes(word);
    if (!inTitle && !inText) return 0;
    sum += (inTitle ? 20 : 0) + (inText ? 1 : 0);
  }
  return sum;
}
function excerpt(section, word) {
  const at = Math.max(0, section.text.toLowerCase().indexOf(word) - 40);
  return (at > 0 ? "… " : "") + section.text.slice(at, at + 120) + " …";
}
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  contents.hidden = words.length > 0;
  list.replaceChildren();
  if (words.length === 0) return;
  const hits = SECTIONS.map(section => [score(section, words), section]).filter(hit => hit[0] > 0);
  hits.sort((a, b) => b[0] - a[0]);
  for (const [, section] of hits.slice(0, 30)) {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("small");
    link.href = section.place;
    link.textContent = section.title;
    text.textContent = excerpt(section, words[0]);
    item.append(link, text);
    list.append(item);
  }
  if (hits.length === 0) list.append(Object.assign(document.createElement("li"), { textContent: "nothing found" }));
});
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
});
document.querySelector("#sidebar a[aria-current]")?.scrollIntoView({ block: "nearest" });
