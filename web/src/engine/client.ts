/** The page's side of a worker: promises, progress, and a new worker for a stuck one. */

import type { Failure, FromWorker, MeasureAnswer, Message, Moved, Play, Request, ToWorker, View } from "./protocol";

/** A request that was refused. */
export class Refusal extends Error {
  constructor(
    readonly failure: Failure,
    readonly messages: Message[],
  ) {
    super(failure.message);
  }
}

/** The request was abandoned: cancelled, or its worker had to be terminated. */
export class GivenUp extends Error {}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  seen?: (view: View, said: Moved["said"]) => void;
  progress?: (done: number, of: number) => void;
}

export class Client {
  private worker!: Worker;
  private pending = new Map<number, Pending>();
  private next = 1;
  private heard = 0;
  private module: WebAssembly.Module | null = null;
  private watch: ReturnType<typeof setInterval> | null = null;
  /** Called with the reason when the worker had to be replaced. */
  onlost: (reason: string) => void = () => {};

  constructor(
    private readonly make: () => Worker,
    /** Milliseconds without a message after which pending work counts as stuck. */
    private readonly patience: number,
    /** Puts the files into a new worker. */
    private readonly furnish: (client: Client) => void,
  ) {}

  start(module: WebAssembly.Module): void {
    this.module = module;
    this.begin();
  }

  private begin(): void {
    this.worker = this.make();
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.hear(event.data);
    this.worker.onerror = (event) => this.lose(event.message || "the worker failed");
    this.tell({ kind: "module", module: this.module! });
    this.furnish(this);
    this.heard = performance.now();
    this.watch ??= setInterval(() => this.look(), 500);
  }

  private look(): void {
    if (this.pending.size === 0 || document.hidden) this.heard = performance.now();
    else if (performance.now() - this.heard > this.patience) {
      this.lose(`no answer for ${Math.round(this.patience / 1000)} s: the work was ended`);
    }
  }

  /** Terminates the worker and its pending requests, and starts a new one. */
  lose(reason: string): void {
    this.worker.terminate();
    const pending = [...this.pending.values()];
    this.pending.clear();
    this.begin();
    for (const it of pending) it.reject(new GivenUp(reason));
    this.onlost(reason);
  }

  private hear(message: FromWorker): void {
    this.heard = performance.now();
    if (message.kind === "ready" || message.kind === "alive") return;
    const pending = this.pending.get(message.id);
    if (!pending) return;
    if (message.kind === "seen") pending.seen?.(message.view, message.said);
    else if (message.kind === "progress") pending.progress?.(message.done, message.of);
    else {
      this.pending.delete(message.id);
      if (message.kind === "answer") pending.resolve(message.value);
      else {
        pending.reject(new Refusal(message.failure, message.messages));
        if (message.spent) this.lose(message.failure.message);
      }
    }
  }

  private tell(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private send(message: (id: number) => ToWorker, more: Partial<Pending> = {}): Promise<unknown> {
    const id = this.next++;
    if (this.pending.size === 0) this.heard = performance.now();
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject, ...more });
      this.tell(message(id));
    });
  }

  put(path: string, bytes: Uint8Array): void {
    this.tell({ kind: "put", path, bytes });
  }

  ask<T>(request: Request): Promise<T> {
    return this.send((id) => ({ kind: "ask", id, request })) as Promise<T>;
  }

  play(play: Play, seen: Pending["seen"]): Promise<unknown> {
    return this.send((id) => ({ kind: "play", id, play }), { seen });
  }

  seek(at: number, window: number, lanes: boolean, progress?: Pending["progress"]): Promise<View> {
    return this.send((id) => ({ kind: "seek", id, at, window, lanes }), { progress }) as Promise<View>;
  }

  measure(observe: boolean, progress: Pending["progress"]): Promise<MeasureAnswer> {
    return this.send((id) => ({ kind: "measure", id, observe }), { progress }) as Promise<MeasureAnswer>;
  }

  /** Ends work that is done in stretches, after the present stretch. */
  cancel(): void {
    this.tell({ kind: "cancel" });
  }
}
