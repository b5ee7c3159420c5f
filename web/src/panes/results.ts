/** The whole run measured: summary, bottleneck, report, and what left as a table and a capture. */

import { fill, h, icon } from "../dom";
import type { FrameRow } from "../engine/protocol";
import type { Lab } from "../lab";
import { download } from "../project/bytes";
import { count } from "../state";

const PAGE = 100;

export class Results {
  readonly element = h("div", { class: "results" });
  private rows = 0;

  constructor(private readonly lab: Lab) {
    lab.store.on(["measured", "opened", "stale"], () => void this.show());
  }

  private async show(): Promise<void> {
    const { measured, opened, stale } = this.lab.store.value;
    if (!opened) {
      fill(this.element, h("p", { class: "soft" }, "Open a system first."));
      return;
    }
    if (!measured || stale) {
      fill(this.element, h("div", { class: "empty" },
        h("h2", {}, "Measure the whole run"),
        h("p", {}, "Runs the system from its first cycle to its end and counts everything: rates, latencies, losses and what limits it. The numbers are those of the npsim command."),
        h("button", { type: "button", class: "primary", onclick: () => void this.lab.measure() }, "Measure")));
      return;
    }
    const [summary, bottleneck] = await Promise.all([
      this.lab.run.ask<{ text: string }>({ op: "summary" }),
      this.lab.run.ask<{ headline: string; text: string }>({ op: "bottleneck" }),
    ]);
    const table = h("tbody");
    const more = h("button", { type: "button", onclick: () => void this.page(table, more) }, "More packets");
    const name = opened.name;
    fill(this.element,
      h("div", { class: "actions" },
        h("button", { type: "button", onclick: () => void this.keep("pcapng", name) }, icon("down"), "What left (pcapng)"),
        h("button", { type: "button", onclick: () => void this.keep("pcap", name) }, icon("down"), "pcap"),
        h("button", { type: "button", onclick: () => void this.report() }, "Open the report"),
        h("button", { type: "button", onclick: () => void this.stats(name) }, icon("down"), "Statistics (JSON)")),
      h("h3", {}, "What limits it"), h("pre", { tabindex: "0" }, bottleneck.text.trim()),
      h("h3", {}, "Summary"), h("pre", { tabindex: "0" }, summary.text.trim()),
      h("h3", {}, "What left"),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Packets that left" }, h("table", { class: "frames-table" },
        h("thead", {}, h("tr", {}, ...["#", "Time", "Port", "Bytes", "What it is"].map((it) => h("th", { scope: "col" }, it)))), table)),
      more);
    this.rows = 0;
    await this.page(table, more);
  }

  private async page(table: HTMLElement, more: HTMLElement): Promise<void> {
    const { total, frames } = await this.lab.run.ask<{ total: number; frames: FrameRow[] }>({ op: "departures", format: "json", from: this.rows, count: PAGE });
    this.rows += frames.length;
    for (const it of frames) table.append(...row(it));
    more.hidden = this.rows >= total;
    more.textContent = `More packets (${count(this.rows)} of ${count(total)})`;
    if (total === 0) table.append(h("tr", {}, h("td", { colspan: 5 }, "Nothing has left.")));
  }

  private async keep(format: "pcapng" | "pcap", name: string): Promise<void> {
    const bytes = await this.lab.run.ask<Uint8Array>({ op: "departures", format });
    download(`${name}.${format}`, bytes, "application/vnd.tcpdump.pcap");
  }

  private async report(): Promise<void> {
    const bytes = await this.lab.run.ask<Uint8Array>({ op: "report" });
    const url = URL.createObjectURL(new Blob([bytes as BlobPart], { type: "text/html" }));
    window.open(url, "_blank", "noopener");
  }

  private async stats(name: string): Promise<void> {
    const { stats } = await this.lab.run.ask<{ stats: unknown }>({ op: "stats" });
    download(`${name}.stats.json`, new TextEncoder().encode(JSON.stringify(stats, null, 2)), "application/json");
  }
}

/** A packet's row, and its headers, which the row opens. */
export function row(it: FrameRow): HTMLElement[] {
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
