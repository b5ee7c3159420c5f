/** Tabs as ARIA defines them: arrow keys move between them, and one panel is shown. */

import { h } from "../dom";

export interface Tab {
  id: string;
  title: string;
  panel: HTMLElement;
}

export class Tabs {
  readonly bar: HTMLElement;
  readonly panels: HTMLElement;
  private buttons = new Map<string, HTMLButtonElement>();
  shown = "";
  onshow: (id: string) => void = () => {};

  constructor(
    group: string,
    label: string,
    private readonly tabs: Tab[],
    ...end: HTMLElement[]
  ) {
    const list = h("div", { role: "tablist", "aria-label": label, style: "display:flex" });
    this.bar = h("div", { class: "tabs" }, list, ...(end.length ? [h("div", { class: "tab-end" }, ...end)] : []));
    this.panels = h("div", { style: "display:contents" });
    for (const tab of tabs) {
      const button = h("button", {
        type: "button", role: "tab", id: `${group}-tab-${tab.id}`, "aria-controls": `${group}-${tab.id}`,
        onclick: () => this.show(tab.id),
      }, h("span", { class: "tab-title", "data-title": tab.title }, tab.title));
      this.buttons.set(tab.id, button);
      list.append(button);
      tab.panel.id = `${group}-${tab.id}`;
      tab.panel.classList.add("tab-panel");
      tab.panel.setAttribute("role", "tabpanel");
      tab.panel.setAttribute("tabindex", "0");
      tab.panel.setAttribute("aria-labelledby", button.id);
      this.panels.append(tab.panel);
    }
    list.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (by === 0) return;
      const at = this.tabs.findIndex((it) => it.id === this.shown);
      const next = this.tabs[(at + by + this.tabs.length) % this.tabs.length]!;
      this.show(next.id);
      this.buttons.get(next.id)!.focus();
    });
    this.show(tabs[0]!.id);
  }

  show(id: string): void {
    this.shown = id;
    for (const tab of this.tabs) {
      const shown = tab.id === id;
      const button = this.buttons.get(tab.id)!;
      button.setAttribute("aria-selected", String(shown));
      button.tabIndex = shown ? 0 : -1;
      tab.panel.hidden = !shown;
    }
    this.onshow(id);
  }

  has(id: string): boolean {
    return this.buttons.has(id);
  }

  badge(id: string, text: string, kind: string): void {
    const button = this.buttons.get(id)!;
    button.querySelector(".badge")?.remove();
    if (text) button.append(h("span", { class: `badge ${kind}` }, text, h("span", { class: "visually-hidden" }, text === "1" ? ` ${kind}` : ` ${kind}s`)));
  }
}
