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
      for (const tab of ["Results", "Console", "Problems"]) {
        await page.getByRole("tab", { name: new RegExp(tab) }).click();
        assert.deepEqual(await violations(page), [], tab);
      }
      await page.getByRole("tab", { name: "Chip", exact: true }).click();
      await pane("Selected");
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
