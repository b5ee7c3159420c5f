/** The simulator's WebAssembly module: a few functions, JSON in and out. */

interface Exports {
  memory: WebAssembly.Memory;
  request(length: number): number;
  put(pathLength: number, length: number): number;
  ask(length: number): number;
  answer(): number;
  answer_len(): number;
  missed(): number;
}

import { sizeText } from "../project/bytes";
import type { Failure, Message, Request } from "./protocol";

/** A request that was refused, or that ended the module. */
export class Refused extends Error {
  constructor(
    readonly failure: Failure,
    readonly messages: Message[],
    /** Whether the module can no longer be used. */
    readonly spent: boolean,
  ) {
    super(failure.message);
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Simulator {
  /** What ended the module. */
  private ended: Refused | null = null;

  private constructor(private readonly exports: Exports) {}

  static async of(module: WebAssembly.Module): Promise<Simulator> {
    const instance = await WebAssembly.instantiate(module, {});
    return new Simulator(instance.exports as unknown as Exports);
  }

  put(path: string, bytes: Uint8Array): void {
    const name = encoder.encode(path);
    const room = this.room(name.length + bytes.length);
    room.set(name);
    room.set(bytes, name.length);
    this.call(() => this.exports.put(name.length, room.length));
  }

  ask<T>(request: Request): T {
    const bytes = encoder.encode(JSON.stringify(request));
    this.room(bytes.length).set(bytes);
    const kind = this.call(() => this.exports.ask(bytes.length));
    const answer = this.answer();
    if (kind === 1) return answer as T;
    const value = JSON.parse(decoder.decode(answer));
    if (value.ok) return value as T;
    throw new Refused(
      { notes: [], help: null, ...value.error },
      value.messages ?? [],
      value.panic === true,
    );
  }

  /** Calls a function of the module; a trap in it becomes an error, and ends the module. */
  private call(work: () => number): number {
    if (this.ended) throw this.ended;
    try {
      return work();
    } catch (trap) {
      this.ended = new Refused(this.lastWords(trap), [], true);
      throw this.ended;
    }
  }

  private room(length: number): Uint8Array {
    const at = this.call(() => this.exports.request(length));
    if (at === 0) throw new Refused({ message: "there is no memory left for it", notes: [], help: null }, [], false);
    return new Uint8Array(this.exports.memory.buffer, at, length);
  }

  private answer(): Uint8Array {
    const { memory, answer, answer_len } = this.exports;
    return new Uint8Array(memory.buffer, answer(), answer_len()).slice();
  }

  /** The message that a trapped module left behind. */
  private lastWords(trap: unknown): Failure {
    const notes: string[] = [];
    try {
      const value = JSON.parse(decoder.decode(this.answer()));
      if (value.panic) return { message: `npsim met an error of its own: ${value.error.message}`, notes, help: null };
    } catch {
      // No message was left: only the trap itself is known.
    }
    const missed = this.exports.missed();
    if (missed > 0) {
      const has = sizeText(this.exports.memory.buffer.byteLength);
      return {
        message: `the memory of the page is full: it has ${has}, and another ${sizeText(missed)} was needed`,
        notes,
        help: "A shorter time, less traffic or a smaller capture needs less; the command has no such bound.",
      };
    }
    const message = trap instanceof Error ? trap.message : String(trap);
    return { message: `the simulator stopped: ${message}`, notes, help: null };
  }
}
