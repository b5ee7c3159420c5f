/**
 * What the page's address asks for without a shared link: `?open=microcode/forward&trace=traces/mixed.pcap&at=9000`,
 * written by hand in a book or slides. README.md has the keys.
 */

import type { Traffic } from "../engine/protocol";
import type { Files } from "./files";
import { tidy } from "./zip";

export interface Asked {
  target: string;
  traffic: Traffic;
  until: string;
  set: Record<string, string>;
  cycle: number;
  /** The file to show. */
  show: string | null;
}

/** Keys of a project's `[load]`. */
const LOAD = ["rate", "size", "time", "flows"];

/** What the address asks for; nothing if it names no project, a message if that is not here. */
export function askedFor(search: string, files: Files): Asked | null {
  const query = new URLSearchParams(search);
  const open = query.get("open");
  if (open === null) return null;
  const target = project(open, files);
  const trace = query.get("trace");
  if (trace !== null && !files.has(`/${tidy(trace)}`)) throw new Error(`there is no capture ${trace} here`);
  const load = Object.fromEntries(LOAD.flatMap((key) => (query.has(key) ? [[key, query.get(key)!]] : [])));
  const optional = (key: string) => (query.has(key) ? { [key]: query.get(key)! } : {});
  let traffic: Traffic = { kind: "project" };
  if (trace !== null) traffic = { kind: "capture", path: `/${tidy(trace)}`, ...optional("pace"), ...optional("ports") };
  else if (Object.keys(load).length > 0) traffic = { kind: "load", load };
  const set: Record<string, string> = {};
  for (const it of query.getAll("set")) {
    const equals = it.indexOf("=");
    if (equals < 1) throw new Error(`\`set=${it}\` is not KEY=VALUE`);
    set[it.slice(0, equals)] = it.slice(equals + 1);
  }
  const at = query.get("at") ?? "0";
  if (!/^\d{1,12}$/.test(at)) throw new Error(`\`at=${at}\` is not a cycle`);
  const show = query.get("show");
  return { target, traffic, until: query.get("until") ?? "", set, cycle: Number(at), show: show === null ? null : `/${tidy(show)}` };
}

/** A project by its file or folder, or by its source where a project of the same name is beside it. */
function project(named: string, files: Files): string {
  const path = `/${tidy(named)}`;
  const found = [`${path}/npsim.toml`, ...(path.endsWith(".uc") ? [path.replace(/\.uc$/, ".toml")] : []), path].find((it) => files.has(it));
  if (found === undefined) throw new Error(`there is no project ${named} here`);
  return found;
}
