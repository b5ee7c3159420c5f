/** Which steps are done, kept in the browser. */

import { recall, remember } from "../remembered";

const KEY = "npsim-lessons";

export class Progress {
  private done: Set<string>;

  constructor() {
    try {
      this.done = new Set(JSON.parse(recall(KEY) ?? "[]"));
    } catch {
      this.done = new Set();
    }
  }

  has(lesson: string, step: number): boolean {
    return this.done.has(`${lesson}/${step}`);
  }

  add(lesson: string, step: number): void {
    this.done.add(`${lesson}/${step}`);
    this.keep();
  }

  forget(lesson: string): void {
    this.done = new Set([...this.done].filter((it) => !it.startsWith(`${lesson}/`)));
    this.keep();
  }

  private keep(): void {
    remember(KEY, JSON.stringify([...this.done]));
  }
}
