/** Fetches what the page is made of: the simulator, the pack of files, the worker's source. */

import { fromBase64, gunzip } from "./project/bytes";

export interface Parts {
  module: WebAssembly.Module;
  pack: Uint8Array;
  makeWorker: () => Worker;
}

function inlined(id: string): Uint8Array {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  const bytes = fromBase64(element.textContent!.trim());
  element.remove();
  return bytes;
}

async function fetched(name: string): Promise<Uint8Array> {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name} could not be fetched (${answer.status})`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Some servers unpack .gz files on the way. */
async function unpacked(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzip(bytes) : bytes;
}

export async function boot(): Promise<Parts> {
  const part = (name: string, id: string) => (INLINE ? Promise.resolve(inlined(id)) : fetched(name)).then(unpacked);
  const [wasm, pack] = await Promise.all([part("npsim.wasm.gz", "part-wasm"), part("files.pack.gz", "part-files")]);
  const module = await WebAssembly.compile(wasm as BufferSource);
  let url = "worker.js";
  if (INLINE) {
    const source = new TextDecoder().decode(inlined("part-worker"));
    url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  }
  return { module, pack, makeWorker: () => new Worker(url) };
}

/** The folder works without a network after the first visit. */
export function stayOffline(): void {
  if (INLINE || !("serviceWorker" in navigator) || location.protocol === "file:") return;
  navigator.serviceWorker.register("sw.js").catch(() => {});
}
