/** A table of packets with their headers, a page at a time. */

import { h } from "../dom";
import { Refusal } from "../engine/client";
import type { FrameRow, Request } from "../engine/protocol";
import type { Lab } from "../lab";
import { count } from "../state";

const PAGE = 100;

export function frameTable(lab: Lab, title: string, request: Request): HTMLElement {
  const table = h("tbody");
  const more = h("button", { type: "button", hidden: true, onclick: () => void page() });
  let rows = 0;
  const page = async () => {
    try {
      const { total, frames } = await lab.run.ask<{ total: number; frames: FrameRow[] }>({ ...request, from: rows, count: PAGE });
      rows += frames.length;
      for (const it of frames) table.append(...row(it));
      more.hidden = rows >= total;
      more.textContent = `More packets (${count(rows)} of ${count(total)})`;
      if (total === 0) table.append(h("tr", {}, h("td", { colspan: 5 }, "None.")));
    } catch (error) {
      if (error instanceof Refusal) table.append(h("tr", {}, h("td", { colspan: 5 }, error.failure.message)));
    }
  };
  void page();
  return h("section", {},
    h("h3", {}, title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, h("table", { class: "frames-table" },
      h("thead", {}, h("tr", {}, ...["#", "Time", "Port", "Bytes", "What it is"].map((it) => h("th", { scope: "col" }, it)))), table)),
    more);
}

/** A packet's row, and its headers, which a click on the row shows. */
function row(it: FrameRow): HTMLElement[] {
  const detail = h("tr", { hidden: true }, h("td", { colspan: 5 },
    h("dl", { class: "layers" }, ...it.layers.flatMap((layer) => [
      h("dt", { class: "layer" }, layer.name),
      ...layer.fields.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    ])), h("pre", {}, it.hex)));
  const toggle = h("button", {
    type: "button", class: "link", "aria-expanded": "false",
    onclick: () => {
      detail.hidden = !detail.hidden;
      toggle.setAttribute("aria-expanded", String(!detail.hidden));
    },
  }, it.summary || "frame");
  return [
    h("tr", {},
      h("td", { class: "num" }, it.number), h("td", { class: "num" }, `${(it.seconds * 1e6).toFixed(3)} µs`), h("td", { class: "num" }, it.port),
      h("td", { class: "num" }, it.bytes), h("td", {}, toggle)),
    detail,
  ];
}
