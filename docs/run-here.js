"use strict";
// For the book as a site with the laboratory in `lab/` (see packaging/site): adds a button below each listing that runs
// a shipped system, to run it in the page. A command with a setting that the page does not have gets no button.
(() => {
  // Settings that have the same meaning in the page's address.
  const SAME = new Set(["trace", "pace", "ports", "rate", "size", "time", "flows", "until", "set"]);
  // Settings of where results go, and of where macros are, which the page does not need.
  const ASIDE = new Set(["out", "stats", "report", "timeline", "window", "flame", "flame-waits", "profile-lines", "include"]);
  const FLAGS = new Set(["quiet", "profile", "progress"]);
  const SHORT = { I: "include", q: "quiet" };

  /** The laboratory's address for what a line of a listing runs; null if the page cannot run it. */
  function address(line) {
    const words = line.match(/^\$ npsim (?:run|debug) (microcode\/\S+)((?: \S+)*)$/);
    if (!words) return null;
    const query = new URLSearchParams({ embed: "1", open: words[1] });
    const rest = words[2].trim().split(" ").filter(Boolean);
    while (rest.length > 0) {
      const [, dashes, typed, glued] = rest.shift().match(/^(--?)([\w-]+)(?:=(.*))?$/) ?? [];
      if (!dashes) return null;
      const name = dashes === "-" ? SHORT[typed] : typed;
      if (FLAGS.has(name)) continue;
      const value = glued ?? rest.shift();
      if (value === undefined) return null;
      if (name === "load") query.set("rate", value);
      else if (SAME.has(name)) query.append(name, value);
      else if (!ASIDE.has(name)) return null;
    }
    return query;
  }

  for (const code of document.querySelectorAll("pre code")) {
    const lines = code.textContent.split("\n");
    const query = lines.map(address).find(Boolean);
    if (!query) continue;
    // If a debugger listing goes to a cycle, the page opens at that cycle.
    const cycle = lines.map((it) => it.match(/^\(npsim\)(?: \S+)? goto ([\d,]+)$/)).find(Boolean);
    if (cycle) query.set("at", cycle[1].replaceAll(",", ""));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "run-here";
    button.textContent = "Run this here";
    const pre = code.closest("pre");
    pre.after(button);
    button.addEventListener("click", () => {
      const frame = document.createElement("iframe");
      frame.src = `lab/index.html?${query}`;
      frame.title = `The laboratory with ${query.get("open")}`;
      frame.className = "laboratory";
      frame.style.cssText = "width: 100%; height: 36rem; border: 1px solid; border-radius: 6px";
      button.replaceWith(frame);
    });
  }
})();
