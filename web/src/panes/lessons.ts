/** The list of lessons, and the current lesson, whose goals check themselves. */

import { fill, h, icon } from "../dom";
import type { ExerciseAnswer } from "../engine/protocol";
import type { Happening, Lab } from "../lab";
import { course, notes } from "../learn/course";
import type { Lesson, Opening, Step } from "../learn/lesson";
import { Progress } from "../learn/progress";
import { tutorials } from "../learn/tutorials";
import { inline, markdown } from "../markdown";
import { withTimes } from "../state";
import { dialog } from "./dialog";
import { linked } from "./linked";

/** What the command lines of a chapter correspond to on the page. */
const COMMANDS = "Lines that begin with `$` are typed where npsim is installed, and what they print follows. On this page, choose the system under **Systems** or **Lessons**: "
  + "for `npsim run` press **What limits it?**, whose answer and summary are in **Results**; for `npsim check-exercise` press **Check the goals** in the lesson; "
  + "what `npsim debug` takes, the **Console** takes. Other commands are not on the page.";

const ALL: Lesson[] = [...tutorials, ...course];

export class Lessons {
  readonly element = h("div");
  private progress = new Progress();
  private lesson: Lesson | null = null;
  private answer: ExerciseAnswer | null = null;
  /** What was asked in a step, with the answers. */
  private answers = new Map<Step, HTMLElement>();
  /** Steps whose hint was unfolded. */
  private hinted = new Set<Step>();

  constructor(
    private readonly lab: Lab,
    private readonly open: (opening: Opening) => Promise<void>,
    private readonly goto: (path: string, line: number) => void,
  ) {
    lab.on((happening) => this.judge(happening));
    this.draw();
  }

  /** Begins a lesson by its name, as given in a link. */
  take(id: string): void {
    const lesson = ALL.find((it) => it.id === id);
    if (lesson) void this.begin(lesson);
  }

  private async begin(lesson: Lesson): Promise<void> {
    this.lesson = lesson;
    this.answer = null;
    this.answers.clear();
    this.hinted.clear();
    this.draw();
    await this.open(lesson.open);
  }

  private met(lesson: Lesson, step: number): boolean {
    return this.progress.has(lesson.id, step);
  }

  private next(lesson: Lesson): number {
    return lesson.steps.findIndex((_, at) => !this.met(lesson, at));
  }

  private judge(happening: Happening): void {
    const lesson = this.lesson;
    if (!lesson) return;
    if (happening.exercise) this.answer = happening.exercise;
    const scene = { lab: this.lab, state: this.lab.store.value, happening, exercise: this.answer };
    const at = this.next(lesson);
    const step = lesson.steps[at];
    if (step?.done(scene)) {
      this.progress.add(lesson.id, at);
      this.draw();
      this.element.querySelector(".solved, .now")?.scrollIntoView({ block: "nearest" });
    } else if (happening.exercise) this.draw();
  }

  private draw(): void {
    if (this.lesson) this.drawLesson(this.lesson);
    else this.drawList();
  }

  private drawList(): void {
    const groups = [...new Set(ALL.map((it) => it.group))];
    fill(this.element, ...groups.map((group) => {
      const lessons = ALL.filter((it) => it.group === group);
      const chapter = notes.get(group);
      return h("section", { class: "group" }, h("h3", {}, group),
        ...lessons.map((it) => {
          const met = it.steps.filter((_, at) => this.met(it, at)).length;
          const done = met === it.steps.length;
          return h("button", { type: "button", class: "row", onclick: () => void this.begin(it) },
            h("span", {}, it.title),
            done
              ? h("span", { class: "done-mark", title: "done" }, icon("tick"), h("span", { class: "visually-hidden" }, "done"))
              : h("span", { class: "soft" }, met > 0 ? `${met} of ${it.steps.length}` : `${it.steps.length} steps`));
        }),
        chapter && this.chapter(chapter) && h("div", { style: "padding:4px 14px" }, this.reader(chapter, "Notes for the teacher")));
    }));
  }

  private chapter(name: string): string | null {
    return this.lab.files.text(`/book/${name}.html`);
  }

  private reader(name: string, title: string): HTMLElement {
    return h("button", {
      type: "button", class: "link", onclick: () => {
        // The HTML can be trusted: this page's own build makes it from the book.
        const body = h("div", { class: "lesson", tabindex: "0", style: "overflow:auto; max-height:74vh; padding:0" });
        body.innerHTML = this.chapter(name) ?? "";
        body.prepend(h("p", { class: "commands" }, ...inline(COMMANDS)));
        const shown = dialog(title, [body]);
        shown.style.width = "min(820px, 94vw)";
      },
    }, title);
  }

