// A browser with the built page in it, for the tests.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, firefox } from "playwright-core";
import xz from "xz-decompress";
import { serve } from "../serve.mjs";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "../..");
export const WIRE8 = "/microcode/tutorial/wire8.toml";

/** Whether the tests run in Firefox, which `FIREFOX` names; otherwise they run in Chromium. */
export const inFirefox = Boolean(process.env.FIREFOX);

/** Firefox from a distribution is driven by WebDriver BiDi, which this channel selects. */
const launched = () =>
  inFirefox
    ? firefox.launch({ channel: "moz-firefox", executablePath: process.env.FIREFOX })
    : chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

export async function laboratory() {
  const { server, sent, port } = await serve(join(here, "../dist/lab"));
  const browser = await launched();
  const address = `http://127.0.0.1:${port}/`;
  return {
    address,
    /** Bytes sent for each file. */
    sent,
    browser,
    /** Opens a page with a profile of its own; `errors` collects its exceptions for tests to check. */
    async page({ width = 1440, height = 900, colorScheme = "light", search = "", hash = "", wait = true, context: given } = {}) {
      const context = given ?? (await browser.newContext({ viewport: { width, height }, colorScheme, acceptDownloads: true }));
      // The driver cannot set the preferred colours of Firefox, so the page's own switch is set there.
      if (inFirefox && colorScheme === "dark") await context.addInitScript(() => localStorage.setItem("npsim-theme", "dark"));
      const page = await context.newPage();
      page.errors = [];
      page.on("pageerror", (error) => page.errors.push(String(error)));
      await page.goto(`${address}${search}${hash}`);
      if (wait) await begun(page);
      return page;
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}

/** Waits until the page has started. */
export const begun = (page) => page.waitForFunction(() => document.body.dataset.begun !== undefined, null, { timeout: 60_000 });

/** Waits until opening a run has succeeded or failed and nothing is in progress. */
export const ready = (page) =>
  page.waitForFunction(() => {
    const it = window.npsimLab?.store.value;
    return it && it.running === "no" && (it.view || it.failure);
  }, null, { timeout: 60_000 });

export const state = (page, pick) => page.evaluate((body) => new Function("s", `return ${body}`)(window.npsimLab.store.value), pick);

/** Opens a shipped system and waits for it. */
export async function open(page, target, how = {}) {
  await page.evaluate(([target, how]) => window.npsimLab.open(target, how), [target, how]);
  await ready(page);
}

/**
 * The bytes of a file that the page offers as a download. The driver of Firefox does not report downloads of
 * bytes made in the page, so there they are captured in the page.
 */
export async function downloaded(page, act) {
  if (!inFirefox) {
    const [download] = await Promise.all([page.waitForEvent("download"), act()]);
    return readFileSync(await download.path());
  }
  await page.evaluate(() => {
    window.givenAway = new Promise((resolve) => {
      const make = URL.createObjectURL;
      URL.createObjectURL = (blob) => {
        URL.createObjectURL = make;
        resolve(blob.arrayBuffer().then((it) => [...new Uint8Array(it)]));
        return make.call(URL, blob);
      };
    });
  });
  await act();
  return Buffer.from(await page.evaluate(() => window.givenAway));
}

/** A part of the built page, unpacked as the page does it. */
export const unxz = async (bytes) => new Uint8Array(await new Response(new xz.XzReadableStream(new Blob([bytes]).stream())).arrayBuffer());

/** The output of the command, or null if it was not built. */
export function npsim(args) {
  const command = process.env.NPSIM;
  return command ? execFileSync(command, args, { cwd: root, maxBuffer: 1 << 28 }) : null;
}

/** Takes pictures for inspection, if NPSIM_SHOTS names a folder. */
export async function picture(page, name) {
  const folder = process.env.NPSIM_SHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
