// A user's afternoon in the real editor, with checks:
//
//   node scenario.mjs [--pictures FOLDER]
//
// NPSIM is the command (`npsim` if it is not set), NPSIM_VSCODE the folder that fetch.sh
// filled, BROWSER a browser if none is on the path. Prints `skipped:` and the reason if any
// of these is missing. With --pictures it writes the documentation's pictures to a folder.
// Exits with 1 if the editor does not do what it should.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Editor, missing, start } from "./editor.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const pictures = process.argv[2] === "--pictures" ? process.argv[3] : undefined;

const tools = process.env.NPSIM_VSCODE;
const lack = missing(tools);
if (lack) {
  console.log(`skipped: ${lack}`);
  process.exit(0);
}

// The tutorial "Debug a lost packet", as its second session would be configured.
const LAUNCH = {
  version: "0.2.0",
  configurations: [
    {
      type: "npsim",
      request: "launch",
      name: "The hub that loses buffers",
      program: "${workspaceFolder}/microcode/tutorial/hub",
      args: ["--set", "me.receive.source=twice.uc", "--load", "0.6", "--time", "1ms"],
      stopOnEntry: false,
    },
  ],
};

const work = mkdtempSync(join(tmpdir(), "npsim-scenario-"));
const folder = join(work, "npsim");
mkdirSync(folder);
cpSync(join(root, "microcode"), join(folder, "microcode"), { recursive: true });

const { page, stop } = await start(tools, folder, process.env.NPSIM || "npsim");
const editor = new Editor(page);

function step(what) {
  console.log(`- ${what}`);
}

async function picture(name) {
  if (pictures) {
    mkdirSync(pictures, { recursive: true });
    // Nothing that blinks or fades.
    await page.waitForTimeout(1000);
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
}

try {
  await opens();
  await debugsWithoutConfiguration();
  await debugsBackwards();
  await reports();
  console.log("1 passed, 0 failed");
} catch (error) {
  await picture("failed");
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await stop();
  rmSync(work, { recursive: true, force: true });
}

async function opens() {
  step("a tutorial's source has no problem, and the status bar says what it became");
  await editor.open("microcode/tutorial/wire8.uc");
  await editor.until("the status bar", () => editor.statusBar(), (it) => it.includes("53 of 4096 words"));
  await editor.problems("No Problems");

  step("what is typed wrong is a problem at once, and none any more when it is taken back");
  await editor.open("microcode/tutorial/wire8.uc", 46);
  await editor.press("End");
  await page.keyboard.type(", nothing");
  await editor.problems("Errors: 1");
  await editor.press(...Array(", nothing".length).fill("Backspace"));
  await editor.problems("No Problems");
}

async function debugsWithoutConfiguration() {
  step("F5 where no launch configuration is asks for options and stops before the first cycle");
  await editor.press("F5");
  await editor.answer("--load 0.5 --time 100us");
  await editor.stopped("cycle 0 ", [/^receive_ticket\s+rbuf\.uc\s+29:/, /^wire8\.uc\s+wire8\.uc\s+30:/]);

  step("a breakpoint in a macro is hit, and the stack says where the macro is used");
  await editor.open("microcode/lib/rbuf.uc", 65);
  await editor.press("F9", "F5");
  const hit = [/^receive_store\s+rbuf\.uc\s+65:/, /^wire8\.uc\s+wire8\.uc\s+49:/];
  await editor.stopped("breakpoint at cycle 481 ", hit);

  step("a name shows its value");
  await editor.hovers("alu[override, bytes", "bytes", "60 (0x3c)");

  step("a step back undoes a step, and reverse finds the beginning of the run");
  await editor.press("F10");
  await editor.stopped("cycle 482 ", [/^receive_store\s+rbuf\.uc\s+66:/, hit[1]]);
  await editor.click("Step Back");
  await editor.stopped("cycle 481 ", hit);
  await editor.click("Reverse");
  await editor.stopped("cycle 0 ", [/^receive_ticket/, /^wire8\.uc/]);

  await editor.open("microcode/lib/rbuf.uc", 65);
  await editor.press("F9", "Shift+F5");
  await editor.ended();
}

async function debugsBackwards() {
  step("a source that takes another one's place in a project has no problem");
  await editor.open("microcode/tutorial/hub/twice.uc", 97);
  await editor.until("the status bar", () => editor.statusBar(), (it) => /of 4096 words/.test(it));
  await editor.problems("No Problems");

  step("a configuration runs to the check that fails");
  mkdirSync(join(folder, ".vscode"));
  writeFileSync(join(folder, ".vscode", "launch.json"), JSON.stringify(LAUNCH, null, 2));
  const chosen = page.locator(".debug-action-view-item select, .start-debug-action-item").first();
  await editor.until("the configuration", () => chosen.innerText(), (it) => it.includes(LAUNCH.configurations[0].name));
  await editor.press("F5");
  const said = page.locator(".exception-widget");
  await editor.until("the check", () => said.innerText(), (it) => it.includes("buffer-leak"));

  step("reverse finds who gave the buffer back last");
  await editor.open("microcode/lib/buffer.uc", 22);
  await editor.command("Debug: Add Conditional Breakpoint...");
  const condition = page.locator(".breakpoint-widget .monaco-editor");
  await condition.click();
  await page.keyboard.type("me == 0 && buffer == 388");
  await editor.until("the condition", () => condition.innerText(), (it) => it.includes("388"));
  await editor.press("Enter");
  await condition.waitFor({ state: "hidden" });
  await page.locator(".codicon-debug-breakpoint-conditional").first().waitFor();
  await editor.click("Reverse");
  const twice = (line) => [/^buffer_return\s+buffer\.uc\s+22:/, new RegExp(`^twice\\.uc\\s+twice\\.uc\\s+${line}:`)];
  await editor.stopped("breakpoint at cycle 32296 ", twice(97));
  await editor.hovers("sram[enqueue", "handle", "388 (0x184)");
  await picture("editor-debugger");

  step("and who did so before");
  await editor.click("Reverse");
  await editor.stopped("breakpoint at cycle 32225 ", twice(89));
  await editor.press("Shift+F5");
  await editor.ended();
}

async function reports() {
  step("the report of a run is a tab, with its drawings and its script");
  await editor.open("microcode/forward/forward.uc");
  await editor.command("npsim: Run this project and show the report");
  await editor.answer("--load 0.9 --time 200us");
  const report = async () => {
    for (const frame of page.frames()) {
      const found = await frame.evaluate(() => ({
        title: document.querySelector("h1")?.textContent,
        charts: document.querySelectorAll("svg.chart").length,
        nonces: [...document.scripts].filter((it) => it.nonce).length,
      })).catch(() => ({}));
      if (found.charts) {
        return found;
      }
    }
    throw new Error("no frame has charts");
  };
  const seen = await editor.until("the report", report, (it) => it.title === "forward");
  if (seen.charts < 10 || seen.nonces === 0) {
    throw new Error(`the report: ${JSON.stringify(seen)}`);
  }
  await picture("editor-report");
}
