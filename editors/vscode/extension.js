// Starts `npsim lsp` for .uc sources.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = workspace.getConfiguration("npsim").get("path", "npsim");
  client = new LanguageClient(
    "npsim",
    "npsim",
    { command, args: ["lsp"] },
    {
      documentSelector: [{ language: "uc" }],
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/{npsim.toml,*.uc}") },
    },
  );
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
