/** Zip files, read and written: the members that a project needs, nothing encrypted or split. */

import { deflateRaw, inflateRaw, joined, sizeText, TooLarge } from "./bytes";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;

/** Limits of a project; a zip of a few kilobytes can claim to hold terabytes. */
export interface Bounds {
  files: number;
  bytes: number;
}

export async function readZip(zip: Uint8Array, bounds: Bounds): Promise<Map<string, Uint8Array>> {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  let end = zip.length - 22;
  while (end >= 0 && end > zip.length - 66_000 && view.getUint32(end, true) !== END) end -= 1;
  if (end < 0 || view.getUint32(end, true) !== END) throw new Error("this is not a zip file, or its end is missing");
  const count = view.getUint16(end + 10, true);
  if (count > bounds.files) throw new TooLarge(`${count} files; a project may have ${bounds.files}`);
  let at = view.getUint32(end + 16, true);
  let room = bounds.bytes;
  const files = new Map<string, Uint8Array>();
  for (let n = 0; n < count; n += 1) {
    if (at + 46 > zip.length || view.getUint32(at, true) !== ENTRY) throw new Error("the zip's list of files is damaged");
    const flags = view.getUint16(at + 8, true);
    const method = view.getUint16(at + 10, true);
    const packed = view.getUint32(at + 20, true);
    const nameLength = view.getUint16(at + 28, true);
    const skip = view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const local = view.getUint32(at + 42, true);
    const name = new TextDecoder().decode(zip.subarray(at + 46, at + 46 + nameLength));
    at += 46 + nameLength + skip;
    if (name.endsWith("/")) continue;
    if (flags & 1) throw new Error(`${name} is encrypted`);
    if (local + 30 > zip.length || view.getUint32(local, true) !== LOCAL) throw new Error(`${name} is damaged`);
    const data = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const bytes = zip.subarray(data, data + packed);
    const unpacked = await member(name, method, bytes, room);
    room -= unpacked.length;
    if (room < 0) throw new TooLarge(`more than ${sizeText(bounds.bytes)} when unpacked`);
    const path = tidy(name);
    if (path === "") throw new Error("a file in the zip has no name");
    files.set(path, unpacked);
  }
  return files;
}

async function member(name: string, method: number, bytes: Uint8Array, room: number): Promise<Uint8Array> {
  if (method === 0) return bytes.slice();
  if (method !== 8) throw new Error(`${name} is packed by method ${method}; only deflate can be read`);
  return inflateRaw(bytes, room);
}

/** A path that cannot lead out of its folder. */
export function tidy(path: string): string {
  const parts: string[] = [];
  for (const part of path.replaceAll("\\", "/").split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

let crcTable: Uint32Array | null = null;
function crc32(bytes: Uint8Array): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, n) => {
    let c = n;
    for (let bit = 0; bit < 8; bit += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c >>> 0;
  });
  let crc = 0xffffffff;
  for (const byte of bytes) crc = crcTable[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

export async function writeZip(files: Map<string, Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const entries: Uint8Array[] = [];
  let at = 0;
  for (const [path, bytes] of files) {
    const name = new TextEncoder().encode(path);
    const packed = await deflateRaw(bytes);
    const fields = new DataView(new ArrayBuffer(26));
    fields.setUint16(0, 20, true);
    fields.setUint16(2, 0x0800, true); // names in UTF-8
    fields.setUint16(4, 8, true);
    fields.setUint16(8, 0x21, true); // 1980-01-01: the same project makes the same zip
    fields.setUint32(10, crc32(bytes), true);
    fields.setUint32(14, packed.length, true);
    fields.setUint32(18, bytes.length, true);
    fields.setUint16(22, name.length, true);
    const shared = new Uint8Array(fields.buffer);
    const local = joined([word(LOCAL), shared, name, packed]);
    entries.push(joined([word(ENTRY), Uint8Array.of(20, 0), shared, new Uint8Array(10), word(at), name]));
    parts.push(local);
    at += local.length;
  }
  const directory = joined(entries);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, END, true);
  end.setUint16(8, files.size, true);
  end.setUint16(10, files.size, true);
  end.setUint32(12, directory.length, true);
  end.setUint32(16, at, true);
  return joined([...parts, directory, new Uint8Array(end.buffer)]);
}

function word(value: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, value, true);
  return new Uint8Array(view.buffer);
}
