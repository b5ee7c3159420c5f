// The module in Node: opens the router, runs, steps back, and prints how long each took.
// node module.mjs MODULE.wasm

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const bytes = readFileSync(process.argv[2]);
console.log(`module: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} gzipped`);

const timed = (name, work) => {
  const before = performance.now();
  const value = work();
  console.log(`${name}: ${(performance.now() - before).toFixed(1)} ms`);
  return value;
};

const before = performance.now();
const { instance } = await WebAssembly.instantiate(bytes, {});
console.log(`instantiated: ${(performance.now() - before).toFixed(1)} ms`);
const x = instance.exports;
const written = (data) => {
  // First, since it may let the memory grow.
  const room = x.request(data.length);
  new Uint8Array(x.memory.buffer, room, data.length).set(data);
};
const answer = () => new Uint8Array(x.memory.buffer, x.answer(), x.answer_len()).slice();
const text = new TextEncoder();

function put(path, data) {
  const name = text.encode(path);
  const all = new Uint8Array(name.length + data.length);
  all.set(name);
  all.set(data, name.length);
  written(all);
  x.put(name.length, all.length);
}

function ask(request) {
  const json = text.encode(JSON.stringify(request));
  written(json);
  const kind = x.ask(json.length);
  if (kind === 1) return answer();
  const told = JSON.parse(new TextDecoder().decode(answer()));
  assert.ok(told.ok, JSON.stringify(told));
  return told;
}

function* walk(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* walk(path);
    else yield path;
  }
}

timed("files put", () => {
  for (const path of walk(join(root, "microcode"))) put(`/${relative(root, path)}`, readFileSync(path));
  put("/traces/exceptions.pcap", readFileSync(join(root, "traces/exceptions.pcap")));
});
const load = { kind: "load", load: { rate: "0.3", time: "2ms" } };
const opened = timed("router opened", () => ask({ op: "open", target: "/microcode/router", traffic: load }));
assert.equal(opened.name, "router");
const stretch = timed("2 000 000 cycles", () => ask({ op: "run", cycles: 2_000_000 }));
console.log(`  at cycle ${stretch.cycle}`);
timed("view", () => ask({ op: "view" }));
ask({ op: "goto", at: "0.5ms" });
for (const by of ["instruction", "line", "run"]) {
  const there = timed(`step ${by}`, () => ask({ op: "step", by }));
  timed(`step ${by} back`, () => ask({ op: "step", by, back: true }));
  timed(`step ${by} further back`, () => ask({ op: "step", by, back: true }));
  assert.ok(ask({ op: "step", by }).cycle <= there.cycle);
}
timed("dragged back to 0.3 ms", () => ask({ op: "goto", at: "0.3ms" }));
timed("dragged back by 2000 cycles", () => ask({ op: "goto", at: ask({ op: "view", cycles: 0 }).cycle - 2000 }));
timed("packet's journey", () => ask({ op: "packet", number: 100 }));
const main = opened.programs[0].source;
timed("checked, cold", () => ask({ op: "check", path: main }));
const source = new TextDecoder().decode(ask({ op: "read", path: main }));
timed("checked after a change", () => {
  ask({ op: "edit", path: main, text: `${source}\n; more\n` });
  return ask({ op: "check", path: main });
});
timed("completion", () => ask({ op: "completion", path: main, line: 20, column: 4 }));
ask({ op: "open", target: "/microcode/router", traffic: load });
const measured = timed("whole run of 2 ms, observed", () => {
  let progress = { done: false };
  while (!progress.done) progress = ask({ op: "measure", cycles: 200_000 });
  return progress;
});
assert.equal(measured.ending, "drained");
const stats = ask({ op: "stats" }).stats;
console.log(`sent ${stats.packets.sent} of ${stats.packets.offered}: ${ask({ op: "bottleneck" }).headline}`);
assert.ok(ask({ op: "departures", format: "pcapng" }).length > 1000);
ask({ op: "open", target: "/microcode/forward", traffic: { kind: "capture", path: "/traces/exceptions.pcap" } });
timed("exercise", () => ask({ op: "exercise", target: "/microcode/course/one-reader" }));
console.log(`memory: ${(x.memory.buffer.byteLength / 1e6).toFixed(1)} MB`);
