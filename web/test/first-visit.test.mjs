// The first visit shows an introduction until it is closed.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { begun, laboratory, ready, state } from "./page.mjs";

let lab;
before(async () => { lab = await laboratory(); });
after(() => lab.close());

const welcome = (page) => page.getByRole("region", { name: "Welcome" });

for (const width of [1440, 390]) {
  test(`the first visit offers the first lesson, and that once, at ${width} px`, async () => {
    const page = await lab.page({ width, height: 844 });
    await welcome(page).getByText("npsim is a network processor in your browser.").waitFor();
    await welcome(page).getByRole("button", { name: "Start the first lesson" }).click();
    await page.waitForFunction(() => window.npsimLab.store.value.opened?.target === "/microcode/tutorial/wire.toml");
    await ready(page);
    assert.equal(await page.getByRole("heading", { name: "Where the cycles went" }).isVisible(), true);
    assert.equal(await page.locator(".play").isVisible(), true);
    assert.equal(await welcome(page).count(), 0);
    await page.reload();
    await begun(page);
    assert.equal(await welcome(page).count(), 0, "it stays away");
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}

test("the words are explained, and the welcome can be closed", async () => {
  const page = await lab.page();
  await welcome(page).getByRole("button", { name: "What the words mean" }).click();
  await page.getByRole("dialog", { name: "Words and keys" }).getByText("RBUF, TBUF").waitFor();
  await page.keyboard.press("Escape");
  await welcome(page).getByRole("button", { name: "Close the welcome" }).click();
  assert.equal(await welcome(page).count(), 0);
  assert.equal(await state(page, "s.opened.target"), "/microcode/tutorial/wire8.toml");
  await page.close();
});

test("who comes by a link or looks at a slide is not welcomed", async () => {
  for (const how of [{ search: "?embed=1" }, { search: "?open=microcode/forward" }, { search: "?lesson=lost" }, { hash: "#1.AAAA" }]) {
    const page = await lab.page(how);
    assert.equal(await welcome(page).count(), 0, JSON.stringify(how));
    await page.close();
  }
});
