// How much a first and a second visit transfer over a network.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { laboratory, ready } from "./page.mjs";

/** Bytes of bodies, as a host of static files sends them. */
const MOST = 2_300_000;

let lab;
before(async () => { lab = await laboratory(); });
after(() => lab.close());

test("a first visit fetches below 2.3 MB, and a second one nothing", async () => {
  const page = await lab.page();
  await ready(page);
  await page.evaluate(() => navigator.serviceWorker.ready);
  const sent = [...lab.sent].sort((a, b) => b[1] - a[1]);
  const all = sent.reduce((sum, [, bytes]) => sum + bytes, 0);
  for (const [path, bytes] of sent) console.log(`${path.padEnd(16)} ${String(bytes).padStart(8)} bytes`);
  console.log(`all ${" ".repeat(12)} ${String(all).padStart(8)} bytes`);
  assert.ok(all < MOST, `${all} bytes`);
  lab.sent.clear();
  await page.reload();
  await ready(page);
  const again = [...lab.sent].filter(([path]) => path !== "/sw.js");
  assert.deepEqual(again, []);
  await page.close();
});
