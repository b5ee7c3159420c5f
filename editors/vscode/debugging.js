// Starts `npsim dap` for each debug session.
const path = require("path");
const { DebugAdapterExecutable, DebugAdapterServer, window } = require("vscode");
const { npsim, askOptions, wordsFor, folder } = require("./command");

class DebugAdapters {
  createDebugAdapterDescriptor(session) {
    // The user's own adapter, which is already listening.
    const port = session.configuration.debugServer;
    if (port) {
      return new DebugAdapterServer(port);
    }
    const cwd = session.configuration.cwd || folder();
    return new DebugAdapterExecutable(npsim(), ["dap"], cwd ? { cwd } : undefined);
  }
}

// F5 without a launch configuration: the open source, or its project.
class Launches {
  async resolveDebugConfiguration(_, configuration) {
    if (configuration.type || configuration.request) {
      return configuration;
    }
    const editor = window.activeTextEditor;
    if (!editor) {
      window.showErrorMessage("Open a source or a project file first.");
      return undefined;
    }
    const [program, ...include] = wordsFor(editor.document.uri.fsPath);
    const name = path.basename(program);
    const options = await askOptions(`npsim debug ${name}`);
    return options && { type: "npsim", request: "launch", name, program, args: [...include, ...options] };
  }
}

module.exports = { DebugAdapters, Launches };
