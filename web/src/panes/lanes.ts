/**
 * The contexts as lanes over the last cycles, grouped by microengine.
 * Arrivals, departures and losses are drawn above them. The right edge is the present.
 */

import { h, icon } from "../dom";
import type { Lane, Thread, View } from "../engine/protocol";
import type { Lab } from "../lab";
import { count, timeText } from "../state";

/** Width of the margin left of the lanes, which holds the names of stages. */
const LEAST_MARGIN = 84;
const MOST_MARGIN = 160;
/** The part of the margin beside the name: its distance from the edge, and the context's number. */
const BESIDE_NAME = 34;
const NAME_FONT = "600 11.5px 'Plex Sans', sans-serif";
const TOP = 30;
const GROUP_GAP = 9;
const MOST_LANE = 26;
const LEAST_LANE = 10;
/** Least number of cycles that the lanes show, at the beginning of a run. */
const LEAST_SPAN = 100;

/** States that take the whole height of a lane, and all states that are drawn. */
const BUSY = ["executing", "aborted", "stalled"];
const DRAWN = [...BUSY, "ready", "waiting"];

interface Colours {
  [name: string]: string;
}

export class Lanes {
  readonly element: HTMLElement;
  private canvas = h("canvas", { role: "img", "aria-label": "What each context did over the last cycles" });
  private scroll = h("div", { class: "lanes-scroll", tabindex: "0", role: "group", "aria-label": "Contexts over the last cycles; the arrow keys choose one" });
  /** Gives the scrolled box the height of all lanes; the canvas stays in view, with the axis. */
  private extent = h("div", { class: "lanes-extent" });
  private more = h("button", { type: "button", class: "more-lanes", hidden: true, onclick: () => this.scroll.scrollBy({ top: this.scroll.clientHeight * 0.7 }) });
  private tip = h("div", { class: "tip", hidden: true });
  private view: View | null = null;
  private colours: Colours = {};
  private rows: { lane: Lane; top: number; height: number }[] = [];
  private groups: { me: number; stage: string; top: number; bottom: number }[] = [];
  private margin = LEAST_MARGIN;
  private due = false;

  constructor(
    private readonly lab: Lab,
    /** Called when a context is chosen. */
    private readonly onchoose: () => void,
  ) {
    const zoom = h("span", { style: "margin-left:auto; display:inline-flex; gap:4px; align-items:center" },
      h("label", { for: "window" }, "last"),
      h("select", {
        id: "window", style: "min-height:24px; padding:0 4px; font-size:11.5px",
        onchange: (event: Event) => void lab.zoom(Number((event.target as HTMLSelectElement).value)),
      }, ...[200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000].map((it) => h("option", { value: it }, `${count(it)} cycles`))));
    const swatch = (name: string, text: string, shape = "") => h("span", {}, h("i", { style: `--c:var(--${name})`, class: shape }), text);
    this.element = h("div", { class: "lanes" },
      h("div", { class: "lanes-box" }, this.scroll, this.more),
      this.tip,
      h("div", { class: "legend" },
        swatch("executing", "executing"), swatch("ready", "ready"), swatch("waiting", "asleep", "thin"), swatch("aborted", "aborted"),
        swatch("stalled", "stalled"), swatch("packet", "packet in", "packet"), swatch("executing", "out", "packet"), swatch("lost", "lost", "packet"), zoom));
    this.extent.append(this.canvas);
    this.scroll.append(this.extent);
    this.scroll.addEventListener("scroll", () => this.soon());
    lab.store.on(["view", "selected"], () => {
      this.view = lab.store.value.view;
      this.soon();
    });
    lab.store.on(["window"], () => {
      (this.element.querySelector("#window") as HTMLSelectElement | null)!.value = String(lab.store.value.window);
    });
    new ResizeObserver(() => this.soon()).observe(this.scroll);
    this.listen();
  }

  /** Called when the theme has changed. */
  recolour(): void {
    this.colours = {};
    this.soon();
  }

