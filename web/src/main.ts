/** Puts the page together. */

import { boot, stayOffline } from "./boot";
import { byId, fill, h, type Icon, icon, iconButton } from "./dom";
import { Editor } from "./editor/editor";
import { Lab } from "./lab";
import { Console } from "./panes/console";
import { Gauges } from "./panes/gauges";
import { helpDialog } from "./panes/help";
import { Lanes } from "./panes/lanes";
import { Lessons } from "./panes/lessons";
import { Look } from "./panes/look";
import { Problems } from "./panes/problems";
import { Results } from "./panes/results";
import { shareDialog } from "./panes/share";
import { Sources } from "./panes/sources";
import { splitter } from "./panes/split";
import { Tabs } from "./panes/tabs";
import { Time } from "./panes/time";
import { trafficDialog, trafficText } from "./panes/traffic";
import { welcome } from "./panes/welcome";
import { words } from "./panes/words";
import { type Asked, askedFor } from "./project/asked";
import { Files, nameOf } from "./project/files";
import { dropped, take } from "./project/intake";
import { titleOf } from "./project/library";
import { unpack } from "./project/pack";
import { BadLink, fileFromShared, fromFragment, type Shared } from "./project/share";
import { initial, Store } from "./state";
import { startTheme } from "./theme";

const FIRST = "/microcode/tutorial/wire8.toml";
const FIRST_CYCLE = 12_000;
/** Default simulated time of a run. */
const DURATION = "2ms";

