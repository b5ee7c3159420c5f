//! Lists of mistakes with their messages. Each case is a line `=== TITLE`, the input, a line `---`,
//! and the message.

use std::fmt::Write as _;
use std::path::Path;

/// Compares a list with the current output of `message`. If `NPSIM_UPDATE_MISTAKES` is set in the
/// environment, the file `path` in `folder` is rewritten instead.
///
/// # Panics
/// Panics if a message differs or the list is malformed.
pub fn check(listed: &str, (folder, path): (&str, &str), message: &dyn Fn(&str) -> String) {
    let mut now = String::new();
    for case in listed.split("=== ").skip(1) {
        let (what, rest) = case.split_once('\n').unwrap();
        let (typed, _) = rest.split_once("---\n").unwrap();
        writeln!(now, "=== {what}\n{typed}---\n{}\n", message(typed)).unwrap();
    }
    let now = now.trim_end().to_owned() + "\n";
    if std::env::var_os("NPSIM_UPDATE_MISTAKES").is_some() {
        std::fs::write(Path::new(folder).join(path), now).unwrap();
        return;
    }
    assert!(!listed.contains("no mistake"));
    for (listed, now) in listed.split("=== ").zip(now.split("=== ")) {
        assert_eq!(now, listed);
    }
}