  private soon(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.draw();
    });
  }

  private colour(name: string): string {
    return (this.colours[name] ??= getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }

  private arrange(height: number): number {
    const lanes = this.view?.lanes ?? [];
    const mes = [...new Set(lanes.map((it) => it.thread.me))];
    const room = height - TOP - 8 - mes.length * GROUP_GAP;
    const lane = Math.max(LEAST_LANE, Math.min(MOST_LANE, Math.floor(room / Math.max(1, lanes.length))));
    this.rows = [];
    this.groups = [];
    let top = TOP;
    for (const me of mes) {
      const from = top;
      for (const it of lanes.filter((it) => it.thread.me === me)) {
        this.rows.push({ lane: it, top, height: lane });
        top += lane;
      }
      const stage = this.view?.contexts.find((it) => it.thread.me === me)?.stage ?? "";
      this.groups.push({ me, stage, top: from, bottom: top });
      top += GROUP_GAP;
    }
    return Math.max(height, top + 4);
  }

  /** Makes the margin as wide as the longest name needs, but no wider than a third of a narrow screen. */
  private makeMargin(to: CanvasRenderingContext2D, width: number): void {
    to.font = NAME_FONT;
    const longest = Math.max(0, ...this.groups.map((it) => to.measureText(it.stage).width));
    this.margin = Math.ceil(Math.max(LEAST_MARGIN, Math.min(longest + BESIDE_NAME, MOST_MARGIN, width / 3)));
  }

  /** The first cycle that the lanes show: a window of the past, or all of it near the beginning. */
  private first(view: View): number {
    const window = Math.max(view.cycle - view.from, this.lab.store.value.window);
    return Math.max(view.cycle - Math.max(1, window), Math.min(0, view.cycle - LEAST_SPAN));
  }

  private draw(): void {
    const width = this.scroll.clientWidth;
    const height = this.scroll.clientHeight;
    if (width === 0 || height === 0) return;
    const extent = this.arrange(height);
    this.extent.style.height = `${extent}px`;
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = `${height}px`;
    }
    const scrolled = Math.round(this.scroll.scrollTop * ratio) / ratio;
    this.tellMore(scrolled + height);
    const to = this.canvas.getContext("2d")!;
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    to.clearRect(0, 0, width, height);
    const view = this.view;
    if (!view) return;
    this.makeMargin(to, width);
    const left = this.margin;
    const right = width - 12;
    const from = this.first(view);
    const scale = (right - left) / (view.cycle - from);
    const x = (cycle: number) => left + (cycle - from) * scale;
    this.ruler(to, view, from, x, right);
    this.packets(to, view, x, left, height);
    to.save();
    to.beginPath();
    to.rect(0, TOP - GROUP_GAP / 2 - 1, width, height);
    to.clip();
    to.translate(0, -scrolled);
    const seen = (it: { top: number; bottom: number }) => it.bottom > scrolled && it.top < scrolled + height;
    for (const group of this.groups.filter(seen)) this.heading(to, group, right);
    for (const row of this.rows) if (seen({ top: row.top, bottom: row.top + row.height })) this.lane(to, row, x, left, right, ratio);
    to.restore();
    to.fillStyle = this.colour("ink");
    to.fillRect(right, TOP - 8, 1.5, height - TOP + 4);
  }

  /** Says which microengines are below the visible part. */
  private tellMore(bottom: number): void {
    const below = this.groups.filter((it) => it.top + LEAST_LANE > bottom).map((it) => it.me);
    this.more.hidden = below.length === 0;
    const text = below.length === 1 ? `ME ${below[0]} below` : `ME ${below[0]} to ${below.at(-1)} below`;
    if (!this.more.hidden && this.more.textContent !== text) this.more.replaceChildren(icon("below"), text);
  }

  private ruler(to: CanvasRenderingContext2D, view: View, from: number, x: (cycle: number) => number, right: number): void {
    const step = niceStep((view.cycle - from) / 5);
    to.font = "10.5px 'Plex Mono', monospace";
    to.textAlign = "center";
    to.textBaseline = "top";
    for (let at = Math.max(0, Math.ceil(from / step) * step); at <= view.cycle; at += step) {
      const place = x(at);
      if (place > right - 34 || place < this.margin + 20) continue;
      to.fillStyle = this.colour("ink-soft");
      to.fillText(count(at), place, 3);
      to.fillStyle = this.colour("rule");
      to.fillRect(place, TOP - 4, 1, 4000);
    }
    to.textAlign = "left";
    to.fillStyle = this.colour("ink-soft");
    to.fillText("cycle", 12, 3);
  }

  private packets(to: CanvasRenderingContext2D, view: View, x: (cycle: number) => number, left: number, height: number): void {
    const tick = (cycle: number, colour: string, up: boolean) => {
      const place = x(cycle);
      if (place < left) return;
      to.fillStyle = colour;
      to.globalAlpha = 0.16;
      to.fillRect(place, TOP - 2, 1, height);
      to.globalAlpha = 1;
      to.beginPath();
      const [tip, base] = up ? [TOP - 11, TOP - 4] : [TOP - 4, TOP - 11];
      to.moveTo(place, tip);
      to.lineTo(place - 3.5, base);
      to.lineTo(place + 3.5, base);
      to.fill();
    };
    for (const packet of view.packets) {
      if (packet.came) tick(packet.came[2], this.colour("packet"), false);
      if (packet.fate === "inside") continue;
      if ("left" in packet.fate) tick(packet.fate.left.at, this.colour("executing"), true);
      else tick(packet.fate.lost.at, this.colour("lost"), true);
    }
  }

  private heading(to: CanvasRenderingContext2D, group: { me: number; stage: string; top: number; bottom: number }, right: number): void {
    to.fillStyle = this.colour("rule-strong");
    to.fillRect(12, group.top - GROUP_GAP / 2, right - 12, 0.5);
    const middle = (group.top + group.bottom) / 2;
    to.textBaseline = "middle";
    to.textAlign = "left";
    to.fillStyle = this.colour("ink");
    to.font = NAME_FONT;
    const room = group.bottom - group.top;
    const name = room > 38 ? inTwo(to, group.stage, this.margin - BESIDE_NAME) : [group.stage];
    const tall = room > 24;
    let line = middle - (tall ? name.length * 6 + 1 : 0);
    for (const part of name) {
      to.fillText(clipped(to, part, this.margin - BESIDE_NAME), 12, line);
      line += 13;
    }
    if (!tall) return;
    to.fillStyle = this.colour("ink-soft");
    to.font = "10.5px 'Plex Mono', monospace";
    to.fillText(`ME ${group.me}`, 12, line + 1);
  }

  private lane(to: CanvasRenderingContext2D, row: { lane: Lane; top: number; height: number }, x: (cycle: number) => number, left: number, right: number, ratio: number): void {
    const { lane, top, height } = row;
    const selected = this.lab.store.value.selected;
    const chosen = selected?.me === lane.thread.me && selected.context === lane.thread.context;
    if (chosen) {
      to.fillStyle = this.colour("accent-wash");
      to.fillRect(left - 16, top, right - left + 16, height);
    }
    to.font = `${chosen ? "600 " : ""}${height < 12 ? 9 : 10}px 'Plex Mono', monospace`;
    to.textAlign = "right";
    to.textBaseline = "middle";
    to.fillStyle = this.colour(chosen ? "accent" : "ink-soft");
    to.fillText(String(lane.thread.context), left - 6, top + height / 2 + 0.5);
    const inner = Math.max(3, height - 3);
    const middle = top + height / 2;
    for (const [from, until, what] of columns(lane, (cycle) => (x(cycle) - left) * ratio, Math.round((right - left) * ratio))) {
      const thick = what === "waiting" ? 1.5 : what === "ready" ? Math.max(2, inner * 0.45) : inner;
      to.fillStyle = this.colour(what);
      // On whole pixels: a partly covered pixel would have a blended colour.
      const [upper, lower] = [Math.round((middle - thick / 2) * ratio), Math.round((middle + thick / 2) * ratio)];
      to.fillRect(left + from / ratio, upper / ratio, (until - from) / ratio, Math.max(1, lower - upper) / ratio);
    }
  }

  // ---- pointing and choosing ----

  private at(event: PointerEvent | MouseEvent): { thread: Thread; cycle: number; what: string | null } | null {
    const box = this.canvas.getBoundingClientRect();
    const above = event.clientY - box.top;
    if (above < TOP - GROUP_GAP / 2) return null;
    const y = above + this.scroll.scrollTop;
    const row = this.rows.find((it) => y >= it.top && y < it.top + it.height);
    const view = this.view;
    if (!row || !view) return null;
    const from = this.first(view);
    const share = (event.clientX - box.left - this.margin) / (box.width - this.margin - 12);
    const cycle = Math.round(from + share * (view.cycle - from));
    const stretches = row.lane.stretches.filter(([from, until]) => cycle >= from && cycle < until);
    return { thread: row.lane.thread, cycle, what: stretches.at(-1)?.[2] ?? null };
  }

  private listen(): void {
    this.canvas.addEventListener("pointermove", (event) => this.hint(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("click", (event) => {
      const at = this.at(event);
      if (at) this.choose(at.thread);
    });
    this.canvas.addEventListener("dblclick", (event) => {
      const at = this.at(event);
      if (at && at.cycle >= 0) void this.lab.seek(at.cycle);
    });
    this.scroll.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      if (by === 0 || this.rows.length === 0) return;
      event.preventDefault();
      const selected = this.lab.store.value.selected;
      const now = this.rows.findIndex(({ lane }) => lane.thread.me === selected?.me && lane.thread.context === selected.context);
      const next = this.rows[Math.min(this.rows.length - 1, Math.max(0, now + by))]!;
      if (next.top - TOP < this.scroll.scrollTop) this.scroll.scrollTop = next.top - TOP;
      const bottom = next.top + next.height + GROUP_GAP - this.scroll.clientHeight;
      if (bottom > this.scroll.scrollTop) this.scroll.scrollTop = bottom;
      this.choose(next.lane.thread);
    });
  }

  private choose(thread: Thread): void {
    void this.lab.select(thread);
    this.onchoose();
  }

  private hint(event: PointerEvent): void {
    const at = this.at(event);
    const view = this.view;
    this.tip.hidden = !at || !view || at.cycle < 0 || event.pointerType === "touch";
    if (!at || !view || this.tip.hidden) return;
    const words = at.what === "waiting" ? "asleep" : (at.what ?? "nothing");
    this.tip.textContent = `${at.thread.me}.${at.thread.context} ${words}\ncycle ${count(at.cycle)}, ${timeText(at.cycle, view.hertz)}`;
    const box = this.element.getBoundingClientRect();
    const left = event.clientX - box.left;
    this.tip.style.left = `${left > box.width - 200 ? left - this.tip.offsetWidth - 12 : left + 14}px`;
    this.tip.style.top = `${Math.max(0, event.clientY - box.top - 44)}px`;
  }
}

