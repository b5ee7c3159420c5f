// The report of a run in a tab of the editor, and timelines.
const fs = require("fs");
const os = require("os");
const path = require("path");
const crypto = require("crypto");
const { ProgressLocation, Uri, ViewColumn, env, window } = require("vscode");
const { run, target, askOptions, folder } = require("./command");

async function ran(args) {
  return window.withProgress(
    { location: ProgressLocation.Notification, title: `npsim ${args.slice(0, 2).join(" ")}` },
    () => run(args, folder()),
  );
}

// The page's scripts and styles are part of it; a nonce allows only these.
function withPolicy(page) {
  const nonce = crypto.randomBytes(16).toString("base64");
  const policy =
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ` +
    `img-src data:; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'">`;
  return page
    .replace(/<script(?=[\s>])/g, `<script nonce="${nonce}"`)
    .replace(/<head>/, `<head>${policy}`);
}

async function showReport(context) {
  const out = fs.mkdtempSync(path.join(os.tmpdir(), "npsim-"));
  try {
    const args = await askOptions("npsim run");
    if (!args) {
      return;
    }
    await ran(["run", ...target(), ...args, "--report", out]);
    const page = fs.readFileSync(path.join(out, "index.html"), "utf8");
    const panel = window.createWebviewPanel("npsim.report", "npsim report", ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [],
    });
    panel.webview.html = withPolicy(page);
    context.subscriptions.push(panel);
  } catch (error) {
    window.showErrorMessage(error.message);
  } finally {
    fs.rmSync(out, { recursive: true, force: true });
  }
}

async function saveTimeline() {
  try {
    const args = await askOptions("npsim run");
    const file =
      args && (await window.showSaveDialog({ filters: { "Trace Event Format": ["json", "json.gz"] } }));
    if (!file) {
      return;
    }
    await ran(["run", ...target(), ...args, "--timeline", file.fsPath]);
    const open = "Open Perfetto";
    if ((await window.showInformationMessage(`${file.fsPath} is written.`, open)) === open) {
      env.openExternal(Uri.parse("https://ui.perfetto.dev"));
    }
  } catch (error) {
    window.showErrorMessage(error.message);
  }
}

module.exports = { showReport, saveTimeline, withPolicy };
