/** Longwords of a memory or of a region that the project names; a click asks what wrote one. */

import { fill, h } from "../dom";
import type { Lab } from "../lab";
import { linked } from "./linked";

const ROWS = 24;
const PER_ROW = 4;

export class Memory {
  readonly element = h("div");
  private region = h("select", { "aria-label": "Memory" });
  private address = h("input", { type: "text", "aria-label": "Byte address", value: "0x0", spellcheck: "false", size: 10 });
  private table = h("div", { class: "block" });
  private answer = h("div", { class: "answer at-foot", "aria-live": "polite", hidden: true });
  private before = new Map<number, number>();
  private shown = "";

  constructor(
    private readonly lab: Lab,
    private readonly go: (path: string, line: number) => void,
  ) {
    this.element.append(
      h("div", { class: "block thread-row" }, this.region, this.address),
      this.table, this.answer);
    this.region.addEventListener("change", () => {
      this.address.value = "0x0";
      void this.show();
    });
    this.address.addEventListener("change", () => void this.show());
    lab.store.on(["opened"], () => this.list());
    lab.store.on(["view", "running"], () => {
      if (!this.element.hidden && lab.store.value.running === "no") void this.show();
    });
  }

  private list(): void {
    const { opened } = this.lab.store.value;
    const before = this.region.value;
    const names = [...(opened?.memories.map((it) => it.name) ?? []), "scratch", "sram0", "sram1", "dram", "lm"];
    fill(this.region, ...[...new Set(names)].map((it) => h("option", { value: it }, this.title(it))));
    this.region.value = names.includes(before) ? before : names[0]!;
    this.address.value = "0x0";
    this.shown = "";
    this.answer.hidden = true;
  }

  /** A region that the project names, with where it is. */
  private title(name: string): string {
    const region = this.lab.store.value.opened?.memories.find((it) => it.name === name);
    return region ? `${name} (${region.memory} 0x${region.address.toString(16)})` : name;
  }

  /** Names of the project's regions that begin in these bytes of a memory. */
  private names(space: string, from: number, until: number): string {
    const regions = this.lab.store.value.opened?.memories ?? [];
    return regions.filter((it) => it.memory === space && it.address >= from && it.address < until).map((it) => it.name).join(", ");
  }

  async show(): Promise<void> {
    const { opened } = this.lab.store.value;
    if (!opened) {
      fill(this.table, h("p", { class: "soft" }, "Memories appear here when a run is open."));
      return;
    }
    const space = this.region.value;
    const from = Math.max(0, (Number(this.address.value) || 0) & ~3);
    const words = ROWS * PER_ROW;
    let values: number[];
    try {
      ({ values } = await this.lab.run.ask<{ values: number[] }>({ op: "memory", name: space, address: from, words }));
    } catch (error) {
      fill(this.table, h("p", { class: "soft" }, error instanceof Error ? error.message : String(error)));
      return;
    }
    if (opened !== this.lab.store.value.opened) return;
    const key = `${space} ${from}`;
    if (key !== this.shown) this.before.clear();
    this.shown = key;
    const rows = [];
    for (let at = 0; at < values.length; at += PER_ROW) {
      const names = this.names(space, from + at * 4, from + (at + PER_ROW) * 4);
      if (names !== "") rows.push(h("tr", { class: "region" }, h("th", { colspan: PER_ROW + 1, scope: "rowgroup" }, names)));
      rows.push(h("tr", {},
        h("th", { scope: "row", class: "soft mono" }, (from + at * 4).toString(16).padStart(5, "0")),
        ...values.slice(at, at + PER_ROW).map((value, n) => this.cell(space, from + (at + n) * 4, value))));
    }
    fill(this.table, h("table", { class: "words-table" }, h("tbody", {}, ...rows)));
    values.forEach((value, n) => this.before.set(from + n * 4, value));
  }

  private cell(space: string, address: number, value: number): HTMLElement {
    const changed = this.before.has(address) && this.before.get(address) !== value;
    const what = `${space}[0x${address.toString(16)}]`;
    return h("td", {}, h("button", {
      type: "button", class: `link${changed ? " moved" : ""}${value === 0 ? " zero" : ""}`, title: `Who wrote ${what}?`,
      onclick: async () => {
        const text = `${what}: ${(await this.lab.who(what)).join("\n")}`;
        fill(this.answer, ...linked(text, this.lab, this.go));
        this.answer.hidden = false;
      },
    }, value.toString(16).padStart(8, "0")));
  }
}
