import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { downloaded, laboratory, npsim, open, ready, root, state } from "./page.mjs";

let lab;
before(async () => { lab = await laboratory(); });
after(() => lab.close());

const drop = (page, name, bytes) =>
  page.evaluate(([name, text]) => {
    const bytes = Uint8Array.from(atob(text), (it) => it.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], name));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
  }, [name, Buffer.from(bytes).toString("base64")]);

test("a dropped capture is the traffic, and what left is that of the command", async () => {
  const page = await lab.page();
  await open(page, "/microcode/forward/npsim.toml");
  const trace = join(root, "traces/two-ports.pcapng");
  await drop(page, "mine.pcapng", readFileSync(trace));
  await page.waitForFunction(() => window.npsimLab.store.value.traffic.path === "/own/captures/mine.pcapng");
  await ready(page);
  await page.getByRole("button", { name: "What limits it?" }).click();
  await page.waitForFunction(() => window.npsimLab.store.value.measured, null, { timeout: 120_000 });
  await page.getByRole("tab", { name: "Results" }).click();
  await page.locator(".frames-table tbody tr").first().waitFor();
  const left = await downloaded(page, () => page.getByRole("button", { name: "Sent packets (pcapng)" }).click());
  const folder = mkdtempSync(join(tmpdir(), "npsim-web-"));
  const out = join(folder, "out.pcapng");
  if (npsim(["run", "microcode/forward", "--trace", trace, "--out", out, "--quiet"])) {
    assert.deepEqual(left, readFileSync(out));
  } else console.log("# not compared: NPSIM names no command");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a capture that is too slow to show a limit is said to be, and is played back to back by a button", async () => {
  const page = await lab.page();
  await open(page, "/microcode/forward/npsim.toml", { traffic: { kind: "capture", path: "/traces/mixed.pcap" }, until: "2ms" });
  assert.match(await page.locator("#project").innerText(), /mixed\.pcap, as captured/);
  await page.getByRole("button", { name: "What limits it?" }).click();
  await page.locator(".words", { hasText: "4 packets in 2 ms, 0.8% of what the lines carry: there is nothing to limit." }).waitFor();
  await page.getByRole("button", { name: "Play it back to back" }).click();
  await page.waitForFunction(() => window.npsimLab.store.value.traffic.pace === "line" && window.npsimLab.store.value.measured);
  await ready(page);
  assert.equal(await page.getByRole("button", { name: "Play it back to back" }).isVisible(), false);
  assert.doesNotMatch(await page.locator(".words").innerText(), /nothing to limit/);
  assert.match(await page.locator("#project").innerText(), /mixed\.pcap, back to back/);
  await page.getByRole("button", { name: "Traffic" }).click();
  assert.equal(await page.getByLabel("Pace").inputValue(), "line");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a capture that is chosen plays back to back unless it is said otherwise", async () => {
  const page = await lab.page();
  await page.getByRole("button", { name: "Traffic" }).click();
  await page.getByLabel("From a capture").check();
  await page.getByRole("button", { name: "Use this traffic" }).click();
  await page.waitForFunction(() => window.npsimLab.store.value.traffic.kind === "capture");
  await ready(page);
  assert.equal(await state(page, "s.traffic.pace"), "line");
  await page.close();
});

test("generated traffic is set by sliders", async () => {
  const page = await lab.page();
  await page.getByRole("button", { name: "Traffic" }).click();
  await page.getByLabel("Rate of each line").fill("90");
  await page.getByRole("button", { name: "Use this traffic" }).click();
  await page.waitForFunction(() => window.npsimLab.store.value.traffic.load?.rate === "0.9");
  await ready(page);
  assert.equal(await state(page, "s.failure"), null);
  await page.close();
});

