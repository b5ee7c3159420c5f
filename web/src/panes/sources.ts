/** The sources: shipped systems, the files of the open project, and the user's own projects. */

import { fill, h, icon } from "../dom";
import type { Lab } from "../lab";
import { download } from "../project/bytes";
import { folderOf, isText, nameOf } from "../project/files";
import { choose } from "../project/intake";
import { library, ownProjects } from "../project/library";
import { writeZip } from "../project/zip";
import { dialog } from "./dialog";

const project = (name: string) => `name = "${name}"
include = ["../../microcode/lib"]

[chip]
profile = "ixp2400"

[[me]]
id = "0"
source = "${name}.uc"

[[port]]
rate = "1Gbps"
`;

const TEMPLATE = `; A first program: eight contexts count, each in a register of its own, and give
; the pipeline to the next one after each addition.

.num_contexts 8
.reg count

    immed[count, 0]
again#:
    alu[count, count, +, 1]
    ctx_arb[voluntary]
    br[again#]
`;
/** The form of names of folders and of programs. */
const NAME = "[A-Za-z0-9][A-Za-z0-9_\\-]{0,40}";

export class Sources {
  readonly library = h("div");
  readonly files = h("div");
  private tree = h("div", { class: "tree" });
  private list = h("div", { class: "tree" });
  private actions = h("div", { class: "tree-actions" });
  private files_seen = "";

  constructor(
    private readonly lab: Lab,
    private readonly open: (target: string) => void,
    private readonly show: (path: string) => void,
    private readonly take: (incoming: Awaited<ReturnType<typeof choose>>) => void,
  ) {
    const pick = async (folder: boolean, accept?: string) => {
      const incoming = await choose(folder, accept);
      if (incoming.length > 0) this.take(incoming);
    };
    this.library.style.cssText = "display:flex; flex-direction:column; height:100%";
    this.tree.style.cssText = "flex:1; overflow:auto; min-height:0";
    this.library.append(this.tree, h("div", { class: "tree-actions" },
      h("button", { type: "button", onclick: () => this.askName() }, icon("add"), "New"),
      h("button", { type: "button", title: "A zip, sources or captures", onclick: () => void pick(false) }, icon("file"), "Open file"),
      h("button", { type: "button", onclick: () => void pick(true) }, icon("folder"), "Open folder")));
    this.files.style.cssText = this.library.style.cssText;
    this.list.style.cssText = this.tree.style.cssText;
    this.files.append(this.list, this.actions);
    this.drawLibrary();
    lab.files.onchange(() => this.drawChanged());
    lab.store.on(["opened", "path", "failure"], () => this.drawChanged());
  }

  private askName(): void {
    let n = 1;
    const taken = (name: string) => this.lab.files.under(`/own/${name}`).length > 0;
    while (taken(`first-${n}`)) n += 1;
    const name = h("input", { type: "text", id: "new-name", value: `first-${n}`, pattern: NAME, required: true, autocomplete: "off", spellcheck: "false" });
    const form = h("form", {
      id: "new-project", style: "display:grid; gap:6px",
      onsubmit: (event: Event) => {
        event.preventDefault();
        element.close();
        this.begin(name.value);
      },
    }, h("label", { for: "new-name" }, "Name of the project"), name,
    h("p", { class: "soft" }, "A project of your own for an IXP2400, with a first program. This browser keeps it."));
    name.addEventListener("input", () => name.setCustomValidity(
      taken(name.value) ? "You have a project of this name."
        : new RegExp(`^${NAME}$`).test(name.value) ? "" : "Letters, digits, - and _, with a letter or a digit first."));
    const element = dialog("New project", [form], (close) => [
      h("button", { type: "button", onclick: close }, "Cancel"),
      h("button", { type: "submit", class: "primary", form: "new-project" }, "Create")]);
    name.select();
  }

  private begin(name: string): void {
    const folder = `/own/${name}`;
    this.lab.files.setText(`${folder}/${name}.uc`, TEMPLATE);
    this.lab.files.setText(`${folder}/npsim.toml`, project(name));
    this.open(`${folder}/npsim.toml`);
  }

