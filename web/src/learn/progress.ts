/** Which steps are done, kept in the browser. */

const KEY = "npsim-lessons";

export class Progress {
  private done: Set<string>;

  constructor() {
    try {
      this.done = new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
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
    try {
      localStorage.setItem(KEY, JSON.stringify([...this.done]));
    } catch {
      // Holds until the page is left.
    }
  }
}
