//! How a mistake in a project file is reported: once, at its key, in the terms of project files.

use std::fmt::Write as _;
use std::path::Path;

use npsim_project::files::MemoryFiles;
use npsim_project::problem::Problems;
use npsim_project::{Overrides, Project, Registry};
use npsim_testkit::mistakes;

/// Every key of project files themselves, in a valid project.
const WHOLE: &str = r#"name = "whole"
include = ["lib"]

[chip]
profile = "ixp2400"
board = "ixp2400-plain"

[[me]]
name = "work"
id = "0-2,4"
source = "a.uc"
define = { FAST = 1 }
import = { TABLE = 4 }
spill_moves = true

[[me]]
id = 5
source = "words.hex"
contexts = 4
nn_mode = "self"

[[port]]
rate = "1Gbps"
mac = "02:00:00:00:01:00"

[media]
element_size = 64
transmit_element_size = 128

[[ring]]
name = "R"
number = 1
size = 128
status = "empty"

[[queue]]
name = "Q"
channel = 0
entry = 2
count = 1

[buffers]
count = 16
size = 2048
descriptor = 4
channel = 0
queue = "Q"

[[memory]]
name = "M"
space = "sram1"
size = 64
align = 16
address = 1024
words = [1, 2]

[[counter]]
name = "C"
drop = true
text = "counts"

[[lock]]
name = "L"
memory = "M"
offset = 16

[routes]
channel = 1
blocks = 8
grace = "50us"

[[route]]
prefix = "10.0.0.0/8"
port = 0
mac = "02:00:00:00:00:01"
mtu = 1400

[[route]]
prefix = "10.9.0.0/16"
local = true

[[route]]
prefix = "10.8.0.0/16"
discard = true

[[route_change]]
at = "1ms"
add = "10.1.0.0/16"
port = 0
mac = "02:00:00:00:00:02"
mtu = 1400

[[route_change]]
at = "2ms"
change = "10.1.0.0/16"
discard = true

[[route_change]]
at = "3ms"
remove = "10.1.0.0/16"

[flows]
channel = 1
buckets = 16

[[flow]]
source = "10.0.0.1"
destination = "10.1.0.1"
protocol = 6
source_port = 1000
destination_port = 179
class = 3
count = 2
reverse = true

[gpp]
tasks = ["routes", "exceptions"]

[gpp.exceptions]
ring = "R"
period = "2us"
reasons = ["", "ttl"]

[load]
rate = 0.33
arrivals = "poisson"
size = "imix"
flows = 8
ttl = 64
time = "1ms"
seed = 7

[load.special]
tcp = 0.1

[[stall]]
me = "0-1"
context = 3
from = "100us"
for = "1ms"

[disturb]
seed = 7
dram = 400
sram = 200
scratch = 100

[chain]
delay = "1us"
"#;

fn loaded(text: &str) -> Result<Project, Problems> {
    let files = [
        ("p/npsim.toml", text),
        ("p/a.uc", "nop\n"),
        ("p/words.hex", "0000000000\n"),
        ("p/lib/x.uc", "nop\n"),
        (
            "p/changes.csv",
            "1ms,add,10.1.0.0/16,0,02:00:00:00:00:02\n1ms,remove,10.1.0.0/16\n",
        ),
        ("p/nothing.csv", "# no change yet\n"),
        (
            "p/marked.csv",
            "\u{feff}1ms,add,10.1.0.0/16,0,02:00:00:00:00:02\n2ms,put,10.1.0.0/16\n",
        ),
        ("p/wrong.csv", "# a comment\n1ms,put,10.1.0.0/16\n2ms,add\n"),
        (
            "p/late.csv",
            "2ms,add,10.1.0.0/16,discard\n1ms, remove , 10.1.0.0/16\n",
        ),
    ];
    let files: MemoryFiles = files.into_iter().collect();
    let overrides = Overrides::default();
    Project::load_from(&files, Path::new("p"), &overrides, &Registry::default())
}

/// The only mistake of a project.
fn mistake(text: &str) -> String {
    match loaded(text) {
        Ok(_) => "no mistake".to_owned(),
        Err(problems) if problems.0.len() == 1 => problems.to_string(),
        Err(problems) => format!("{} mistakes:\n{problems}", problems.0.len()),
    }
}

/// The lines that set a key: line number from 1, key and value.
fn keys() -> impl Iterator<Item = (usize, &'static str, &'static str)> {
    let lines = WHOLE.lines().enumerate();
    lines.filter_map(|(number, line)| {
        let (key, value) = line.split_once(" = ")?;
        Some((number + 1, key, value))
    })
}

