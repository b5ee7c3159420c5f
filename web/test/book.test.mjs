// The book as a site with the laboratory in it: listings run in a laboratory beside them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { laboratory, npsim, ready, root, state } from "./page.mjs";
import { serve } from "../serve.mjs";

let lab, site;
const skip = !process.env.NPSIM && "NPSIM names no command to make the book with";
before(async () => {
  lab = await laboratory();
  if (skip) return;
  const folder = mkdtempSync(join(tmpdir(), "npsim-site-"));
  execFileSync(join(root, "packaging/site"), [folder], { stdio: "ignore" });
  site = await serve(folder);
});
after(() => {
  site?.server.close();
  return lab.close();
});

/** Presses the button under the listing with a line, and waits for its laboratory. */
async function run(chapter, line) {
  const page = await lab.page();
  await page.goto(`http://127.0.0.1:${site.port}/${chapter}.html`);
  const listing = page.locator("pre", { hasText: line }).first();
  await listing.locator("xpath=following-sibling::*[1][self::button]").click();
  const frame = await (await page.locator("iframe.laboratory").elementHandle()).contentFrame();
  await frame.waitForFunction(() => document.body?.dataset.begun !== undefined, null, { timeout: 60_000 });
  await ready(frame);
  return { page, frame };
}

test("a listing of the book runs beside itself, with its project and its traffic", { skip }, async () => {
  const { page, frame } = await run("course-1", "$ npsim run microcode/tutorial/wire8.uc -I microcode/lib --load 1 --time 200us");
  assert.equal(await state(frame, "s.opened.target"), "/microcode/tutorial/wire8.toml");
  assert.deepEqual(await state(frame, "s.traffic"), { kind: "load", load: { rate: "1", time: "200us" } });
  assert.equal(await frame.locator("#sources").isVisible(), false, "the page is the short one");
  await frame.locator(".play").click();
  await frame.waitForFunction(() => window.npsimLab.store.value.view.totals.left > 0);
  await page.close();
});

test("a listing with a capture has it as its traffic", { skip }, async () => {
  const capture = await run("where-the-cycles-went", "$ npsim run microcode/forward --trace traces/mixed.pcap");
  assert.equal(await state(capture.frame, "s.traffic.path"), "/traces/mixed.pcap");
  assert.equal(await state(capture.frame, "s.failure"), null);
  await capture.page.close();
});

test("a listing that the page cannot run as it stands has no button", { skip }, async () => {
  const page = await lab.page();
  await page.goto(`http://127.0.0.1:${site.port}/keep-order.html`);
  const buttons = await page.locator("button.run-here").count();
  const listings = await page.locator("pre", { hasText: "$ npsim run microcode/" }).count();
  const stalled = page.locator("pre", { hasText: "--stall" }).first();
  assert.ok(buttons > 0 && buttons <= listings, `${buttons} buttons at ${listings} listings`);
  assert.equal(await stalled.locator("xpath=following-sibling::*[1][self::button]").count(), 0);
  await page.close();
});

test("an address names project, setting and cycle, and what is not here is said", async () => {
  const page = await lab.page({ search: "?open=microcode/tutorial/hub&set=me.receive.source=stops.uc&rate=0.6&time=1ms&at=31523" });
  await ready(page);
  assert.equal(await state(page, "s.view.cycle"), 31_523);
  assert.ok((await state(page, "s.opened.sources")).includes("/microcode/tutorial/hub/stops.uc"));
  await page.close();
  for (const [search, said] of [
    ["?open=microcode/nothing", /no project microcode\/nothing/],
    ["?open=microcode/forward&trace=traces/none.pcap", /no capture traces\/none.pcap/],
    ["?open=microcode/forward&at=soon", /`at=soon` is not a cycle/],
    ["?open=microcode/forward&set=x", /`set=x` is not KEY=VALUE/],
  ]) {
    const wrong = await lab.page({ search });
    await wrong.locator("#notice.error", { hasText: said }).waitFor();
    assert.equal(await state(wrong, "s.opened !== null"), true);
    assert.deepEqual(wrong.errors, []);
    await wrong.close();
  }
});
