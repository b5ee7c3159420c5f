//! Lists of mistakes and their messages: a line `=== what is wrong`, what is typed, a line `---`, the
//! message.

use std::fmt::Write as _;
use std::path::Path;

/// Compares a list with what `message` says now. With `NPSIM_UPDATE_MISTAKES` in the environment the
/// file `path` below `folder` is written anew instead.
///
/// # Panics
/// If a message is another one, or the list has no such form.
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