/// The whole project with one line replaced by others.
fn with_line(number: usize, other: &str) -> String {
    let lines = WHOLE.lines().enumerate();
    lines.fold(String::new(), |mut text, (at, line)| {
        let line = if at + 1 == number { other } else { line };
        writeln!(text, "{line}").unwrap();
        text
    })
}

/// Checks every key; reports all failures together.
fn every_key(check: impl Fn(usize, &str, &str) -> Result<(), String>) {
    let wrong: Vec<String> = keys()
        .filter_map(|(number, key, value)| check(number, key, value).err())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Whether a text contains all of these parts and no type names of this program.
fn check_message(message: &str, parts: &[&str]) -> Result<(), String> {
    let own = [
        "expected",
        "invalid",
        "field",
        "struct ",
        "u16",
        "u32",
        "i64",
        "mistakes:",
    ];
    let foreign = own.iter().any(|word| message.contains(word));
    if parts.iter().all(|part| message.contains(part)) && !foreign {
        return Ok(());
    }
    Err(format!("{message}\n  is to have {parts:?}"))
}

#[test]
fn the_whole_project_is_valid() {
    if let Err(problems) = loaded(WHOLE) {
        panic!("{problems}");
    }
}

#[test]
fn value_of_wrong_type_is_reported_at_its_key() {
    every_key(|number, key, value| {
        let other = match value.as_bytes()[0] {
            b'"' if key == "me" || key == "context" || key == "id" => "[]",
            b'"' => "true",
            _ => "[[]]",
        };
        let message = mistake(&with_line(number, &format!("{key} = {other}")));
        let place = format!("npsim.toml:{number}:");
        check_message(&message, &[&place, &format!("`{key}` must be ")])
    });
}

#[test]
fn out_of_range_number_is_reported_at_its_key() {
    every_key(|number, key, value| {
        if value.parse::<u64>().is_err() || matches!(key, "seed" | "offset") {
            return Ok(());
        }
        let message = mistake(&with_line(number, &format!("{key} = 99999999999")));
        check_message(&message, &[&format!("npsim.toml:{number}:")])?;
        let message = mistake(&with_line(number, &format!("{key} = -1")));
        check_message(&message, &[&format!("npsim.toml:{number}:")])
    });
}

#[test]
fn duplicate_key_is_reported_at_the_second() {
    every_key(|number, key, value| {
        let twice = format!("{key} = {value}\n{key} = {value}");
        let message = mistake(&with_line(number, &twice));
        let place = format!("npsim.toml:{}:1: ", number + 1);
        check_message(&message, &[&place, "twice", &format!("`{key}`")])
    });
}

#[test]
fn mistyped_key_gets_a_suggestion() {
    every_key(|number, key, value| {
        // A short key may be mistaken for another one.
        if key.len() < 4 {
            return Ok(());
        }
        let longer = format!("{key}q");
        let message = mistake(&with_line(number, &format!("{longer} = {value}")));
        let parts = [
            format!("npsim.toml:{number}:1: there is no key `{longer}`"),
            format!("did you mean `{key}`?"),
        ];
        check_message(&message, &[&parts[0], &parts[1]])
    });
}

#[test]
fn missing_required_key_is_reported() {
    every_key(|number, key, _| {
        let message = mistake(&with_line(number, ""));
        // Without `tasks`, two sections belong to no task, and a lock may be anywhere that its
        // memory's size permits.
        if message == "no mistake" || key == "tasks" || key == "size" {
            return Ok(());
        }
        check_message(&message, &["npsim.toml:"])?;
        let what = [
            "there is no",
            "leads to no port",
            "has no next hop",
            &format!("`{key}`"),
        ];
        if what.iter().any(|what| message.contains(what)) {
            return Ok(());
        }
        Err(format!("without {key}: {message}"))
    });
}

/// Wrong projects, each after a line `=== what is wrong` and followed, after a line `---`, by the
/// messages about it. A project without `[[me]]` gets one at the end.
const MISTAKES: &str = include_str!("mistakes.txt");

#[test]
fn mistakes_give_the_listed_messages() {
    let file = (env!("CARGO_MANIFEST_DIR"), "tests/mistakes.txt");
    mistakes::check(MISTAKES, file, &|typed| {
        let mut whole = typed.to_owned();
        if !typed.contains("[[me]]") {
            whole += "[[me]]\nid = 0\nsource = \"a.uc\"\n";
        }
        mistake(&whole)
    });
    assert!(!MISTAKES.contains("mistakes:"));
}

#[cfg(unix)]
#[test]
fn non_utf_8_path_is_reported() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OsStr::from_bytes(b"caf\xe9.uc"));
    std::fs::write(&path, "nop\n").unwrap();
    let problems = Project::load(&path, &Overrides::default(), &Registry::default()).unwrap_err();
    assert!(problems.to_string().contains("is not UTF-8"), "{problems}");
}
