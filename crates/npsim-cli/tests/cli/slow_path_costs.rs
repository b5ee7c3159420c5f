//! The costs of the slow path by tasks and by programs, as stated on the page on what is modelled.

use serde_json::Value;

use crate::harness::{Dir, root};

/// A row of the page's table, the two projects, and the share of the load.
const ROWS: [(&str, &str, &str); 2] = [
    (
        "echo request of 64 bytes",
        "icmp",
        "--set load.special.icmp=1 --to 10.1.0.1/32",
    ),
    ("time exceeded", "icmp", "--set load.special.ttl=1"),
];
/// Packets in a run and in a longer one.
const PACKETS: [i64; 2] = [10, 20];

/// The core's statistics after the given number of packets, a millisecond apart.
fn core(dir: &Dir, project: &str, arguments: &str, packets: i64) -> Value {
    let project = root().join(format!("microcode/forward/{project}.toml"));
    let project = project.display();
    dir.npsim(&format!(
        "run {project} {arguments} --rate 1kpps --time {packets}ms -q --stats s.json"
    ))
    .expect(0, &[]);
    let stats: Value = serde_json::from_slice(&dir.read("s.json")).expect("JSON");
    stats["nodes"][0]["chip"]["gpp"].clone()
}

fn number(value: &Value) -> i64 {
    value.as_i64().expect("a number")
}

/// Cycles of the core without polls that find nothing.
fn work(gpp: &Value) -> i64 {
    match gpp.get("program") {
        Some(program) => ["core_cycles", "memory_cycles", "outside_cycles"]
            .iter()
            .map(|name| number(&program[0][name]))
            .sum(),
        None => number(&gpp["busy"]) - 60 * (number(&gpp["polls"]) - number(&gpp["exceptions"])),
    }
}

/// The cost of one more packet.
fn cost(dir: &Dir, project: &str, arguments: &str) -> i64 {
    let [few, many] = PACKETS.map(|packets| work(&core(dir, project, arguments, packets)));
    (many - few) / (PACKETS[1] - PACKETS[0])
}

#[test]
fn slow_path_costs_match_the_page() {
    let page = std::fs::read_to_string(root().join("docs/src/fidelity.md")).expect("the page");
    let dir = Dir::new();
    for (title, project, arguments) in ROWS {
        let start = format!("| {title} | ");
        let row = page.lines().find_map(|line| line.strip_prefix(&start));
        let row = row.unwrap_or_else(|| panic!("no row `{title}`"));
        let shown = row.trim_end_matches(" |").split(" | ");
        let shown: Vec<i64> = shown
            .map(|cell| cell.replace(',', "").parse().expect("a number"))
            .collect();
        let mut found = vec![cost(&dir, project, arguments)];
        for cache in ["perfect", "model", "none"] {
            let arguments = format!("{arguments} --set gpp.program.cache={cache}");
            found.push(cost(&dir, &format!("{project}-c"), &arguments));
        }
        let close = shown.len() == found.len() && { shown.iter().zip(&found) }
            .all(|(shown, found)| shown.abs_diff(*found) <= 10);
        assert!(close, "{title}: the page has {shown:?}, runs {found:?}");
    }
}
