/** A link that holds a project: its changes, traffic, cycle and breakpoints, in the fragment. */

import type { Standpoint, Thread, Traffic } from "../engine/protocol";
import { deflateRaw, fromBase64, inflateRaw, toBase64Url } from "./bytes";
import { tidy } from "./zip";

export interface Shared {
  version: 1;
  target: string;
  /** Texts and captures that differ from what is shipped: as text, or `base64:` and bytes. */
  files: Record<string, string>;
  traffic: Traffic;
  until?: string;
  set?: Record<string, string>;
  cycle: number;
  selected: Thread | null;
  /** The point within the cycle. */
  stand?: Standpoint | null;
  /** The file in the editor. */
  open: string | null;
  breakpoints: { path: string; line: number; condition?: string }[];
}

/** Links beyond this are cut by browsers and chat programs. */
export const LONG_LINK = 30_000;
const MOST = 12_000_000;
const BINARY = "base64:";

export async function toLink(shared: Shared, base: string): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  return `${base}#1.${toBase64Url(await deflateRaw(bytes))}`;
}

export class BadLink extends Error {}

/** The content of a fragment; null without one. */
export async function fromFragment(fragment: string): Promise<Shared | null> {
  const text = fragment.replace(/^#/, "");
  if (text === "") return null;
  if (!text.startsWith("1.")) throw new BadLink("it was not made by this laboratory, or by a newer one");
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(await inflateRaw(fromBase64(text.slice(2)), MOST)));
  } catch {
    throw new BadLink("it is damaged or was cut off; copy it again, whole");
  }
  return checked(value);
}

const isCount = (value: unknown): boolean => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const isTable = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.values(value).every((it) => typeof it === "string");

const isThread = (value: unknown): boolean =>
  typeof value === "object" && value !== null && isCount((value as Thread).me) && isCount((value as Thread).context);

const isStandpoint = (value: unknown): boolean => {
  const it = value as Standpoint;
  return typeof it === "object" && isCount(it.rank) && isCount(it.level) && (it.pc === null || isCount(it.pc));
};

function isBreakpoint(value: unknown): boolean {
  const it = value as Shared["breakpoints"][number] | null;
  return (
    typeof it === "object" && it !== null &&
    typeof it.path === "string" && isCount(it.line) &&
    (it.condition === undefined || typeof it.condition === "string")
  );
}

function checked(value: unknown): Shared {
  const it = value as Partial<Shared>;
  const right =
    typeof it === "object" && it !== null &&
    it.version === 1 &&
    typeof it.target === "string" &&
    typeof it.files === "object" && it.files !== null &&
    typeof it.cycle === "number" && Number.isSafeInteger(it.cycle) && it.cycle >= 0 &&
    typeof it.traffic === "object" && it.traffic !== null && typeof it.traffic.kind === "string" &&
    (it.until === undefined || typeof it.until === "string") &&
    (it.set === undefined || isTable(it.set)) &&
    (it.open === null || it.open === undefined || typeof it.open === "string") &&
    (it.selected === null || it.selected === undefined || isThread(it.selected)) &&
    (it.stand === null || it.stand === undefined || isStandpoint(it.stand)) &&
    Array.isArray(it.breakpoints) && it.breakpoints.every(isBreakpoint);
  if (!right) throw new BadLink("something is missing in it");
  const files: Record<string, string> = {};
  for (const [path, text] of Object.entries(it.files!)) {
    if (typeof text !== "string") throw new BadLink("a file in it is not text");
    files[`/${tidy(path)}`] = text;
  }
  return { ...(it as Shared), files, open: it.open ?? null, selected: it.selected ?? null };
}

export function fileToShared(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0") && !text.startsWith(BINARY)) return text;
  } catch {
    // Not UTF-8: encoded as base64.
  }
  return BINARY + toBase64Url(bytes);
}

export function fileFromShared(text: string): Uint8Array {
  return text.startsWith(BINARY) ? fromBase64(text.slice(BINARY.length)) : new TextEncoder().encode(text);
}
