// Tasks: assemble, check and run what is open.
const { ShellExecution, Task, TaskGroup, TaskScope, window } = require("vscode");
const { npsim, wordsFor } = require("./command");

const USUAL = [
  { command: "check", args: [], group: TaskGroup.Test },
  { command: "asm", args: [], group: TaskGroup.Build },
  { command: "run", args: ["--until", "1ms"], group: undefined },
];

function task(definition, group) {
  const args = [definition.command, definition.target, ...(definition.args || [])];
  const made = new Task(
    definition,
    TaskScope.Workspace,
    definition.command,
    "npsim",
    new ShellExecution(npsim(), args.filter((arg) => arg !== undefined)),
    "$npsim",
  );
  made.group = group;
  return made;
}

class MicrocodeTasks {
  provideTasks() {
    const editor = window.activeTextEditor;
    if (!editor || editor.document.languageId !== "uc") {
      return [];
    }
    const [target, ...include] = wordsFor(editor.document.uri.fsPath);
    return USUAL.map(({ command, args, group }) =>
      task({ type: "npsim", command, target, args: [...include, ...args] }, group),
    );
  }

  resolveTask(asked) {
    return task(asked.definition, asked.group);
  }
}

module.exports = { MicrocodeTasks };
