//! `--format json`: the output of each command is as described in `docs/src/json.md` and in the
//! published schemas.

use std::collections::BTreeSet;

use npsim_cli::schemas::{Described, described};
use serde_json::Value;

use crate::harness::{Dir, LOOP, pcap, root};

pub const STUDY: &str = r#"
name = "turns"
title = "Turns"
[window]
measure = "20us"
[metric.busy]
measure = "count"
of = ["microengines.0.executing"]
[sweep.count]
system = "loop.uc"
[[sweep.count.axis]]
name = "turns"
key = "define.TURNS"
values = [10]
"#;

/// The commands of the page with arguments, and the exit code.
fn commands() -> Vec<(&'static str, String, i32)> {
    let networks = root().join("traces/networks").canonicalize();
    let network = networks.expect("networks").join("dumbbell.toml");
    let course = root().join("microcode/course/solutions").canonicalize();
    let exercise = course.expect("solutions").join("one-reader");
    let exercise = exercise.display();
    let row = |heading, arguments: &str| (heading, arguments.to_owned(), 0);
    vec![
        row("npsim run", "run loop.uc --trace in.pcap --until 20us"),
        row(
            "npsim network",
            &format!("network {} --until 60s", network.display()),
        ),
        row("npsim asm", "asm loop.uc"),
        row("npsim explain", "explain loop.uc"),
        ("npsim fmt --check", "fmt --check crooked.uc".to_owned(), 1),
        row("npsim chip", "chip"),
        row("npsim chip NAME", "chip enp-2611"),
        row("npsim chip NAME --latencies", "chip ixp2400 --latencies"),
        row("npsim chip NAME --bandwidths", "chip ixp2400 --bandwidths"),
        row("npsim checks", "checks"),
        row("npsim checks NAME", "checks deadlock"),
        row("npsim codes", "codes"),
        row("npsim codes NAME", "codes bank-conflict"),
        row("npsim isa", "isa"),
        row("npsim isa NAME", "isa ctx_arb"),
        row("npsim reproduce", "reproduce"),
        row("npsim reproduce NAME", "reproduce study.toml"),
        row("npsim reproduce NAME --list", "reproduce study.toml --list"),
        row("npsim sweep", "sweep study.toml"),
        row("npsim sweep --list", "sweep study.toml --list --shards 2"),
        row("npsim sweep --shard", "sweep study.toml --shard 1/1"),
        row("npsim sensitivity --list", "sensitivity study.toml --list"),
        row("npsim sensitivity", "sensitivity study.toml --samples 0"),
        row(
            "npsim check-exercise",
            &format!("check-exercise {exercise}"),
        ),
        row("npsim new", "new --from loop.uc --out made -I ."),
        row(
            "npsim trace gen",
            "trace gen --load 0.5 --time 50us -o made.pcap",
        ),
        row("npsim trace info", "trace info in.pcap"),
        row("npsim trace order", "trace order flows.pcap --each"),
    ]
}

fn folder() -> Dir {
    let dir = Dir::new()
        .with("loop.uc", LOOP)
        .with("crooked.uc", "  here#:\nctx_arb[ voluntary ],br[here#]\n")
        .with("in.pcap", pcap(1, &[(0, 60), (9, 61)]))
        .with("study.toml", STUDY);
    dir.npsim("trace gen --load 0.5 --time 50us --quiet -o flows.pcap")
        .expect(0, &[]);
    dir
}

/// Whether a value is of a type of JSON Schema.
fn has_json_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a schema names the type `{other}`"),
    }
}

/// The parts of a value that violate the schema; `closed` also finds properties that the schema
/// does not name.
fn collect_violations(
    value: &Value,
    schema: &Value,
    place: &str,
    closed: bool,
    found: &mut Vec<String>,
) {
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    let fits = |kind: &Value| has_json_type(value, kind.as_str().expect("the name of a type"));
    if !kinds.is_empty() && !kinds.iter().any(fits) {
        found.push(format!("{place} is {value}, and not {}", schema["type"]));
        return;
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().expect("a name");
        if value.get(name).is_none() {
            found.push(format!("{place} has no {name}"));
        }
    }
    if let (Some(fields), Some(known)) = (value.as_object(), schema["properties"].as_object()) {
        for (name, field) in fields {
            match known.get(name) {
                Some(schema) => {
                    collect_violations(field, schema, &format!("{place}.{name}"), closed, found);
                }
                None if closed => found.push(format!("{place}.{name} is not described")),
                None => {}
            }
        }
    }
    if let (Some(entries), Some(schema)) = (value.as_array(), schema.get("items")) {
        for entry in entries {
            collect_violations(entry, schema, &format!("{place}[]"), closed, found);
        }
    }
}

