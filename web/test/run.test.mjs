import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { laboratory, open, ready, state, WIRE8 } from "./page.mjs";

let lab;
before(async () => { lab = await laboratory(); });
after(() => lab.close());

test("a shipped system is open and runs", async () => {
  const page = await lab.page();
  assert.equal(await state(page, "s.opened.target"), WIRE8);
  await page.getByRole("button", { name: "IPv4 router", exact: true }).first().click();
  await page.waitForFunction(() => window.npsimLab.store.value.opened?.name === "router");
  await ready(page);
  await page.locator(".play").click();
  await page.waitForFunction(() => window.npsimLab.store.value.view.cycle > 100_000);
  await page.locator(".play").click();
  await ready(page);
  assert.ok(await state(page, "s.view.totals.left > 0"));
  assert.ok(await state(page, "s.view.lanes.length === 56"));
  const drawn = await page.evaluate(() => {
    const canvas = document.querySelector(".lanes canvas");
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
  });
  assert.ok(drawn > 5, "the lanes have colours");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("steps back stand where they were", async () => {
  const page = await lab.page();
  await page.evaluate(() => window.npsimLab.seek(20_000));
  await ready(page);
  const seen = [];
  for (let n = 0; n < 12; n += 1) {
    seen.push(await state(page, "[s.view.cycle, JSON.stringify(s.view.registers)]"));
    await page.getByRole("button", { name: "Step", exact: true }).click();
    await ready(page);
  }
  while (seen.length > 0) {
    await page.getByRole("button", { name: "Step back" }).click();
    await ready(page);
    assert.deepEqual(await state(page, "[s.view.cycle, JSON.stringify(s.view.registers)]"), seen.pop());
  }
  await page.close();
});

test("a breakpoint in the gutter stops the run, forward and back", async () => {
  const page = await lab.page();
  const line = page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: /^47$/ });
  await page.getByLabel("File in the editor").selectOption("/microcode/tutorial/wire8.uc");
  await page.evaluate(() => window.npsimLab.seek(0));
  await ready(page);
  await page.keyboard.press("Escape");
  await page.locator(".cm-scroller").evaluate((it) => it.scrollTo(0, 620));
  await page.waitForTimeout(300);
  const box = await line.boundingBox();
  // The place of the dot, the number, and the strip for messages: each click sets or removes the breakpoint.
  const strip = await page.locator(".cm-gutter-lint").boundingBox();
  for (const [n, x] of [box.x + 8, box.x + box.width - 6, strip.x + strip.width / 2].entries()) {
    await page.mouse.move(x, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForFunction((n) => window.npsimLab.store.value.breakpoints.length === 1 - (n % 2), n);
    await ready(page);
  }
  assert.equal(await line.evaluate((it) => getComputedStyle(it, "::before").opacity), "1", "it has a dot");
  await page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: /^49$/ }).hover();
  const ghost = page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: /^49$/ });
  assert.equal(await ghost.evaluate((it) => getComputedStyle(it, "::before").opacity), "0.35", "a dot to come is shown");
  await page.keyboard.press("F5");
  await page.waitForFunction(() => window.npsimLab.store.value.view.reason.kind === "breakpoint");
  await ready(page);
  assert.equal(await state(page, "s.view.place.line"), 47);
  const first = await state(page, "s.view.cycle");
  await page.keyboard.press("F5");
  await page.waitForFunction((first) => window.npsimLab.store.value.view.cycle > first, first);
  await ready(page);
  await page.keyboard.press("Shift+F5");
  await page.waitForFunction((first) => window.npsimLab.store.value.view.cycle === first, first);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("time is dragged", async () => {
  const page = await lab.page();
  await page.evaluate(() => window.npsimLab.seek(300_000));
  await ready(page);
  const box = await page.locator(".track").boundingBox();
  const frames = page.evaluate(() => new Promise((resolve) => {
    const times = [];
    let last = performance.now();
    const tick = (now) => {
      times.push(now - last);
      last = now;
      if (times.length < 60) requestAnimationFrame(tick);
      else resolve(times.sort((a, b) => a - b));
    };
    requestAnimationFrame(tick);
  }));
  await page.mouse.move(box.x + box.width * 0.2, box.y + 14);
  await page.mouse.down();
  for (let n = 0; n < 30; n += 1) {
    await page.mouse.move(box.x + box.width * (0.2 - n * 0.005), box.y + 14);
    await page.waitForTimeout(16);
  }
  await page.mouse.up();
  const times = await frames;
  console.log(`# dragging: frame ${times[30].toFixed(1)} ms median, ${times[57].toFixed(1)} ms 95th percentile`);
  await page.waitForTimeout(300);
  await ready(page);
  const length = await page.locator(".track").getAttribute("aria-valuemax");
  assert.ok(Math.abs((await state(page, "s.view.cycle")) - length * 0.055) < length * 0.004);
  await page.close();
});

test("a packet is followed and a sleeper asked", async () => {
  const page = await lab.page();
  await page.evaluate(() => window.npsimLab.seek(40_000));
  await ready(page);
  await page.getByRole("tab", { name: "Packets" }).click();
  await page.locator(".chips button.left").first().click();
  await page.locator(".journey li").first().waitFor();
  const events = await page.locator(".journey li").count();
  assert.ok(events >= 4, `${events} events`);
  await page.getByRole("tab", { name: "Context", exact: true }).click();
  const sleeper = await state(page, "s.view.contexts.find((it) => it.activity.state === 'waiting').thread");
  await page.evaluate((thread) => window.npsimLab.select(thread), sleeper);
  await ready(page);
  await page.getByRole("button", { name: "Why does it sleep?" }).click();
  await page.locator(".answer", { hasText: "has been waiting since" }).waitFor();
  await page.close();
});

