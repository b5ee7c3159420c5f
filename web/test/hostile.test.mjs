// Hostile input gives a clear message, and the page continues to work.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { laboratory, open, state, WIRE8 } from "./page.mjs";

let lab;
before(async () => { lab = await laboratory(); });
after(() => lab.close());

/** Drops a text, repeated within the page so that the driver need not transfer all of it. */
const dropText = (page, name, text, times = 1) =>
  page.evaluate(([name, text, times]) => {
    const data = new DataTransfer();
    data.items.add(new File([text.repeat(times)], name));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
  }, [name, text, times]);

/** Checks that a shipped system still opens and runs without a failure. */
async function goesOn(page) {
  await open(page, WIRE8, { traffic: { kind: "load", load: { rate: "0.5", size: "64", time: "1ms" } }, until: "" });
  await page.evaluate(() => window.npsimLab.seek(5_000));
  await page.waitForFunction(() => window.npsimLab.store.value.view?.cycle === 5_000);
  assert.equal(await state(page, "s.failure"), null);
  assert.deepEqual(page.errors, []);
}

test("a source of more than 10 MB is refused by its size", async () => {
  const page = await lab.page();
  await dropText(page, "long.uc", "alu[--, --, B, 0]\n", 600_000);
  await page.locator("#notice.error", { hasText: /10\.8 MB are more than a project may have/ }).waitFor();
  await goesOn(page);
  await page.close();
});

test("a source that fits no control store is said to be too long, and the page goes on", async () => {
  const page = await lab.page();
  await dropText(page, "long.uc", "alu[--, --, B, 0]\n", 60_000);
  await page.waitForFunction(() => window.npsimLab.store.value.failure !== null || document.querySelector("#notice.error"), null, { timeout: 60_000 });
  const said = await state(page, "JSON.stringify([s.failure, s.openMessages])");
  const notice = await page.locator("#notice").innerText();
  assert.match(said + notice, /words|no answer for/);
  await goesOn(page);
  await page.close();
});

test("a project in a zip that unpacks to 300 MB is refused", async () => {
  const page = await lab.page();
  const path = join(mkdtempSync(join(tmpdir(), "npsim-web-")), "bomb.zip");
  execFileSync("python3", ["-c", "import sys,zipfile; zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED).writestr('a.uc', bytes(300_000_000))", path]);
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(text), (it) => it.charCodeAt(0))], "bomb.zip"));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
  }, readFileSync(path).toString("base64"));
  await page.locator("#notice.error", { hasText: /bomb\.zip was not taken: more than 10\.0 MB/ }).waitFor();
  await goesOn(page);
  await page.close();
});

test("a macro that uses itself is named with its place", async () => {
  const page = await lab.page();
  await dropText(page, "again.uc", "#macro again()\nagain()\n#endm\nagain()\n");
  await page.waitForFunction(() => window.npsimLab.store.value.failure !== null);
  const messages = await state(page, "s.openMessages");
  assert.ok(messages.some((it) => it.severity === "error" && /again/.test(it.message) && it.range !== null), JSON.stringify(messages).slice(0, 300));
  await goesOn(page);
  await page.close();
});
