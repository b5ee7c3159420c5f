// Nothing of what was open before stays: neither names nor places nor errors.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { begun, laboratory, open, ready, state } from "./page.mjs";

let lab;
before(async () => { lab = await laboratory(); });
after(() => lab.close());

const WIRE8_SOURCE = "/microcode/tutorial/wire8.uc";
const BROKEN = "/own/broken/npsim.toml";

/** Makes a project of one program and opens it as the list of systems does. */
async function own(page, name, source) {
  await page.evaluate(([name, source]) => {
    const { files } = window.npsimLab;
    files.setText(`/own/${name}/main.uc`, source);
    files.setText(`/own/${name}/npsim.toml`, `name = "${name}"\n[chip]\nprofile = "ixp2400"\n[[me]]\nid = "0"\nsource = "main.uc"\n`);
  }, [name, source]);
  await page.getByRole("button", { name, exact: true }).click();
  await ready(page);
}

const shows = (page, path) => page.waitForFunction((path) => window.npsimLab.store.value.path === path, path);

/** The texts of a list's entries, as they are by the next frame. */
const options = (page, label) => page.getByRole("combobox", { name: label, exact: true }).evaluate((it) => [...it.options].map((option) => option.textContent));

test("a system that does not assemble is not run, nor is the one before", async () => {
  const page = await lab.page();
  await page.getByRole("tab", { name: "Memory" }).click();
  await page.locator(".words-table button").first().click();
  await page.locator("#look-memory .answer").waitFor();
  await own(page, "broken", "alu[oops]\n");
  await shows(page, "/own/broken/main.uc");
  await page.locator("#look-memory", { hasText: "Memories appear here when a run is open" }).waitFor();
  assert.equal(await page.locator(".words-table, #look-memory .answer:visible").count(), 0);
  await page.getByRole("tab", { name: "Context", exact: true }).click();
  assert.deepEqual(await state(page, "[s.opened, s.view, s.breakpoints.length]"), [null, null, 0]);
  await page.locator(".clock", { hasText: "no run is open" }).waitFor();
  await page.locator(".where", { hasText: "cannot run: the sources have 1 error" }).waitFor();
  await page.locator("#look", { hasText: "appear here when a run is open" }).waitFor();
  assert.equal(await page.locator(".gauge").count(), 0);
  assert.equal(await page.locator(".track").isVisible(), false);
  await page.locator(".play").click();
  await page.locator("#notice.error", { hasText: "It cannot run: the sources have 1 error" }).waitFor();
  await ready(page);
  assert.equal(await state(page, "s.view"), null);
  assert.equal(await state(page, "s.path"), "/own/broken/main.uc");
  // Once fixed, it runs.
  await page.evaluate(() => window.npsimLab.files.setText("/own/broken/main.uc", "again#:\n    ctx_arb[voluntary]\n    br[again#]\n"));
  await page.locator(".play").click();
  await page.waitForFunction((target) => window.npsimLab.store.value.opened?.target === target && window.npsimLab.store.value.view?.cycle > 0, BROKEN);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a changed source that does not assemble leaves its last run to be looked at", async () => {
  const page = await lab.page();
  const cycle = await state(page, "s.view.cycle");
  await page.evaluate((path) => window.npsimLab.files.setText(path, `alu[oops]\n${window.npsimLab.files.text(path)}`), WIRE8_SOURCE);
  await page.locator(".play", { hasText: "Run anew" }).click();
  await page.locator("#notice.error", { hasText: "It cannot run" }).waitFor();
  await ready(page);
  assert.equal(await state(page, "s.view.cycle"), cycle);
  await page.locator(".problems li .error").first().waitFor();
  await page.close();
});

test("lists have the names of the system that is open", async () => {
  const page = await lab.page();
  for (const [target, stage] of [["lost-additions", "add"], ["short-lock", "count"]]) {
    await open(page, `/microcode/course/${target}/npsim.toml`, { traffic: { kind: "none" } });
    await page.locator(".gauge .name", { hasText: `0 ${stage}` }).waitFor();
    const names = await options(page, "Context");
    assert.ok(names.length > 0 && names.every((it) => it.endsWith(` ${stage}`)), names.join());
  }
  await page.close();
});

