// Zips and links from untrusted sources: damaged ones are refused with a reason, and nothing that is read exceeds the
// limits. NPSIM_FUZZ_SECONDS extends the test beyond the second that it takes in the gate.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const SECONDS = Number(process.env.NPSIM_FUZZ_SECONDS ?? 1);
const BOUNDS = { files: 20, bytes: 100_000 };
const here = dirname(fileURLToPath(import.meta.url));

let zip, share, bytes;
before(async () => {
  const load = async (name) => {
    const built = await build({ entryPoints: [join(here, `../src/project/${name}.ts`)], bundle: true, write: false, format: "esm" });
    return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString("base64")}`);
  };
  [zip, share, bytes] = [await load("zip"), await load("share"), await load("bytes")];
});

/** Pseudo-random numbers, the same in each run. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const ODD = [0, 1, 0x7f, 0x80, 0xff];

function damaged(original, draw) {
  const copy = Array.from(original);
  for (let n = draw(6); n >= 0; n -= 1) {
    const at = draw(copy.length);
    switch (draw(4)) {
      case 0: copy[at] = draw(256); break;
      case 1: copy[at] = ODD[draw(ODD.length)]; break;
      case 2: copy.splice(at, draw(8)); break;
      default: copy.splice(at, 0, ...copy.slice(at, at + draw(40)));
    }
    if (copy.length === 0) copy.push(0);
  }
  return Uint8Array.from(copy);
}

/** Tries inputs until the time is up; returns how many. */
async function each(attempt) {
  const draw = random(7);
  const end = Date.now() + SECONDS * 1000;
  let count = 0;
  for (; count < 200 || Date.now() < end; count += 1) await attempt(draw);
  return count;
}

test("a damaged zip is refused or gives files within its bounds", async () => {
  const text = new TextEncoder();
  const whole = await zip.writeZip(new Map([
    ["npsim.toml", text.encode("name = \"a\"\n")],
    ["sub/forward.uc", text.encode("alu[a, a, +, 1]\n".repeat(200))],
    ["empty.uc", new Uint8Array()],
  ]));
  let read = 0;
  const count = await each(async (draw) => {
    let files;
    try {
      files = await zip.readZip(damaged(whole, draw), BOUNDS);
    } catch (error) {
      assert.ok(error instanceof Error && error.message !== "", String(error));
      assert.ok(!(error instanceof RangeError && /offset/i.test(error.message)), error.stack);
      return;
    }
    read += 1;
    assert.ok(files.size <= BOUNDS.files);
    let total = 0;
    for (const [path, unpacked] of files) {
      assert.ok(!path.startsWith("/") && !path.split("/").includes(".."), path);
      assert.notEqual(path, "");
      total += unpacked.length;
    }
    assert.ok(total <= BOUNDS.bytes);
  });
  console.log(`# ${count} zips, ${read} of them were read`);
  assert.ok(read > 0 && read < count);
});

test("a zip that unpacks to more than it may is refused", async () => {
  const bomb = await zip.writeZip(new Map([["a.uc", new Uint8Array(1_000_000)]]));
  await assert.rejects(zip.readZip(bomb, BOUNDS), /more than/);
  const many = await zip.writeZip(new Map(Array.from({ length: 21 }, (_, n) => [`${n}.uc`, new Uint8Array(1)])));
  await assert.rejects(zip.readZip(many, BOUNDS), /21 files/);
  const nameless = await zip.writeZip(new Map([["../..", new Uint8Array(1)]]));
  await assert.rejects(zip.readZip(nameless, BOUNDS), /no name/);
});

const LINK = {
  version: 1, target: "/microcode/tutorial/wire8.uc", files: { "/a.uc": "nop\n" }, traffic: { kind: "load", load: { rate: "1Gbps" } },
  until: "1ms", set: { "a.b": "1" }, cycle: 5, selected: { me: 0, context: 1 }, open: "/a.uc",
  breakpoints: [{ path: "/a.uc", line: 3, condition: "context == 1" }],
};

const fragment = async (value) => {
  const link = await share.toLink(value, "");
  return link.slice(link.indexOf("#"));
};

test("a link with a value of another kind is refused", async () => {
  assert.deepEqual(await share.fromFragment(await fragment(LINK)), LINK);
  const wrong = [null, 7, "x", [], [null], { a: 1 }, -1, 1.5, { me: -1, context: 0 }, [{ path: 1, line: 1 }], [{ path: "a", line: "1" }]];
  const fits = {
    version: () => false,
    target: (it) => typeof it === "string",
    files: (it) => typeof it === "object" && it !== null && Object.values(it).every((text) => typeof text === "string"),
    traffic: () => false,
    until: (it) => typeof it === "string",
    set: (it) => typeof it === "object" && it !== null && Object.values(it).every((text) => typeof text === "string"),
    cycle: (it) => Number.isSafeInteger(it) && it >= 0,
    selected: (it) => it === null,
    open: (it) => it === null || typeof it === "string",
    breakpoints: (it) => Array.isArray(it) && it.length === 0,
  };
  for (const [key, right] of Object.entries(fits)) {
    for (const value of wrong.filter((it) => !right(it))) {
      await assert.rejects(share.fromFragment(await fragment({ ...LINK, [key]: value })), share.BadLink, `${key}: ${JSON.stringify(value)}`);
    }
  }
});

test("a damaged link is refused or what it says is of the right kind", async () => {
  const packed = new TextEncoder().encode(JSON.stringify(LINK));
  const count = await each(async (draw) => {
    const text = draw(2) === 0
      ? `#1.${bytes.toBase64Url(await bytes.deflateRaw(damaged(packed, draw)))}`
      : `#1.${bytes.toBase64Url(damaged(await bytes.deflateRaw(packed), draw))}`;
    let shared;
    try {
      shared = await share.fromFragment(text);
    } catch (error) {
      assert.ok(error instanceof share.BadLink, error.stack);
      return;
    }
    assert.ok(shared.breakpoints.every((it) => typeof it.path === "string" && Number.isSafeInteger(it.line)));
    assert.ok(Object.keys(shared.files).every((path) => path.startsWith("/") && !path.includes("/../")));
  });
  console.log(`# ${count} links`);
});
