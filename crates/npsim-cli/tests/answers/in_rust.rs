//! The program in Rust: it frees what it counts, and its functions have their names.

use serde_json::Value;

use crate::capture::frames;
use crate::harness::{Dir, root};

#[test]
fn rust_program_counts_exceptions() {
    let microcode = root().join("microcode/forward");
    let trace = root().join("traces/mixed.pcap");
    let run = |project: &str, options: &str| {
        let dir = Dir::new();
        let command = format!(
            "run {}/{project} --trace {} --out out.pcap -q {options}",
            microcode.display(),
            trace.display()
        );
        dir.npsim(&command).expect(0, &[]);
        dir
    };
    let task = run("npsim.toml", "");
    let program = run("tally.toml", "--uart uart.txt --profile=p.json");
    let said = "reason 1: 1\nreason 1: 2\nreason 1: 3\nreason 1: 4\n";
    assert_eq!(program.read("uart.txt"), said.as_bytes());
    let [one, other] = [&task, &program].map(|dir| frames(&dir.path("out.pcap")));
    assert_eq!(one.len(), 627);
    assert_eq!(one, other);

    let profile: Value = serde_json::from_slice(&program.read("p.json")).expect("JSON");
    let functions = profile["programs"][0]["functions"].as_array();
    let mut names = functions.expect("functions").iter();
    let write = "<tally::ixp::Uart as core::fmt::Write>::write_str";
    assert!(names.any(|it| it["function"] == write), "{profile}");
}
