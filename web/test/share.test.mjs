import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { begun, here, laboratory, ready, state } from "./page.mjs";
import { join } from "node:path";

let lab;
before(async () => { lab = await laboratory(); });
after(() => lab.close());

test("a link stands at the same cycle in another browser", async () => {
  const page = await lab.page();
  await page.evaluate(() => {
    const { files } = window.npsimLab;
    const path = "/microcode/tutorial/wire8.uc";
    files.setText(path, files.text(path).replace("ROOM_SHIFT 6", "ROOM_SHIFT 11"));
    return window.npsimLab.reopen();
  });
  await page.evaluate(() => window.npsimLab.toggleBreakpoint("/microcode/tutorial/wire8.uc", 50));
  await page.evaluate(() => window.npsimLab.seek(23_456));
  await ready(page);
  await page.getByRole("button", { name: "Share" }).click();
  const link = await page.getByLabel("Link", { exact: true }).inputValue();
  const seen = "[s.view.cycle, s.view.lanes, s.view.registers, s.breakpoints.length, s.view.selected]";
  const other = await lab.page({ hash: link.slice(link.indexOf("#")) });
  await other.waitForFunction(() => window.npsimLab.store.value.view?.cycle === 23_456);
  await ready(other);
  assert.deepEqual(await state(other, seen), await state(page, seen));
  assert.match(await other.evaluate(() => window.npsimLab.files.text("/microcode/tutorial/wire8.uc")), /ROOM_SHIFT 11/);
  console.log(`# a link has ${link.length} characters`);
  await page.close();
  await other.close();
});

test("a link stands at the same instruction within the cycle", async () => {
  const page = await lab.page();
  const other = await lab.page();
  const seen = "[s.view.cycle, s.view.place, s.view.registers, s.view.selected]";
  const here = () => state(page, seen);
  let plain = 0;
  for (const at of [12_000, 20_000, 30_000]) {
    await page.evaluate((at) => window.npsimLab.seek(at), at);
    const sleeper = await state(page, "s.view.contexts.find((it) => it.activity.state === 'waiting').thread");
    await page.evaluate((thread) => window.npsimLab.select(thread), sleeper);
    await page.evaluate(() => window.npsimLab.command("wake"));
    await ready(page);
    await page.getByRole("button", { name: "Share" }).click();
    const link = await page.getByLabel("Link", { exact: true }).inputValue();
    await page.keyboard.press("Escape");
    await other.evaluate((hash) => { location.hash = hash; }, link.slice(link.indexOf("#")));
    const cycle = await state(page, "s.view.cycle");
    await other.waitForFunction((cycle) => window.npsimLab.store.value.view?.cycle === cycle, cycle);
    await ready(other);
    assert.deepEqual(await state(other, seen), await here());
    await other.evaluate((cycle) => window.npsimLab.seek(cycle), cycle);
    await ready(other);
    if (JSON.stringify(await state(other, "s.view.place")) !== JSON.stringify(await state(page, "s.view.place"))) plain += 1;
  }
  assert.ok(plain > 0, "the cycle alone does not say it");
  await page.close();
  await other.close();
});

test("a link of rubbish gives a message and a page", async () => {
  for (const hash of ["#rubbish", "#1.AAAA", "#1.%%%", `#1.${"x".repeat(20_000)}`]) {
    const page = await lab.page({ hash });
    await page.locator("#notice.error", { hasText: "The link cannot be opened" }).waitFor();
    assert.equal(await state(page, "s.opened !== null"), true);
    assert.deepEqual(page.errors, []);
    await page.close();
  }
});

test("the page works without a network after the first visit", async () => {
  const context = await lab.browser.newContext({ viewport: { width: 1200, height: 800 } });
  const page = await lab.page({ context });
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(async () => (await caches.keys()).length > 0 && navigator.serviceWorker.controller !== null);
  await context.setOffline(true);
  await page.reload();
  await begun(page);
  assert.equal(await state(page, "s.opened.name !== ''"), true);
  await context.close();
});

test("the one file works from a disk", async () => {
  const page = await (await lab.browser.newContext()).newPage();
  await page.goto(`file://${join(here, "../dist/npsim-laboratory.html")}`);
  await begun(page);
  await page.locator(".play").click();
  await page.waitForFunction(() => window.npsimLab.store.value.view.cycle > 10_000);
  await page.close();
});

test("an embedded page shows code, lanes and time", async () => {
  const page = await lab.page({ search: "?embed=1", width: 800, height: 600 });
  assert.equal(await page.locator("#sources").isVisible(), false);
  assert.equal(await page.locator("#code").isVisible(), true);
  assert.equal(await page.locator(".lanes canvas").isVisible(), true);
  await page.close();
});
