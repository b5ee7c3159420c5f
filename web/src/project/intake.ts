/** Files from the user: captures, projects as a folder or a zip, single sources. */

import { gunzip, sizeText, TooLarge } from "./bytes";
import { type Files, isCapture, isText, MOST_CAPTURE, MOST_FILES, MOST_PROJECT, nameOf } from "./files";
import { readZip, tidy } from "./zip";

export interface Taken {
  /** A project or source that can be opened. */
  target: string | null;
  captures: string[];
  files: number;
}

export class Unwelcome extends Error {}

interface Incoming {
  path: string;
  file: File;
}

/** Takes what was dropped or chosen; what is too large is refused before it is read. */
export async function take(files: Files, incoming: Incoming[]): Promise<Taken> {
  const taken: Taken = { target: null, captures: [], files: 0 };
  const captures = incoming.filter((it) => isCapture(it.path));
  for (const it of captures) taken.captures.push(await capture(files, it));
  const rest = incoming.filter((it) => !isCapture(it.path));
  const single = rest.length === 1 ? rest[0]! : null;
  let project: Map<string, Uint8Array>;
  let name: string;
  if (single && single.path.endsWith(".zip")) {
    if (single.file.size > MOST_PROJECT) throw new Unwelcome(`${single.path} has ${sizeText(single.file.size)}; a project may have ${sizeText(MOST_PROJECT)}.`);
    try {
      project = await readZip(await bytesOf(single.file), { files: MOST_FILES, bytes: MOST_PROJECT });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Unwelcome(`${single.path} was not taken: ${why}.${error instanceof TooLarge ? " Leave out captures and built files." : ""}`);
    }
    name = nameOf(`/${single.path}`).replace(/\.zip$/, "");
  } else {
    const size = rest.reduce((sum, it) => sum + it.file.size, 0);
    if (rest.length > MOST_FILES || size > MOST_PROJECT) {
      throw new Unwelcome(`${rest.length} files of ${sizeText(size)} are more than a project may have (${MOST_FILES} files, ${sizeText(MOST_PROJECT)}).`);
    }
    project = new Map();
    for (const it of rest) project.set(tidy(it.path), await bytesOf(it.file));
    name = rest[0] ? tidy(rest[0].path).split("/")[0]!.replace(/\.\w+$/, "") : "";
  }
  if (project.size > 0) addProject(files, name, project, taken);
  return taken;
}

function addProject(files: Files, name: string, project: Map<string, Uint8Array>, taken: Taken): void {
  const paths = [...project.keys()];
  const root = paths.every((it) => it.startsWith(`${paths[0]!.split("/")[0]}/`)) ? `${paths[0]!.split("/")[0]}/` : "";
  const folder = `/own/${name || "project"}`;
  for (const [path, bytes] of project) {
    const to = `${folder}/${path.slice(root.length)}`;
    if (!isText(to) && !/\.(elf|bin)$/.test(to)) {
      if (isCapture(to)) taken.captures.push(to);
      else continue;
    }
    files.set(to, bytes);
    taken.files += 1;
    if (to.endsWith(".toml") && !to.endsWith(".part.toml") && (!taken.target?.endsWith("npsim.toml") || to.length < taken.target.length)) taken.target = to;
    else if (to.endsWith(".uc") && taken.target === null) taken.target = to;
  }
  const sources = files.under(folder).filter((it) => it.endsWith(".uc"));
  if (taken.target?.endsWith(".uc") && sources.length === 1) {
    taken.target = `${folder}/npsim.toml`;
    files.setText(taken.target, projectOf(name, nameOf(sources[0]!)));
  }
  if (taken.files === 0) throw new Unwelcome(`${name} has no microcode (.uc) and no project file (.toml).`);
}

/** A project for a single source: one microengine, the shipped macros, three ports. */
const projectOf = (name: string, source: string) => `name = "${name.replaceAll(/[^\w-]/g, "-")}"
include = ["../../microcode/lib"]

[chip]
profile = "ixp2400"

[[me]]
id = "0"
source = "${source}"
${"\n[[port]]\nrate = \"1Gbps\"\n".repeat(3)}`;

async function capture(files: Files, it: Incoming): Promise<string> {
  const limit = `a capture may have ${sizeText(MOST_CAPTURE)} here; \`editcap -c\` or \`tcpdump -c\` cut one, and the npsim command takes any size`;
  if (it.file.size > MOST_CAPTURE) throw new Unwelcome(`${it.path} has ${sizeText(it.file.size)}: ${limit}.`);
  let bytes: Uint8Array = await bytesOf(it.file);
  let name = nameOf(`/${it.path}`);
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    try {
      bytes = await gunzip(bytes, MOST_CAPTURE);
    } catch (error) {
      if (error instanceof TooLarge) throw new Unwelcome(`${it.path} unpacks to ${error.message}: ${limit}.`);
      throw new Unwelcome(`${it.path} is damaged: it cannot be unpacked.`);
    }
    name = name.replace(/\.gz$/, "");
  }
  const path = `/own/captures/${name}`;
  files.set(path, bytes, bytes.length < MOST_PROJECT);
  return path;
}

const bytesOf = async (file: File) => new Uint8Array(await file.arrayBuffer());

/** The files of a drop, with the folders they lie in. */
export async function dropped(transfer: DataTransfer): Promise<Incoming[]> {
  const entries = [...transfer.items].map((it) => it.webkitGetAsEntry?.()).filter((it): it is FileSystemEntry => !!it);
  const found: Incoming[] = [];
  if (entries.length === 0) return [...transfer.files].map((file) => ({ path: file.name, file }));
  const walk = async (entry: FileSystemEntry, under: string): Promise<void> => {
    if (found.length > MOST_FILES) return;
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      found.push({ path: under + entry.name, file });
    } else {
      const reader = (entry as FileSystemDirectoryEntry).createReader();
      for (;;) {
        const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0) break;
        for (const it of some) await walk(it, `${under}${entry.name}/`);
      }
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
}

/** Asks the user for files, or with `folder` for a whole folder. */
export function choose(folder: boolean, accept = ""): Promise<Incoming[]> {
  return new Promise((resolve) => {
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.accept = accept;
    input.webkitdirectory = folder;
    input.addEventListener("change", () =>
      resolve([...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }))));
    input.addEventListener("cancel", () => resolve([]));
    input.click();
  });
}
