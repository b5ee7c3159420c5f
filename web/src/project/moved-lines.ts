/** Where the lines of a text are after a change, so that marks at a line move with it. */

/** Lengths of the common beginning of two texts or lists of lines and, after that, of their common end. */
export function alike<T>(before: ArrayLike<T>, after: ArrayLike<T>): { head: number; tail: number } {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < least - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return { head, tail };
}

export type Step = (line: number) => number | null;

/** Maps lines, from 1, of a text to lines of the next text; null for a line that is gone. */
export function step(before: string, after: string): Step {
  const [was, now] = [before.split("\n"), after.split("\n")];
  const { head, tail } = alike(was, now);
  return (line) => {
    if (line <= head) return line;
    if (line > was.length - tail) return line + now.length - was.length;
    return line <= now.length - tail ? line : null;
  };
}

/** Lines of files as they were when a run was opened, and where they are by now. */
export class MovedLines {
  /** The present line of each line from 1 on; a file without changes is not in it. */
  private files = new Map<string, (number | null)[]>();

  clear(): void {
    this.files.clear();
  }

  change(path: string, before: string, next: Step): void {
    const lines = this.files.get(path) ?? before.split("\n").map((_, at) => at + 1);
    this.files.set(path, lines.map((line) => (line === null ? null : next(line))));
  }

  /** Where a line of the run is now. */
  present(path: string, line: number): number | null {
    const lines = this.files.get(path);
    return lines ? (lines[line - 1] ?? null) : line;
  }

  /** Which line of the run this one is. */
  original(path: string, line: number): number | null {
    const lines = this.files.get(path);
    return lines ? lines.indexOf(line) + 1 || null : line;
  }
}
