/** The subset of Markdown that hovers and lessons use, as elements: HTML is not interpreted. */

import { h } from "./dom";

export function markdown(text: string): DocumentFragment {
  const all = document.createDocumentFragment();
  const lines = text.split("\n");
  let at = 0;
  const block = (until: (line: string) => boolean) => {
    const from = at;
    while (at < lines.length && !until(lines[at]!)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    if (line.startsWith("```")) {
      at += 1;
      all.append(h("pre", {}, h("code", {}, block((it) => it.startsWith("```")).join("\n"))));
      at += 1;
    } else if (/^\s*\|/.test(line)) {
      all.append(table(block((it) => !/^\s*\|/.test(it))));
    } else if (/^\s*[-*] /.test(line)) {
      const items = block((it) => it.trim() === "").join("\n").split(/\n?^\s*[-*] /m).filter((it) => it !== "");
      all.append(h("ul", {}, ...items.map((it) => h("li", {}, ...inline(it)))));
    } else if (/^#+ /.test(line)) {
      all.append(h("p", {}, h("strong", {}, ...inline(line.replace(/^#+ /, "")))));
      at += 1;
    } else if (line.trim() === "" || /^-{3,}$/.test(line.trim())) at += 1;
    else all.append(h("p", {}, ...inline(block((it) => it.trim() === "" || it.startsWith("```") || /^\s*[|]/.test(it) || /^\s*[-*] /.test(it)).join(" "))));
  }
  return all;
}

function table(rows: string[]): HTMLElement {
  const cells = rows
    .filter((it) => !/^\s*\|[\s|:-]+\|\s*$/.test(it))
    .map((it) => it.trim().replace(/^\||\|$/g, "").split("|"));
  return h("table", {}, ...cells.map((row) => h("tr", {}, ...row.map((it) => h("td", {}, ...inline(it.trim()))))));
}

/** Text in which only backticks are markup, as in the simulator's messages. */
export const ticked = (text: string): (Node | string)[] => text.split("`").map((it, at) => (at % 2 === 1 ? h("code", {}, it) : it));

export function inline(text: string): (Node | string)[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
    if (/^`.+`$/.test(part)) return h("code", {}, part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return h("strong", {}, part.slice(2, -2));
    if (/^\*.+\*$/.test(part)) return h("em", {}, part.slice(1, -1));
    const link = /^\[([^\]]+)\]\((https?:[^)]+)\)$/.exec(part);
    if (link) return h("a", { href: link[2], target: "_blank", rel: "noreferrer" }, link[1]!);
    return part.replace(/^\[([^\]]+)\]\([^)]+\)$/, "$1");
  });
}
