//! Breakpoints, steps back, jumps and queries.

use serde_json::{Value, json};

use crate::page::Page;

const SOURCE: &str = "/microcode/forward/forward.uc";

fn forwarder() -> Page {
    let mut page = Page::shipped();
    let opened = page.ask(&json!({
        "op": "open",
        "target": "/microcode/forward",
        "traffic": { "kind": "load", "load": { "rate": "0.5", "time": "200us" } },
    }));
    assert_eq!(opened["target"], "/microcode/forward/npsim.toml");
    let sources = opened["sources"].as_array().unwrap();
    assert!(sources.iter().any(|it| it == SOURCE), "{sources:?}");
    page
}

/// The view of a stop, without what depends on the path to it.
fn view(page: &mut Page) -> Value {
    let mut view = page.ask(&json!({ "op": "view" }));
    for way in ["reason", "memory", "reached", "end"] {
        view[way] = Value::Null;
    }
    view
}

/// A line of the source that many contexts reach.
fn busy_line(page: &mut Page) -> u64 {
    page.ask(&json!({ "op": "goto", "at": "100us" }));
    let view = view(page);
    let contexts = view["contexts"].as_array().unwrap();
    let frames = contexts
        .iter()
        .flat_map(|it| it["frames"].as_array().unwrap());
    let here = frames.filter(|it| it["file"] == SOURCE);
    here.map(|it| it["line"].as_u64().unwrap()).next().unwrap()
}

#[test]
fn breakpoints_stop_runs_in_both_directions() {
    let mut page = forwarder();
    let line = busy_line(&mut page);
    let set = page.ask(&json!({ "op": "break", "path": SOURCE, "line": line }));
    assert_eq!(set["path"], SOURCE);
    let here = page.ask(&json!({ "op": "goto", "at": 20_000 }));
    assert_eq!(here["cycle"], 20_000);
    let stop = page.ask(&json!({ "op": "run", "cycles": 100_000 }));
    assert_eq!(stop["reason"]["kind"], "breakpoint", "{stop}");
    assert_eq!(stop["reason"]["hits"][0]["number"], set["number"]);
    assert_eq!(stop["place"]["path"], SOURCE);
    let first = stop["cycle"].as_u64().unwrap();
    let next = page.ask(&json!({ "op": "run", "cycles": 100_000 }));
    assert!(next["cycle"].as_u64().unwrap() >= first);
    let back = page.ask(&json!({ "op": "run", "cycles": 100_000, "back": true }));
    assert_eq!(back["cycle"], stop["cycle"]);
    // A budget smaller than the distance is kept to the cycle.
    page.ask(&json!({ "op": "unbreak", "number": "all" }));
    page.ask(&json!({ "op": "watch", "what": "sram0[0x0]" }));
    let short = page.ask(&json!({ "op": "run", "cycles": 500 }));
    assert_eq!(short["reason"]["kind"], "interrupted", "{short}");
    assert_eq!(short["cycle"], first + 500);
    let listed = page.ask(&json!({ "op": "breakpoints" }));
    assert_eq!(listed["breakpoints"].as_array().unwrap().len(), 1);
}

#[test]
fn stepping_back_retraces_the_same_states() {
    let mut page = forwarder();
    page.ask(&json!({ "op": "goto", "at": "60us" }));
    let step = |page: &mut Page, by: &str, back: bool| {
        page.ask(&json!({ "op": "step", "by": by, "back": back }))
    };
    for by in ["instruction", "line", "into", "run"] {
        let mut places = Vec::new();
        for _ in 0..25 {
            let here = step(&mut page, by, false);
            places.push((here["cycle"].clone(), here["place"].clone()));
        }
        let last = view(&mut page);
        for (cycle, place) in places.iter().rev().skip(1) {
            let here = step(&mut page, by, true);
            assert_eq!((&here["cycle"], &here["place"]), (cycle, place), "{by}");
        }
        // Forward again, it is the same state.
        for _ in 0..24 {
            step(&mut page, by, false);
        }
        assert_eq!(view(&mut page), last, "{by}");
    }
}

#[test]
fn jump_gives_the_same_state_as_running() {
    let mut page = forwarder();
    let mut other = forwarder();
    page.ask(&json!({ "op": "goto", "at": "150us" }));
    page.ask(&json!({ "op": "goto", "at": 30_000 }));
    let mut at = 0;
    while at < 30_000 {
        let moved = other.ask(&json!({ "op": "run", "cycles": 1234.min(30_000 - at) }));
        at = moved["cycle"].as_u64().unwrap();
    }
    assert_eq!(view(&mut page), view(&mut other));
    let view = page.ask(&json!({ "op": "view", "cycles": 3000 }));
    assert_eq!(view["from"], 27_000);
    let contexts = view["contexts"].as_array().unwrap().len();
    assert_eq!(view["lanes"].as_array().unwrap().len(), contexts);
    assert!(!view["microengines"].as_array().unwrap().is_empty());
    assert!(view["ports"][0]["came"].as_u64().unwrap() > 0);
    assert!(view["totals"]["came"].as_u64().unwrap() > 0);
    assert!(
        view["units"]
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["busy"].as_f64().unwrap() > 0.0)
    );
}

