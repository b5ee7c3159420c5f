// The module gives the same numbers as the command. Runs in node, without a browser.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { here, npsim, unxz } from "./page.mjs";

async function part(path) {
  const outfile = join(mkdtempSync(join(tmpdir(), "npsim-web-")), "part.mjs");
  await build({ entryPoints: [join(here, "../src", path)], bundle: true, format: "esm", platform: "node", outfile });
  return import(outfile);
}

const lab = join(here, "../dist/lab");
const SYSTEMS = [
  "forward/npsim.toml", "router/npsim.toml", "router/two-queue-managers.toml", "router/ixp2800.toml", "tutorial/hub/npsim.toml",
  "ordering/contiguous.toml", "ordering/aisr.toml", "quick-start/lock.toml", "xcp/lock.toml", "rcp/npsim.toml",
];
const TIME = "300us";

async function simulator() {
  const { Simulator } = await part("engine/module.ts");
  const { unpack } = await part("project/pack.ts");
  const it = await Simulator.of(await WebAssembly.compile(await unxz(readFileSync(join(lab, "npsim.wasm.xz")))));
  for (const [path, bytes] of unpack(await unxz(readFileSync(join(lab, "files.pack.xz"))))) it.put(path, bytes);
  return it;
}

function measured(it, target) {
  it.ask({ op: "open", target, traffic: { kind: "load", load: { rate: "0.6", time: TIME } } });
  const began = performance.now();
  for (let first = true, done = false; !done; first = false) done = it.ask({ op: "measure", cycles: 200_000, again: first }).done;
  return { stats: it.ask({ op: "stats" }).stats, took: performance.now() - began };
}

for (const system of SYSTEMS) {
  test(`${system} has the statistics of the command`, { skip: !process.env.NPSIM && "NPSIM names no command" }, async () => {
    const it = await simulator();
    const { stats } = measured(it, `/microcode/${system}`);
    const out = join(mkdtempSync(join(tmpdir(), "npsim-web-")), "stats.json");
    npsim(["run", `microcode/${system}`, "--load", "0.6", "--time", TIME, "--stats", out, "--quiet"]);
    const native = JSON.parse(readFileSync(out, "utf8").replaceAll('"microcode/', '"/microcode/'));
    const own = JSON.parse(JSON.stringify(stats).replaceAll('"microcode/', '"/microcode/'));
    for (const key of Object.keys(native)) assert.deepEqual(own[key], native[key], key);
    assert.deepEqual(Object.keys(own).sort(), Object.keys(native).sort());
  });
}

test("the router takes less than 300 MB", async () => {
  const it = await simulator();
  measured(it, "/microcode/router/npsim.toml");
  it.ask({ op: "goto", at: TIME });
  it.ask({ op: "view", cycles: 2000, lanes: true });
  const took = it.exports.memory.buffer.byteLength;
  console.log(`memory: ${(took / 1e6).toFixed(1)} MB`);
  assert.ok(took < 300e6, `${took} bytes`);
});

test("memory that ends is said, and a new module goes on", async () => {
  const it = await simulator();
  // Twice as long as JSON, and then unpacked.
  const much = "\n".repeat(250_000_000);
  assert.throws(() => it.ask({ op: much }), (error) => error.spent && /the memory of the page is full: it has/.test(error.message));
  const other = await simulator();
  assert.equal(other.ask({ op: "open", target: "/microcode/router/npsim.toml" }).name, "router");
});
