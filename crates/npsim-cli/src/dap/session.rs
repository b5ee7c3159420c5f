//! A session in which something is debugged.

use std::collections::BTreeMap;

use npsim_debug::Debugger;

use super::server::Server;

/// A debugger with the client that inspects it.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Session<'s> {
    pub server: &'s mut Server,
    pub debugger: Debugger,
    /// The breakpoints that each request has set.
    pub points: BTreeMap<String, Vec<u32>>,
    /// The words of lines that the client was given as targets of a jump, two each.
    pub targets: Vec<Vec<(u8, u16)>>,
    /// The client has chosen checks.
    pub filtered: bool,
    pub stops_on_entry: bool,
    /// The client has set its breakpoints.
    pub configured: bool,
    /// The client knows that the run has ended.
    pub terminated: bool,
}

impl<'s> Session<'s> {
    pub fn new(server: &'s mut Server, debugger: Debugger, stops_on_entry: bool) -> Self {
        Self {
            server,
            debugger,
            points: BTreeMap::new(),
            targets: Vec::new(),
            filtered: false,
            stops_on_entry,
            configured: false,
            terminated: false,
        }
    }
}
