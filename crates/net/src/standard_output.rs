//! Standard output in the place of a file: its name as a path is `-`.

use std::fs::File;
use std::io;
use std::path::Path;

/// Whether a path stands for standard output. A file of that name is `./-`.
#[must_use]
pub fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Standard output, to be written as a file is: as it comes, whole blocks at a time.
///
/// # Errors
/// It is closed.
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
            "standard output is no file here",
        ))
    }
}
