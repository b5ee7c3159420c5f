//! Inputs that a page may get by mistake or with intent.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::page::Page;

#[test]
fn invalid_requests_are_refused_with_a_message() {
    let mut page = Page::shipped();
    for request in [
        "",
        "{",
        "[1]",
        "null",
        "{\"op\":1}",
        "{\"op\":\"fly\"}",
        "{\"op\":\"goto\"}",
        "\u{0}",
    ] {
        let answer = page.send(request.as_bytes());
        assert_eq!(answer["ok"], false, "{request}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("cannot be read"), "{message}");
    }
    page.send(&[0xff, 0xfe]);
    for request in [
        json!({ "op": "view" }),
        json!({ "op": "run" }),
        json!({ "op": "measure" }),
        json!({ "op": "open", "target": "/nowhere" }),
        json!({ "op": "open", "target": "/microcode/router", "traffic": { "kind": "capture", "path": "/none" } }),
        json!({ "op": "open", "target": "/microcode/router", "traffic": { "kind": "load", "load": { "rate": "fast" } } }),
        json!({ "op": "open", "target": "/microcode/router", "traffic": { "kind": "load", "load": { "speed": 1 } } }),
        json!({ "op": "open", "target": "/microcode/router", "set": { "me.unknown.id": 3 } }),
        json!({ "op": "open", "target": "/microcode/router", "until": "later" }),
        json!({ "op": "open", "target": "/microcode/router", "memory": 0 }),
        json!({ "op": "read", "path": "/none" }),
        json!({ "op": "check", "path": "/none.uc" }),
        json!({ "op": "exercise", "target": "/none" }),
        json!({ "op": "arrivals", "path": "/microcode/router/npsim.toml" }),
    ] {
        assert!(!page.refused(&request).is_empty());
    }
    page.ask(&json!({ "op": "open", "target": "/microcode/router" }));
    for request in [
        json!({ "op": "select", "me": 99, "context": 9 }),
        json!({ "op": "break", "path": "/none.uc", "line": 1 }),
        json!({ "op": "unbreak", "number": 7 }),
        json!({ "op": "memory", "name": "tape" }),
        json!({ "op": "departures", "format": "tape" }),
        json!({ "op": "evaluate", "expression": "((((" }),
    ] {
        assert!(!page.refused(&request).is_empty());
    }
    // Places outside of a text are moved into it.
    for (line, column) in [(0, 0), (1_000_000, 5), (1, 1_000_000)] {
        let path = "/microcode/router/npsim.toml";
        for op in ["hover", "completion", "definition", "signature"] {
            page.ask(&json!({ "op": op, "path": path, "line": line, "column": column }));
        }
    }
}

#[test]
fn endless_macros_are_stopped() {
    let mut page = Page::default();
    for text in [
        "#macro again[]\nagain[]\n#endm\nagain[]\n",
        "#while 1\nnop\n#endloop\n",
        "#include \"main.uc\"\n",
        "#macro twice[x]\ntwice[x+x]\ntwice[x+x]\n#endm\ntwice[1]\n",
    ] {
        page.put("/own/main.uc", text);
        let before = Instant::now();
        let answer = page.try_ask(&json!({ "op": "open", "target": "/own/main.uc" }));
        assert_eq!(answer["ok"], false, "{text}");
        page.ask(&json!({ "op": "check", "path": "/own/main.uc" }));
        assert!(before.elapsed() < Duration::from_secs(20), "{text}");
    }
}

#[test]
fn ten_megabyte_project_is_handled() {
    let mut page = Page::default();
    let mut text = String::from(".reg a\n");
    while text.len() < 10_000_000 {
        let _ = writeln!(
            text,
            "; a comment that makes the file long, line {}",
            text.len()
        );
    }
    text += "immed[a, 1]\nctx_arb[kill]\n";
    page.put("/own/main.uc", text);
    page.ask(&json!({ "op": "open", "target": "/own/main.uc" }));
    page.ask(&json!({ "op": "check", "path": "/own/main.uc" }));
    // More than a control store holds.
    page.put("/own/main.uc", "nop\n".repeat(2_500_000));
    let answer = page.try_ask(&json!({ "op": "open", "target": "/own/main.uc" }));
    assert_eq!(answer["ok"], false);
}

#[test]
fn oversized_files_are_refused() {
    let mut page = Page::default();
    let answer = page.try_put("/big.pcap", vec![0; 65 << 20]);
    assert_eq!(answer["ok"], false);
    assert!(answer["error"]["help"].as_str().unwrap().contains("cut"));
    for number in 0..3 {
        page.try_put(&format!("/{number}.pcap"), vec![0; 60 << 20]);
    }
    let kept = page.ask(&json!({ "op": "files" }));
    assert_eq!(kept["files"].as_array().unwrap().len(), 2);
    assert_eq!(page.try_put("/", vec![1])["ok"], false);
}

#[test]
fn searches_in_endless_programs_are_interrupted() {
    let mut page = Page::default();
    page.put("/own/main.uc", "again#:\nbr[again#]\n");
    page.ask(&json!({ "op": "open", "target": "/own/main.uc" }));
    page.ask(&json!({ "op": "watch", "what": "scratch[0]" }));
    let moved = page.ask(&json!({ "op": "run", "cycles": 100_000 }));
    assert_eq!(moved["reason"]["kind"], "interrupted", "{moved}");
    // If a context sleeps forever, only the budget ends a search.
    page.put("/own/main.uc", ".sig s\nctx_arb[s]\nagain#:\nbr[again#]\n");
    let moved = page.ask(&json!({ "op": "goto", "at": 50_000_000, "cycles": 1_000_000 }));
    assert_eq!(moved["reason"]["kind"], "interrupted", "{moved}");
}
