/** The editor: one document for each file, with its own history of changes. */

import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { lintGutter, lintKeymap, nextDiagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, rectangularSelection,
} from "@codemirror/view";
import type { Edit, Range } from "../engine/protocol";
import type { Lab } from "../lab";
import { analysis, checkAgain } from "./analysis";
import { languageOf } from "./language";
import { changeTo, edited, place, span } from "./places";
import { askName } from "./rename";
import { runMarks, showMarks, type RunMarks } from "./run-marks";

export class Editor {
  readonly view: EditorView;
  private states = new Map<string, EditorState>();
  private path: string | null = null;
  private marks: RunMarks = { breakpoints: [], here: null, outer: null };
  private writing = false;
  /** The stop that was shown last, and whether the file has since been opened without a line to show. */
  private stop = "";
  private arrived = false;
  /** Called with the cursor's new position. */
  oncursor: (line: number, column: number) => void = () => {};

  constructor(
    parent: HTMLElement,
    private readonly lab: Lab,
  ) {
    this.view = new EditorView({ parent, state: EditorState.create({ doc: "" }) });
    lab.files.onchange((path, bytes) => {
      if (this.writing) return;
      if (!bytes || path !== this.path) this.states.delete(path);
      if (path === this.path && bytes) this.take(new TextDecoder().decode(bytes));
    });
  }

  /** Shows a file, at a line if there is one. */
  open(path: string, line?: number): void {
    if (path !== this.path) {
      if (this.path) this.states.set(this.path, this.view.state);
      this.path = path;
      this.view.setState(this.states.get(path) ?? this.fresh(path));
      this.lab.store.set({ path, messages: [] });
      showMarks(this.view, this.marks);
      checkAgain(this.view);
      this.tellCursor();
      // The view returns to its earlier place in the file.
      const { main } = this.view.state.selection;
      this.view.dispatch({ effects: EditorView.scrollIntoView(main.head, { y: "center" }) });
      this.arrived = true;
    }
    if (line !== undefined) this.reveal(line);
  }

  private tellCursor(): void {
    const { doc, selection } = this.view.state;
    const it = place(doc, selection.main.head);
    this.oncursor(it.line, it.column);
  }

  private reveal(line: number): void {
    this.arrived = false;
    const doc = this.view.state.doc;
    const at = doc.line(Math.min(Math.max(1, line), doc.lines)).from;
    this.view.dispatch({ effects: EditorView.scrollIntoView(at, { y: "center" }) });
  }

  goto(line: number, column = 0): void {
    this.arrived = false;
    const doc = this.view.state.doc;
    const it = doc.line(Math.min(Math.max(1, line), doc.lines));
    const at = Math.min(it.from + column, it.to);
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.view.focus();
  }

  /** Shows the marks of a run; the place of a new stop is scrolled into view. */
  show(marks: RunMarks, stop: string): void {
    this.marks = marks;
    if (this.path) showMarks(this.view, marks);
    const at = marks.here ?? marks.outer;
    if (at !== null && (this.arrived || (stop !== this.stop && !this.visible(at)))) this.reveal(at);
    this.stop = stop;
  }

  private visible(line: number): boolean {
    const doc = this.view.state.doc;
    const block = this.view.lineBlockAt(doc.line(Math.min(line, doc.lines)).from);
    const { scrollTop, clientHeight } = this.view.scrollDOM;
    return block.top >= scrollTop && block.bottom <= scrollTop + clientHeight;
  }

  private take(text: string): void {
    const changes = changeTo(this.view.state.doc, text);
    if (changes) this.view.dispatch({ changes });
  }

  /** Applies edits of the analysis, in any file. */
  apply(edits: Edit[]): void {
    for (const path of new Set(edits.map((it) => it.path))) {
      const own = edits.filter((it) => it.path === path);
      if (path === this.path) {
        const doc = this.view.state.doc;
        this.view.dispatch({ changes: own.map((it) => ({ ...span(doc, it.range), insert: it.text })) });
      } else {
        const text = EditorState.create({ doc: this.lab.files.text(path) ?? "" }).doc;
        this.lab.files.setText(path, edited(text, own));
      }
    }
  }

  private fresh(path: string): EditorState {
    return EditorState.create({ doc: this.lab.files.text(path) ?? "", extensions: this.extensions(path) });
  }

  private extensions(path: string): Extension {
    const host = { lab: this.lab, path: () => this.path, apply: (edits: Edit[]) => this.apply(edits) };
    return [
      runMarks((line) => void this.lab.toggleBreakpoint(path, line)), lineNumbers(), history(), drawSelection(), rectangularSelection(), bracketMatching(), closeBrackets(),
      highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(), lintGutter(),
      languageOf(path),
      /\.(uc|toml)$/.test(path) ? analysis(host) : [],
      EditorView.contentAttributes.of({ "aria-label": `Source ${path}`, tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.changed(path);
        if (update.selectionSet || update.docChanged) this.tellCursor();
      }),
      EditorView.domEventHandlers({
        mousedown: (event, view) => {
          if (!event.ctrlKey && !event.metaKey) return false;
          const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
          if (at !== null) void this.definition(at);
          return at !== null;
        },
      }),
      keymap.of([
        { key: "F12", run: () => this.here((at) => this.definition(at)) },
        { key: "F2", run: () => this.here((at) => this.rename(at)) },
        { key: "Shift-Alt-f", run: () => this.here(() => this.format()) },
        { key: "F9", run: () => this.here((at) => this.breakpoint(at)) },
        { key: "F8", run: nextDiagnostic },
        ...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, ...defaultKeymap,
      ]),
    ];
  }

  private here(act: (at: number) => Promise<void>): boolean {
    void act(this.view.state.selection.main.head);
    return true;
  }

  private changed(path: string): void {
    this.writing = true;
    this.lab.files.setText(path, this.view.state.doc.toString());
    this.writing = false;
    this.lab.tell({ kind: "edited" });
  }

  private ask<T>(op: string, more: object): Promise<T> {
    return this.lab.language.ask<T>({ op, path: this.path, ...more });
  }

  async breakpoint(at: number): Promise<void> {
    if (this.path) await this.lab.toggleBreakpoint(this.path, place(this.view.state.doc, at).line);
  }

  async definition(at: number): Promise<void> {
    const where = place(this.view.state.doc, at);
    const answer = await this.ask<{ places: { path: string; range: Range }[] }>("definition", where).catch(() => null);
    const found = answer?.places[0];
    if (!found) return;
    this.open(found.path);
    this.goto(found.range[0], found.range[1]);
  }

  async rename(at: number): Promise<void> {
    const where = place(this.view.state.doc, at);
    try {
      const { name } = await this.ask<{ name: string }>("renameable", where);
      const other = await askName(this.view, name);
      if (other === null || other === name) return;
      const { edits } = await this.ask<{ edits: Edit[] }>("rename", { ...where, name: other });
      this.apply(edits);
    } catch (error) {
      this.lab.complain(error instanceof Error ? error.message : String(error));
    }
  }

  async format(): Promise<void> {
    try {
      this.apply((await this.ask<{ edits: Edit[] }>("format", {})).edits);
    } catch (error) {
      this.lab.complain(error instanceof Error ? error.message : String(error));
    }
  }
}
