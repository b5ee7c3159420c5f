/** What is selected: a context with its place, names and what it waits for; packets and their journeys. */

import { fill, h } from "../dom";
import type { Activity, ContextAtStop, Journey, PacketAtStop, Thread, View } from "../engine/protocol";
import type { Lab } from "../lab";
import { inline } from "../markdown";
import { nameOf } from "../project/files";
import { count, timeText } from "../state";
import { linked } from "./linked";
import { Memory } from "./memory";
import { Tabs } from "./tabs";
import { fates } from "./words";

type Go = (path: string, line: number) => void;

const WORDS: Record<Activity["state"], string> = {
  executing: "executing", ready: "ready, another context has the pipeline", waiting: "asleep", killed: "has exited", inactive: "not enabled",
};
const COLOUR: Record<Activity["state"], string> = {
  executing: "executing", ready: "ready", waiting: "ink-soft", killed: "rule-strong", inactive: "rule-strong",
};

export class Look {
  readonly tabs: Tabs;
  private context = h("div");
  private packets = h("div");
  private answer = h("div", { class: "answer", "aria-live": "polite", hidden: true });
  private picker = h("select", { "aria-label": "Context" });
  private place = h("div", { class: "block" });
  private names = h("div", { class: "block" });
  private signals = h("div", { class: "block" });
  private points = h("div", { class: "block" });
  private before = new Map<string, number>();
  private beforeCycle = -1;
  private journey: Journey | null = null;
  private shown = h("div");
  private number = h("input", { type: "text", inputmode: "numeric", id: "packet-number", size: 10, autocomplete: "off" });
  private asking = h("form", {
    class: "thread-row", style: "margin-top:8px",
    onsubmit: (event: Event) => {
      event.preventDefault();
      this.choose(this.number.value.trim());
    },
  }, h("label", { for: "packet-number" }, "Packet"), this.number, h("button", { type: "submit" }, "Show"));
  private list = h("div", { class: "block" }, h("h3", {}, "Packets"), this.shown, this.asking);
  private way = h("div", { class: "block" });

  constructor(
    private readonly lab: Lab,
    private readonly go: Go,
  ) {
    this.picker.addEventListener("change", () => {
      const [me, context] = this.picker.value.split(".").map(Number);
      void lab.select({ me: me!, context: context! } as Thread);
    });
    this.context.append(
      h("div", { class: "block thread-row" }, this.picker), this.place, this.names, this.signals, this.points);
    this.packets.append(this.list, this.way);
    const memory = new Memory(lab, go);
    this.tabs = new Tabs("look", "What is selected", [
      { id: "context", title: "Context", panel: this.context },
      { id: "packet", title: "Packets", panel: this.packets },
      { id: "memory", title: "Memory", panel: memory.element },
    ]);
    this.tabs.onshow = (id) => {
      if (id === "memory") void memory.show();
    };
    lab.store.on(["view", "running"], () => this.show());
    lab.store.on(["breakpoints"], () => this.showPoints());
    lab.store.on(["packet"], () => void this.follow());
  }

  private show(): void {
    const { view } = this.lab.store.value;
    if (!view) {
      fill(this.place, h("p", { class: "soft" }, "Registers, packets and reasons appear here when a run is open."));
      for (const it of [this.picker.parentElement!, this.names, this.signals, this.list, this.way]) it.hidden = true;
      this.before.clear();
      return;
    }
    for (const it of [this.picker.parentElement!, this.list, this.way]) it.hidden = false;
    this.pick(view);
    const now = view.contexts.find((it) => same(it.thread, view.selected));
    if (now) this.showPlace(view, now);
    this.showNames(view);
    this.showSignals(view);
    this.showPackets(view);
    if (view.cycle !== this.beforeCycle) {
      this.answer.hidden = true;
      this.beforeCycle = view.cycle;
      this.before = new Map(view.registers.map((it) => [it.name, it.value]));
    }
  }

