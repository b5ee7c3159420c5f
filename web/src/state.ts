/** The state of the page, in one place; panes draw from it and are notified of changes by key. */

import type { Breakpoint, Failure, Message, Opened, Thread, Traffic, View } from "./engine/protocol";

export type Running = "no" | "play" | "back" | "seek" | "step" | "open" | "measure" | "check";

export interface State {
  /** The run that is open, and what it was opened from. */
  opened: Opened | null;
  /** Why the last attempt to open failed. */
  failure: Failure | null;
  /** Whether sources have changed since the run was opened. */
  stale: boolean;
  traffic: Traffic;
  /** Simulated time after which a run ends, as the user wrote it. */
  until: string;
  view: View | null;
  running: Running;
  progress: { text: string; done: number; of: number } | null;
  /** Cycles that the lanes show. */
  window: number;
  /** Cycles per second while the run plays; 0: as fast as possible. */
  speed: number;
  breakpoints: Breakpoint[];
  selected: Thread | null;
  packet: number | null;
  /** The file in the editor. */
  path: string | null;
  /** Messages of the analysis of the file in the editor, and of the last opening. */
  messages: Message[];
  openMessages: Message[];
  notice: { kind: "error" | "info"; text: string; help?: string | null } | null;
  measured: boolean;
  headline: string | null;
}

type Key = keyof State;

export class Store {
  private listeners = new Map<Key, Set<() => void>>();
  private touched = new Set<Key>();
  private scheduled = false;

  constructor(private state: State) {}

  get value(): Readonly<State> {
    return this.state;
  }

  set(change: Partial<State>): void {
    for (const key of Object.keys(change) as Key[]) {
      if (this.state[key] !== change[key]) this.touched.add(key);
    }
    Object.assign(this.state, change);
    if (this.touched.size > 0 && !this.scheduled) {
      this.scheduled = true;
      requestAnimationFrame(() => this.flush());
      // Browsers draw no frames for a hidden tab, but the run there has to continue.
      if (document.hidden) setTimeout(() => this.flush(), 50);
    }
  }

  /** Calls once now, and once a frame after any of the keys has changed. */
  on(keys: Key[], listener: () => void): void {
    for (const key of keys) {
      if (!this.listeners.has(key)) this.listeners.set(key, new Set());
      this.listeners.get(key)!.add(listener);
    }
    listener();
  }

  private flush(): void {
    if (!this.scheduled) return;
    this.scheduled = false;
    const due = new Set<() => void>();
    for (const key of this.touched) for (const it of this.listeners.get(key) ?? []) due.add(it);
    this.touched.clear();
    for (const listener of due) listener();
  }
}

/** The state of everything that belongs to a run, if none is open. */
export const closed = () => ({
  opened: null,
  failure: null,
  stale: false,
  view: null,
  breakpoints: [],
  selected: null,
  packet: null,
  openMessages: [],
  notice: null,
  measured: false,
  headline: null,
});

export const initial = (): State => ({
  ...closed(),
  traffic: { kind: "project" },
  until: "2ms",
  running: "no",
  progress: null,
  window: 2_000,
  speed: 0,
  path: null,
  messages: [],
});

/** Cycles above which a limit is a safeguard rather than the planned end. */
const LONG = 12_000_000;

/** The cycle at which the time line ends. */
export function lengthOf(state: Readonly<State>): number {
  const { opened, view } = state;
  const { until, arrivals_end: arrivals } = opened ?? { until: null, arrivals_end: null };
  // A program without traffic that may run for long has no known end: leave room beyond what was seen.
  const open = !arrivals && (until ?? Infinity) > LONG;
  const seen = Math.max(view?.reached ?? 0, view?.cycle ?? 0);
  const known = view?.end?.cycle ?? (open ? Math.max(20_000, seen * 1.25) : (until ?? arrivals ?? 0));
  return Math.round(Math.max(known, seen, 1_000));
}

/** Whole nanoseconds, as the simulator counts them and writes them in its summary. */
function nanosecondsText(ns: number): string {
  if (ns < 1e6) return `${(ns / 1e3).toFixed(3)} µs`;
  return ns < 1e9 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e9).toFixed(3)} s`;
}

export function timeText(cycle: number, hertz: number): string {
  return nanosecondsText(Number((BigInt(Math.round(cycle)) * 1_000_000_000n) / BigInt(hertz)));
}

/** The simulator's text with times as the page writes them: its `52.551us` and `200.433 us` are ASCII spellings. */
export function withTimes(text: string): string {
  return text
    .replace(/\b(\d+)\.(\d{3})us\b/g, (_, whole, part) => nanosecondsText(Number(whole + part)))
    .replace(/(\d) us\b/g, "$1 µs");
}

/** A time of which only the magnitude matters: `2 ms`, `1.53 s`. */
export function durationText(seconds: number): string {
  if (seconds < 1e-3) return `${+(seconds * 1e6).toPrecision(3)} µs`;
  return seconds < 1 ? `${+(seconds * 1e3).toPrecision(3)} ms` : `${+seconds.toPrecision(3)} s`;
}

export const count = (value: number) => value.toLocaleString("en-US");