test("what is too large or damaged is refused, and the page goes on", async () => {
  const page = await lab.page();
  const said = async (pattern) => {
    await page.locator("#notice.error", { hasText: pattern }).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
  };
  // A capture of 200 MB is refused by its size alone.
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(200_000_000)], "big.pcap"));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
  });
  await said(/200\.0 MB/);
  // A decompression bomb: 300 MB of zeros in 300 kB.
  await drop(page, "bomb.pcap.gz", gzipSync(Buffer.alloc(300_000_000)));
  await said(/unpacks to more/);
  await drop(page, "broken.zip", Buffer.from("PK nonsense"));
  await said(/not a zip file/);
  await drop(page, "words.pcap", Buffer.from("this is no capture at all, though it is called one"));
  await page.waitForFunction(() => window.npsimLab.store.value.failure !== null);
  await open(page, "/microcode/tutorial/wire8.toml", { traffic: { kind: "none" } });
  assert.equal(await state(page, "s.failure"), null);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a macro without end ends the worker, not the page", async () => {
  const page = await lab.page();
  await page.evaluate(() => {
    window.npsimLab.files.setText("/own/endless.uc", "#define N 1\n#while (N > 0)\nnop\n#endloop\n");
    return window.npsimLab.open("/own/endless.uc", { traffic: { kind: "none" } });
  });
  await page.waitForFunction(() => window.npsimLab.store.value.running === "no", null, { timeout: 40_000 });
  await open(page, "/microcode/tutorial/wire8.toml", { traffic: { kind: "none" } });
  assert.equal(await state(page, "s.opened.target"), "/microcode/tutorial/wire8.toml");
  await page.close();
});

test("the traffic in force is shown, and is left alone unless it is changed", async () => {
  const page = await lab.page();
  await page.getByRole("button", { name: "IPv4 router", exact: true }).first().click();
  await page.waitForFunction(() => window.npsimLab.store.value.opened?.name === "router");
  await ready(page);
  await page.evaluate(() => window.npsimLab.seek(5_000));
  await ready(page);
  const inForce = await state(page, "s.opened.load");
  const dialog = page.getByRole("dialog", { name: "Traffic" });
  const shown = async () => (await dialog.locator("output").allInnerTexts()).concat(await dialog.getByLabel("Arrivals").inputValue());
  await page.getByRole("button", { name: "Traffic" }).click();
  assert.deepEqual(await shown(), ["50%", "64 bytes", "60", "constant"]);
  await page.getByRole("button", { name: "Use this traffic" }).click();
  await page.waitForTimeout(300);
  await ready(page);
  assert.equal(await state(page, "s.view.cycle"), 5_000, "nothing is opened anew");
  // One value is changed, and all others stay.
  await page.getByRole("button", { name: "Traffic" }).click();
  await dialog.getByLabel("Rate of each line").fill("90");
  await page.getByRole("button", { name: "Use this traffic" }).click();
  await page.waitForFunction(() => window.npsimLab.store.value.opened?.load.rate === "0.9");
  await ready(page);
  assert.deepEqual(await state(page, "s.opened.load"), { ...inForce, rate: "0.9" });
  // A rate that is not a fraction of the line is shown as it is.
  await open(page, "/microcode/router/npsim.toml", { traffic: { kind: "load", load: { rate: "300Mbps", flows: 7, time: "2ms" } }, until: "" });
  await page.getByRole("button", { name: "Traffic" }).click();
  assert.deepEqual(await shown(), ["300Mbps", "64 bytes", "7", "constant"]);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("results have no time of a clock that the page does not have, and times of the run", async () => {
  const page = await lab.page();
  await open(page, "/microcode/forward/npsim.toml", { traffic: { kind: "capture", path: "/traces/mixed.pcap" }, until: "" });
  await page.evaluate(() => window.npsimLab.measure());
  await page.getByRole("tab", { name: "Results" }).click();
  await page.locator(".frames-table tbody tr").first().waitFor();
  const summary = await page.locator(".results > pre").innerText();
  assert.doesNotMatch(summary, /host|cycles\/s/);
  assert.match(summary, /simulated +[\d.]+ [µm]s \(/);
  assert.doesNotMatch(summary, /\dus\b|\d us\b/);
  const first = await page.locator(".frames-table tbody tr td:nth-child(2)").first().innerText();
  assert.ok(parseFloat(first) < 1e5, first);
  await page.close();
});