test("mistakes of another project are not listed, and none twice", async () => {
  const page = await lab.page();
  await own(page, "broken", "alu[oops]\n");
  await shows(page, "/own/broken/main.uc");
  const items = page.locator(".problems li");
  await items.first().waitFor();
  await page.waitForFunction(() => window.npsimLab.store.value.messages.length > 0);
  await page.waitForTimeout(100);
  assert.equal(await items.count(), 1, await page.locator(".problems").innerText());
  assert.equal(await page.locator(".badge.error").innerText().then((it) => it.trim().split(/\s/)[0]), "1");
  await page.getByRole("button", { name: "wire, eight contexts" }).click();
  await shows(page, WIRE8_SOURCE);
  await ready(page);
  await page.evaluate((path) => window.npsimLab.files.setText(path, window.npsimLab.files.text(path).replace('#include "tbuf.uc"', '#include "tbuf.uc" junk')), WIRE8_SOURCE);
  await page.locator(".badge.warning", { hasText: "1" }).waitFor();
  await page.waitForTimeout(100);
  assert.doesNotMatch(await page.locator(".problems").innerText(), /main\.uc/);
  assert.equal(await items.count(), 1);
  await page.close();
});

test("a breakpoint goes with its line, and goes with it for good", async () => {
  const page = await lab.page();
  const source = `${"; a line\n".repeat(4)}again#:\n    immed[a, 1]\n    immed[b, 2]\n    ctx_arb[voluntary]\n    br[again#]\n`;
  await own(page, "lines", `.reg a b\n${source}`);
  await shows(page, "/own/lines/main.uc");
  const toggle = (line) => page.evaluate((line) => window.npsimLab.toggleBreakpoint("/own/lines/main.uc", line), line);
  const write = (from, to) => page.evaluate(([from, to]) => {
    const { files } = window.npsimLab;
    files.setText("/own/lines/main.uc", files.text("/own/lines/main.uc").replace(from, to));
  }, [from, to]);
  const lines = () => state(page, "s.breakpoints.map((it) => it.line)");
  const titles = () => state(page, "s.breakpoints.map((it) => it.title)");
  await toggle(7);
  await toggle(8);
  assert.deepEqual(await lines(), [7, 8]);
  await write("; a line\n", "; a line\n; another\n; and another\n");
  assert.deepEqual(await lines(), [9, 10]);
  assert.match((await titles()).join(" "), /main\.uc:9 .*main\.uc:10$/);
  await page.locator(".cm-lineNumbers .breakpoint", { hasText: "10" }).waitFor();
  await write("    immed[b, 2]\n", "");
  assert.deepEqual(await lines(), [9]);
  // In the old run: another breakpoint at a line that it has, and one at a line that it does not have.
  await write("    br[again#]\n", "    immed[b, 3]\n    br[again#]\n");
  await toggle(10);
  await toggle(11);
  assert.deepEqual(await lines(), [9, 10, 11]);
  // The gutter follows the store in the next animation frame.
  await page.locator(".cm-lineNumbers .breakpoint").nth(2).waitFor();
  assert.equal(await page.locator(".cm-lineNumbers .breakpoint").count(), 3);
  await page.locator(".play", { hasText: "Run anew" }).click();
  await page.waitForFunction(() => window.npsimLab.store.value.view?.reason.kind === "breakpoint");
  await ready(page);
  assert.deepEqual(await lines(), [9, 10, 11]);
  assert.equal(await state(page, "s.view.place.line"), 9);
  await toggle(9);
  await toggle(10);
  await page.locator(".play").click();
  await page.waitForFunction(() => window.npsimLab.store.value.view.place.line === 11);
  await ready(page);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a new project asks for its name, opens its program and runs", async () => {
  const page = await lab.page();
  const create = page.getByRole("button", { name: "Create" });
  await page.getByRole("button", { name: "New", exact: true }).click();
  await page.getByLabel("Name of the project").fill("../mine");
  await create.click();
  assert.equal(await page.getByLabel("Name of the project").isVisible(), true, "a path is no name");
  await page.getByLabel("Name of the project").fill("mine");
  await create.click();
  await shows(page, "/own/mine/mine.uc");
  await ready(page);
  assert.deepEqual(await state(page, "[s.failure, s.openMessages.length, s.opened.name]"), [null, 0, "mine"]);
  await page.evaluate(() => window.npsimLab.seek(1_000));
  await ready(page);
  const turns = await state(page, "s.view.lanes.filter((it) => it.stretches.some(([, , what]) => what === 'executing')).length");
  assert.equal(turns, 8);
  await page.getByRole("button", { name: "New", exact: true }).click();
  await page.getByLabel("Name of the project").fill("mine");
  await create.click();
  assert.equal(await page.getByLabel("Name of the project").isVisible(), true, "it is there already");
  await page.close();
});

