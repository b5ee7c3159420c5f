/** What a run shows in the editor: breakpoints in the gutter and where a context stands. */

import { RangeSet, StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, gutter, GutterMarker } from "@codemirror/view";

export interface RunMarks {
  breakpoints: number[];
  /** The line of the selected context. */
  here: number | null;
  /** A line that uses the macro in which the context is. */
  outer: number | null;
}

const setMarks = StateEffect.define<RunMarks>();

class Dot extends GutterMarker {
  override toDOM(): Node {
    const dot = document.createElement("span");
    dot.className = "breakpoint";
    dot.title = "breakpoint";
    return dot;
  }
}
const dot = new Dot();

const marksField = StateField.define<{ points: RangeSet<GutterMarker>; lines: DecorationSet }>({
  create: () => ({ points: RangeSet.empty, lines: Decoration.none }),
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      const doc = transaction.state.doc;
      const start = (line: number) => doc.line(Math.min(line, doc.lines)).from;
      const lines = [];
      const { here, outer, breakpoints } = effect.value;
      if (here !== null) lines.push(Decoration.line({ class: "cm-here" }).range(start(here)));
      if (outer !== null && outer !== here) lines.push(Decoration.line({ class: "cm-here-outer" }).range(start(outer)));
      return {
        points: RangeSet.of([...new Set(breakpoints)].map((line) => dot.range(start(line))), true),
        lines: Decoration.set(lines, true),
      };
    }
    if (!transaction.docChanged) return value;
    return { points: value.points.map(transaction.changes), lines: value.lines.map(transaction.changes) };
  },
  provide: (field) => EditorView.decorations.from(field, (value) => value.lines),
});

export function runMarks(toggle: (line: number) => void): Extension {
  return [
    marksField,
    gutter({
      class: "cm-breakpoints",
      markers: (view) => view.state.field(marksField).points,
      domEventHandlers: {
        mousedown(view, line) {
          toggle(view.state.doc.lineAt(line.from).number);
          return true;
        },
      },
    }),
  ];
}

export function showMarks(view: EditorView, marks: RunMarks): void {
  view.dispatch({ effects: setMarks.of(marks) });
}
