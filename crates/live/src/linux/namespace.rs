//! Network namespaces.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use npsim_project::problem::Problem;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// The folder in which `ip netns` keeps names.
const NAMES: &str = "/run/netns";

/// The identity of a named namespace. A namespace with an open interface outlives its name, so its
/// identity remains valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespaceId(u64, u64);

impl NamespaceId {
    /// The namespace with a name, if there is one.
    pub fn of(name: &str) -> Option<Self> {
        let found = Path::new(NAMES).join(name).metadata().ok()?;
        Some(Self(found.dev(), found.ino()))
    }
}

/// Runs `work` in a named network namespace, or in that of the caller. Files opened there remain
/// usable elsewhere.
pub fn in_namespace<T: Send>(
    namespace: Option<&str>,
    work: impl FnOnce() -> Result<T, Problem> + Send,
) -> Result<T, Problem> {
    let Some(name) = namespace else {
        return work();
    };
    let path: PathBuf = Path::new(NAMES).join(name);
    let file = File::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Problem::new(format!("there is no network namespace `{name}`"))
            .help(format!(
                "`ip netns list` lists those that exist, and `ip netns add {name}` makes it"
            )),
        _ => Problem::io("open", &path, &error),
    })?;
    // A separate thread, which stays in the namespace for the rest of its life.
    let entered = thread::scope(|scope| {
        let work = scope.spawn(|| {
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).map_err(
                |error| {
                    Problem::new(format!(
                        "the network namespace `{name}` cannot be entered: {error}"
                    ))
                    .help("that takes the capability CAP_SYS_ADMIN: run it as root")
                },
            )?;
            work()
        });
        work.join()
    });
    entered.unwrap_or_else(|_| Err(Problem::new("the thread in a namespace panicked")))
}
