/** Fetches the parts of the page: the simulator, the pack of files, the worker's source. */

import { XzReadableStream } from "xz-decompress";
import { fromBase64 } from "./project/bytes";

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

async function fetched(name: string): Promise<ReadableStream<Uint8Array>> {
  const answer = await fetch(name);
  if (!answer.ok || !answer.body) throw new Error(`${name} could not be fetched (${answer.status})`);
  return answer.body;
}

/** A part of the page, unpacked as it arrives. Packed with xz, since no browser has a decoder for a format as compact. */
async function part(name: string, id: string, type: string): Promise<Response> {
  const packed = INLINE ? new Blob([inlined(id) as BlobPart]).stream() : await fetched(name);
  return new Response(new XzReadableStream(packed), { headers: { "content-type": type } });
}

export async function boot(): Promise<Parts> {
  // The module is compiled while it is unpacked.
  const [module, pack] = await Promise.all([
    WebAssembly.compileStreaming(part("npsim.wasm.xz", "part-wasm", "application/wasm")),
    part("files.pack.xz", "part-files", "application/octet-stream").then((it) => it.arrayBuffer()),
  ]);
  let url = "worker.js";
  if (INLINE) {
    const source = new TextDecoder().decode(inlined("part-worker"));
    url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  }
  return { module, pack: new Uint8Array(pack), makeWorker: () => new Worker(url) };
}

/** Lets the folder work without a network after the first visit. */
export function stayOffline(): void {
  if (INLINE || !("serviceWorker" in navigator) || location.protocol === "file:") return;
  navigator.serviceWorker.register("sw.js").catch(() => {});
}
