//! What a mistake in a network file is told as: at its key, in the words of a network file.

use std::fmt::Write as _;
use std::path::Path;

use npsim_network::file::NetworkFile;

/// Wrong network files, each behind a line `=== what is wrong`, and behind a line `---` what is told
/// of them. `REST` stands for a network that is right.
const TOLD: &str = include_str!("mistakes.txt");

const REST: &str = r#"name = "n"
until = "1s"
[[host]]
name = "a"
address = "10.0.0.1"
[[host]]
name = "b"
address = "10.0.0.2"
[[link]]
between = ["a", "b"]
rate = "10Mbps"
delay = "1ms"
[[flow]]
from = "a"
to = "b"
transport = "reno"
"#;

fn mistake(text: &str) -> String {
    match NetworkFile::parse("n.toml", text) {
        Ok(_) => "no mistake".to_owned(),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn the_rest_is_right() {
    assert_eq!(mistake(REST), "no mistake");
}

#[test]
fn mistakes_are_told_as_they_are_listed() {
    let mut now = String::new();
    for case in TOLD.split("=== ").skip(1) {
        let (what, rest) = case.split_once('\n').unwrap();
        let (typed, _) = rest.split_once("---\n").unwrap();
        let told = mistake(&typed.replace("REST\n", REST));
        writeln!(now, "=== {what}\n{typed}---\n{told}\n").unwrap();
    }
    let now = now.trim_end().to_owned() + "\n";
    if std::env::var_os("NPSIM_UPDATE_MISTAKES").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/network/mistakes.txt");
        std::fs::write(path, now).unwrap();
        return;
    }
    // None of them is told in the words of the reader of TOML.
    for own in ["expected", "invalid", "field", "untagged", "no mistake"] {
        assert!(!TOLD.contains(own), "{own}");
    }
    for (listed, told) in TOLD.split("=== ").zip(now.split("=== ")) {
        assert_eq!(told, listed);
    }
}
