/** The operations of the laboratory, which panes call: opening runs, moving in time, asking questions. */

import { Client, GivenUp, Refusal } from "./engine/client";
import type {
  Breakpoint, CommandAnswer, ExerciseAnswer, Journey, MeasureAnswer, Moved, Opened, Standpoint, Thread, Traffic, View,
} from "./engine/protocol";
import type { Files } from "./project/files";
import { folderOf, isText } from "./project/files";
import { MovedLines, step } from "./project/moved-lines";
import type { Running, Store } from "./state";
import { closed, count, durationText } from "./state";

export type StepBy = "instruction" | "line" | "into" | "out" | "run" | "any";

/** An event, from which lessons tell what the user did. */
export interface Happening {
  kind: "opened" | "stopped" | "back" | "sought" | "command" | "exercise" | "measured" | "edited" | "packet" | "why";
  line?: string;
  exercise?: ExerciseAnswer;
}

interface Wanted {
  target: string;
  traffic: Traffic;
  until: string;
  /** Keys of the project file that have another value. */
  set: Record<string, string>;
}

/** Cycles of traffic above which a run is only counted, with idle time skipped, and not observed. */
const LONG_CAPTURE = 60_000_000;

export class Lab {
  readonly run: Client;
  readonly language: Client;
  private wanted: Wanted | null = null;
  /** The target that the store describes: its run, or why there is none. */
  private standing: string | null = null;
  /** Lines of the open run's sources, of which some may have changed since. */
  private moved = new MovedLines();
  private unset = 0;
  private listeners: ((happening: Happening) => void)[] = [];
  /** The cycle that a drag asks for: only the latest counts. */
  private wish: number | null = null;
  private restoring = false;
  onlines: (line: string, answer: string[], wrong: boolean) => void = () => {};

  constructor(
    readonly store: Store,
    readonly files: Files,
    makeWorker: () => Worker,
  ) {
    this.run = new Client(makeWorker, 15_000, (client) => {
      for (const [path, bytes] of files.all()) client.put(path, bytes);
    });
    this.language = new Client(makeWorker, 8_000, (client) => {
      for (const [path, bytes] of files.all()) if (isText(path)) client.put(path, bytes);
    });
    this.run.onlost = (reason) => void this.restore(reason);
    this.language.onlost = (reason) =>
      this.complain(`The analysis of the source was restarted: ${reason}.`, "A macro that uses itself, or a loop without end in #while, keeps it busy.");
    files.onchange((path, bytes, before) => {
      for (const client of isText(path) ? [this.run, this.language] : [this.run]) {
        if (bytes) client.put(path, bytes);
        else client.ask({ op: "remove", path }).catch(() => {});
      }
      if (isText(path) && this.concerns(path)) this.outdate(path, before, bytes);
    });
  }

  private concerns(path: string): boolean {
    const { opened, openMessages } = this.store.value;
    const target = opened?.target ?? this.standing;
    if (target === null) return false;
    return path === target || path.startsWith(`${folderOf(target)}/`) || (opened?.sources.includes(path) ?? false) || openMessages.some((it) => it.path === path);
  }

  /** Called when a source of the open project has changed. */
  private outdate(path: string, before: Uint8Array | null, after: Uint8Array | null): void {
    const { opened, openMessages } = this.store.value;
    this.store.set({ stale: opened !== null, failure: null, openMessages: openMessages.filter((it) => it.path !== path) });
    if (!before || !after) return;
    const [was, now] = [before, after].map((it) => new TextDecoder().decode(it)) as [string, string];
    const next = step(was, now);
    if (opened) this.moved.change(path, was, next);
    const { breakpoints } = this.store.value;
    const kept = this.atLines(breakpoints, (it) => (it.path === path ? next(it.line) : it.line));
    if (kept.some((it, at) => it !== breakpoints[at]) || kept.length !== breakpoints.length) this.store.set({ breakpoints: kept });
  }

  on(listener: (happening: Happening) => void): void {
    this.listeners.push(listener);
  }

  tell(happening: Happening): void {
    for (const listener of this.listeners) listener(happening);
  }

  complain(text: string, help: string | null = null): void {
    this.store.set({ notice: { kind: "error", text, help } });
  }

