//! The word lists, the editors' grammars and the language's pages must agree with the assembler.

use std::collections::BTreeSet;

use npsim::vocabulary::{CONDITIONS, FUNCTIONS, OPTIONS, PREPROCESSOR, directives};
use npsim_asm::{Includes, Options, codes};

use crate::harness::root;

struct SingleText(String);

impl Includes for SingleText {
    fn load(&self, name: &str, _: Option<&str>) -> Result<(String, String), String> {
        Ok((name.to_owned(), self.0.clone()))
    }
}

/// The codes of the assembler's messages for a text.
fn diagnostic_codes(text: &str) -> Vec<&'static str> {
    let assembly = npsim_asm::assemble("t.uc", &SingleText(text.to_owned()), &Options::default());
    assembly
        .diagnostics
        .iter()
        .map(|found| found.code)
        .collect()
}

#[test]
fn listed_preprocessor_words_are_known_to_the_assembler() {
    for word in PREPROCESSOR {
        let codes = diagnostic_codes(&format!("{}\n", word.name));
        assert!(!codes.contains(&codes::UNKNOWN_DIRECTIVE), "{}", word.name);
    }
    for word in FUNCTIONS {
        let codes = diagnostic_codes(&format!("#if {}(1)\n#endif\n", word.name));
        assert!(!codes.contains(&codes::UNKNOWN_FUNCTION), "{}", word.name);
    }
    assert!(diagnostic_codes("#if nofunction(1)\n#endif\n").contains(&codes::UNKNOWN_FUNCTION));
}

#[test]
fn generated_files_are_up_to_date() {
    for (name, text) in npsim_cli::generated::files() {
        let path = root().join(&name);
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "{name} is old: run `npsim generate .` in the repository"
        );
    }
}

#[test]
fn grammar_contains_all_mnemonics() {
    let (_, text) = &npsim_cli::generated::files()[0];
    let grammar: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let patterns = grammar["patterns"].as_array().expect("a list");
    let of = |name: &str| {
        patterns
            .iter()
            .filter(|rule| rule["name"] == name)
            .filter_map(|rule| rule["match"].as_str())
            .collect::<String>()
    };
    let mnemonics = of("keyword.mnemonic.uc");
    for info in npsim_isa::mnemonics() {
        assert!(mnemonics.contains(info.name), "{}", info.name);
    }
    assert!(of("support.constant.register.uc").contains("ACTIVE_CTX_STS"));
}

#[test]
fn pages_mention_every_word() {
    let read =
        |name: &str| std::fs::read_to_string(root().join("docs/src").join(name)).expect("a page");
    let pages = ["language.md", "registers-and-signals.md", "macros.md"]
        .map(read)
        .concat();
    let lists = [PREPROCESSOR, FUNCTIONS, CONDITIONS, OPTIONS];
    for word in directives().chain(lists.into_iter().flatten()) {
        let at = pages.match_indices(word.name).any(|(at, _)| {
            let after = pages.as_bytes().get(at + word.name.len());
            !after.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        });
        assert!(at, "no page names {}", word.name);
    }
}

#[test]
fn messages_page_documents_every_field() {
    fn keys(value: &serde_json::Value, found: &mut BTreeSet<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                for (key, value) in fields {
                    found.insert(key.clone());
                    keys(value, found);
                }
            }
            serde_json::Value::Array(values) => values.iter().for_each(|v| keys(v, found)),
            _ => {}
        }
    }
    let text = "#macro m()\n alu[x, y, +, 1]\n#endm\nm()\n.begn\n";
    let assembly = npsim_asm::assemble("t.uc", &SingleText(text.to_owned()), &Options::default());
    let mut found = BTreeSet::new();
    for diagnostic in &assembly.diagnostics {
        let message = npsim::messages::DiagnosticMessage::new(diagnostic, &assembly.sources, "");
        keys(&serde_json::to_value(message).expect("JSON"), &mut found);
    }
    let page = std::fs::read_to_string(root().join("docs/src/messages.md")).expect("a page");
    assert!(
        found.contains("replacement") && found.contains("macro"),
        "{found:?}"
    );
    for key in found {
        assert!(page.contains(&format!("`{key}`")), "no {key}");
    }
}

#[test]
fn the_examples_of_the_pages_assemble() {
    for page in ["language.md", "registers-and-signals.md", "macros.md"] {
        let text = std::fs::read_to_string(root().join("docs/src").join(page)).expect("a page");
        let examples: Vec<&str> = text
            .split("```uc\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next())
            .collect();
        assert!(!examples.is_empty(), "{page}");
        for example in examples {
            let assembly =
                npsim_asm::assemble("t.uc", &SingleText(example.to_owned()), &Options::default());
            let wrong: Vec<_> = assembly
                .diagnostics
                .iter()
                .filter(|found| found.level == npsim_asm::Severity::Error)
                .map(|found| format!("{}: {}", found.code, found.message))
                .collect();
            assert!(wrong.is_empty(), "{page}: {wrong:?} in\n{example}");
        }
    }
}
