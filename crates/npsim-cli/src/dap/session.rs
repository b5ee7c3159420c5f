//! The state of a debug session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use npsim_debug::Debugger;

use super::server::Server;

/// A debugger and the client that inspects it.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Session<'s> {
    pub server: &'s mut Server,
    pub debugger: Debugger,
    /// The debugged image or project.
    pub target: PathBuf,
    /// The breakpoints set by each request.
    pub points: BTreeMap<String, Vec<u32>>,
    /// The instructions of the lines offered to the client as jump targets, two targets per line.
    pub targets: Vec<Vec<(u8, u16)>>,
    /// Whether the client has chosen checks.
    pub filtered: bool,
    pub stops_on_entry: bool,
    /// Whether the client has set its breakpoints.
    pub configured: bool,
    /// Whether the client has been sent the end of the run.
    pub terminated: bool,
}

impl<'s> Session<'s> {
    pub fn new(
        server: &'s mut Server,
        debugger: Debugger,
        target: &Path,
        stops_on_entry: bool,
    ) -> Self {
        Self {
            server,
            debugger,
            target: target.to_path_buf(),
            points: BTreeMap::new(),
            targets: Vec::new(),
            filtered: false,
            stops_on_entry,
            configured: false,
            terminated: false,
        }
    }
}
