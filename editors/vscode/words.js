// Texts that npsim makes of a source: what a macro becomes, and the words.
const { EventEmitter, Uri, ViewColumn, languages, window, workspace } = require("vscode");
const { run, target, folder } = require("./command");

const SCHEME = "npsim-text";

// Documents that are shown but belong to no file.
function provider() {
  const texts = new Map();
  const changed = new EventEmitter();
  return {
    onDidChange: changed.event,
    provideTextDocumentContent: (uri) => texts.get(uri.toString()) || "",
    async show(name, text) {
      const uri = Uri.from({ scheme: SCHEME, path: `/${name}` });
      texts.set(uri.toString(), text);
      changed.fire(uri);
      const document = await workspace.openTextDocument(uri);
      await languages.setTextDocumentLanguage(document, "uc");
      await window.showTextDocument(document, { viewColumn: ViewColumn.Beside, preserveFocus: true });
    },
  };
}

async function expandMacro(client, shown) {
  const editor = window.activeTextEditor;
  if (!editor || !client) {
    return;
  }
  const expanded = await client.sendRequest("npsim/expandMacro", {
    textDocument: { uri: editor.document.uri.toString() },
    position: editor.selection.active,
  });
  if (expanded) {
    await shown.show(`${expanded.name}.uc`, expanded.expansion);
  } else {
    window.showInformationMessage("No macro is used here.");
  }
}

async function showWords(shown) {
  try {
    const listing = await run(["asm", ...target(), "--list"], folder());
    await shown.show("words.uc", listing);
  } catch (error) {
    window.showErrorMessage(error.message);
  }
}

module.exports = { SCHEME, provider, expandMacro, showWords };
