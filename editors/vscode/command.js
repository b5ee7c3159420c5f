// The npsim command and what it is used on.
const path = require("path");
const fs = require("fs");
const { execFile } = require("child_process");
const { window, workspace } = require("vscode");

// The command, as the settings name it.
function npsim() {
  return workspace.getConfiguration("npsim").get("path", "npsim");
}

// Runs npsim in a folder; gives what it printed, or throws what it said.
function run(args, cwd) {
  return new Promise((resolve, reject) => {
    execFile(npsim(), args, { cwd, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      if (error) {
        reject(new Error(stderr.trim() || error.message));
      } else {
        resolve(stdout);
      }
    });
  });
}

// The folder of the project that a file belongs to: the nearest with an npsim.toml, or
// what the settings name; none for a source on its own.
function projectOf(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, "npsim.toml"))) {
      return folder;
    }
    if (path.dirname(folder) === folder) {
      break;
    }
  }
  const set = workspace.getConfiguration("npsim").get("project");
  const below = workspace.workspaceFolders && workspace.workspaceFolders[0].uri.fsPath;
  return set ? path.resolve(below || ".", set) : undefined;
}

// What a command about the open file is to work on.
function target() {
  const editor = window.activeTextEditor;
  if (!editor) {
    throw new Error("open a source or a project file first");
  }
  const file = editor.document.uri.fsPath;
  return projectOf(file) || file;
}

// The folder in which relative paths begin.
function folder() {
  const first = workspace.workspaceFolders && workspace.workspaceFolders[0];
  return first ? first.uri.fsPath : undefined;
}

module.exports = { npsim, run, projectOf, target, folder };