fn is_open(described: &Described) -> bool {
    described.properties.iter().any(|it| it.path == "*")
}

#[test]
fn json_output_matches_the_documented_schemas() {
    let dir = folder();
    let all = described();
    let known: BTreeSet<&str> = all.iter().map(|it| it.command.as_str()).collect();
    let rows = commands();
    assert_eq!(known, rows.iter().map(|(heading, ..)| *heading).collect());
    for (heading, arguments, code) in rows {
        let described = all.iter().find(|it| it.command == heading);
        let described = described.expect("a heading");
        let done = dir.npsim(&format!("{arguments} --format json"));
        assert_eq!(done.code, code, "{arguments}:\n{}", done.err);
        let value: Value = serde_json::from_str(&done.out)
            .unwrap_or_else(|error| panic!("{arguments}: {error}:\n{}", done.out));
        let mut found = Vec::new();
        let schema = described.schema();
        collect_violations(&value, &schema, "it", !is_open(described), &mut found);
        found.dedup();
        assert!(found.is_empty(), "{arguments}: {found:#?}");
        for line in done.err.lines() {
            let message: Result<Value, _> = serde_json::from_str(line);
            assert!(
                message.is_ok_and(|it| it["level"].is_string()),
                "{arguments}: {line}"
            );
        }
    }
}

#[test]
fn schema_check_reports_violations() {
    let all = described();
    let chips = all.iter().find(|it| it.command == "npsim chip");
    let schema = chips.expect("a heading").schema();
    let found = |text: &str| {
        let mut found = Vec::new();
        let value = serde_json::from_str(text).expect("JSON");
        collect_violations(&value, &schema, "it", true, &mut found);
        found
    };
    assert_eq!(found(r#"{"chips": [], "boards": []}"#), [""; 0]);
    assert_eq!(found(r#"{"chips": []}"#), ["it has no boards"]);
    let named = r#"{"chips": [{"name": 1, "title": "t", "more": 2}], "boards": []}"#;
    assert_eq!(
        found(named),
        [
            "it.chips[].more is not described",
            "it.chips[].name is 1, and not \"string\""
        ]
    );
}

#[test]
fn errors_are_json_objects() {
    let dir = folder();
    for (arguments, code) in [
        ("chip ixp2401", 1),
        ("codes none", 1),
        ("trace info none.pcap", 1),
        ("sweep none.toml", 1),
        ("run none.uc", 1),
    ] {
        let done = dir.npsim(&format!("{arguments} --format json"));
        assert_eq!((done.code, done.out.as_str()), (code, ""), "{arguments}");
        let message: Value = serde_json::from_str(done.err.trim()).expect("one object");
        assert_eq!(message["level"], "error", "{arguments}");
    }
}

#[test]
fn usage_errors_are_json_objects() {
    let dir = folder();
    for arguments in [
        "chip --sorces --format json",
        "run --format=json loop.uc --until soon",
        "run loop.uc --until 1us --stats - --format json",
        "trace gen --load 1 -o - --format json",
        "asm --message-format json",
        "walk --format json",
    ] {
        let done = dir.npsim(arguments);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{arguments}");
        let message: Value = serde_json::from_str(done.err.trim()).expect("one object");
        assert_eq!(message["level"], "error", "{arguments}");
        let told = message["message"].as_str().expect("a message");
        assert!(!told.is_empty() && !told.contains('\n'), "{told}");
        let rendered = message["rendered"].as_str().expect("a text");
        assert!(rendered.starts_with("error: "), "{rendered}");
    }
    // Help is for people, whatever the format.
    dir.npsim("chip --help --format json")
        .expect(0, &["Usage: npsim chip"]);
}
