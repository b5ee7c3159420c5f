/** The chip beside the lanes: ports, rings, microengines and memories, as they fill. */

import { fill, h } from "../dom";
import type { RingAtStop, View } from "../engine/protocol";
import type { Lab } from "../lab";
import { count } from "../state";

const percent = (share: number) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`;

interface Part {
  c: string;
  share: number;
  full?: boolean;
}

/** A gauge that is drawn once and then only changes its figures. */
class Gauge {
  readonly element: HTMLElement;
  private figure = h("span", { class: "figure" });
  private bars: HTMLElement[];

  constructor(name: string, parts: number, title = "") {
    this.bars = Array.from({ length: parts }, () => h("b"));
    this.element = h("div", { class: "gauge", title },
      h("span", { class: "name" }, name), this.figure, parts > 0 && h("span", { class: "meter" }, ...this.bars));
  }

  set(figure: string, parts: Part[] = []): void {
    if (this.figure.textContent !== figure) this.figure.textContent = figure;
    parts.forEach((part, at) => {
      const bar = this.bars[at]!;
      bar.style.width = `${Math.min(100, part.share * 100)}%`;
      bar.style.setProperty("--c", `var(--${part.c})`);
      bar.classList.toggle("full", part.full === true);
    });
  }
}

export class Gauges {
  readonly element = h("div", { class: "gauges", role: "group", tabindex: "0", "aria-label": "Ports, rings, microengines and memories" });
  private gauges = new Map<string, Gauge>();
  private layout = "";

  constructor(lab: Lab) {
    lab.store.on(["view"], () => this.show(lab.store.value.view));
  }

  private show(view: View | null): void {
    if (!view) {
      fill(this.element);
      this.layout = "";
      return;
    }
    const rings = view.rings;
    const layout = [view.ports.length, ...rings.map((it) => it.name), "|", ...view.microengines.map((it) => `${it.me} ${it.stage}`), "|", ...view.units.map((it) => it.name)].join();
    if (layout !== this.layout) this.build(view, layout);
    for (const port of view.ports) this.gauges.get(`port ${port.port}`)?.set(`${count(port.came)} in, ${count(port.left)} out`);
    for (const ring of rings) this.ring(ring);
    for (const me of view.microengines) {
      this.gauges.get(`me ${me.me}`)?.set(percent(me.executing + me.aborted + me.stalled), [
        { c: "executing", share: me.executing }, { c: "aborted", share: me.aborted }, { c: "stalled", share: me.stalled },
      ]);
    }
    for (const unit of view.units) {
      const queue = unit.queue > 0 ? `, ${unit.queue} queued` : "";
      this.gauges.get(`unit ${unit.name}`)?.set(`${percent(unit.busy)}${queue}`, [{ c: "packet", share: unit.busy, full: unit.busy > 0.95 }]);
    }
  }

  private ring(ring: RingAtStop): void {
    const size = ring.size ?? Math.max(16, 2 ** Math.ceil(Math.log2(ring.fill + 1)));
    const share = ring.fill / size;
    const figure = ring.size ? `${count(ring.fill)} of ${count(ring.size)}` : count(ring.fill);
    this.gauges.get(`ring ${ring.name}`)?.set(figure, ring.size ? [{ c: "ready", share, full: share > 0.9 }] : []);
  }

  private build(view: View, layout: string): void {
    this.layout = layout;
    this.gauges.clear();
    const make = (key: string, name: string, parts: number, title = "") => {
      const gauge = new Gauge(name, parts, title);
      this.gauges.set(key, gauge);
      return gauge.element;
    };
    const group = (title: string, note: string, children: HTMLElement[]) =>
      children.length > 0 && h("div", {}, h("h3", {}, title, h("small", {}, note)), ...children);
    fill(this.element,
      group("Ports", "packets", view.ports.map((it) => make(`port ${it.port}`, `port ${it.port}`, 0, `${it.bits_per_second / 1e9} Gb/s`))),
      group("Rings and queues", "words", view.rings.map((it) => make(`ring ${it.name}`, it.name, it.size ? 1 : 0))),
      group("Microengines", "busy so far", view.microengines.map((it) => make(`me ${it.me}`, `${it.me} ${it.stage}`, 3))),
      group("Memories and units", "busy so far", view.units.map((it) => make(`unit ${it.name}`, it.name, 1))));
  }
}
