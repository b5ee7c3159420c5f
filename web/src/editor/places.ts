/** Places of the analysis (lines from 1, columns in UTF-16 units) in a document. */

import type { Text } from "@codemirror/state";
import type { Edit, Range } from "../engine/protocol";
import { alike } from "../project/moved-lines";

export function offset(doc: Text, line: number, column: number): number {
  const it = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(it.from + column, it.to);
}

export function span(doc: Text, range: Range): { from: number; to: number } {
  const from = offset(doc, range[0], range[1]);
  return { from, to: Math.max(from, offset(doc, range[2], range[3])) };
}

export function place(doc: Text, at: number): { line: number; column: number } {
  const line = doc.lineAt(at);
  return { line: line.number, column: at - line.from };
}

/** The change that turns a document into another text: all between their common beginning and end. */
export function changeTo(doc: Text, text: string): { from: number; to: number; insert: string } | null {
  const before = doc.toString();
  if (before === text) return null;
  const { head, tail } = alike(before, text);
  return { from: head, to: before.length - tail, insert: text.slice(head, text.length - tail) };
}

/** The text after edits that do not overlap. */
export function edited(text: Text, edits: Edit[]): string {
  const changes = edits
    .map((it) => ({ ...span(text, it.range), text: it.text }))
    .sort((a, b) => b.from - a.from);
  let result = text.toString();
  for (const it of changes) result = result.slice(0, it.from) + it.text + result.slice(it.to);
  return result;
}
