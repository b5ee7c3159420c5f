/** The debugger's console, with completion and a history of lines. */

import { fill, h } from "../dom";
import type { Lab } from "../lab";
import { linked } from "./linked";

const MOST_LINES = 2_000;

export class Console {
  readonly element: HTMLElement;
  private lines = h("div", { class: "console-lines", role: "log", "aria-label": "Answers", tabindex: "0" });
  private input = h("input", {
    type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-label": "Command", placeholder: matchMedia("(max-width: 760px)").matches ? "why, packet 3, goto 20us, help" : "why, who bytes, packet 3, goto 20us; Tab completes, help lists all",
    role: "combobox", "aria-expanded": "false", "aria-controls": "console-offers", "aria-autocomplete": "list",
  });
  private offers = h("ul", { class: "offers", id: "console-offers", role: "listbox", "aria-label": "Completions", hidden: true });
  private asked: string[] = [];
  private at = 0;
  private choice = 0;
  private from = 0;

  constructor(
    private readonly lab: Lab,
    private readonly go: (path: string, line: number) => void,
  ) {
    const form = h("form", {
      onsubmit: (event: Event) => {
        event.preventDefault();
        if (!this.offers.hidden) this.take(this.choice);
        else void this.enter();
      },
    }, h("span", { "aria-hidden": "true" }, ">"), this.input, this.offers);
    this.element = h("div", { class: "console" }, this.lines, form);
    lab.onlines = (line, answer, wrong) => this.print(line, answer, wrong);
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("input", () => this.hide());
    this.input.addEventListener("blur", () => setTimeout(() => this.hide(), 150));
  }

  focus(): void {
    this.input.focus();
  }

  private async enter(): Promise<void> {
    const line = this.input.value.trim();
    if (line === "") return;
    this.asked.push(line);
    this.at = this.asked.length;
    this.input.value = "";
    await this.lab.command(line);
  }

  private print(line: string, answer: string[], wrong: boolean): void {
    if (line) this.lines.append(h("div", { class: "asked" }, `> ${line}`));
    for (const it of answer) this.lines.append(h("div", { class: wrong ? "wrong" : "" }, ...linked(it, this.lab, this.go)));
    while (this.lines.childElementCount > MOST_LINES) this.lines.firstElementChild!.remove();
    this.lines.scrollTop = this.lines.scrollHeight;
  }

  private key(event: KeyboardEvent): void {
    const open = !this.offers.hidden;
    if (event.key === "Tab" && !event.shiftKey && this.input.value.trim() !== "") {
      event.preventDefault();
      if (open) this.take(this.choice);
      else void this.complete();
    } else if (event.key === "Escape" && open) {
      event.stopPropagation();
      this.hide();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      const by = event.key === "ArrowUp" ? -1 : 1;
      if (open) this.choose(this.choice + by);
      else {
        this.at = Math.min(this.asked.length, Math.max(0, this.at + by));
        this.input.value = this.asked[this.at] ?? "";
      }
    }
  }

  private async complete(): Promise<void> {
    const line = this.input.value;
    if (!this.lab.store.value.opened) return;
    const answer = await this.lab.run.ask<{ from: number; words: string[] }>({ op: "complete", line }).catch(() => null);
    if (!answer || answer.words.length === 0 || line !== this.input.value) return;
    this.from = answer.from;
    fill(this.offers, ...answer.words.slice(0, 60).map((word, at) =>
      h("li", { role: "option", id: `offer-${at}`, onmousedown: () => this.take(at) }, word)));
    if (answer.words.length === 1) return this.take(0);
    this.offers.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.choose(0);
  }

  private choose(at: number): void {
    const all = [...this.offers.children];
    this.choice = (at + all.length) % all.length;
    all.forEach((it, n) => it.setAttribute("aria-selected", String(n === this.choice)));
    all[this.choice]?.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", `offer-${this.choice}`);
  }

  private take(at: number): void {
    const word = this.offers.children[at]?.textContent ?? "";
    this.input.value = this.input.value.slice(0, this.from) + word;
    this.hide();
    this.input.focus();
  }

  private hide(): void {
    this.offers.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
