// Visual Studio Code as its users see it: code-server with the extension installed from a
// package, in a headless browser.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const extension = dirname(dirname(fileURLToPath(import.meta.url)));
const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "chrome"];

// How long anything may take, in milliseconds: test machines are slow and shared.
export const PATIENCE = 60_000;

// What the machine lacks; undefined if the editor can be started.
export function missing(tools) {
  if (!tools) {
    return "NPSIM_VSCODE names no folder that editors/vscode/test/fetch.sh filled";
  }
  if (!existsSync(join(tools, "code-server", "out", "node", "entry.js"))) {
    return `code-server is not in ${tools}; editors/vscode/test/fetch.sh fetches it`;
  }
  return browser() ? undefined : `no browser is installed (${BROWSERS.join(", ")})`;
}

function browser() {
  const folders = (process.env.PATH || "").split(":");
  const paths = BROWSERS.flatMap((name) => folders.map((folder) => join(folder, name)));
  return process.env.BROWSER || paths.find((path) => existsSync(path));
}

// A port without a listener.
function freePort() {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// Packs the extension as it is in the repository; returns the package's path.
function packed(tools, home) {
  const folder = join(home, "extension");
  cpSync(extension, folder, {
    recursive: true,
    filter: (path) => !/[\\/](node_modules|test)$|\.vsix$/.test(path),
  });
  cpSync(join(tools, "extension", "node_modules"), join(folder, "node_modules"), { recursive: true });
  cpSync(join(extension, "..", "..", "LICENSE-MIT"), join(folder, "LICENSE.txt"));
  const vsce = join(tools, "extension", "node_modules", "@vscode", "vsce", "vsce");
  const file = join(home, "npsim-uc.vsix");
  // Warnings are failures: a package for users has none.
  const said = execFileSync(process.execPath, [vsce, "package", "--out", file], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (/warning/i.test(said)) {
    throw new Error(`vsce package: ${said}`);
  }
  return file;
}

// Starts the editor on a folder, with a command `npsim`.
export async function start(tools, folder, npsim) {
  const home = mkdtempSync(join(tmpdir(), "npsim-editor-"));
  const user = join(home, "user");
  const write = (kind, settings) => {
    mkdirSync(join(user, kind), { recursive: true });
    writeFileSync(join(user, kind, "settings.json"), JSON.stringify(settings));
  };
  // Paths of commands are settings of the machine on which the server part runs.
  write("Machine", { "npsim.path": npsim });
  write("User", {
    "security.workspace.trust.enabled": false,
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": false,
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.colorTheme": "Default Light Modern",
    "chat.disableAIFeatures": true,
    "debug.openDebug": "openOnSessionStart",
    "debug.internalConsoleOptions": "neverOpen",
    "editor.minimap.enabled": false,
    "window.commandCenter": false,
    "workbench.layoutControl.enabled": false,
  });
  const node = join(tools, "node24");
  const options = [
    join(tools, "code-server", "out", "node", "entry.js"),
    "--config", join(home, "config.yaml"),
    "--user-data-dir", user,
    "--extensions-dir", join(home, "extensions"),
  ];
  // Native modules for logs and watchdogs are not built, and complain.
  execFileSync(node, [...options, "--install-extension", packed(tools, home)], {
    stdio: "ignore",
  });
  const port = await freePort();
  const server = spawn(
    node,
    [...options, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry",
      "--disable-update-check", "--disable-getting-started-override", folder],
    { stdio: "ignore", detached: true },
  );
  const { chromium } = createRequire(join(tools, "node_modules", "/"))("playwright-core");
  let running;
  const stop = async () => {
    await running?.close();
    process.kill(-server.pid);
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    running = await chromium.launch({
      executablePath: browser(),
      args: ["--no-sandbox", "--disable-gpu"],
    });
    const page = await running.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(PATIENCE);
    const address = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`;
    for (const end = Date.now() + PATIENCE; ; ) {
      try {
        await page.goto(address);
        break;
      } catch (error) {
        if (Date.now() > end) {
          throw error;
        }
        await page.waitForTimeout(250);
      }
    }
    await page.locator(".monaco-workbench .statusbar").waitFor();
    return { page, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

// What a user does and sees in the editor.
export class Editor {
  constructor(page) {
    this.page = page;
  }

  async press(...keys) {
    for (const key of keys) {
      await this.page.keyboard.press(key);
    }
  }

  // Opens a file of the folder at a line.
  async open(file, line = 1) {
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await this.press("Control+P");
    await input.waitFor();
    await input.fill(`${file}:${line}`);
    const name = file.split("/").pop();
    await this.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: name }).first().waitFor();
    await this.press("Enter");
    await this.page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
    await input.waitFor({ state: "hidden" });
  }

  // Runs a command of the palette.
  async command(title) {
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await this.press("F1");
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: title }).first().click();
  }

  // Types into the box that asks something.
  async answer(text) {
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await input.waitFor();
    await input.fill(text);
    await this.press("Enter");
    await input.waitFor({ state: "hidden" });
  }

  statusBar() {
    return this.page.locator(".statusbar").innerText();
  }

  // Waits until the status bar shows this count of messages.
  async problems(label) {
    const count = this.page.locator("[id='status.problems'] a");
    await this.until("problems", () => count.getAttribute("aria-label"), (it) => it === label);
  }

  // Waits until the run has stopped with this reason and these frames, innermost first.
  async stopped(why, frames) {
    const rows = this.page.locator(".debug-call-stack .monaco-list-row");
    const look = async () => ({
      why: (await rows.allTextContents()).join("\n"),
      frames: await rows.locator(".stack-frame").allInnerTexts(),
    });
    await this.until(`the stop at "${why}"`, look, (seen) =>
      seen.why.includes(why) && seen.frames.length === frames.length
        && frames.every((frame, at) => frame.test(seen.frames[at])));
  }

  // Waits until no session is left.
  async ended() {
    await this.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
  }

  // Presses a button of the debugger.
  async click(button) {
    await this.page.locator(`.debug-toolbar .action-label[aria-label^="${button}"]`).click();
  }

  // Puts the pointer on a word of the first line that contains a text; the debugger has to
  // show its value.
  async hovers(text, word, value) {
    const at = await this.page.evaluate(([text, word]) => {
      for (const line of document.querySelectorAll(".editor-instance .view-line")) {
        if (!line.textContent.replaceAll("\u00a0", " ").includes(text)) {
          continue;
        }
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const from = node.data.indexOf(word);
          if (from >= 0) {
            const range = document.createRange();
            range.setStart(node, from);
            range.setEnd(node, from + word.length);
            const { x, y, width, height } = range.getBoundingClientRect();
            return [x + width / 2, y + height / 2];
          }
        }
      }
      throw new Error(`no ${word} in a line with ${text}`);
    }, [text, word]);
    await this.page.mouse.move(...at, { steps: 5 });
    const shown = this.page.locator(".debug-hover-widget");
    await this.until(`what hovers over ${word}`, () => shown.innerText(), (it) => it.includes(value));
  }

  // Waits until the page shows what is expected; fails with what it showed last.
  async until(what, look, holds) {
    let seen;
    for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
      seen = await look().catch((error) => error.message);
      if (holds(seen)) {
        return seen;
      }
      await this.page.waitForTimeout(100);
    }
    throw new Error(`${what}: ${JSON.stringify(seen)}`);
  }
}
