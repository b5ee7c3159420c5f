// Starts `npsim dap` for each debug session.
const { DebugAdapterExecutable, DebugAdapterServer } = require("vscode");
const { npsim, folder } = require("./command");

class DebugAdapters {
  createDebugAdapterDescriptor(session) {
    // Somebody's own adapter, which listens already.
    const port = session.configuration.debugServer;
    if (port) {
      return new DebugAdapterServer(port);
    }
    const cwd = session.configuration.cwd || folder();
    return new DebugAdapterExecutable(npsim(), ["dap"], cwd ? { cwd } : undefined);
  }
}

module.exports = { DebugAdapters };
