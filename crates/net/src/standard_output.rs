//! Standard output in place of a file: the path `-`.

use std::fs::File;
use std::io;
use std::path::Path;

/// Whether a path stands for standard output. A file of that name can be given as `./-`.
#[must_use]
pub fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens standard output as a file, without the line buffering of `Stdout`.
///
/// # Errors
/// Returns an error if it is closed, or on a system that is neither Unix nor Windows.
pub fn open() -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle as _;
        Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
    }
    #[cfg(not(any(unix, windows)))]
    {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "standard output is not a file here",
        ))
    }
}