  inform(text: string): void {
    this.store.set({ notice: { kind: "info", text } });
  }

  get target(): string | null {
    return this.wanted?.target ?? null;
  }

  get settings(): Record<string, string> {
    return this.wanted?.set ?? {};
  }

  // ---- work, one piece at a time ----

  private async doing<T>(running: Running, work: () => Promise<T>): Promise<T | null> {
    if (this.store.value.running !== "no") {
      this.run.cancel();
      await this.idle();
    }
    this.store.set({ running });
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refusal) this.complain(error.failure.message, error.failure.help);
      else if (!(error instanceof GivenUp)) this.complain(String(error));
      return null;
    } finally {
      this.store.set({ running: "no", progress: null });
    }
  }

  private async idle(): Promise<void> {
    while (this.store.value.running !== "no") await new Promise((resolve) => setTimeout(resolve, 5));
  }

  private async look(): Promise<View> {
    const view = await this.run.ask<View>({ op: "view", cycles: this.store.value.window });
    this.show(view);
    return view;
  }

  private show(view: View): void {
    this.store.set({ view, selected: view.selected });
  }

  private spoken(said: Moved["said"]): void {
    if (said.length > 0) this.onlines("", said.map((it) => `[${it.cycle}] ${it.text}`), false);
  }

  // ---- opening ----

  /** Opens a run; `at`, `stand` and `points` are those of a link or of the run before. */
  async open(target: string, how: Partial<Wanted> & { at?: number; stand?: Standpoint | null; points?: { path: string; line: number; condition?: string }[]; selected?: Thread | null } = {}): Promise<boolean> {
    const { traffic, until } = this.store.value;
    const wanted = { target, traffic: how.traffic ?? traffic, until: how.until ?? until, set: how.set ?? {} };
    this.wanted = wanted;
    const done = await this.doing("open", async () => {
      // A run of the same target stays visible until it is replaced; a run of another target is closed.
      if (this.standing !== target) this.store.set(closed());
      this.standing = target;
      this.store.set({ progress: { text: "Assembling", done: 0, of: 0 }, traffic: wanted.traffic, until: wanted.until });
      let opened: Opened;
      try {
        opened = await this.run.ask<Opened>({
          op: "open", target, traffic: wanted.traffic, memory: 64, set: wanted.set, ...(wanted.until ? { until: wanted.until } : {}),
        });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.store.set({ failure: error.failure, openMessages: error.messages });
        return false;
      }
      const { view, selected } = this.store.value;
      this.store.set({ ...closed(), view, selected, opened, openMessages: opened.messages });
      this.moved.clear();
      for (const point of how.points ?? []) {
        await this.run.ask({ op: "break", ...point }).catch(() => {});
      }
      if (how.points?.length) await this.readBreakpoints();
      if (how.selected) await this.run.ask({ op: "select", ...how.selected }).catch(() => {});
      if (how.at) await this.seekNow(how.at);
      if (how.at && how.stand) await this.run.ask({ op: "goto", at: how.at, stand: how.stand }).catch(() => {});
      await this.look();
      return true;
    });
    if (done) this.tell({ kind: "opened" });
    return done === true;
  }

  /** Opens the same run again, from its present sources. */
  async reopen(change: Partial<Wanted> & { at?: number; stand?: Standpoint | null; selected?: Thread } = {}): Promise<boolean> {
    if (!this.wanted) return false;
    const points = this.store.value.breakpoints.flatMap((it) =>
      it.path !== null && it.line !== null
        ? [{ path: it.path, line: it.line, ...(it.condition ? { condition: it.condition } : {}) }]
        : []);
    return this.open(this.wanted.target, { ...this.wanted, points, ...change });
  }

  /** Brings a new worker to where the lost one was. */
  private async restore(reason: string): Promise<void> {
    const view = this.store.value.view;
    this.complain(`The simulator was restarted: ${reason}.`);
    if (this.restoring || !this.wanted || !this.store.value.opened) return;
    this.restoring = true;
    await this.idle();
    const notice = this.store.value.notice;
    await this.reopen(view ? { at: view.cycle, stand: view.stand, selected: view.selected } : {});
    this.store.set({ notice });
    this.restoring = false;
  }

  /** Whether the run is one of the present sources; if not, opens them. */
  private async current(): Promise<boolean> {
    const { opened, stale } = this.store.value;
    if (opened && !stale) return true;
    if (await this.reopen()) return true;
    const { failure } = this.store.value;
    if (failure) this.complain(`It cannot run: ${failure.message}.`, failure.help);
    return false;
  }

  // ---- time ----

  async play(back = false): Promise<void> {
    if (!(await this.current())) return;
    await this.doing(back ? "back" : "play", async () => {
      const { speed, window } = this.store.value;
      await this.run.play({ back, speed, window }, (view, said) => {
        this.show(view);
        this.spoken(said);
      });
    });
    await this.readBreakpoints();
    this.tell({ kind: "stopped" });
    if (back) this.tell({ kind: "back" });
  }

  pause(): void {
    this.run.cancel();
  }

  /** Ends whatever the simulator is doing, even if it does not respond. */
  abandon(): void {
    this.run.lose("ended by you");
  }

  async step(by: StepBy, back: boolean): Promise<void> {
    if (!this.store.value.opened) return;
    await this.doing("step", async () => {
      const moved = await this.run.ask<Moved>({ op: "step", by, back, cycles: 2_000_000 });
      this.spoken(moved.said);
      await this.look();
    });
    this.tell({ kind: "stopped" });
    if (back) this.tell({ kind: "back" });
  }

  private async seekNow(at: number, lanes = true): Promise<void> {
    const view = await this.run.seek(at, this.store.value.window, lanes, (done, of) =>
      this.store.set({ progress: { text: "Running there", done, of } }));
    this.show(view);
  }

  async seek(at: number): Promise<void> {
    if (!this.store.value.opened) return;
    const before = this.store.value.view?.cycle ?? 0;
    await this.doing("seek", () => this.seekNow(at));
    this.tell({ kind: "sought" });
    if (at < before) this.tell({ kind: "back" });
  }

  /** Follows a drag of the time line: one jump at a time, each to the latest position. */
  drag(at: number): void {
    const going = this.wish !== null;
    this.wish = at;
    if (going) return;
    void (async () => {
      while (this.wish !== null) {
        const to = this.wish;
        await this.seek(to);
        if (this.wish === to) this.wish = null;
      }
    })();
  }

  async zoom(window: number): Promise<void> {
    this.store.set({ window: Math.round(Math.min(100_000, Math.max(100, window))) });
    if (this.store.value.opened && this.store.value.running === "no") await this.look();
  }

  // ---- what is looked at ----

  async select(thread: Thread): Promise<void> {
    if (this.store.value.running !== "no") return;
    await this.doing("step", async () => {
      await this.run.ask({ op: "select", ...thread });
      await this.look();
    });
  }

  async why(): Promise<string[]> {
    this.tell({ kind: "why" });
    return this.lines({ op: "why" });
  }

  who(what: string): Promise<string[]> {
    return this.lines({ op: "who", what });
  }

  private async lines(request: { op: string; what?: string }): Promise<string[]> {
    try {
      return (await this.run.ask<{ lines: string[] }>(request)).lines;
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  }

  async journey(number: number): Promise<Journey | null> {
    try {
      const journey = await this.run.ask<Journey>({ op: "packet", number });
      this.tell({ kind: "packet" });
      return journey;
    } catch {
      return null;
    }
  }

  // ---- breakpoints ----

  async readBreakpoints(): Promise<void> {
    if (!this.store.value.opened) return;
    const { breakpoints } = await this.run.ask<{ breakpoints: Breakpoint[] }>({ op: "breakpoints" });
    const waiting = this.store.value.breakpoints.filter((it) => it.number < 0);
    this.store.set({ breakpoints: [...this.atLines(breakpoints, (it) => this.moved.present(it.path, it.line)), ...waiting] });
  }

  /** Moves breakpoints to other lines, and removes those whose line is gone. */
  private atLines(breakpoints: Breakpoint[], to: (it: { path: string; line: number }) => number | null): Breakpoint[] {
    return breakpoints.flatMap((it) => {
      if (it.path === null || it.line === null) return [it];
      const line = to({ path: it.path, line: it.line });
      if (line === it.line) return [it];
      if (line !== null) return [{ ...it, line, title: it.title.replace(`:${it.line}`, `:${line}`) }];
      if (it.number > 0) void this.run.ask({ op: "unbreak", number: it.number }).catch(() => {});
      return [];
    });
  }

  /** Where a line of the run's source is in its present text. */
  presentLine(path: string, line: number): number | null {
    return this.moved.present(path, line);
  }

  async toggleBreakpoint(path: string, line: number, condition?: string): Promise<void> {
    const there = this.store.value.breakpoints.find((it) => it.path === path && it.line === line);
    if (there) await this.removeBreakpoint(there.number);
    if (there && !condition) return;
    const own = this.store.value.opened ? this.moved.original(path, line) : null;
    if (own === null) return this.breakLater(path, line, condition);
    await this.doing("step", async () => {
      await this.run.ask({ op: "break", path, line: own, ...(condition ? { condition } : {}) });
      await this.readBreakpoints();
    });
  }

  /** Adds a breakpoint at a line that the run does not have; it is set when the sources are opened. */
  private breakLater(path: string, line: number, condition?: string): void {
    const point = { number: --this.unset, title: `${path}:${line}`, path, line, enabled: true, condition: condition ?? null, log: false };
    this.store.set({ breakpoints: [...this.store.value.breakpoints, point] });
  }

  async removeBreakpoint(number: number): Promise<void> {
    if (number < 0) {
      this.store.set({ breakpoints: this.store.value.breakpoints.filter((it) => it.number !== number) });
      return;
    }
    await this.doing("step", async () => {
      await this.run.ask({ op: "unbreak", number });
      await this.readBreakpoints();
    });
  }

  /** Executes a console command, and returns the lines that the console shows. */
  async command(line: string): Promise<string[]> {
    let said: string[] = [];
    const say = (lines: string[], wrong: boolean) => {
      said = lines;
      this.onlines(line, lines, wrong);
    };
    if (!this.store.value.opened) {
      say(["no run is open"], true);
      return said;
    }
    const before = this.store.value.view?.cycle ?? 0;
    await this.doing("step", async () => {
      try {
        const answer = await this.run.ask<CommandAnswer>({ op: "command", line });
        say(answer.lines, false);
        this.spoken(answer.said);
        if (answer.breakpoints) await this.readBreakpoints();
        await this.look();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { message, help } = error.failure;
        say(help ? [message, `help: ${help}`] : [message], true);
      }
    });
    this.tell({ kind: "command", line });
    this.tell({ kind: "stopped" });
    if ((this.store.value.view?.cycle ?? 0) < before) this.tell({ kind: "back" });
    return said;
  }

  // ---- the whole run ----

  async measure(): Promise<MeasureAnswer | null> {
    if (!(await this.current())) return null;
    const answer = await this.doing("measure", async () => {
      const { opened } = this.store.value;
      const observe = Math.min(opened?.until ?? Infinity, opened?.arrivals_end ?? 0) < LONG_CAPTURE;
      const answer = await this.run.measure(observe, (done, of) =>
        this.store.set({ progress: { text: `Measuring the whole run: cycle ${count(done)}`, done, of } }));
      if (!answer.done) return null;
      const limit = observe && !answer.slow ? await this.run.ask<{ headline: string }>({ op: "bottleneck" }) : null;
      this.store.set({ measured: true, headline: limit?.headline ?? unlimited(answer) });
      return answer;
    });
    if (answer) this.tell({ kind: "measured" });
    return answer;
  }

  async exercise(target: string): Promise<ExerciseAnswer | null> {
    const answer = await this.doing("check", async () => {
      this.store.set({ progress: { text: "Checking the goals", done: 0, of: 0 } });
      return this.run.ask<ExerciseAnswer>({ op: "exercise", target });
    });
    if (answer) this.tell({ kind: "exercise", exercise: answer });
    return answer;
  }
}

/** The message for a run in which there is no limit to find. */
function unlimited({ slow }: MeasureAnswer): string {
  if (!slow) return "The traffic lasts long: the run was counted, and not observed for what limits it.";
  const rate = slow.line_percent < 0.1 ? "less than 0.1%" : `${slow.line_percent.toFixed(1)}%`;
  return `${count(slow.frames)} packets in ${durationText(slow.seconds)}, ${rate} of what the lines carry: there is nothing to limit.`;
}
