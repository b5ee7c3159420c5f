//! How a mistake in a network file is reported: at its key, in the terms of network files.

use npsim_network_file::file::NetworkFile;
use npsim_testkit::mistakes;

/// Wrong network files, each after a line `=== what is wrong` and followed, after a line `---`, by the messages about
/// it. `REST` and `STACKS` stand for valid networks.
const MISTAKES: &str = include_str!("mistakes.txt");

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

/// The replacement text for two hosts with a stack and a link between them.
const STACKS: &str = r#"name = "n"
until = "1s"
[[host]]
name = "c"
kind = "stack"
address = "10.0.0.3"
[[host]]
name = "d"
kind = "stack"
address = "10.0.0.4"
[[link]]
between = ["c", "d"]
rate = "10Mbps"
delay = "1ms"
"#;

fn mistake(text: &str) -> String {
    match NetworkFile::parse("n.toml", text) {
        Ok(_) => "no mistake".to_owned(),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn template_networks_are_valid() {
    assert_eq!(mistake(REST), "no mistake");
    assert_eq!(mistake(STACKS), "no mistake");
}

#[test]
fn mistakes_give_the_listed_messages() {
    let file = (
        env!("CARGO_MANIFEST_DIR"),
        "tests/network_file/mistakes.txt",
    );
    mistakes::check(MISTAKES, file, &|typed| {
        mistake(&typed.replace("REST\n", REST).replace("STACKS\n", STACKS))
    });
    // None of the messages uses the wording of the TOML parser.
    for own in ["expected", "invalid", "field", "untagged"] {
        assert!(!MISTAKES.contains(own), "{own}");
    }
}
