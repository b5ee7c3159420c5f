/**
 * The pack of shipped files: the length of an index as 4 bytes (big-endian), the index in
 * JSON (`[[path, bytes], ...]`), then the files one after another. `build.mjs` writes it.
 */
export function unpack(pack: Uint8Array): Map<string, Uint8Array> {
  const view = new DataView(pack.buffer, pack.byteOffset, pack.byteLength);
  const length = view.getUint32(0);
  const index: [string, number][] = JSON.parse(new TextDecoder().decode(pack.subarray(4, 4 + length)));
  const files = new Map<string, Uint8Array>();
  let at = 4 + length;
  for (const [path, bytes] of index) {
    // A copy: sending a view to a worker would send the whole pack.
    files.set(path, pack.slice(at, at + bytes));
    at += bytes;
  }
  return files;
}
