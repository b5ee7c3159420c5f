/** The marks of a run in the editor: breakpoints in the gutter, and the place of a context. */

import { RangeSet, StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, GutterMarker, lineNumberMarkers, ViewPlugin } from "@codemirror/view";

export interface RunMarks {
  breakpoints: number[];
  /** The line of the selected context. */
  here: number | null;
  /** A line that uses the macro in which the context is. */
  outer: number | null;
}

const setMarks = StateEffect.define<RunMarks>();

/** A dot before the line's number. */
class Dot extends GutterMarker {
  override elementClass = "breakpoint";
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

/** A click anywhere left of the text sets or removes a breakpoint. */
function gutters(toggle: (line: number) => void): Extension {
  return ViewPlugin.define((view) => {
    const gutters = (event: Event) => (event.target as Element).closest<HTMLElement>(".cm-gutters");
    const lineAt = (event: MouseEvent) => view.state.doc.lineAt(view.lineBlockAtHeight(event.clientY - view.documentTop).from).number;
    const down = (event: MouseEvent) => {
      if (event.button !== 0 || !gutters(event)) return;
      event.preventDefault();
      toggle(lineAt(event));
    };
    const over = (event: MouseEvent) => {
      const all = gutters(event);
      if (all) all.title = (event.target as Element).closest(".breakpoint") ? "Remove the breakpoint" : "Set a breakpoint";
    };
    view.dom.addEventListener("mousedown", down);
    view.dom.addEventListener("mouseover", over);
    return {
      destroy() {
        view.dom.removeEventListener("mousedown", down);
        view.dom.removeEventListener("mouseover", over);
      },
    };
  });
}

export function runMarks(toggle: (line: number) => void): Extension {
  return [marksField, lineNumberMarkers.computeN([marksField], (state) => [state.field(marksField).points]), gutters(toggle)];
}

export function showMarks(view: EditorView, marks: RunMarks): void {
  view.dispatch({ effects: setMarks.of(marks) });
}