#[test]
fn queries_about_packets_contexts_and_memory_are_answered() {
    let mut page = forwarder();
    page.ask(&json!({ "op": "goto", "at": "50us" }));
    let journey = page.ask(&json!({ "op": "packet", "number": 3 }));
    let events = journey["events"].as_array().unwrap();
    assert_eq!(journey["over"], true, "{journey}");
    assert!(events.iter().any(|it| it["path"] == SOURCE), "{journey}");
    let view = page.ask(&json!({ "op": "view", "cycles": 0 }));
    let contexts = view["contexts"].as_array().unwrap();
    let sleeps = contexts
        .iter()
        .find(|it| it["activity"]["state"] == "waiting")
        .unwrap();
    let thread = &sleeps["thread"];
    let why = page.ask(&json!({ "op": "why", "me": thread["me"], "context": thread["context"] }));
    assert!(!why["lines"].as_array().unwrap().is_empty());
    let memory = page.ask(&json!({ "op": "memory", "name": "scratch", "words": 8 }));
    assert_eq!(memory["values"].as_array().unwrap().len(), 8);
    let value = page.ask(&json!({ "op": "evaluate", "expression": "cycle + 1" }));
    assert_eq!(value["value"], view["cycle"].as_u64().unwrap() + 1);
    let listing = page.ask(&json!({ "op": "listing", "path": SOURCE }));
    let words = listing["programs"][0]["words"].as_array().unwrap();
    assert!(words.iter().all(|it| it["text"].is_string()));
    let line = &words[0]["line"];
    let cost = page.ask(&json!({ "op": "cost", "path": SOURCE, "line": line }));
    assert!(cost["text"].is_string(), "{cost}");
    let register = view["registers"].as_array().unwrap().first().cloned();
    if let Some(register) = register {
        let who = page.ask(&json!({ "op": "who", "what": register["name"] }));
        assert!(!who["lines"].as_array().unwrap().is_empty());
    }
}

#[test]
fn console_runs_debugger_commands() {
    let mut page = forwarder();
    let groups = page.ask(&json!({ "op": "commands" }));
    assert_eq!(groups["groups"].as_array().unwrap().len(), 5);
    let words = page.ask(&json!({ "op": "complete", "line": "brea" }));
    assert!(
        words["words"]
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it == "break"),
        "{words}"
    );
    let moved = page.ask(&json!({ "op": "command", "line": "goto 5us" }));
    assert_eq!(moved["moved"], true);
    assert!(moved["cycle"].as_u64().unwrap() > 0);
    assert!(!moved["lines"].as_array().unwrap().is_empty());
    let said = page.refused(&json!({ "op": "command", "line": "brek" }));
    assert!(said.contains("brek"), "{said}");
}

#[test]
fn console_has_no_quit_command() {
    let mut page = forwarder();
    let groups = page.ask(&json!({ "op": "commands" })).to_string();
    let help = page.ask(&json!({ "op": "command", "line": "help" }))["lines"].to_string();
    for text in [groups, help] {
        assert!(text.contains("packet") && !text.contains("quit"), "{text}");
    }
    let words = page.ask(&json!({ "op": "complete", "line": "qu" }));
    assert_eq!(words["words"], json!([]));
    for line in ["quit", "q", "help quit"] {
        let said = page.refused(&json!({ "op": "command", "line": line }));
        assert!(said.contains("there is no command `q"), "{said}");
    }
}

#[test]
fn jump_with_a_standpoint_restores_the_shown_instruction() {
    let mut page = forwarder();
    let mut other = forwarder();
    let shown = |view: &Value| (view["cycle"].clone(), view["place"].clone());
    let mut differ = 0;
    for (at, how) in [(30_000, "wake"), (40_000, "wake"), (50_000, "step")] {
        page.ask(&json!({ "op": "goto", "at": at }));
        let now = view(&mut page);
        let sleeper = now["contexts"].as_array().unwrap().iter();
        let mut sleeper = sleeper.filter(|it| it["activity"]["state"] == "waiting");
        let thread = &sleeper.next().unwrap()["thread"];
        let select = json!({ "op": "select", "me": thread["me"], "context": thread["context"] });
        page.ask(&select);
        page.ask(&json!({ "op": "command", "line": how }));
        let there = view(&mut page);
        other.ask(&select);
        let plain = other.ask(&json!({ "op": "goto", "at": there["cycle"] }));
        differ += usize::from(plain["place"] != there["place"]);
        other.ask(&json!({ "op": "goto", "at": there["cycle"], "stand": there["stand"] }));
        let restored = view(&mut other);
        assert_eq!(shown(&restored), shown(&there), "{how} from {at}");
        assert_eq!(restored["registers"], there["registers"], "{how} from {at}");
    }
    assert!(differ > 0, "the cycle alone does not say it");
    // Parts that a program does not have are left out.
    for stand in [
        json!({ "rank": 255, "pc": 65535, "level": 1_000_000 }),
        json!({ "rank": 1, "pc": null, "level": 0 }),
    ] {
        let moved = other.ask(&json!({ "op": "goto", "at": 30_000, "stand": stand }));
        assert_eq!(moved["cycle"], 30_000, "{stand}");
    }
}

#[test]
fn places_raising_a_signal_are_listed_in_one_sentence() {
    let mut page = Page::shipped();
    page.ask(&json!({
        "op": "open",
        "target": "/microcode/tutorial/hub",
        "traffic": { "kind": "load", "load": { "rate": "0.6", "time": "1ms" } },
        "set": { "me.receive.source": "stops.uc" },
    }));
    page.ask(&json!({ "op": "goto", "at": 40_000 }));
    let why = page.ask(&json!({ "op": "why", "me": 0, "context": 1 }));
    let lines = why["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "{why}");
    let raised = lines[1].as_str().unwrap();
    let begins = "signal 2 (`out`): can be raised by ME 0 context 0 at ";
    assert!(raised.starts_with(begins), "{why}");
    for line in [70, 75, 83, 93] {
        assert!(raised.contains(&format!("stops.uc:{line})")), "{why}");
    }
}
