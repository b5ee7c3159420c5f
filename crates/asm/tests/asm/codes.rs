//! Every message has an example that causes it, and states a remedy.

#![allow(clippy::format_push_string, reason = "what is wrong is built as text")]

use std::collections::BTreeMap;

use crate::support::Texts;
use npsim_asm::{Options, Severity, assemble, codes};

#[test]
fn every_code_has_an_example_with_help() {
    let mut wrong = String::new();
    for code in codes::all() {
        let name = code.name;
        let Some(example) = codes::example(name) else {
            wrong += &format!("{name}: no example\n");
            continue;
        };
        let main = "example.uc".to_owned();
        let texts = Texts(BTreeMap::from([(main.clone(), example.to_owned())]));
        let options = Options {
            spill_moves: name == "spill-move",
            ..Options::default()
        };
        let assembly = assemble(&main, &texts, &options);
        let mut found = assembly.diagnostics.iter().filter(|d| d.code == name);
        let reported: Vec<&str> = assembly.diagnostics.iter().map(|d| d.code).collect();
        match found.next() {
            None => wrong += &format!("{name}: says {reported:?}\n"),
            // A message written in the source itself needs no remedy from the assembler.
            Some(d) if d.help.is_none() && !name.starts_with("user-") => {
                wrong += &format!("{name}: no remedy: {}\n", d.message);
            }
            Some(_) => {}
        }
        // An error hides no other message that would come first.
        let first = assembly
            .diagnostics
            .iter()
            .find(|d| d.level == Severity::Error);
        if let Some(first) = first
            && reported.contains(&name)
            && first.code != name
            && name != "too-many-errors"
        {
            wrong += &format!("{name}: {} comes first\n", first.code);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
