/** The messages between the page and the simulator; crates/web/README.md is the reference. */

export interface Thread {
  me: number;
  context: number;
}

/** Lines from 1, columns from 0 in UTF-16 units. */
export type Range = [line: number, column: number, endLine: number, endColumn: number];

export interface Edit {
  path: string;
  range: Range;
  text: string;
}

export interface Fix {
  title: string;
  preferred: boolean;
  edits: Edit[];
}

export interface Message {
  severity: "error" | "warning" | "note";
  code: string | null;
  path: string | null;
  range: Range | null;
  message: string;
  help: string | null;
  notes: string[];
  fixes?: Fix[];
}

export interface Failure {
  message: string;
  notes: string[];
  help: string | null;
}

export interface Frame {
  name: string;
  arguments: [string, string][];
  file: string;
  line: number;
  column: number;
}

export interface Hit {
  number: number;
  title: string;
  change: [number, number] | null;
  by: string[];
  failure: string | null;
}

export type Reason =
  | { kind: "entry" | "beginning" | "step" | "goto" | "interrupted" }
  | { kind: "breakpoint"; hits: Hit[] }
  | { kind: "fault"; name: string; message: string; notes: string[]; help: string | null }
  | { kind: "end"; text: string };

export interface Place {
  path: string;
  line: number;
  frames: Frame[];
}

/** The point within a cycle at which a run is viewed. */
export interface Standpoint {
  rank: number;
  pc: number | null;
  level: number;
}

export interface Moved {
  cycle: number;
  reached: number;
  end: { cycle: number; text: string } | null;
  reason: Reason;
  text: string[];
  said: { cycle: number; text: string }[];
  selected: Thread;
  place: Place | null;
}

export interface CommandAnswer extends Moved {
  lines: string[];
  moved: boolean;
  breakpoints: boolean;
}

export interface Opened {
  name: string;
  target: string;
  hertz: number;
  chip: string;
  ports: number[];
  until: number | null;
  arrivals_end: number | null;
  /** The load in use, or the keys that the project gives for one. */
  load: Load;
  programs: { me: number; stage: string; source: string; words: number; room: number; contexts: number[] }[];
  sources: string[];
  rings: string[];
  memories: { name: string; memory: string; address: number; bytes: number }[];
  messages: Message[];
  notes: string[];
}

export type Activity =
  | { state: "inactive" | "ready" | "executing" | "killed" }
  | { state: "waiting"; missing: string[]; any: boolean };

export interface ContextAtStop {
  thread: Thread;
  stage: string;
  activity: Activity;
  since: number;
  pc: number;
  frames: Frame[];
}

export interface RingAtStop {
  name: string;
  kind: "scratch" | "queue" | "neighbour";
  size?: number;
  fill: number;
  words: number[];
}

export type Fate = "inside" | { left: { port: number; at: number } } | { lost: { reason: string; at: number } };

export interface PacketAtStop {
  number: number;
  came: [port: number, bytes: number, at: number] | null;
  fate: Fate;
  buffers: string | null;
}

export interface Lane {
  thread: Thread;
  stretches: [number, number, string][];
}

export interface RegisterAtStop {
  name: string;
  register: string;
  value: number;
  text: string;
  side: "in" | "out" | null;
  written: boolean;
  owner: string | null;
}

export interface View {
  cycle: number;
  hertz: number;
  reason: Reason;
  selected: Thread;
  contexts: ContextAtStop[];
  rings: RingAtStop[];
  packets: PacketAtStop[];
  lanes: Lane[];
  from: number;
  reached: number;
  end: { cycle: number; text: string } | null;
  until: number | null;
  place: Place | null;
  stand: Standpoint | null;
  registers: RegisterAtStop[];
  signals: { name: string; number: number; came: boolean }[];
  microengines: { me: number; stage: string; executing: number; aborted: number; stalled: number; idle: number; instructions: number }[];
  units: { name: string; busy: number; queue: number; queue_peak: number; commands: number }[];
  ports: { port: number; bits_per_second: number; came: number; left: number; lost: number }[];
  totals: { came: number; left: number; lost: number; slow_path: number; inside: number; drops: { port: number | null; reason: string; count: number }[] };
}

/** Keys of a project's `[load]`. */
export type Load = Record<string, unknown>;

export type Traffic =
  | { kind: "project" }
  | { kind: "none" }
  | { kind: "load"; load: Record<string, string | number> }
  | { kind: "capture"; path: string; pace?: string; ports?: string };

export interface OpenRequest {
  op: "open";
  target: string;
  traffic?: Traffic;
  until?: string;
  memory?: number;
}

export interface PacketEvent {
  cycle: number;
  what: string;
  me: number | null;
  context: number | null;
  path: string | null;
  line: number | null;
}

export interface Journey {
  packet: number;
  over: boolean;
  events: PacketEvent[];
}

export interface Breakpoint {
  number: number;
  title: string;
  path: string | null;
  line: number | null;
  enabled: boolean;
  condition: string | null;
  log: boolean;
}

export interface FrameRow {
  number: number;
  at: number | null;
  seconds: number;
  port: number;
  bytes: number;
  summary: string;
  layers: { name: string; fields: [string, string][] }[];
  hex: string;
}

export interface Goal {
  name: string;
  measure: string;
  passed: boolean;
  why: string | null;
  figure_text: string | null;
  bounds_text: string | null;
  hint: string | null;
  file: string;
  line: number;
}

export interface ExerciseAnswer {
  project: string;
  cycles: number;
  passed: boolean;
  goals: Goal[];
  fault: Failure | null;
  /** The first race that was found. */
  race: Failure | null;
}

export interface MeasureAnswer {
  done: boolean;
  cycle: number;
  of: number;
  ending?: string;
  fault?: Failure | null;
  notes?: string[];
  /** The traffic, if it was too little to show a limit. */
  slow?: { frames: number; seconds: number; line_percent: number };
}

/** A request of the simulator that is not one of the worker's own tasks. */
export type Request = { op: string } & Record<string, unknown>;

/** What the page sends to its worker. */
export type ToWorker =
  | { kind: "module"; module: WebAssembly.Module }
  | { kind: "put"; path: string; bytes: Uint8Array }
  | { kind: "ask"; id: number; request: Request }
  | { kind: "play"; id: number; play: Play }
  | { kind: "seek"; id: number; at: number; window: number; lanes: boolean }
  | { kind: "measure"; id: number; observe: boolean }
  | { kind: "cancel" };

/** Continues until a breakpoint, the end or a cancel. */
export interface Play {
  back: boolean;
  /** Cycles per second; 0: as fast as possible. */
  speed: number;
  /** Cycles that the lanes show. */
  window: number;
}

/** What the worker sends to the page. */
export type FromWorker =
  | { kind: "ready" }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "failure"; id: number; failure: Failure; messages: Message[]; spent: boolean }
  | { kind: "seen"; id: number; view: View; said: Moved["said"] }
  | { kind: "progress"; id: number; done: number; of: number }
  | { kind: "alive" };
