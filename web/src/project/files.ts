/**
 * All files of the page: those shipped with it, and those changed or made here, which take
 * precedence and are kept by the browser.
 */

import { forgetFile, keepFile, keptFiles } from "./storage";

/** Bounds on what is taken in. */
export const MOST_FILES = 2_000;
export const MOST_PROJECT = 10_000_000;
export const MOST_CAPTURE = 64_000_000;

/** Called with the new and the previous bytes of a file; null if there is no file. */
type Listener = (path: string, bytes: Uint8Array | null, before: Uint8Array | null) => void;

export class Files {
  private over = new Map<string, Uint8Array>();
  private listeners: Listener[] = [];
  /** Files that were changed or made in an earlier visit. */
  private kept = new Set<string>();
  /** Whether the browser keeps files; some do not in private windows, or for a page opened from a disk. */
  keeps = true;

  constructor(private readonly shipped: Map<string, Uint8Array>) {}

  async restore(): Promise<void> {
    try {
      this.over = await keptFiles();
      this.kept = new Set(this.over.keys());
    } catch {
      this.keeps = false;
    }
  }

  onchange(listener: Listener): void {
    this.listeners.push(listener);
  }

  get(path: string): Uint8Array | null {
    return this.over.get(path) ?? this.shipped.get(path) ?? null;
  }

  text(path: string): string | null {
    const bytes = this.get(path);
    return bytes ? new TextDecoder().decode(bytes) : null;
  }

  has(path: string): boolean {
    return this.over.has(path) || this.shipped.has(path);
  }

  set(path: string, bytes: Uint8Array, keep = true): void {
    const shipped = this.shipped.get(path);
    if (shipped && same(shipped, bytes)) {
      this.revert(path);
      return;
    }
    const before = this.get(path);
    this.over.set(path, bytes);
    if (keep && this.keeps) keepFile(path, bytes).catch(() => (this.keeps = false));
    this.tell(path, bytes, before);
  }

  setText(path: string, text: string, keep = true): void {
    this.set(path, new TextEncoder().encode(text), keep);
  }

  /** Restores a shipped file, or removes a file of the user's own. */
  revert(path: string): void {
    const before = this.get(path);
    if (!this.over.delete(path)) return;
    this.kept.delete(path);
    if (this.keeps) forgetFile(path).catch(() => (this.keeps = false));
    this.tell(path, this.shipped.get(path) ?? null, before);
  }

  private tell(path: string, bytes: Uint8Array | null, before: Uint8Array | null): void {
    for (const listener of this.listeners) listener(path, bytes, before);
  }

  isShipped(path: string): boolean {
    return this.shipped.has(path);
  }

  isChanged(path: string): boolean {
    return this.over.has(path);
  }

  /** Whether a shipped file was changed in an earlier visit. */
  isKeptChange(path: string): boolean {
    return this.kept.has(path) && this.shipped.has(path);
  }

  paths(): string[] {
    return [...new Set([...this.shipped.keys(), ...this.over.keys()])].sort();
  }

  under(folder: string): string[] {
    const prefix = folder.endsWith("/") ? folder : `${folder}/`;
    return this.paths().filter((it) => it.startsWith(prefix));
  }

  changed(): Map<string, Uint8Array> {
    return new Map(this.over);
  }

  all(): [string, Uint8Array][] {
    return this.paths().map((path) => [path, this.get(path)!]);
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

export const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/"));
export const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
export const isText = (path: string) => /\.(uc|toml|md|txt|h|c|script|cfg)$/i.test(path);
export const isCapture = (path: string) => /\.(pcap|pcapng|erf|cap)(\.gz)?$/i.test(path);