  private drawLesson(lesson: Lesson): void {
    const at = this.next(lesson);
    const step = (n: number) => {
      const it = lesson.steps[n]!;
      const state = this.met(lesson, n) ? "met" : n === at ? "now" : "";
      return h("li", { class: state, ...(n === at ? { "aria-current": "step" } : {}) },
        h("h3", {}, h("span", { class: "seal" }, state === "met" ? icon("tick") : String(n + 1)), it.title, state === "met" && h("span", { class: "visually-hidden" }, " done")),
        h("div", { class: "step-body" }, markdown(it.text), this.actions(lesson, n)));
    };
    fill(this.element, h("div", { class: "lesson" },
      h("p", { class: "crumb" }, h("button", { type: "button", class: "link", onclick: () => { this.lesson = null; this.draw(); } }, "All lessons")),
      h("h2", {}, lesson.title),
      h("p", {}, ...inline(lesson.about)),
      lesson.chapter && this.chapter(lesson.chapter) && h("p", {}, this.reader(lesson.chapter, "The chapter of the book")),
      h("ol", { class: "steps" }, ...lesson.steps.map((_, n) => step(n))),
      at < 0 && this.solved(lesson),
      h("p", {}, h("button", { type: "button", class: "link", onclick: () => { this.progress.forget(lesson.id); void this.begin(lesson); } }, "Begin this lesson again"))));
  }

  /** Begins the first lesson. */
  first(): void {
    void this.begin(ALL[0]!);
  }

  private solved(lesson: Lesson): HTMLElement {
    const goals = this.answer?.goals ?? [];
    const next = ALL[ALL.indexOf(lesson) + 1];
    const text = !lesson.exercise ? `Done: all ${lesson.steps.length} steps`
      : this.answer?.passed ? `Solved: ${goals.length} of ${goals.length} goals met` : "Solved";
    return h("div", { class: "solved", role: "status" },
      h("h3", {}, icon("tick"), text),
      lesson.think && h("p", {}, ...inline(`*To think about:* ${lesson.think}`)),
      next
        ? h("button", { type: "button", class: "primary", onclick: () => void this.begin(next) }, `Next: ${next.title}`)
        : h("p", {}, "That was the last lesson."));
  }

  private hint(step: Step): HTMLElement | null {
    if (!step.hint) return null;
    const fold = h("details", { class: "fold", open: this.hinted.has(step) }, h("summary", {}, icon("chevron"), "Hint"), markdown(step.hint));
    fold.addEventListener("toggle", () => void this.hinted[fold.open ? "add" : "delete"](step));
    return fold;
  }

  /** Asks at the console, and shows the answer where it was asked. */
  private async ask(step: Step, line: string, box: HTMLElement): Promise<void> {
    const said = await this.lab.command(line);
    const answer = said.length > 0 ? said : ["done"];
    box.append(
      h("p", { class: "asked mono" }, `> ${line}`),
      ...answer.map((it) => h("p", {}, ...linked(it, this.lab, this.goto))));
    box.hidden = false;
    box.scrollIntoView({ block: "nearest" });
    this.answers.set(step, box);
  }

  private actions(lesson: Lesson, n: number): HTMLElement {
    const step = lesson.steps[n]!;
    const current = n === this.next(lesson) || n === lesson.steps.length - 1;
    const goals = lesson.exercise && current ? (this.answer?.goals ?? []) : [];
    const box = this.answers.get(step) ?? h("div", { class: "answer asks", "aria-live": "polite", hidden: true });
    this.answers.set(step, box);
    return h("div", {},
      current && this.hint(step),
      h("div", { class: "do" },
        step.open && h("button", { type: "button", onclick: () => void this.open(step.open!) }, "Open it"),
        ...(step.asks ?? []).map(({ title, line }) => h("button", { type: "button", title: `at the console: ${line}`, onclick: () => void this.ask(step, line, box) }, title)),
        lesson.exercise && current && h("button", { type: "button", class: "primary", onclick: () => void this.lab.exercise(lesson.exercise!) }, "Check the goals")),
      box,
      this.answer?.fault && goals.length === 0 && h("p", { class: "error" }, this.answer.fault.message),
      ...goals.map((goal) => h("div", { class: "goal-line" },
        h("b", { class: goal.passed ? "passed" : "failed" }, goal.passed ? "met" : "missed"),
        ...[
          h("button", { type: "button", class: "link", title: "The goal in the project file", onclick: () => this.goto(goal.file, goal.line) }, goal.name), " ",
          h("span", { class: "mono" }, withTimes(goal.figure_text ?? goal.why ?? "")), goal.bounds_text && h("span", { class: "soft" }, ` (${withTimes(goal.bounds_text)})`),
          !goal.passed && goal.measure === "races" && this.race(),
          !goal.passed && goal.hint && h("div", { class: "hint" }, goal.hint),
        ])));
  }

  /** Where and when the first race was. */
  private race(): HTMLElement | null {
    const race = this.answer?.race;
    return race ? h("ul", { class: "race" }, ...[race.message, ...race.notes].map((it) => h("li", {}, ...linked(it, this.lab, this.goto)))) : null;
  }
}
