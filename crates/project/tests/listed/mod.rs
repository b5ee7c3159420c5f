//! Lists of mistakes and what is told of them: a line `=== what is wrong`, what is typed, a line
//! `---`, what is told. The tests of all crates that read files of their users share it.

use std::fmt::Write as _;
use std::path::Path;

/// Holds a list against what is told now. With `NPSIM_UPDATE_MISTAKES` in the environment the
/// file `path` below `folder` is written anew instead.
pub fn check(listed: &str, (folder, path): (&str, &str), told: &dyn Fn(&str) -> String) {
    let mut now = String::new();
    for case in listed.split("=== ").skip(1) {
        let (what, rest) = case.split_once('\n').unwrap();
        let (typed, _) = rest.split_once("---\n").unwrap();
        writeln!(now, "=== {what}\n{typed}---\n{}\n", told(typed)).unwrap();
    }
    let now = now.trim_end().to_owned() + "\n";
    if std::env::var_os("NPSIM_UPDATE_MISTAKES").is_some() {
        std::fs::write(Path::new(folder).join(path), now).unwrap();
        return;
    }
    assert!(!listed.contains("no mistake"));
    for (listed, told) in listed.split("=== ").zip(now.split("=== ")) {
        assert_eq!(told, listed);
    }
}