test("a moment is written in one way, and the console has no command that ends it", async () => {
  const page = await lab.page();
  await page.getByRole("tab", { name: "Console" }).click();
  const said = page.locator(".console-lines");
  const ask = async (line) => {
    await page.getByLabel("Command").fill(line);
    await page.keyboard.press("Enter");
    await ready(page);
  };
  for (const [cycle, time] of [[31_531, "52.551 µs"], [600_700, "1.001 ms"]]) {
    await ask(`goto ${cycle}`);
    await said.getByText(`(${time})`).waitFor();
    assert.match(await page.locator(".clock").innerText(), new RegExp(`cycles, ${time}$`));
  }
  assert.doesNotMatch(await said.innerText(), /\dus\b/);
  await ask("help");
  assert.match(await said.innerText(), /packet/);
  assert.doesNotMatch(await said.innerText(), /quit|Ends/);
  await ask("q");
  await said.getByText("there is no command q").waitFor();
  await page.close();
});

test("the console completes and answers", async () => {
  const page = await lab.page();
  await page.getByRole("tab", { name: "Console" }).click();
  await page.getByRole("combobox", { name: "Command" }).fill("goto 12000");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.npsimLab.store.value.view.cycle === 12_000);
  await page.getByRole("combobox", { name: "Command" }).fill("brea");
  await page.keyboard.press("Tab");
  await page.locator(".offers:not([hidden])").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Command" }).fill("nonsense");
  await page.keyboard.press("Enter");
  await page.locator(".console-lines .wrong").first().waitFor();
  await page.close();
});

test("a context that waits for the pipeline does not run for less than no time", async () => {
  const page = await lab.page();
  const said = () => page.locator("#look .block p.soft").first().innerText();
  await page.evaluate(() => window.npsimLab.seek(0));
  await ready(page);
  await page.locator("#look .state", { hasText: "not started" }).waitFor();
  let later = 0;
  for (const at of [12_000, 20_000, 30_000, 40_000]) {
    await page.evaluate((at) => window.npsimLab.seek(at), at);
    await ready(page);
    const sleeper = await state(page, "s.view.contexts.find((it) => it.activity.state === 'waiting').thread");
    await page.evaluate((thread) => window.npsimLab.select(thread), sleeper);
    await ready(page);
    await page.getByRole("button", { name: "Run to its waking" }).click();
    await page.waitForFunction((at) => window.npsimLab.store.value.view.cycle > at, at);
    await ready(page);
    await page.waitForTimeout(50);
    const until = await state(page, "s.view.contexts.find((it) => it.thread.me === s.selected.me && it.thread.context === s.selected.context).since - s.view.cycle");
    assert.match(await said(), until > 0 ? new RegExp(`from cycle .* on, in ${until} cycles?$`) : /since cycle .*, for \d/);
    if (until > 0) later += 1;
  }
  assert.ok(later > 0, "one of them has the pipeline to come");
  await page.close();
});

test("a context that is chosen is shown, with its place, whatever was looked at", async () => {
  const page = await lab.page();
  await open(page, "/microcode/router/npsim.toml", { traffic: { kind: "load", load: { rate: "0.9", size: "64", time: "2ms" } }, until: "" });
  await page.evaluate(() => window.npsimLab.seek(50_000));
  await ready(page);
  const file = await state(page, "s.path");
  await page.getByRole("tab", { name: "Memory" }).click();
  const other = await state(page, "s.view.contexts.findIndex((it) => it.frames[0]?.file && it.frames[0].file !== s.view.place.path)");
  await page.locator(".lanes-scroll").focus();
  const selected = "s.view.contexts.findIndex((it) => it.thread.me === s.view.selected.me && it.thread.context === s.view.selected.context)";
  for (let at = await state(page, selected); at < other; at += 1) {
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(`{ const s = window.npsimLab.store.value; ${selected} === ${at + 1} }`);
    await ready(page);
  }
  await page.waitForFunction((file) => window.npsimLab.store.value.path !== file, file);
  await ready(page);
  assert.equal(await page.getByRole("tab", { name: "Context", exact: true }).getAttribute("aria-selected"), "true");
  assert.equal(await state(page, "s.path === s.view.place.path"), true);
  await page.close();
});

test("any packet is chosen by its number, and none that has not come", async () => {
  const page = await lab.page();
  await page.evaluate(() => window.npsimLab.seek(300_000));
  await ready(page);
  await page.getByRole("tab", { name: "Packets" }).click();
  const came = await state(page, "s.view.totals.came");
  assert.ok(await state(page, "!s.view.packets.some((it) => it.number === 1)"), "packet 1 is long gone");
  await page.getByLabel("Packet", { exact: true }).fill("1");
  await page.getByRole("button", { name: "Show" }).click();
  await page.locator("#look h3", { hasText: "Journey of packet 1" }).waitFor();
  await page.getByLabel("Packet", { exact: true }).fill(String(came));
  await page.keyboard.press("Enter");
  await page.locator("#notice.error", { hasText: `There is no packet ${came} yet.` }).waitFor();
  await page.evaluate(() => window.npsimLab.seek(100));
  await page.locator("#look", { hasText: "Choose a packet to see its journey" }).waitFor();
  assert.equal(await page.locator(".journey li").count(), 0);
  assert.deepEqual(page.errors, []);
  await page.close();
});
