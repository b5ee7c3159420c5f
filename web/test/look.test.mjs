import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { here, laboratory, open, picture, ready, state } from "./page.mjs";

let lab;
const axe = readFileSync(join(here, "../node_modules/axe-core/axe.min.js"), "utf8");
before(async () => { lab = await laboratory(); });
after(() => lab.close());

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
  return found.violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.target.join(" ")).join("; ")}`);
}

for (const [width, height] of [[1440, 900], [820, 1180], [390, 844]]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe finds nothing at ${width} px, ${colorScheme}`, async () => {
      const page = await lab.page({ width, height, colorScheme });
      const name = `${width}-${colorScheme}`;
      const narrow = width < 760;
      const pane = async (title) => narrow && page.locator("#switch").getByRole("button", { name: title }).click();
      await open(page, "/microcode/router/npsim.toml", { traffic: { kind: "load", load: { rate: "0.9", size: "64", time: "2ms" } }, until: "" });
      await page.evaluate(() => window.npsimLab.seek(240_000));
      await ready(page);
      await page.waitForTimeout(400);
      await picture(page, `${name}-code`);
      assert.deepEqual(await violations(page), []);
      await pane("Chip");
      await page.waitForTimeout(200);
      if (narrow) await picture(page, `${name}-chip`);
      const floor = (tab) => (narrow ? pane(tab) : page.getByRole("tab", { name: new RegExp(`^${tab}`) }).click());
      for (const tab of ["Results", "Console", "Problems"]) {
        await floor(tab);
        assert.deepEqual(await violations(page), [], tab);
      }
      await floor("Chip");
      await pane("Inspect");
      await page.getByRole("tab", { name: "Packets" }).click();
      await page.locator(".chips button").first().click();
      await page.locator(".journey li").first().waitFor();
      await picture(page, `${name}-packet`);
      assert.deepEqual(await violations(page), []);
      if (width < 1100) await page.getByRole("button", { name: "Sources" }).click();
      await page.getByRole("tab", { name: "Lessons" }).click();
      await page.waitForTimeout(300);
      await picture(page, `${name}-lessons`);
      assert.deepEqual(await violations(page), []);
      await page.getByRole("button", { name: /Where the cycles went/ }).click();
      await ready(page);
      await picture(page, `${name}-lesson`);
      assert.deepEqual(await violations(page), []);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Traffic" }).click();
      await page.waitForTimeout(200);
      await picture(page, `${name}-traffic`);
      assert.deepEqual(await violations(page), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(wide, false, "the page is not wider than the screen");
      await page.close();
    });
  }
}

test("lanes that do not fit keep their axis in view and say what is below", async () => {
  const page = await lab.page();
  await open(page, "/microcode/router/npsim.toml", { traffic: { kind: "load", load: { rate: "0.5", time: "1ms" } }, until: "" });
  await page.evaluate(() => window.npsimLab.seek(20_000));
  await ready(page);
  const more = page.locator(".more-lanes");
  await more.getByText(/^ME \d to 6 below$/).waitFor();
  const axis = () => page.locator(".lanes canvas").evaluate((it) => it.getBoundingClientRect().top);
  const before = await axis();
  await page.locator(".lanes-scroll").evaluate((it) => it.scrollTo(0, it.scrollHeight));
  await more.waitFor({ state: "hidden" });
  assert.equal(await axis(), before);
  // A click selects the lane that is there now.
  const box = await page.locator(".lanes canvas").boundingBox();
  await page.mouse.click(box.x + box.width - 100, box.y + box.height - 18);
  await page.waitForFunction(() => window.npsimLab.store.value.view.selected.me === 6);
  await page.close();
});

test("lanes have the colours of their legend, and no blend of two", async () => {
  const page = await lab.page();
  await open(page, "/microcode/router/npsim.toml", { traffic: { kind: "load", load: { rate: "0.9", size: "64", time: "1ms" } }, until: "" });
  await page.evaluate(() => window.npsimLab.zoom(20_000));
  await page.evaluate(() => window.npsimLab.seek(100_000));
  await ready(page);
  await page.waitForTimeout(300);
  const brown = await page.evaluate(() => {
    const canvas = document.querySelector(".lanes canvas");
    const { data } = canvas.getContext("2d").getImageData(200, 40, canvas.width - 260, canvas.height - 50);
    // Between the green of executing (#14694f) and the red of aborted (#c4553f).
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue] = data.subarray(at, at + 3);
      if (red > 0x40 && red < 0x98 && green > 0x4e && green < 0x6e && blue < 0x56) found += 1;
    }
    return found;
  });
  assert.equal(brown, 0);
  await page.close();
});

test("the editor has the height while there is little under it, and stays as it is while one types", async () => {
  const page = await lab.page();
  const height = () => page.locator("#code").evaluate((it) => it.offsetHeight);
  const tab = (name) => page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();
  const beside = await height();
  await tab("Results");
  const alone = await height();
  assert.ok(alone > beside + 80, `${alone} beside little, ${beside} beside the chip`);
  for (const name of ["Console", "Problems"]) {
    await tab(name);
    assert.equal(await height(), alone, name);
  }
  await page.locator(".cm-line", { hasText: "immed[out, 0]" }).click();
  await page.keyboard.press("End");
  for (let n = 0; n < 12; n += 1) await page.keyboard.type(`\nwrong${n}[out]`);
  await page.waitForFunction(() => document.querySelectorAll(".problems li").length >= 12);
  assert.equal(await height(), alone, "messages come while one types");
  // Longer content gets more room, up to the height of the chip pane.
  await tab("Console");
  await page.getByLabel("Command").fill("help");
  await page.keyboard.press("Enter");
  await page.locator(".console-lines", { hasText: "expressions" }).waitFor();
  assert.equal(await height(), beside);
  await tab("Chip");
  assert.equal(await height(), beside);
  // Once the user has moved the line, it stays.
  const line = page.getByRole("separator", { name: "Height of the editor" });
  await line.focus();
  await page.keyboard.press("ArrowUp");
  assert.equal(await line.getAttribute("aria-valuenow"), "50");
  const moved = await height();
  await tab("Results");
  assert.equal(await height(), moved);
  await page.close();
});

