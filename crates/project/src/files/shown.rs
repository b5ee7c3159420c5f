//! Sources that are shown because a program says that it was made from them.

use std::path::Path;

use super::{Disk, Files as _, disk};
use crate::folder_of;

/// Endings of the names of sources, of microcode and of programs of the core.
const ENDINGS: [&str; 9] = ["uc", "h", "inc", "ind", "c", "cc", "cpp", "s", "rs"];

/// Returns the text of a source that an image or a program of the core names, if it can be read.
///
/// Any such file may be named there by a stranger. Therefore only regular files of at most 64 MiB
/// are read, and only those below the folder of `target`, which is the image, the project or its
/// folder, those below the current folder, and those whose names end as a source's does.
#[must_use]
pub fn readable_source(file: &Path, target: &Path) -> Option<String> {
    let full = disk::resolved(file).ok()?;
    let below = |folder: &Path| {
        // Everything is below the root.
        disk::resolved(folder)
            .is_ok_and(|folder| folder.parent().is_some() && full.starts_with(folder))
    };
    let below_target = || {
        if target.is_dir() {
            below(target)
        } else {
            below(&folder_of(target))
        }
    };
    let allowed = is_named_as_source(&full) || below_target() || below(Path::new("."));
    // The kind comes first: opening a pipe waits for its other end.
    let text = (allowed && full.is_file()).then(|| Disk.read(file).ok())??;
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn is_named_as_source(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|it| it.eq_ignore_ascii_case(ending)))
}

#[cfg(test)]
mod tests {
    use super::readable_source;
    use std::fs;
    use std::path::Path;

    #[test]
    fn only_sources_and_files_in_the_folder_are_shown() {
        let other = tempfile::tempdir().unwrap();
        let own = tempfile::tempdir().unwrap();
        for folder in [other.path(), own.path()] {
            for name in ["a.uc", "A.INC", "b.txt"] {
                fs::write(folder.join(name), "br[a#]").unwrap();
            }
        }
        // A folder, and a file in it.
        for target in [own.path().to_path_buf(), own.path().join("a.npi")] {
            let text = readable_source(&own.path().join("b.txt"), &target);
            assert_eq!(text.as_deref(), Some("br[a#]"));
        }
        let shown = |file: &Path| readable_source(file, own.path());
        for name in ["a.uc", "A.INC", "b.txt"] {
            let text = shown(&own.path().join(name));
            assert_eq!(text.as_deref(), Some("br[a#]"), "{name}");
        }
        assert!(shown(&other.path().join("a.uc")).is_some());
        assert!(shown(&other.path().join("A.INC")).is_some());
        assert_eq!(shown(&other.path().join("b.txt")), None);
        let away = own
            .path()
            .join("..")
            .join(other.path().file_name().unwrap());
        assert_eq!(shown(&away.join("b.txt")), None);
        assert_eq!(shown(&own.path().join("c.uc")), None);
        // Tests run in the folder of their crate.
        assert!(shown(Path::new("Cargo.toml")).is_some());
        assert_eq!(
            readable_source(&other.path().join("b.txt"), Path::new("/")),
            None
        );
    }

    #[cfg(unix)]
    #[test]
    fn devices_pipes_and_outside_links_are_not_shown() {
        let own = tempfile::tempdir().unwrap();
        let in_own = |name: &str| own.path().join(name);
        std::os::unix::fs::symlink("/etc/passwd", in_own("link.uc")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", in_own("zero.uc")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(in_own("pipe.uc"))
            .status();
        assert!(made.unwrap().success());
        for name in ["link.uc", "zero.uc", "pipe.uc", "/etc/passwd", "/dev/zero"] {
            assert_eq!(readable_source(&in_own(name), own.path()), None, "{name}");
        }
        let long = fs::File::create(in_own("long.uc")).unwrap();
        long.set_len((64 << 20) + 1).unwrap();
        assert_eq!(readable_source(&in_own("long.uc"), own.path()), None);
    }
}
