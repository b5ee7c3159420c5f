// Parts of the page that need no browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { here } from "./page.mjs";

async function part(path) {
  const folder = mkdtempSync(join(tmpdir(), "npsim-web-"));
  const outfile = join(folder, "part.mjs");
  await build({ entryPoints: [join(here, "../src", path)], bundle: true, format: "esm", platform: "node", outfile });
  return import(outfile);
}

const text = (bytes) => new TextDecoder().decode(bytes);
const bytes = (text) => new TextEncoder().encode(text);

test("zip files of the page are read by others, and theirs by the page", async () => {
  const { readZip, writeZip, tidy } = await part("project/zip.ts");
  const bounds = { files: 10, bytes: 10_000 };
  const files = new Map([["npsim.toml", bytes("name = \"a\"\n")], ["src/a.uc", bytes("nop\n".repeat(500))]]);
  const zip = await writeZip(files);
  const folder = mkdtempSync(join(tmpdir(), "npsim-web-"));
  writeFileSync(join(folder, "a.zip"), zip);
  execFileSync("python3", ["-c", "import sys,zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])", join(folder, "a.zip"), folder]);
  assert.equal(readFileSync(join(folder, "src/a.uc"), "utf8"), "nop\n".repeat(500));
  execFileSync("python3", ["-c", "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED); z.writestr('p/x.uc','nop\\n'*90); z.writestr('p/','')", join(folder, "b.zip")]);
  const read = await readZip(new Uint8Array(readFileSync(join(folder, "b.zip"))), bounds);
  assert.deepEqual([...read.keys()], ["p/x.uc"]);
  assert.equal(text(read.get("p/x.uc")), "nop\n".repeat(90));
  assert.deepEqual([...(await readZip(zip, bounds)).keys()], [...files.keys()]);
  assert.equal(tidy("../../etc\\./passwd"), "etc/passwd");
});

test("a zip bomb is refused before it is unpacked whole", async () => {
  const { readZip, writeZip } = await part("project/zip.ts");
  const zip = await writeZip(new Map([["a.uc", new Uint8Array(50_000_000)]]));
  assert.ok(zip.length < 100_000);
  await assert.rejects(readZip(zip, { files: 10, bytes: 1_000_000 }), /more than/);
  await assert.rejects(readZip(zip, { files: 0, bytes: 1_000_000 }), /1 files/);
  await assert.rejects(readZip(zip.subarray(0, zip.length - 30), { files: 10, bytes: 1e6 }), /not a zip file/);
});

test("a link gives back what was put into it", async () => {
  const { toLink, fromFragment, fileToShared, fileFromShared } = await part("project/share.ts");
  const shared = {
    version: 1, target: "/own/a.uc", files: { "/own/a.uc": "nop\n", "/own/b.pcap": fileToShared(Uint8Array.of(0xd4, 0xc3, 0, 255)) },
    traffic: { kind: "none" }, cycle: 12_345, selected: { me: 0, context: 3 }, open: null, breakpoints: [{ path: "/own/a.uc", line: 1 }],
  };
  const link = await toLink(shared, "http://x/");
  assert.deepEqual(await fromFragment(new URL(link).hash), shared);
  assert.deepEqual(fileFromShared(shared.files["/own/b.pcap"]), Uint8Array.of(0xd4, 0xc3, 0, 255));
  assert.equal(await fromFragment(""), null);
  for (const rubbish of ["#x", "#1.", "#1.!!", await toLink({ version: 1 }, ""), await toLink({ ...shared, cycle: -1 }, "")]) {
    await assert.rejects(fromFragment(rubbish.slice(rubbish.indexOf("#"))), Error, rubbish);
  }
});

test("lines go with their text", async () => {
  const { MovedLines, step } = await part("project/moved-lines.ts");
  const moved = (before, after) => {
    const next = step(before.join("\n"), after.join("\n"));
    return before.map((_, at) => next(at + 1));
  };
  assert.deepEqual(moved(["a", "b", "c"], ["a", "new", "b", "c"]), [1, 3, 4]);
  assert.deepEqual(moved(["a", "b", "c"], ["a", "c"]), [1, null, 2]);
  assert.deepEqual(moved(["a", "b", "c"], ["a", "B", "c"]), [1, 2, 3]);
  assert.deepEqual(moved(["a", "a", "a"], ["a", "a"]), [1, 2, null]);
  assert.deepEqual(moved(["a"], []), [1]);
  const lines = new MovedLines();
  assert.equal(lines.present("/a.uc", 3), 3);
  const change = (before, after) => lines.change("/a.uc", before, step(before, after));
  change("a\nb\nc", "a\nx\nb\nc");
  change("a\nx\nb\nc", "a\nx\nb");
  assert.deepEqual([1, 2, 3].map((line) => lines.present("/a.uc", line)), [1, 3, null]);
  assert.deepEqual([1, 2, 3].map((line) => lines.original("/a.uc", line)), [1, null, 2]);
  lines.clear();
  assert.equal(lines.present("/a.uc", 3), 3);
});