  private drawChanged(): void {
    const own = ownProjects(this.lab.files.paths()).map((it) => it.target).join();
    const key = `${own} ${this.lab.target}`;
    if (key !== this.files_seen) {
      this.files_seen = key;
      this.drawLibrary();
    }
    this.drawFiles();
  }

  private drawLibrary(): void {
    const paths = this.lab.files.paths();
    const row = (target: string, name: string, deep: boolean) => h("button", {
      type: "button", class: `row${deep ? " deep" : ""}`, "aria-current": String(target === this.lab.target), onclick: () => this.open(target),
    }, h("span", {}, name));
    const [first, ...groups] = library(paths);
    const own = ownProjects(paths);
    const opened = new Set([...this.tree.querySelectorAll("details[open]")].map((it) => it.getAttribute("data-title")));
    fill(this.tree,
      own.length > 0 && h("section", { class: "group" }, h("h3", {}, "Your own"), ...own.map((it) => row(it.target, it.name, false))),
      h("section", { class: "group" }, h("h3", {}, first!.title), ...first!.entries.map((it) => row(it.target, it.name, false))),
      h("section", { class: "group" }, h("h3", {}, "All shipped systems"), ...groups.map((group) =>
        h("details", { "data-title": group.title, open: opened.has(group.title) },
          h("summary", {}, icon("chevron"), group.title),
          ...group.entries.map((it) => row(it.target, it.name, true))))));
  }

  /** The files of the open project: its folder, and the sources that it takes from elsewhere. */
  private projectFiles(): string[] {
    const { target } = this.lab;
    if (!target) return [];
    const { files, store } = this.lab;
    const folder = folderOf(target);
    const near = target.endsWith(".uc") ? [target] : files.under(folder).filter((it) => isText(it));
    const sources = store.value.opened?.sources ?? [];
    return [...new Set([...near, ...sources])];
  }

  private drawFiles(): void {
    const { files, store } = this.lab;
    const paths = this.projectFiles();
    const folders = [...new Set(paths.map(folderOf))];
    const current = store.value.path;
    const changed = paths.filter((it) => files.isChanged(it));
    if (paths.length === 0) {
      fill(this.list, h("p", { class: "empty" }, "Open a system to see its files."));
      this.actions.hidden = true;
      return;
    }
    fill(this.list,
      ...folders.map((folder) => h("section", { class: "group" }, h("h3", {}, folder.slice(1)),
        ...paths.filter((it) => folderOf(it) === folder).map((path) => h("button", {
          type: "button", class: `row${files.isChanged(path) && files.isShipped(path) ? " changed" : ""}`, "aria-current": String(path === current), onclick: () => this.show(path),
        }, h("span", {}, nameOf(path)))))));
    this.actions.hidden = false;
    fill(this.actions,
      h("button", { type: "button", onclick: () => void this.save(paths) }, icon("down"), "Save as zip"),
      changed.some((it) => files.isShipped(it)) && h("button", { type: "button", onclick: () => this.revert(changed) }, "Undo all changes"),
      this.lab.target!.startsWith("/own/") && h("button", { type: "button", onclick: () => this.remove(paths) }, "Remove from this browser"));
  }

  private async save(paths: string[]): Promise<void> {
    const { files, target } = this.lab;
    const root = target!.startsWith("/own/") && paths.every((it) => it.startsWith(folderOf(target!))) ? folderOf(target!) : "";
    const members = new Map(paths.map((path) => [path.slice(root.length + 1), files.get(path)!]));
    const name = target!.endsWith("npsim.toml") ? nameOf(folderOf(target!)) : nameOf(target!).replace(/\.\w+$/, "");
    download(`${name}.zip`, await writeZip(members), "application/zip");
  }

  private revert(changed: string[]): void {
    const paths = changed.filter((it) => this.lab.files.isShipped(it));
    if (!confirm(`Make ${paths.map(nameOf).join(", ")} as shipped again? Your changes are lost.`)) return;
    for (const path of paths) this.lab.files.revert(path);
    void this.lab.reopen();
  }

  private remove(paths: string[]): void {
    const own = paths.filter((it) => it.startsWith("/own/"));
    if (!confirm(`Remove ${own.length} of your files from this browser? Save them as a zip first if you need them.`)) return;
    for (const path of own) this.lab.files.revert(path);
    this.open("/microcode/tutorial/wire8.toml");
  }
}