  private pick(view: View): void {
    const names = view.contexts.map((it) => `${it.thread.me}.${it.thread.context} ${it.stage}`);
    if (this.picker.dataset["all"] !== names.join()) {
      this.picker.dataset["all"] = names.join();
      fill(this.picker, ...names.map((it) => h("option", { value: it.split(" ")[0] }, it)));
    }
    this.picker.value = `${view.selected.me}.${view.selected.context}`;
  }

  private showPlace(view: View, now: ContextAtStop): void {
    const { activity } = now;
    const waits = activity.state === "waiting" ? activity.missing.join(activity.any ? " or " : " and ") : "";
    const calm = this.lab.store.value.running === "no";
    const begun = view.cycle > 0;
    fill(this.place,
      h("p", { class: "state big" }, h("i", { style: `--c:var(--${COLOUR[activity.state]})` }), begun ? WORDS[activity.state] : "not started"),
      waits !== "" && h("p", {}, "waits for ", ...inline(waits)),
      begun && h("p", { class: "soft" }, sinceText(now.since, view.cycle)),
      h("ol", { class: "frames" }, ...now.frames.map((it) => h("li", {},
        h("button", { type: "button", class: "link", onclick: () => this.go(it.file, it.line) }, `${nameOf(it.file)}:${it.line}`), " ",
        h("span", { class: "soft" }, it.name === nameOf(it.file) ? "" : `in ${it.name}`)))),
      calm && activity.state === "waiting" && h("p", { class: "asks" },
        h("button", { type: "button", onclick: () => void this.say(this.lab.why()) }, "Why does it sleep?"),
        h("button", { type: "button", onclick: () => void this.lab.command("wake") }, "Run to its waking")),
      this.answer);
  }

  private async say(lines: Promise<string[]>): Promise<void> {
    const text = (await lines).join("\n");
    fill(this.answer, ...linked(text, this.lab, this.go));
    this.answer.hidden = text === "";
    this.answer.scrollIntoView({ block: "nearest" });
  }

  private showNames(view: View): void {
    this.names.hidden = view.registers.length === 0;
    fill(this.names, h("h3", {}, "Names alive here", h("small", { class: "soft" }, "press one: who wrote it?")),
      h("table", { class: "values" }, h("tbody", {}, ...view.registers.map((it) => {
        const moved = this.before.has(it.name) && this.before.get(it.name) !== it.value;
        return h("tr", {},
          h("th", { class: "name", scope: "row" },
            h("button", { type: "button", class: "link", title: `Who wrote ${it.name}?`, onclick: () => void this.say(this.lab.who(it.name)) }, it.name),
            h("small", {}, it.owner ? `${it.register}: ${it.owner}` : it.register)),
          h("td", { class: `value${moved ? " moved" : ""}`, title: moved ? "new since the last stop" : null }, it.written ? `0x${(it.value >>> 0).toString(16)}` : "not written", it.written && h("small", {}, count(it.value))));
      }))));
  }

  private showSignals(view: View): void {
    this.signals.hidden = view.signals.length === 0;
    fill(this.signals, h("h3", {}, "Signals"),
      h("table", { class: "values" }, h("tbody", {}, ...view.signals.map((it) => h("tr", {},
        h("th", { class: "name", scope: "row" }, it.name), h("td", { class: "value" }, it.came ? "has come" : "has not come"))))));
  }

  private showPoints(): void {
    const { breakpoints } = this.lab.store.value;
    this.points.hidden = breakpoints.length === 0;
    fill(this.points, h("h3", {}, "Breakpoints"), h("ul", {}, ...breakpoints.map((it) => h("li", { style: "display:flex; gap:8px; align-items:center" },
      it.path && it.line
        ? h("button", { type: "button", class: "link mono", onclick: () => this.go(it.path!, it.line!) }, it.title)
        : h("span", { class: "mono" }, it.title),
      h("button", { type: "button", class: "quiet", style: "margin-left:auto; padding:0 8px", "aria-label": `Remove breakpoint ${it.title}`, onclick: () => void this.lab.removeBreakpoint(it.number) }, "Remove")))));
  }

  // ---- packets ----