async function start(): Promise<void> {
  const embedded = new URLSearchParams(location.search).has("embed");
  if (embedded) document.body.dataset["embed"] = "";
  const store = new Store(initial());
  let lanes: Lanes | null = null;
  const theme = startTheme(() => lanes?.recolour());

  const parts = await boot();
  const files = new Files(unpack(parts.pack));
  await files.restore();
  const lab = new Lab(store, files, parts.makeWorker);

  // ---- panes ----
  const code = byId("code");
  const holder = h("div", { id: "editor" });
  const editor = new Editor(holder, lab);
  const show = (named: string, line?: number) => {
    const path = files.has(named) ? named : `/${named}`;
    if (!files.has(path)) return;
    editor.open(path, line);
    if (line !== undefined) editor.goto(line);
    narrow("code");
  };
  const openTarget = async (target: string) => {
    drawer(false);
    let done = await lab.open(target, { traffic: { kind: "project" }, until: DURATION });
    if (done && idle()) done = await lab.open(target, { traffic: { kind: "load", load: { rate: "0.5", size: "64", time: DURATION } }, until: "" });
    editor.open(firstFile(target));
  };
  /** The file to show first: the first program, or the file whose error keeps the project from opening. */
  const firstFile = (target: string) => {
    const { opened, openMessages } = store.value;
    const mistake = openMessages.find((it) => it.severity === "error" && it.path !== null && files.has(it.path));
    return opened?.programs[0]?.source ?? mistake?.path ?? target;
  };
  /** Whether a program receives packets but the project names no traffic, so that a run would show nothing. */
  const idle = () => {
    const { opened } = store.value;
    return !opened!.arrivals_end && opened!.sources.some((it) => /^\s*msf\[/m.test(files.text(it) ?? ""));
  };
  const takeIn = async (incoming: Parameters<typeof take>[1]) => {
    try {
      const taken = await take(files, incoming);
      if (taken.target) await openTarget(taken.target);
      const capture = taken.captures[0];
      if (capture) {
        const done = await lab.reopen({ traffic: { kind: "capture", path: capture }, until: "" });
        if (done) lab.inform(`${nameOf(capture)} is the traffic now. Run it, or measure the whole run to see what leaves.`);
      }
    } catch (error) {
      lab.complain(error instanceof Error ? error.message : String(error));
    }
  };

  const picker = h("select", { "aria-label": "File in the editor", onchange: () => show(picker.value) });
  const about = h("span", { class: "about" });
  const foot = h("div", { class: "code-foot" });
  const cursor = h("span");
  const cost = h("span", { class: "mono" });
  foot.append(cursor, cost, about);
  const cursorAct = (title: string, keys: string, act: (at: number) => Promise<void>) =>
    h("button", { type: "button", class: "quiet", title: keys, onclick: () => void act(editor.view.state.selection.main.head) }, title);
  const acts = h("div", { class: "code-acts" },
    cursorAct("Go to definition", "F12: of the name under the cursor", (at) => editor.definition(at)),
    cursorAct("Rename name", "F2: the name under the cursor, everywhere", (at) => editor.rename(at)),
    cursorAct("Format file", "Shift Alt F: the file", () => editor.format()),
    cursorAct("Breakpoint", "F9: at the line of the cursor", (at) => editor.breakpoint(at)));
  code.append(h("div", { class: "code-head" }, picker, acts), holder, foot);
  let costTimer: ReturnType<typeof setTimeout> | null = null;
  let costOf = "";
  editor.oncursor = (line, column) => {
    cursor.textContent = `line ${line}, column ${column + 1}`;
    const of = `${store.value.path}:${line}`;
    if (of !== costOf) cost.textContent = "";
    costOf = of;
    if (costTimer) clearTimeout(costTimer);
    costTimer = setTimeout(async () => {
      const path = store.value.path;
      if (!store.value.opened || store.value.running !== "no" || store.value.stale) return;
      const answer = await lab.run.ask<{ text: string | null }>({ op: "cost", path, line }).catch(() => null);
      if (of === costOf) cost.textContent = (answer?.text ?? "").replace(/\s*\n+\s*/g, "  ");
    }, 160);
  };
  const showFile = () => {
    const { opened, path } = store.value;
    const paths = [...new Set([...(opened ? [opened.target, ...opened.sources] : []), ...(path ? [path] : [])])];
    fill(picker, ...paths.map((it) => h("option", { value: it }, nameOf(it) === "npsim.toml" ? it.slice(1) : nameOf(it))));
    if (path) picker.value = path;
    // As wide as the name that it shows, not as the longest.
    picker.style.width = `${(picker.selectedOptions[0]?.text.length ?? 0) + 5}ch`;
    const program = opened?.programs.filter((it) => it.source === path) ?? [];
    about.textContent = [
      path && files.isShipped(path) && files.isChanged(path) && "changed by you",
      program.length > 0 && `${program[0]!.words} of ${program[0]!.room} words on microengine ${program.map((it) => it.me).join(", ")}`,
    ].filter(Boolean).join("; ");
  };
  store.on(["opened", "path"], showFile);
  files.onchange(showFile);
  let warned = "";
  store.on(["opened"], () => {
    const { opened } = store.value;
    const kept = opened ? [opened.target, ...opened.sources].filter((it) => files.isKeptChange(it)) : [];
    if (kept.length === 0 || warned === opened!.target) return;
    warned = opened!.target;
    lab.inform(`Not as shipped: your changes of an earlier visit are in ${kept.map(nameOf).join(", ")}. "Undo all changes" under Files takes them back.`);
  });
  let followed = "";
  let runs = 0;
  store.on(["opened"], () => { runs += 1; });
  store.on(["view", "breakpoints", "path"], () => {
    const { view, breakpoints, path, running } = store.value;
    const place = view?.place;
    const calm = running === "no" || running === "step";
    const stop = view ? `${view.cycle} ${view.selected.me}.${view.selected.context}` : "";
    if (calm && stop !== followed) {
      // A newly opened run keeps the chosen file in view; selecting another context at its beginning does not.
      const chosen = view?.cycle === 0 && !followed.startsWith("0 ");
      followed = stop;
      if (place && !chosen && path !== place.path && files.has(place.path)) editor.open(place.path);
    }
    const now = store.value.path;
    const line = (it: { line: number } | null | undefined) => (it && now ? lab.presentLine(now, it.line) : null);
    const here = place?.path === now ? place : null;
    editor.show({
      breakpoints: breakpoints.filter((it) => it.path === now && it.line !== null).map((it) => it.line!),
      here: line(here),
      outer: here ? null : line(place?.frames.find((it) => it.file === now)),
    }, `${runs} ${stop} ${place?.path}:${place?.line}`);
  });

  const sources = new Sources(lab, (target) => void openTarget(target), (path) => {
    drawer(false);
    show(path);
  }, (incoming) => void takeIn(incoming));
  const lessons = new Lessons(lab, async (opening) => {
    const done = await lab.open(opening.target, {
      traffic: opening.traffic ?? { kind: "project" }, until: opening.until ?? "2ms", set: opening.set ?? {},
    });
    editor.open(done ? (opening.path ?? opening.target) : firstFile(opening.target));
  }, (path, line) => show(path, line));
  const left = new Tabs("side", "Sources", [
    { id: "library", title: "Systems", panel: sources.library },
    { id: "files", title: "Files", panel: sources.files },
    { id: "lessons", title: "Lessons", panel: lessons.element },
  ], iconButton("close", "Close", () => drawer(false), { class: "icon-button only-narrow" }));
  byId("sources").append(left.bar, left.panels);

  lanes = new Lanes(lab, () => look.tabs.show("context"));
  const chip = h("div", { style: "display:flex; flex-direction:column; height:100%" });
  const body = h("div", { class: "chip-body", style: "flex:1" }, lanes.element, new Gauges(lab).element);
  chip.append(words(lab), body);
  const console_ = new Console(lab, (path, line) => show(path, line));
  const problemsPanel = h("div");
  const floor = new Tabs("floor", "Chip", [
    { id: "chip", title: "Chip", panel: chip },
    { id: "results", title: "Results", panel: new Results(lab).element },
    { id: "console", title: "Console", panel: console_.element },
    { id: "problems", title: "Problems", panel: problemsPanel },
  ]);
  const panes = { code: "Code", chip: "Chip", results: "Results", console: "Console", problems: "Problems", look: "Inspect" };
  const switches = new Map(Object.entries(panes).map(([id, title]) => [id, h("button", { type: "button", onclick: () => narrow(id) }, title)]));
  byId("switch").append(...switches.values());
  const problems = new Problems(lab, (path, line, column) => {
    show(path);
    editor.goto(line, column);
  }, (edits) => editor.apply(edits), (text, kind) => {
    floor.badge("problems", text, kind);
    switches.get("problems")!.classList.toggle("wrong", text !== "");
  });
  store.on(["failure"], () => {
    if (store.value.failure) floor.show("problems");
  });
  problemsPanel.append(problems.element);
  byId("chip").append(floor.bar, floor.panels);

  const look = new Look(lab, (path, line) => show(path, line));
  byId("look").append(look.tabs.bar, look.tabs.panels);

  const time = new Time(lab);
  byId("time").append(time.transport, time.track);

  // ---- the bar ----
  byId("open-sources").append(icon("menu"));
  byId("open-sources").addEventListener("click", () => drawer(document.body.dataset["sources"] !== "open"));
  store.on(["opened", "traffic", "failure"], () => {
    const { opened, traffic } = store.value;
    fill(byId("project"),
      h("strong", {}, lab.target ? titleOf(lab.target) : "no system is open"),
      opened && h("span", {}, `${opened.chip.toUpperCase()}, ${trafficText(traffic)}`));
  });
  const end = byId("bar-end");
  if (embedded) end.append(h("button", { type: "button", onclick: () => window.open(whole(location.href), "_blank") }, "Open in the laboratory"));
  else {
    end.append(
      barButton("traffic", "Traffic", () => trafficDialog(lab)),
      barButton("share", "Share", () => void shareDialog(lab)),
      barButton("help", "Help", helpDialog));
  }
  end.append(theme);

  store.on(["notice"], () => {
    const { notice } = store.value;
    const bar = byId("notice");
    bar.className = notice?.kind ?? "";
    fill(bar, ...(notice
      ? [h("p", {}, notice.kind === "error" && h("strong", {}, "That did not work. "), notice.text, notice.help ? ` ${notice.help}` : ""),
         iconButton("close", "Dismiss", () => store.set({ notice: null }))]
      : []));
  });

  // ---- the drawer of a screen that is not wide ----
  function drawer(open: boolean): void {
    const had = byId("sources").contains(document.activeElement);
    if (open) document.body.dataset["sources"] = "open";
    else delete document.body.dataset["sources"];
    byId("open-sources").setAttribute("aria-expanded", String(open));
    if (!open && had) byId("open-sources").focus();
  }

  // ---- panes on a narrow screen, and the height of the editor ----
  // A narrow screen has one row for all panes, those under the chip's tabs too.
  function narrow(id: string): void {
    const tab = floor.has(id);
    if (tab) floor.show(id);
    document.body.dataset["show"] = tab ? "chip" : id;
    for (const [name, button] of switches) button.setAttribute("aria-pressed", String(name === id));
  }
  narrow("code");
  splitter(floor);

  // ---- keys, drops, leaving ----
  document.addEventListener("keydown", (event) => {
    const act: Record<string, () => void> = {
      F5: () => (event.shiftKey ? void lab.play(true) : time.toggle()),
      F10: () => time.step(event.shiftKey),
      F11: () => void lab.step(event.shiftKey ? "out" : "into", false),
      Escape: () => drawer(false),
    };
    const it = act[event.key];
    if (!it || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key !== "Escape") event.preventDefault();
    it();
  });
  // A touch beside the drawer closes it.
  document.querySelector("main")!.addEventListener("pointerdown", (event) => {
    if (!byId("sources").contains(event.target as Node)) drawer(false);
  });
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer) void dropped(event.dataTransfer).then(takeIn);
  });

  // For tests, and for use from the browser's own console.
  (window as unknown as { npsimLab: Lab }).npsimLab = lab;
  if (!embedded && fresh()) {
    const strip = welcome(() => {
      left.show("lessons");
      drawer(true);
      lessons.first();
    }, helpDialog);
    if (strip) byId("notice").after(strip);
  }
  lab.run.start(parts.module);
  lab.language.start(parts.module);
  byId("cover").remove();
  await begin();
  document.body.dataset["begun"] = "";
  window.addEventListener("hashchange", () => void begin());
  if (!embedded) stayOffline();

  /** Opens the first system, and says why it is not the one that was asked for. */
  async function instead(text: string): Promise<void> {
    await openTarget(FIRST);
    lab.complain(`${text}. Here is the first system instead.`);
  }

  async function begin(): Promise<void> {
    let shared: Shared | null = null;
    let asked: Asked | null = null;
    try {
      shared = await fromFragment(location.hash);
    } catch (error) {
      if (!(error instanceof BadLink)) throw error;
      return instead(`The link cannot be opened: ${error.message}`);
    }
    try {
      asked = askedFor(location.search, files);
    } catch (error) {
      return instead(`The address cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (!shared && asked) {
      await lab.open(asked.target, { traffic: asked.traffic, until: asked.until, set: asked.set, at: asked.cycle });
      editor.open(asked.show !== null && files.has(asked.show) ? asked.show : firstFile(asked.target));
      return;
    }
    const lesson = new URLSearchParams(location.search).get("lesson");
    if (!shared && lesson) {
      left.show("lessons");
      return lessons.take(lesson);
    }
    if (!shared) {
      await openTarget(FIRST);
      // At cycle 0 the lanes are empty, and the first view would show nothing of a chip at work.
      return lab.seek(FIRST_CYCLE);
    }
    // Files from a link do not replace those kept in this browser.
    for (const [path, text] of Object.entries(shared.files)) files.set(path, fileFromShared(text), false);
    if (!files.has(shared.target)) {
      return instead(`The link is about ${shared.target}, which is not here`);
    }
    await lab.open(shared.target, {
      traffic: shared.traffic, until: shared.until ?? "", set: shared.set ?? {}, at: shared.cycle, points: shared.breakpoints, selected: shared.selected, stand: shared.stand ?? null,
    });
    editor.open(shared.open && files.has(shared.open) ? shared.open : firstFile(shared.target));
  }
}

/** Whether the address asks for nothing: no link, project or lesson. */
function fresh(): boolean {
  const query = new URLSearchParams(location.search);
  return location.hash.length < 2 && !query.has("open") && !query.has("lesson");
}

/** A button of the bar: icon and name, on a narrow screen one under the other. */
function barButton(name: Icon, title: string, onclick: () => void): HTMLElement {
  return h("button", { type: "button", class: "quiet bar-button", onclick }, icon(name), h("span", {}, title));
}

/** The address of the same state in the full page. */
function whole(address: string): string {
  const url = new URL(address);
  url.searchParams.delete("embed");
  return url.href;
}

start().catch((error: unknown) => {
  const cover = document.getElementById("cover") ?? document.body.appendChild(h("div", { class: "cover" }));
  fill(cover, h("p", {}, `The laboratory could not start: ${error instanceof Error ? error.message : String(error)}. Reload the page, or use a current browser.`));
});
