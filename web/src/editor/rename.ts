/** Asks for a new name, in a panel below the source. */

import { StateEffect, StateField } from "@codemirror/state";
import { type EditorView, type Panel, showPanel } from "@codemirror/view";
import { h } from "../dom";

const ask = StateEffect.define<((view: EditorView) => Panel) | null>();
const field = StateField.define<((view: EditorView) => Panel) | null>({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(ask)) return effect.value;
    return value;
  },
  provide: (it) => showPanel.from(it),
});

export function askName(view: EditorView, name: string): Promise<string | null> {
  return new Promise((resolve) => {
    const done = (answer: string | null) => {
      view.dispatch({ effects: ask.of(null) });
      view.focus();
      resolve(answer);
    };
    const input = h("input", { type: "text", value: name, "aria-label": `New name of ${name}`, spellcheck: "false" });
    const form = h("form", { class: "rename" }, h("span", {}, "Rename ", h("code", {}, name), " to"), input, h("button", { class: "primary" }, "Rename"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      done(input.value.trim() || null);
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") done(null);
    });
    const panel = () => ({ dom: form, mount: () => input.select() });
    const there = view.state.field(field, false) !== undefined;
    view.dispatch({ effects: there ? ask.of(panel) : StateEffect.appendConfig.of(field.init(() => panel)) });
  });
}
