//! Giving up what is needed for opening interfaces alone.

use std::io;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Gives up what the thread may do to the host's network and namespaces: interfaces that are open
/// stay so. What it may do to files it keeps, since it goes on to write some.
///
/// # Errors
/// The kernel refuses it.
pub fn drop_privileges() -> io::Result<()> {
    let unneeded = CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW | CapabilitySet::SYS_ADMIN;
    let mut sets = capabilities(None)?;
    sets.effective.remove(unneeded);
    sets.permitted.remove(unneeded);
    sets.inheritable.remove(unneeded);
    Ok(set_capabilities(None, sets)?)
}
