/** Messages of the source in the editor and of the last opening, with their fixes. */

import { fill, h } from "../dom";
import type { Edit, Message } from "../engine/protocol";
import type { Lab } from "../lab";
import { ticked } from "../markdown";
import { nameOf } from "../project/files";

export class Problems {
  readonly element = h("div", { class: "problems" });

  constructor(
    private readonly lab: Lab,
    private readonly go: (path: string, line: number, column: number) => void,
    private readonly apply: (edits: Edit[]) => void,
    badge: (text: string, kind: Message["severity"]) => void,
  ) {
    lab.store.on(["messages", "openMessages", "failure", "stale", "path"], () => {
      const all = this.all();
      const of = (severity: Message["severity"]) => all.filter((it) => it.severity === severity).length;
      const errors = of("error") + (this.bareFailure() ? 1 : 0);
      const kind = errors > 0 ? "error" : "warning";
      badge(String(errors || of("warning") || ""), kind);
      this.show(all);
    });
  }

  private all(): Message[] {
    const { messages, openMessages } = this.lab.store.value;
    const seen = new Set<string>();
    // Analysis and assembler may word one mistake in two ways.
    return [...messages, ...openMessages].filter((it) => {
      const key = `${it.path}:${it.range}:${it.code ?? it.message}`;
      return !seen.has(key) && seen.add(key);
    });
  }

  /** Whether there is a failure for which no message gives a place. */
  private bareFailure(): boolean {
    const { failure, openMessages } = this.lab.store.value;
    return failure !== null && openMessages.length === 0;
  }

  private show(all: Message[]): void {
    const { failure } = this.lab.store.value;
    if (all.length === 0 && !this.bareFailure()) {
      fill(this.element, h("p", { class: "empty" }, "No mistakes. Messages come while you type, with what mends them."));
      return;
    }
    fill(this.element, h("ul", {},
      ...(this.bareFailure() ? [h("li", {}, h("span", { class: "error" }, "error "), failure!.message, failure!.help && h("div", { class: "help" }, failure!.help))] : []),
      ...all.map((it) => this.item(it))));
  }

  private item(it: Message): HTMLElement {
    const { path, range } = it;
    return h("li", {},
      h("span", { class: it.severity }, `${it.severity} `), ...ticked(it.message),
      path && range && h("div", { class: "where" }, h("button", { type: "button", class: "link", onclick: () => this.go(path, range[0], range[1]) }, `${nameOf(path)}:${range[0]}`)),
      ...it.notes.map((note) => h("div", { class: "help" }, ...ticked(note))),
      it.help && h("div", { class: "help" }, ...ticked(it.help)),
      it.fixes && it.fixes.length > 0 && h("div", { class: "fixes" },
        ...it.fixes.map((fix) => h("button", { type: "button", onclick: () => this.apply(fix.edits) }, ...ticked(fix.title)))));
  }
}
