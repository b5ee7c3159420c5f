// The npsim command, and the files that it is run on.
const path = require("path");
const fs = require("fs");
const { execFile } = require("child_process");
const { window, workspace } = require("vscode");

// The command, as the settings name it.
function npsim() {
  return workspace.getConfiguration("npsim").get("path", "npsim");
}

// Runs npsim in a folder; returns its output, or throws its error message.
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

// Include folders of a source that belongs to no project: those of the settings, and each
// `lib` beside it or above. The language server looks there too.
function includes(file) {
  const below = folder() || path.dirname(file);
  const set = workspace.getConfiguration("npsim").get("include", []);
  const found = set.map((each) => path.resolve(below, each));
  for (let above = path.dirname(file); ; above = path.dirname(above)) {
    found.push(path.join(above, "lib"));
    if (above === below || path.dirname(above) === above) {
      break;
    }
  }
  return found.filter((each) => fs.existsSync(each));
}

// The command-line arguments that make npsim work on a file: its project, or the source on
// its own.
function wordsFor(file) {
  const project = projectOf(file);
  return project ? [project] : [file, ...includes(file).flatMap((each) => ["-I", each])];
}

// The same for the open file.
function target() {
  const editor = window.activeTextEditor;
  if (!editor) {
    throw new Error("open a source or a project file first");
  }
  return wordsFor(editor.document.uri.fsPath);
}

// Options of a run, remembered while the editor is open.
let options = "--load 0.5 --time 1ms";

// Asks for the options of a run; undefined if the user cancels.
async function askOptions(title) {
  const typed = await window.showInputBox({ title, prompt: "Options of the run", value: options });
  if (typed === undefined) {
    return undefined;
  }
  options = typed;
  return typed.split(/\s+/).filter(Boolean);
}

// The folder to which relative paths refer.
function folder() {
  const first = workspace.workspaceFolders && workspace.workspaceFolders[0];
  return first ? first.uri.fsPath : undefined;
}

module.exports = { npsim, run, wordsFor, target, askOptions, folder };