test("the cursor's place and the view are those of the file that is shown", async () => {
  const page = await lab.page();
  await open(page, "/microcode/tutorial/wire.toml", { traffic: { kind: "load", load: { rate: "0.5", time: "1ms" } }, until: "" });
  const foot = page.locator(".code-foot span").first();
  await page.getByLabel("File in the editor").selectOption("/microcode/tutorial/wire.uc");
  await page.locator(".cm-content").press("Control+End");
  await page.waitForFunction(() => !/^line 1,/.test(document.querySelector(".code-foot span").textContent));
  await page.getByRole("button", { name: "wire, eight contexts" }).click();
  await shows(page, WIRE8_SOURCE);
  await ready(page);
  assert.equal(await foot.innerText(), "line 1, column 1");
  // The place of the stop is in view.
  const inView = async () => {
    await page.waitForTimeout(200);
    const here = await page.locator(".cm-here, .cm-here-outer").boundingBox();
    const all = await page.locator(".cm-scroller").boundingBox();
    return here !== null && here.y >= all.y && here.y + here.height <= all.y + all.height;
  };
  assert.ok(await inView(), "after opening");
  await page.evaluate((path) => {
    const { files } = window.npsimLab;
    files.setText(path, files.text(path).replace("turn_pass(ask)", "turn_pass(ask) ; mine"));
  }, WIRE8_SOURCE);
  page.on("dialog", (it) => it.accept());
  await page.getByRole("tab", { name: "Files" }).click();
  await page.locator(".cm-scroller").evaluate((it) => it.scrollTo(0, it.scrollHeight));
  await page.getByRole("button", { name: "Undo all changes" }).click();
  await page.waitForFunction(() => !window.npsimLab.store.value.stale);
  await ready(page);
  assert.ok(await inView(), "after all changes were undone");
  await page.close();
});

test("changes of an earlier visit are said, and are undone after a question", async () => {
  const page = await lab.page();
  await page.evaluate((path) => {
    const { files } = window.npsimLab;
    files.setText(path, `; mine\n${files.text(path)}`);
  }, WIRE8_SOURCE);
  await page.waitForFunction((path) => new Promise((resolve) => {
    indexedDB.open("npsim-laboratory").onsuccess = ({ target: { result: database } }) => {
      database.transaction("files").objectStore("files").get(path).onsuccess = (event) => {
        database.close();
        resolve(event.target.result !== undefined);
      };
    };
  }), WIRE8_SOURCE);
  await page.locator(".code-foot", { hasText: "changed by you" }).waitFor();
  await page.reload();
  await begun(page);
  await page.locator("#notice", { hasText: "your changes of an earlier visit are in wire8.uc" }).waitFor();
  await page.getByRole("tab", { name: "Files" }).click();
  let asked = 0;
  let answer = "dismiss";
  page.on("dialog", (it) => {
    asked += 1;
    void it[answer]();
  });
  const text = () => page.evaluate((path) => window.npsimLab.files.text(path), WIRE8_SOURCE);
  await page.getByRole("button", { name: "Undo all changes" }).click();
  assert.match(await text(), /^; mine/);
  answer = "accept";
  await page.getByRole("button", { name: "Undo all changes" }).click();
  assert.doesNotMatch(await text(), /^; mine/);
  assert.equal(asked, 2);
  await page.close();
});
