// Language server, debugger, tasks and reports of npsim.
const { StatusBarAlignment, window, workspace, commands, debug, tasks } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { DebugAdapters, Launches } = require("./debugging");
const { MicrocodeTasks } = require("./tasks");
const words = require("./words");
const report = require("./report");
const { npsim } = require("./command");

let client;
let status;

function start() {
  const settings = workspace.getConfiguration("npsim");
  client = new LanguageClient(
    "npsim",
    "npsim",
    { command: npsim(), args: ["lsp"] },
    {
      documentSelector: [{ language: "uc" }, { language: "toml", pattern: "**/{npsim,*.part}.toml" }],
      initializationOptions: { include: settings.get("include"), project: settings.get("project"), profile: settings.get("profile") },
      synchronize: {
        configurationSection: "npsim",
        fileEvents: workspace.createFileSystemWatcher("**/{npsim.toml,*.uc}"),
      },
    },
  );
  return client.start().catch((error) => {
    window.showErrorMessage(
      `npsim does not start: ${error.message}. The setting npsim.path says where the command is.`,
    );
  });
}

async function restart() {
  if (client) {
    await client.stop().catch(() => {});
  }
  await start();
}

// The program that the open source belongs to, as the first lens over it says.
async function showStatus(editor) {
  if (!editor || editor.document.languageId !== "uc" || !client || !client.isRunning()) {
    status.hide();
    return;
  }
  const lenses = await client
    .sendRequest("textDocument/codeLens", { textDocument: { uri: editor.document.uri.toString() } })
    .catch(() => null);
  const first = lenses && lenses.find((lens) => lens.range.start.line === 0);
  status.text = first ? `$(circuit-board) ${first.command.title}` : "$(circuit-board) npsim";
  status.show();
}

async function activate(context) {
  status = window.createStatusBarItem("npsim.program", StatusBarAlignment.Left, 0);
  status.name = "npsim";
  const shown = words.provider();
  context.subscriptions.push(
    status,
    workspace.registerTextDocumentContentProvider(words.SCHEME, shown),
    commands.registerCommand("npsim.restart", restart),
    commands.registerCommand("npsim.expandMacro", () => words.expandMacro(client, shown)),
    commands.registerCommand("npsim.showWords", () => words.showWords(shown)),
    commands.registerCommand("npsim.report", () => report.showReport(context)),
    commands.registerCommand("npsim.timeline", () => report.saveTimeline()),
    debug.registerDebugAdapterDescriptorFactory("npsim", new DebugAdapters()),
    debug.registerDebugConfigurationProvider("npsim", new Launches()),
    tasks.registerTaskProvider("npsim", new MicrocodeTasks()),
    window.onDidChangeActiveTextEditor(showStatus),
    workspace.onDidSaveTextDocument(() => showStatus(window.activeTextEditor)),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("npsim.path")) {
        restart();
      }
    }),
  );
  await start();
  await showStatus(window.activeTextEditor);
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
