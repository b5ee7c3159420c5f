//! The command line of a bundle: which commands can be packed, and paths that stay within the bundle.

use std::path::{Component, Path, PathBuf};

use npsim::problem::Problem;

/// Commands that end by themselves and read nothing but files.
const PACKABLE: [&str; 14] = [
    "asm",
    "check",
    "check-exercise",
    "chip",
    "debug",
    "disasm",
    "explain",
    "fmt",
    "network",
    "pp",
    "reproduce",
    "run",
    "sweep",
    "trace",
];
/// An option that makes a command wait for another program.
const GDB_OPTION: &str = "--gdb";

/// Rejects a command that cannot be repeated from files alone.
///
/// # Errors
/// Returns an error for such a command.
pub fn check_command(words: &[String]) -> Result<(), Problem> {
    let name = words.first().map_or("", String::as_str);
    if !PACKABLE.contains(&name) {
        return Err(
            Problem::new(format!("`npsim {name}` cannot be in a bundle"))
                .note("it reads more than files, or does not end by itself")
                .help(format!("a bundle can hold: {}", PACKABLE.join(", "))),
        );
    }
    let waits = |word: &&String| **word == GDB_OPTION || word.starts_with("--gdb=");
    if words.iter().any(|word| waits(&word)) {
        return Err(Problem::new(format!("{GDB_OPTION} cannot be in a bundle"))
            .note("it waits for another program"));
    }
    Ok(())
}

/// The parts of a word that may be a path: after the name of an option, and between values of a list.
fn values(word: &str) -> Vec<&str> {
    let parts = word.split(['=', ',', ':', ' ', '"', '\'', '[', '{']);
    let mut values: Vec<&str> = parts.collect();
    values.push(word);
    // `-oFILE`, also after other short options.
    if let Some(short) = word.strip_prefix('-').filter(|it| !it.starts_with('-')) {
        let letters = { short.char_indices() }.take_while(|(_, it)| it.is_ascii_alphabetic());
        values.extend(letters.map(|(at, it)| &short[at + it.len_utf8()..]));
    }
    values
}

/// Rejects words that refer to a place outside the bundle when used from `folder`, a path within it.
///
/// # Errors
/// Returns an error if there is such a word.
pub fn check_places(words: &[String], folder: &str) -> Result<(), Problem> {
    let depth = folder.split('/').filter(|part| !part.is_empty()).count();
    for word in words {
        let absolute = |value: &&str| value.starts_with(['/', '\\', '~']) || has_drive(value);
        // This may count too many, for parts that merely end in `..`, but never too few.
        let up = { word.split(['/', '\\']) }
            .filter(|part| part.ends_with(".."))
            .count();
        if values(word).iter().any(absolute) || has_drive(word) || up > depth {
            return Err(Problem::new(format!(
                "the command of the bundle names a path outside the bundle: `{}`",
                word.escape_default()
            ))
            .note("the command was not run"));
        }
    }
    Ok(())
}

/// Whether a text begins with a Windows drive letter.
fn has_drive(text: &str) -> bool {
    let bytes = text.as_bytes();
    let letter = bytes.first().is_some_and(u8::is_ascii_alphabetic);
    // On Windows, a path after a bare `C:` is relative to that drive's own current folder.
    letter
        && bytes.get(1) == Some(&b':')
        && (cfg!(windows) || matches!(bytes.get(2), Some(b'\\' | b'/')))
}

/// The path in a word or in an option's value, if it is absolute or contains `..`, and the text before it.
fn absolute_or_parent_path(word: &str) -> Option<(&str, &Path)> {
    let (before, value) = match word.split_once('=') {
        Some((option, _)) if word.starts_with("--") => word.split_at(option.len() + 1),
        _ => ("", word),
    };
    let path = Path::new(value);
    let up = path.components().any(|it| it == Component::ParentDir);
    (path.is_absolute() || up).then_some((before, path))
}

/// The places that words refer to by absolute paths or by paths with `..`, resolved from `folder`.
pub fn absolute_or_parent_paths(words: &[String], folder: &Path) -> Vec<PathBuf> {
    let far = words
        .iter()
        .filter_map(|word| absolute_or_parent_path(word));
    far.map(|(_, path)| tidy(&folder.join(path))).collect()
}

/// The words, with absolute paths made relative to `folder`.
pub fn relative(words: &[String], folder: &Path) -> Vec<String> {
    let word = |word: &String| match absolute_or_parent_path(word) {
        Some((before, path)) if path.is_absolute() => {
            format!("{before}{}", relative_path(folder, &tidy(path)))
        }
        _ => word.clone(),
    };
    words.iter().map(word).collect()
}

/// A path with `.` and `..` resolved lexically.
pub fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            part => tidy.push(part),
        }
    }
    tidy
}

/// The relative path from a folder to a place, separated by `/`.
fn relative_path(folder: &Path, to: &Path) -> String {
    let shared = common(folder, to);
    let up = folder.components().count() - shared.components().count();
    let mut parts = vec!["..".to_owned(); up];
    let rest = to.strip_prefix(&shared).unwrap_or(to);
    parts.extend(
        rest.components()
            .map(|it| it.as_os_str().to_string_lossy().into_owned()),
    );
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    }
}

/// The path of a place below a folder, separated by `/`.
pub fn below(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap_or(path).components();
    let parts: Vec<_> = parts.map(|it| it.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// The deepest common folder of two paths.
pub fn common(one: &Path, other: &Path) -> PathBuf {
    let pairs = one.components().zip(other.components());
    let same = pairs.take_while(|(one, other)| one == other);
    same.map(|(part, _)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::{check_command, check_places, relative};
    use std::path::Path;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn paths_outside_the_bundle_are_refused() {
        for outside in [
            "run /etc/a.uc",
            "run ../../a.uc",
            "run a --out=/b",
            "asm a -o/b",
            "asm a -qo/b",
            "asm a -o../../b",
            "run a --out b/../../../c",
            "run a --set trace=/etc/passwd",
            "run a --uart 0:/b",
            "run a C:\\b",
            "run a --out=C:/b",
            "run a ~/b",
            "run a \\\\host\\b",
        ] {
            assert!(check_places(&words(outside), "in").is_err(), "{outside}");
        }
        for inside in [
            "run a/b.uc --out ../c.pcap",
            "explain a.uc:3",
            "run . --load 0.5",
        ] {
            assert!(check_places(&words(inside), "in").is_ok(), "{inside}");
        }
    }

    #[test]
    fn unsupported_commands_are_refused() {
        for refused in [
            "live a",
            "lsp",
            "dap",
            "bundle make",
            "debug a --gdb :1",
            "",
            "--help",
        ] {
            assert!(check_command(&words(refused)).is_err(), "{refused}");
        }
        assert!(check_command(&words("debug a --batch")).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn absolute_paths_become_relative() {
        let given = words("run /a/b/c.uc --trace=/a/t.pcap --load 1/2 ../x");
        let made = relative(&given, Path::new("/a/b"));
        assert_eq!(made, words("run c.uc --trace=../t.pcap --load 1/2 ../x"));
    }
}
