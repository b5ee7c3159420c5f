//! Dropping the privileges that only opening interfaces requires.

use std::io;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Drops the thread's privileges over the host's network and namespaces; open interfaces stay
/// open. Privileges over files are kept, since files are still written.
///
/// # Errors
/// Returns an error if the kernel refuses it.
pub fn drop_privileges() -> io::Result<()> {
    let unneeded = CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW | CapabilitySet::SYS_ADMIN;
    let mut sets = capabilities(None)?;
    sets.effective.remove(unneeded);
    sets.permitted.remove(unneeded);
    sets.inheritable.remove(unneeded);
    Ok(set_capabilities(None, sets)?)
}
