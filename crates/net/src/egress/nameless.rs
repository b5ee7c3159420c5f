//! Files without a name, which disappear with the process that writes them.

use std::fs::File;
use std::io;
use std::path::Path;

/// Creates a nameless file in the folder of `beside`; `None` if the system or the file system does
/// not support them.
#[cfg(target_os = "linux")]
pub(super) fn create(beside: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let folder = match beside.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    // The file is named through this path later.
    link_of(&file).exists().then_some(file)
}

/// Gives a file from [`create`] a name that is not in use.
#[cfg(target_os = "linux")]
pub(super) fn name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    linkat(CWD, link_of(file), CWD, path, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
}

#[cfg(target_os = "linux")]
fn link_of(file: &File) -> std::path::PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn create(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