  private showPackets(view: View): void {
    const { totals } = view;
    const chosen = this.lab.store.value.packet;
    // A packet has no journey before it arrives.
    if (chosen !== null && chosen >= totals.came) this.lab.store.set({ packet: null });
    this.number.placeholder = totals.came > 0 ? `0 to ${count(totals.came - 1)}` : "";
    this.asking.hidden = totals.came === 0;
    fill(this.shown,
      h("p", { style: "margin-bottom:8px" }, ...fates(totals), "."),
      ...totals.drops.map((it) => h("p", { class: "soft" }, `${count(it.count)} lost: ${it.reason}${it.port === null ? "" : ` (port ${it.port})`}`)),
      view.packets.length === 0
        ? h("p", { class: "soft" }, totals.came > 0 ? "None arrived or was sent in the cycles that the lanes show; all have a number." : "None arrived or was sent in the cycles that the lanes show.")
        : h("div", { class: "chips" }, ...view.packets.slice(-80).map((it) => h("button", {
            type: "button", class: fateName(it), title: fateText(it), "aria-pressed": String(it.number === chosen),
            onclick: () => this.lab.store.set({ packet: it.number }),
          }, String(it.number)))));
  }

  private choose(text: string): void {
    const came = this.lab.store.value.view?.totals.came ?? 0;
    const number = Number(text);
    if (text !== "" && Number.isSafeInteger(number) && number >= 0 && number < came) this.lab.store.set({ packet: number });
    else this.lab.complain(`There is no packet ${text || "without a number"} yet.`, `Those that came so far are 0 to ${count(came - 1)}.`);
  }

  async follow(): Promise<void> {
    const { packet, view } = this.lab.store.value;
    if (packet === null || !view) {
      fill(this.way, h("p", { class: "soft" }, "Choose a packet to see its journey: by its button, or by its number. Numbers count arrivals from 0."));
      return;
    }
    this.tabs.show("packet");
    this.showPackets(view);
    const journey = await this.lab.journey(packet);
    if (packet !== this.lab.store.value.packet) return;
    this.journey = journey;
    this.showJourney(view);
  }

  private showJourney(view: View): void {
    const it = this.journey;
    if (!it) return;
    fill(this.way, h("h3", {}, `Journey of packet ${it.packet}`),
      h("ol", { class: "journey" }, ...it.events.map((event) => h("li", {},
        h("div", {},
          h("button", { type: "button", class: "link mono", title: timeText(event.cycle, view.hertz), onclick: () => void this.lab.seek(event.cycle) }, `cycle ${count(event.cycle)}`),
          h("div", {}, event.what),
          event.path !== null && event.line !== null && h("div", {},
            event.me !== null && h("span", { class: "soft" }, `${event.me}.${event.context} at `),
            h("button", { type: "button", class: "link mono", onclick: () => this.go(event.path!, event.line!) }, `${nameOf(event.path)}:${event.line}`)))))),
      !it.over && h("p", { class: "soft" }, "It is still inside."));
  }
}

/** A context enters its state at the end of the slots that the pipeline still has to fill or to empty. */
function sinceText(since: number, cycle: number): string {
  const cycles = (many: number) => `${count(many)} cycle${many === 1 ? "" : "s"}`;
  return since > cycle
    ? `from cycle ${count(since)} on, in ${cycles(since - cycle)}`
    : `since cycle ${count(since)}, for ${cycles(cycle - since)}`;
}

const same = (a: Thread, b: Thread) => a.me === b.me && a.context === b.context;
const fateName = (it: PacketAtStop) => (it.fate === "inside" ? "inside" : "left" in it.fate ? "left" : "lost");

function fateText(it: PacketAtStop): string {
  const came = it.came ? `${it.came[1]} bytes, came at port ${it.came[0]} in cycle ${count(it.came[2])}` : "";
  if (it.fate === "inside") return [came, it.buffers ?? "inside"].filter(Boolean).join("; ");
  if ("left" in it.fate) return `${came}; left by port ${it.fate.left.port}`;
  return `${came}; lost: ${it.fate.lost.reason}`;
}
