/** The shipped systems, as the list of sources shows them. */

import { exerciseTitles } from "../learn/course";

export interface LibraryEntry {
  target: string;
  name: string;
}

export interface LibraryGroup {
  title: string;
  entries: LibraryEntry[];
}

const FIRST: LibraryEntry[] = [
  { target: "/microcode/tutorial/wire8.toml", name: "wire, eight contexts" },
  { target: "/microcode/tutorial/hub/npsim.toml", name: "hub of two ports" },
  { target: "/microcode/forward/npsim.toml", name: "IPv4 forwarder" },
  { target: "/microcode/router/npsim.toml", name: "IPv4 router" },
];

/** Titles of the folders. */
const TITLES: Record<string, string> = {
  tutorial: "Tutorials",
  forward: "IPv4 forwarder",
  router: "IPv4 router",
  ordering: "Keep packets in order",
  pacing: "Pacing",
  "quick-start": "Quick-Start",
  rcp: "RCP",
  xcp: "XCP",
  stress: "One unit under load",
};

export function library(paths: string[]): LibraryGroup[] {
  const groups: LibraryGroup[] = [{ title: "Begin here", entries: FIRST.filter((it) => paths.includes(it.target)) }];
  for (const [folder, title] of Object.entries(TITLES)) {
    const entries = paths
      .filter((it) => it.startsWith(`/microcode/${folder}/`) && it.endsWith(".toml") && !it.endsWith(".part.toml"))
      .map((target) => ({ target, name: nameIn(folder, target) }));
    if (entries.length > 0) groups.push({ title, entries });
  }
  return groups;
}

function nameIn(folder: string, target: string): string {
  const rest = target.slice(`/microcode/${folder}/`.length).replace(/\.toml$/, "");
  return rest === "npsim" ? TITLES[folder]! : words(rest.replace(/\/npsim$/, ""));
}

/** How some parts of names are written. */
const PARTS: Record<string, string> = { c: "in C", aisr: "AISR", its: "ITS", ixp2800: "IXP2800" };

const words = (name: string) => name.split("-").map((it) => PARTS[it] ?? it).join(" ");

/** The user's own projects: folders under /own. */
export function ownProjects(paths: string[]): LibraryEntry[] {
  const own = paths.filter((it) => it.startsWith("/own/"));
  const targets = own.filter((it) => it.endsWith(".toml") && !it.endsWith(".part.toml"));
  const bare = own.filter((it) => it.endsWith(".uc") && !targets.some((target) => it.startsWith(target.slice(0, target.lastIndexOf("/")))));
  return [...targets, ...bare].map((target) => ({ target, name: target.slice("/own/".length).replace(/\/npsim\.toml$/, "") }));
}

/** A project's title at the top of the page. */
export function titleOf(target: string): string {
  const known = FIRST.find((it) => it.target === target)?.name ?? exerciseTitles.get(target);
  if (known !== undefined) return known;
  if (target === "/microcode/tutorial/wire.toml") return "wire, one context";
  const [, folder] = /^\/microcode\/([^/]+)\//.exec(target) ?? [];
  if (folder !== undefined && TITLES[folder] !== undefined) {
    const name = nameIn(folder, target);
    return name === TITLES[folder] ? name : `${TITLES[folder]}: ${name}`;
  }
  return target.replace(/^\/(microcode|own)\//, "").replace(/\/npsim\.toml$/, "").replace(/\.toml$/, "");
}
