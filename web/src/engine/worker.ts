/**
 * The worker: owns the module, answers requests one by one, and divides long work into
 * stretches of some 20 ms, between which messages of the page are handled.
 */

import { Refused, Simulator } from "./module";
import type { FromWorker, MeasureAnswer, Moved, Play, ToWorker, View } from "./protocol";

const STRETCH_MS = 20;
/** How often the page gets a view while the run goes on. */
const VIEW_MS = 66;

let simulator: Simulator | null = null;
/** Changes when the page cancels: a task that began under another number ends. */
let era = 0;
const waiting: ToWorker[] = [];
let busy = false;

const post = (message: FromWorker, transfer: Transferable[] = []) =>
  (self as unknown as Worker).postMessage(message, transfer);

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.kind === "cancel") era += 1;
  else {
    waiting.push(message);
    void work();
  }
};

async function work(): Promise<void> {
  if (busy) return;
  busy = true;
  for (let message = waiting.shift(); message; message = waiting.shift()) await handle(message);
  busy = false;
}

async function handle(message: ToWorker): Promise<void> {
  try {
    if (message.kind === "module") {
      simulator = await Simulator.of(message.module);
      post({ kind: "ready" });
      return;
    }
    if (!simulator) return;
    if (message.kind === "put") simulator.put(message.path, message.bytes);
    else if (message.kind === "ask") {
      const value = simulator.ask<unknown>(message.request);
      const transfer = value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : [];
      post({ kind: "answer", id: message.id, value }, transfer);
    } else if (message.kind === "play") await play(simulator, message.id, message.play);
    else if (message.kind === "seek") await seek(simulator, message);
    else if (message.kind === "measure") await measure(simulator, message.id, message.observe);
  } catch (error) {
    if (!("id" in message)) return;
    const refused = error instanceof Refused ? error : null;
    const failure = refused?.failure ?? { message: String(error), notes: [], help: null };
    post({ kind: "failure", id: message.id, failure, messages: refused?.messages ?? [], spent: refused?.spent ?? false });
  }
}

/** Lets messages in. Browsers would delay a timer to 4 ms after a few rounds. */
const channel = new MessageChannel();
let resume: (() => void) | null = null;
channel.port1.onmessage = () => resume?.();
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    resume = resolve;
    channel.port2.postMessage(null);
  });
}
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Cycles of the next stretch, from the time that the last one took. */
function fitted(cycles: number, took: number): number {
  const factor = Math.min(4, Math.max(0.25, STRETCH_MS / Math.max(took, 0.5)));
  return Math.round(Math.min(5_000_000, Math.max(2_000, cycles * factor)));
}

function look(simulator: Simulator, window: number): View {
  return simulator.ask<View>({ op: "view", cycles: window, lanes: window > 0 });
}

async function play(simulator: Simulator, id: number, play: Play): Promise<void> {
  const began = era;
  let cycles = 20_000;
  let said: Moved["said"] = [];
  let shown = performance.now();
  let tick = performance.now();
  for (;;) {
    const before = performance.now();
    const moved = play.speed === 0
      ? simulator.ask<Moved>({ op: "run", cycles, back: play.back })
      : creep(simulator, play, before - tick);
    tick = before;
    said = said.concat(moved.said);
    const now = performance.now();
    cycles = fitted(cycles, now - before);
    const over = moved.reason.kind !== "interrupted" && moved.reason.kind !== "goto";
    if (over || now - shown >= VIEW_MS || play.speed > 0) {
      post({ kind: "seen", id, view: look(simulator, play.window), said });
      said = [];
      shown = now;
    }
    if (over) break;
    await (play.speed === 0 ? breathe() : sleep(30));
    if (era !== began) break;
  }
  post({ kind: "seen", id, view: look(simulator, play.window), said });
  post({ kind: "answer", id, value: null });
}

/** Slow motion: few enough cycles that the run can stop exactly after them, or at a breakpoint before. */
function creep(simulator: Simulator, play: Play, ms: number): Moved {
  const cycles = Math.max(1, Math.round((play.speed * Math.min(100, Math.max(16, ms))) / 1000));
  return simulator.ask<Moved>({ op: "run", cycles, back: play.back });
}

/** Goes to a cycle: at once where the run has been, in stretches beyond that. */
async function seek(simulator: Simulator, message: Extract<ToWorker, { kind: "seek" }>): Promise<void> {
  const began = era;
  const { id, at, window } = message;
  let here = simulator.ask<View>({ op: "view", cycles: 0, lanes: false });
  let cycles = 50_000;
  const from = here.reached;
  while (at > here.reached + cycles) {
    const before = performance.now();
    const moved = simulator.ask<Moved>({ op: "goto", at: here.reached + cycles });
    if (moved.reached <= here.reached) break;
    here = { ...here, reached: moved.reached };
    cycles = fitted(cycles, performance.now() - before);
    post({ kind: "progress", id, done: here.reached - from, of: at - from });
    await breathe();
    if (era !== began) break;
    if (moved.end) break;
  }
  if (era === began) simulator.ask<Moved>({ op: "goto", at });
  post({ kind: "answer", id, value: look(simulator, message.lanes ? window : 0) });
}

async function measure(simulator: Simulator, id: number, observe: boolean): Promise<void> {
  const began = era;
  let cycles = 20_000;
  let first = true;
  for (;;) {
    const before = performance.now();
    const answer = simulator.ask<MeasureAnswer>({ op: "measure", cycles, again: first, ...(observe ? {} : { observe }) });
    first = false;
    cycles = fitted(cycles, performance.now() - before);
    if (answer.done || era !== began) {
      post({ kind: "answer", id, value: answer });
      return;
    }
    post({ kind: "progress", id, done: answer.cycle, of: answer.of });
    await breathe();
  }
}
