// The course in the page: the handed-out project misses goals, a wrong solution leaves the last step open,
// and a right one closes it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { laboratory, ready, root } from "./page.mjs";

const inView = (locator) => locator.evaluate((it) => new Promise((resolve) => {
  new IntersectionObserver(([seen]) => resolve(seen.isIntersecting)).observe(it);
}));

let lab;
before(async () => { lab = await laboratory(); });
after(() => lab.close());

const solution = (name, file) => readFileSync(join(root, `microcode/course/solutions/${name}/${file}`), "utf8");
const edited = (text, from, to) => {
  assert.ok(text.includes(from), `no \`${from}\``);
  return text.replaceAll(from, to);
};

/** The file that a learner changes, with right and wrong versions derived from the handed-out one and the solution. */
const WAYS = {
  "eight-chains": {
    title: "Eight chains", file: "chains.uc", right: (_, solved) => solved, missed: "the sum is right",
    wrong: (_, solved) => edited(solved, "scratch[add, $sum, place, 0], ctx_swap[done]", "scratch[write, $sum, place, 0, 1], ctx_swap[done]"),
  },
  "one-reader": {
    title: "One reader", file: "reader.uc", right: (_, solved) => solved, missed: "the sum is right",
    wrong: (_, solved) => edited(solved, "last#:\n    ctx_arb[odd]\n    add_eight($$odd)\n", "last#:\n    ctx_arb[odd]\n"),
  },
  "enough-engines": {
    title: "Enough engines", file: "npsim.toml", right: (text) => edited(text, 'id = "0"', 'id = "0-2"'), missed: "no microengine too many",
    wrong: (text) => edited(text, 'id = "0"', 'id = "0-3"'),
  },
  "lost-additions": {
    title: "Lost additions", file: "add.uc", right: (_, solved) => solved, missed: "every addition counts",
    wrong: (_, solved) => edited(solved, "#define ROUNDS 50", "#define ROUNDS 49"),
  },
  "short-lock": {
    title: "Short lock", file: "record.uc", right: (_, solved) => solved, missed: "done in time",
    wrong: (_, solved) => edited(solved, '#include "lock.uc"', '#define LOCK_GAP 200\n#include "lock.uc"'),
  },
  "keep-order": {
    title: "Keep order", file: "npsim.toml", right: (text) => edited(text, "ordering/contiguous.toml", "ordering/in-order.toml"), missed: "quick",
    wrong: (text) => edited(text, "ordering/contiguous.toml", "ordering/packet-sort.toml"),
  },
  "short-queue": {
    title: "Short queue", file: "npsim.toml", right: (text) => edited(text, "QUEUE_LIMIT = 1048576", "QUEUE_LIMIT = 24576"), missed: "bursts find room",
    wrong: (text) => edited(text, "QUEUE_LIMIT = 1048576", "QUEUE_LIMIT = 16384"),
  },
};

for (const [name, way] of Object.entries(WAYS)) {
  test(`the goals of ${name} are met by a right way alone`, async () => {
    const page = await lab.page();
    const path = `/microcode/course/${name}/${way.file}`;
    const checked = async () => {
      await page.evaluate(() => new Promise((resolve) => {
        window.npsimLab.on((it) => it.exercise && resolve());
        [...document.querySelectorAll(".steps button")].findLast((it) => it.textContent === "Check the goals").click();
      }));
      const missed = page.locator(".goal-line", { has: page.locator(".failed") }).getByRole("button");
      return { met: await page.locator(".steps .met").count(), missed: await missed.allInnerTexts() };
    };
    await page.getByRole("tab", { name: "Lessons" }).click();
    await page.getByRole("button", { name: new RegExp(`^${way.title}`) }).click();
    await page.waitForFunction((target) => window.npsimLab.store.value.opened?.target === target, `/microcode/course/${name}/npsim.toml`);
    await ready(page);
    const given = await page.evaluate((path) => window.npsimLab.files.text(path), path);
    const write = (text) => page.evaluate(([path, text]) => window.npsimLab.files.setText(path, text), [path, text]);

    const hint = page.locator(".fold");
    const first = await checked();
    if (name === "lost-additions") {
      assert.equal(await page.getByText("scratch[incr]").isVisible(), false, "what mends it is folded away");
      await hint.locator("summary").click();
      assert.equal(await page.getByText("scratch[incr]").isVisible(), true);
      assert.match(await page.locator(".race").innerText(), /updated by two contexts.*read by ME 1 context 0 at cycle 16.*add\.uc:18/s);
    }
    assert.equal(first.met, 1, "seeing where it stands is a step");
    assert.notDeepEqual(first.missed, [], "what is handed out misses a goal");
    await write(way.wrong(given, solution(name, way.file)));
    const wrong = await checked();
    assert.equal(wrong.met, 1, "a wrong way leaves the last step open");
    assert.ok(wrong.missed.includes(way.missed), `missed ${wrong.missed}`);
    await write(way.right(given, solution(name, way.file)));
    assert.deepEqual(await checked(), { met: 2, missed: [] });
    const goals = await page.locator(".goal-line").count();
    const solved = page.locator(".solved", { hasText: `Solved: ${goals} of ${goals} goals met` });
    await solved.waitFor();
    assert.ok(await inView(solved), "the message is in view");
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}

test("a chapter says what its command lines are on the page", async () => {
  const page = await lab.page({ search: "?lesson=lost-additions" });
  await ready(page);
  const chapter = async (button) => {
    await page.getByRole("button", { name: button }).first().click();
    const dialog = page.getByRole("dialog", { name: button });
    const said = dialog.locator(".commands");
    const names = await said.locator("strong").allInnerTexts();
    assert.ok((await dialog.innerText()).indexOf("$ npsim") > (await said.innerText()).length, "it comes before the first command");
    await dialog.getByRole("button", { name: "Close" }).click();
    return names;
  };
  const there = async (name) => (await page.getByRole("tab", { name }).count()) + (await page.getByRole("button", { name }).count());
  await page.getByRole("button", { name: "Check the goals" }).waitFor();
  const found = await Promise.all(["Systems", "Lessons", "What limits it?", "Results", "Check the goals", "Console"].map(async (it) => (await there(it)) > 0 && it));
  await page.getByRole("button", { name: "All lessons" }).click();
  assert.deepEqual(await chapter("Notes for the teacher"), found);
  await page.getByRole("button", { name: /Everything stops/ }).click();
  await ready(page);
  assert.deepEqual(await chapter("The chapter of the book"), found);
  await page.close();
});