/**
 * What a lane shows in each column of pixels, as stretches of one colour: the state that has most of the column. Colours
 * of several states in one column would blend to one that means nothing.
 */
function columns({ stretches }: Lane, x: (cycle: number) => number, width: number): [from: number, until: number, what: string][] {
  const share = new Float32Array(width * DRAWN.length);
  for (const [from, until, what] of stretches) {
    const state = DRAWN.indexOf(what);
    const [begin, end] = [Math.max(0, x(from)), Math.min(width, x(until))];
    if (state < 0 || end <= begin) continue;
    for (let at = Math.floor(begin); at < end; at += 1) {
      const part = Math.min(end, at + 1) - Math.max(begin, at);
      const column = at * DRAWN.length;
      share[column + state]! += part;
      // Aborted and stalled cycles lie over a stretch of execution.
      if (what === "aborted" || what === "stalled") share[column]! -= part;
    }
  }
  const found: [number, number, string][] = [];
  for (let at = 0; at < width; at += 1) {
    const part = (state: number) => share[at * DRAWN.length + state]!;
    let busy = 0;
    for (let state = 0; state < BUSY.length; state += 1) busy += part(state);
    // A short execution within a long sleep has to be visible.
    const among = busy > 0.25 ? BUSY.length : DRAWN.length;
    let state = 0;
    for (let it = 1; it < among; it += 1) if (part(it) > part(state)) state = it;
    if (part(state) < 0.01) continue;
    const last = found.at(-1);
    if (last && last[1] === at && last[2] === DRAWN[state]) last[1] = at + 1;
    else found.push([at, at + 1, DRAWN[state]!]);
  }
  return found;
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= least) ?? power * 10;
}

/** Splits a name that is too wide in two, between its words. */
function inTwo(to: CanvasRenderingContext2D, text: string, width: number): string[] {
  if (to.measureText(text).width <= width) return [text];
  const ends = [...text.matchAll(/[_\- .]/g)].map((it) => it.index + 1).filter((it) => it < text.length);
  const middle = text.length / 2;
  const end = ends.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
  return end === undefined ? [text] : [text.slice(0, end), text.slice(end)];
}

function clipped(to: CanvasRenderingContext2D, text: string, width: number): string {
  if (to.measureText(text).width <= width) return text;
  let short = text;
  while (short.length > 1 && to.measureText(`${short}…`).width > width) short = short.slice(0, -1);
  return `${short}…`;
}
