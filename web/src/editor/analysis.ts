/** What the analysis of the source gives the editor: messages, hovers, completion, colours. */

import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { linter, type Action, type Diagnostic, forceLinting } from "@codemirror/lint";
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, hoverTooltip, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { h } from "../dom";
import type { Edit, Message, Range } from "../engine/protocol";
import type { Lab } from "../lab";
import { markdown } from "../markdown";
import { offset, place, span } from "./places";

/** Milliseconds without a key press before the source is analysed. */
const REST = 180;

export interface Host {
  lab: Lab;
  path: () => string | null;
  apply: (edits: Edit[]) => void;
}

export function analysis(host: Host): Extension {
  return [messages(host), hovers(host), completion(host), colours(host)];
}

const asked = <T>(host: Host, op: string, more: object = {}) =>
  host.lab.language.ask<T>({ op, path: host.path(), ...more });

export async function checkFile(host: Host): Promise<Message[]> {
  try {
    return (await asked<{ messages: Message[] }>(host, "check")).messages;
  } catch {
    return [];
  }
}

function messages(host: Host): Extension {
  return linter(
    async (view): Promise<Diagnostic[]> => {
      const path = host.path();
      const all = await checkFile(host);
      if (path !== host.path()) return [];
      host.lab.store.set({ messages: all });
      return all
        .filter((it) => it.path === path && it.range)
        .map((it) => {
          const { from, to } = span(view.state.doc, it.range!);
          const actions = (it.fixes ?? []).map((fix): Action => ({ name: fix.title, apply: () => host.apply(fix.edits) }));
          const message = it.help ? `${it.message}\n${it.help}` : it.message;
          const severity = it.severity === "note" ? "info" : it.severity;
          return { from, to: Math.max(to, from), severity, message, actions };
        });
    },
    { delay: REST },
  );
}

export const checkAgain = (view: EditorView) => forceLinting(view);

function hovers(host: Host): Extension {
  return hoverTooltip(async (view, at) => {
    const answer = await asked<{ hover: { range: Range | null; markdown: string } | null }>(host, "hover", place(view.state.doc, at)).catch(() => null);
    if (!answer?.hover) return null;
    const { hover } = answer;
    const where = hover.range ? span(view.state.doc, hover.range) : { from: at, to: at };
    return { pos: where.from, end: where.to, above: true, create: () => ({ dom: h("div", { class: "hover" }, markdown(hover.markdown)) }) };
  });
}

const TYPES: Record<string, string> = {
  keyword: "keyword", function: "function", macro: "function", constant: "constant", member: "property", operator: "keyword",
  register: "variable", signal: "variable", label: "text", import: "namespace", section: "class", key: "property", value: "constant",
};

interface Item {
  label: string;
  kind: string;
  detail: string | null;
  doc: string | null;
  text: string | null;
}

function completion(host: Host): Extension {
  const source = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[\w$#.@]+/);
    if (!word && !context.explicit) return null;
    const answer = await asked<{ range: Range | null; items: Item[] }>(host, "completion", place(context.state.doc, context.pos)).catch(() => null);
    if (!answer || answer.items.length === 0) return null;
    const from = answer.range ? offset(context.state.doc, answer.range[0], answer.range[1]) : (word?.from ?? context.pos);
    const options = answer.items.map((it): Completion => ({
      label: it.label,
      type: TYPES[it.kind] ?? "text",
      ...(it.detail ? { detail: it.detail } : {}),
      ...(it.doc ? { info: () => h("div", { class: "hover" }, markdown(it.doc!)) } : {}),
      apply: (it.text ?? it.label).replace(/\$\{?\d+(?::([^}]*))?\}?/g, "$1"),
    }));
    return { from, options, validFor: /^[\w$#.@]*$/ };
  };
  return autocompletion({ override: [source], icons: false });
}

// ---- colours by meaning ----

const setColours = StateEffect.define<DecorationSet>();
const colourField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let now = marks.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(setColours)) now = effect.value;
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

type Token = [line: number, column: number, length: number, kind: string, flags: number];

function colours(host: Host): Extension {
  const plugin = ViewPlugin.fromClass(
    class {
      timer: ReturnType<typeof setTimeout> | null = null;
      constructor(view: EditorView) {
        this.soon(view, 0);
      }
      update(update: ViewUpdate) {
        if (update.docChanged) this.soon(update.view, REST);
      }
      soon(view: EditorView, rest: number) {
        if (this.timer) clearTimeout(this.timer);
        this.timer = setTimeout(() => void paint(host, view), rest);
      }
      destroy() {
        if (this.timer) clearTimeout(this.timer);
      }
    },
  );
  return [colourField, plugin];
}

async function paint(host: Host, view: EditorView): Promise<void> {
  const path = host.path();
  const doc = view.state.doc;
  const answer = await asked<{ tokens: Token[] }>(host, "tokens").catch(() => null);
  if (!answer || path !== host.path() || view.state.doc !== doc) return;
  const marks = answer.tokens.flatMap(([line, column, length, kind]) => {
    const from = offset(doc, line, column);
    const to = Math.min(from + length, doc.length);
    return to > from ? [Decoration.mark({ class: `uc-${kind}` }).range(from, to)] : [];
  });
  view.dispatch({ effects: setColours.of(Decoration.set(marks, true)) });
}
