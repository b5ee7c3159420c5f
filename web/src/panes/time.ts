/** Transport and time line: play, step and drag, in both directions. */

import { fill, h, icon, iconButton } from "../dom";
import type { Reason } from "../engine/protocol";
import type { Lab, StepBy } from "../lab";
import { count, durationText, lengthOf, timeText } from "../state";
import { nameOf } from "../project/files";

const STEPS: [StepBy, string][] = [
  ["line", "line"], ["instruction", "instruction"], ["into", "into macro"], ["out", "out of macro"], ["run", "turn of this context"], ["any", "turn of any context"],
];
const SPEEDS: [number, string][] = [[0, "full speed"], [20_000, "20,000 cycles/s"], [2_000, "2,000 cycles/s"], [300, "300 cycles/s"]];

export class Time {
  readonly transport = h("div", { class: "transport", role: "toolbar", "aria-label": "Run" });
  readonly track: HTMLElement;
  private clock = h("div", { class: "clock" });
  private where = h("div", { class: "where" });
  private reached = h("div", { class: "reached" });
  private shown = h("div", { class: "shown" });
  private head = h("div", { class: "head" });
  private marks = h("div", { class: "marks", "aria-hidden": "true" });
  private playing = h("button", { type: "button", class: "primary play" });
  private by = h("select", { "aria-label": "What a step is", class: "by" }, ...STEPS.map(([value, text]) => h("option", { value }, `step: ${text}`)));
  private speed = h("select", { "aria-label": "Speed", class: "speed" }, ...SPEEDS.map(([value, text]) => h("option", { value }, text)));
  private working = h("div", { class: "progress", role: "status" });
  private buttons: HTMLButtonElement[];
  /** The position of the pointer during a drag. */
  private hand: number | null = null;
  private length = 1_000;

  constructor(private readonly lab: Lab) {
    this.playing.addEventListener("click", () => this.toggle());
    this.speed.addEventListener("change", () => lab.store.set({ speed: Number(this.speed.value) }));
    const stepBy = () => this.by.value as StepBy;
    this.buttons = [
      iconButton("start", "To the beginning", () => void lab.seek(0)),
      iconButton("playBack", "Run backwards", () => void lab.play(true)),
      iconButton("stepBack", "Step back", () => void lab.step(stepBy(), true)),
    ];
    const forward = [
      iconButton("step", "Step", () => void lab.step(stepBy(), false)),
      iconButton("end", "To the end of the time line", () => void lab.seek(lengthOf(lab.store.value))),
    ];
    this.transport.append(this.clock, ...this.buttons, this.playing, ...forward, this.by, this.speed, this.working, this.where);
    this.buttons.push(...forward);
    this.track = h("div", {
      class: "track", role: "slider", tabindex: "0", "aria-label": "Cycle", "aria-orientation": "horizontal", "aria-valuemin": "0",
    }, h("div", { class: "rail" }, this.reached, this.shown), this.head, this.marks);
    this.listen();
    lab.store.on(["view", "opened", "window", "failure"], () => this.show());
    lab.store.on(["running", "progress", "opened", "stale", "failure"], () => this.showWork());
  }

  toggle(): void {
    const { running } = this.lab.store.value;
    if (running === "no") void this.lab.play();
    else this.lab.pause();
  }

  step(back: boolean): void {
    void this.lab.step(this.by.value as StepBy, back);
  }

  private showWork(): void {
    const { running, progress, opened, stale } = this.lab.store.value;
    const goes = running === "play" || running === "back";
    const long = running === "measure" || running === "seek";
    fill(this.playing, icon(goes ? "pause" : "play"), goes ? "Pause" : stale ? "Run anew" : "Run");
    // Also enabled if the sources did not assemble: playing tries them again.
    this.playing.disabled = !this.lab.target || (running !== "no" && !goes);
    for (const button of this.buttons) button.disabled = !opened || goes;
    const share = progress && progress.of > 0 ? progress.done / progress.of : null;
    fill(this.working,
      progress && h("span", {}, progress.text),
      progress && share !== null && h("progress", { max: 1, value: share, "aria-label": progress.text }),
      progress && (long
        ? h("button", { type: "button", onclick: () => this.lab.pause() }, "Cancel")
        : h("button", { type: "button", onclick: () => this.lab.abandon() }, "Stop")));
    this.where.hidden = progress !== null;
  }

