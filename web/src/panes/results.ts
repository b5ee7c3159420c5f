/** The whole run measured: summary, bottleneck, report, and the departed packets as a table and a capture. */

import { fill, h, icon } from "../dom";
import type { Lab } from "../lab";
import { ticked } from "../markdown";
import { download } from "../project/bytes";
import { withTimes } from "../state";
import { frameTable } from "./frames";

export class Results {
  readonly element = h("div", { class: "results" });

  constructor(private readonly lab: Lab) {
    lab.store.on(["measured", "opened", "stale"], () => void this.show());
  }

  private async show(): Promise<void> {
    const { measured, opened, stale, traffic } = this.lab.store.value;
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
      this.lab.run.ask<{ headline: string; evidence: string[]; advice: string[] }>({ op: "bottleneck" }).catch(() => null),
    ]);
    if (opened !== this.lab.store.value.opened) return;
    const name = opened.name;
    fill(this.element,
      h("div", { class: "actions" },
        h("button", { type: "button", onclick: () => void this.keep("pcapng", name) }, icon("down"), "Sent packets (pcapng)"),
        h("button", { type: "button", onclick: () => void this.keep("pcap", name) }, icon("down"), "pcap"),
        bottleneck && h("button", { type: "button", onclick: () => void this.report() }, "Open the report"),
        h("button", { type: "button", onclick: () => void this.stats(name) }, icon("down"), "Statistics (JSON)")),
      bottleneck && h("section", { class: "limit" }, h("h3", {}, "What limits it"),
        h("p", {}, h("strong", {}, ...ticked(bottleneck.headline))),
        h("ul", {}, ...bottleneck.evidence.map((it) => h("li", {}, ...ticked(it)))),
        ...bottleneck.advice.map((it) => h("p", { class: "advice" }, ...ticked(it)))),
      h("h3", {}, "Summary"), h("pre", { tabindex: "0" }, withTimes(summary.text.trim())),
      frameTable(this.lab, "Packets sent", { op: "departures", format: "json" }),
      traffic.kind === "capture" && frameTable(this.lab, "Packets arrived", { op: "arrivals", path: traffic.path }));
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
