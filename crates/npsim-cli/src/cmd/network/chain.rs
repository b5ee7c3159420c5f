//! `--hops`: a chain of routers of one project, run as a network.

use std::fmt;
use std::path::Path;

use npsim::problem::{Problem, Problems};
use npsim::project::Overrides;
use npsim_network_file::chain::chain;
use npsim_network_file::file::NetworkFile;

/// A project, and the number of routers with it in the chain.
#[derive(Clone, Copy, Debug)]
pub struct ChainTarget<'a> {
    target: &'a Path,
    hops: u16,
}

impl<'a> ChainTarget<'a> {
    /// A target with `--hops`; `None` for a single router.
    pub fn of(target: &'a Path, hops: u16) -> Option<Self> {
        (hops > 1).then_some(Self { target, hops })
    }

    /// Makes the network.
    ///
    /// # Errors
    /// Returns an error if the target is itself a network, or is no project that can be chained.
    pub fn load(&self, overrides: &Overrides) -> Result<NetworkFile, Problems> {
        if is_network(self.target) {
            let message = "`--hops` chains routers of a project, and the target is a network file";
            return Err(Problem::new(message)
                .help("leave `--hops` out: the file says which routers there are")
                .into());
        }
        chain(self.target, self.hops.into(), overrides, &npsim::registry())
    }
}

impl fmt::Display for ChainTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} --hops {}", self.target.display(), self.hops)
    }
}

/// Whether a target is a network file: a TOML file with links between nodes, which no project has.
pub fn is_network(target: &Path) -> bool {
    let text = std::fs::read_to_string(target).unwrap_or_default();
    let table = text.parse::<toml::Table>().unwrap_or_default();
    table.contains_key("link") && !table.contains_key("me")
}