test("near the beginning the lanes show no time before it", async () => {
  const page = await lab.page();
  await page.evaluate(() => window.npsimLab.seek(400));
  await ready(page);
  const canvas = page.locator(".lanes canvas");
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 140, box.y + 45);
  await page.locator(".tip").waitFor();
  const [, cycle] = /cycle (\d+),/.exec(await page.locator(".tip").innerText());
  assert.ok(Number(cycle) < 100, cycle);
  await page.close();
});

test("on a narrow screen all panes have a name, and the drawer leaves Run free", async () => {
  const page = await lab.page({ width: 390, height: 844 });
  assert.deepEqual(await page.locator("#switch button").allInnerTexts(), ["Code", "Chip", "Results", "Console", "Problems", "Inspect"]);
  for (const name of ["Traffic", "Share", "Help"]) assert.equal(await page.locator(".bar").getByText(name).isVisible(), true, name);
  assert.equal(await page.getByLabel("Speed").isVisible(), true);
  const cut = await page.evaluate(() => [...document.querySelectorAll("#switch button, .code-acts button, .transport button")].filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.textContent));
  assert.deepEqual(cut, []);
  await page.getByRole("button", { name: "Sources" }).click();
  await page.locator("#sources").getByRole("button", { name: "Close" }).waitFor();
  await page.locator(".play").click({ trial: true });
  await page.locator("#sources").getByRole("button", { name: "Close" }).click();
  assert.equal(await page.locator("#sources").isVisible(), false);
  assert.equal(await page.getByRole("button", { name: "Sources" }).getAttribute("aria-expanded"), "false");
  // A touch beside the drawer closes it, too.
  await page.getByRole("button", { name: "Sources" }).click();
  await page.mouse.click(380, 500);
  assert.equal(await page.locator("#sources").isVisible(), false);
  await page.close();
});

test("what limits a run wraps at every width", async () => {
  for (const width of [1440, 820, 390]) {
    const page = await lab.page({ width, height: 844 });
    await page.evaluate(() => window.npsimLab.measure());
    await ready(page);
    if (width < 760) await page.locator("#switch").getByRole("button", { name: "Results" }).click();
    else await page.getByRole("tab", { name: "Results" }).click();
    const limit = page.locator(".results .limit");
    await limit.waitFor();
    assert.ok((await limit.innerText()).length > 100);
    assert.equal(await limit.evaluate((it) => it.scrollWidth > it.clientWidth), false, `${width} px`);
    await page.close();
  }
});

test("controls stay where they are, and who wrote a longword is in view", async () => {
  const page = await lab.page();
  const left = async (locator) => (await locator.boundingBox()).x;
  const tab = page.getByRole("tab", { name: "Console" });
  const step = page.getByRole("button", { name: "Step", exact: true });
  const [tabAt, stepAt] = [await left(tab), await left(step)];
  await page.getByRole("tab", { name: "Results" }).click();
  assert.equal(await left(tab), tabAt);
  await page.evaluate(() => window.npsimLab.files.setText("/microcode/tutorial/wire8.uc", `${window.npsimLab.files.text("/microcode/tutorial/wire8.uc")}\n`));
  await page.locator(".play", { hasText: "Run anew" }).waitFor();
  assert.equal(await left(step), stepAt);
  await open(page, "/microcode/course/lost-additions/npsim.toml", { traffic: { kind: "project" }, until: "" });
  await page.evaluate(() => window.npsimLab.seek(3_000));
  await ready(page);
  await page.getByRole("tab", { name: "Memory" }).click();
  await page.getByRole("combobox", { name: "Memory" }).selectOption("scratch");
  await page.locator(".words-table .region", { hasText: "SUM, SUM_LOCK" }).waitFor();
  await page.locator(".words-table td button").first().click();
  const answer = page.locator("#look-memory .answer", { hasText: "scratch[0x0]: cycle 2998" });
  await answer.waitFor();
  const [box, panel] = [await answer.boundingBox(), await page.locator("#look").boundingBox()];
  assert.ok(box.y + box.height <= panel.y + panel.height + 1, "the answer is not below the fold");
  await page.close();
});

test("the switch of colours shows what it leads to", async () => {
  const page = await lab.page();
  await page.getByRole("button", { name: "Dark colours" }).click();
  await page.getByRole("button", { name: "Light colours" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.close();
});

test("the keyboard alone suffices", async () => {
  const page = await lab.page();
  await page.locator(".track").focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => window.npsimLab.store.value.view.cycle === 0);
  await ready(page);
  await page.keyboard.press("Shift+ArrowRight");
  await page.waitForFunction(() => window.npsimLab.store.value.view.cycle === 100);
  await ready(page);
  await page.locator(".lanes-scroll").focus();
  const before = await state(page, "s.view.selected.context");
  await page.keyboard.press(before === 7 ? "ArrowUp" : "ArrowDown");
  await page.waitForFunction((before) => window.npsimLab.store.value.view.selected.context !== before, before);
  await ready(page);
  await page.keyboard.press("F10");
  await page.waitForFunction(() => window.npsimLab.store.value.view.cycle > 100);
  await ready(page);
  await page.keyboard.press("Shift+F10");
  await page.waitForFunction(() => window.npsimLab.store.value.view.cycle <= 100);
  await page.close();
});