  private show(): void {
    const { view, opened, failure } = this.lab.store.value;
    const hertz = view?.hertz ?? opened?.hertz ?? 600e6;
    this.track.hidden = !view;
    if (!view) {
      fill(this.clock, h("span", { class: "soft" }, "no run is open"));
      this.where.textContent = failure ? `cannot run: ${failure.message}` : "";
      return;
    }
    if (this.hand === null) this.length = lengthOf(this.lab.store.value);
    const at = this.hand ?? view.cycle;
    const share = (cycle: number) => `${Math.min(100, (cycle / this.length) * 100)}%`;
    fill(this.clock, h("b", {}, count(at)), " ", h("span", { class: "soft" }, `cycles, ${timeText(at, hertz)}`));
    this.head.style.left = share(at);
    this.reached.style.width = share(view.reached);
    this.shown.style.left = share(view.from);
    this.shown.style.width = `calc(${share(view.cycle)} - ${share(view.from)})`;
    this.track.setAttribute("aria-valuemax", String(this.length));
    this.track.setAttribute("aria-valuenow", String(at));
    this.track.setAttribute("aria-valuetext", `cycle ${count(at)}, ${timeText(at, hertz)}`);
    this.where.textContent = this.where.title = reasonText(view.reason, view.place ? `${nameOf(view.place.path)}:${view.place.line}` : "").replaceAll("`", "");
    this.showMarks(hertz);
  }

  private showMarks(hertz: number): void {
    const key = `${this.length} ${hertz}`;
    if (this.marks.dataset["key"] === key) return;
    this.marks.dataset["key"] = key;
    fill(this.marks, ...[0, 0.25, 0.5, 0.75, 1].map((share) =>
      h("span", { style: `left:${share * 100}%` }, share === 0 ? "0" : durationText((this.length * share) / hertz))));
  }

  private listen(): void {
    const cycleAt = (event: PointerEvent) => {
      const box = this.track.getBoundingClientRect();
      return Math.round(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * this.length);
    };
    const move = (event: PointerEvent) => {
      this.hand = cycleAt(event);
      this.show();
      this.lab.drag(this.hand);
    };
    this.track.addEventListener("pointerdown", (event) => {
      this.track.setPointerCapture(event.pointerId);
      move(event);
    });
    this.track.addEventListener("pointermove", (event) => {
      if (this.hand !== null) move(event);
    });
    const release = () => {
      this.hand = null;
    };
    this.track.addEventListener("pointerup", release);
    this.track.addEventListener("pointercancel", release);
    this.track.addEventListener("keydown", (event) => {
      const view = this.lab.store.value.view;
      if (!view) return;
      const to: Record<string, number> = {
        ArrowRight: view.cycle + (event.shiftKey ? 100 : 10), ArrowLeft: view.cycle - (event.shiftKey ? 100 : 10),
        PageUp: view.cycle + this.length / 20, PageDown: view.cycle - this.length / 20, Home: 0, End: this.length,
      };
      const at = to[event.key];
      if (at === undefined) return;
      event.preventDefault();
      this.lab.drag(Math.max(0, Math.round(at)));
    });
  }
}

export function reasonText(reason: Reason, place: string): string {
  switch (reason.kind) {
    case "entry":
    case "beginning": return "the beginning of the run";
    case "breakpoint": return reason.hits.map((it) => it.failure ?? (it.change ? `${it.title} changed from ${it.change[0]} to ${it.change[1]}` : `breakpoint at ${it.title}`)).join(", ");
    case "fault": return `${reason.name}: ${reason.message}`;
    case "end": return reason.text;
    default: return place ? `at ${place}` : "";
  }
}
