//! Endless expansion is stopped; long expansion is not.

use std::fmt::Write as _;

use super::{lines, run, run_files, single_diagnostic};
use crate::Options;
use crate::diagnostic::Diagnostic;
use crate::front::preprocess::{MAX_ERRORS, MAX_REMARKS};
use crate::spelling::MAX_SUGGESTIONS;

#[test]
fn unbounded_expansion_is_stopped() {
    for endless in [
        "#macro m\nm\nm\n#endm\nm",
        "#while 1\n#endloop",
        "#while 1\nnop\n#endloop",
        "#repeat 1000000000000\n#endloop",
        "#macro m(x)\nm(x x)\n#endm\nm(a)",
        "#macro m(x)\nm('x x')\n#endm\nm('abc')",
        "#define a a/**/a\n#define_eval a 'abc/**/abc'\n#while 1\n#define_eval a 'a/**/a'\n\
         #define_eval a '/**/a/**/a/**/'\n#endloop",
    ] {
        let run = run(endless);
        let codes: Vec<_> = run.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["expansion-limit"], "{endless}");
    }
    let mut doubling = "#define a0 x x\n".to_owned();
    for i in 1..60 {
        let _ = writeln!(doubling, "#define a{i} a{0} a{0}", i - 1);
    }
    assert_eq!(
        single_diagnostic(&format!("{doubling}nop[a59]")).0,
        "expansion-limit"
    );
    let mut chain = String::new();
    for i in 1..5000 {
        let _ = writeln!(chain, "#define b{i} b{}", i - 1);
    }
    assert_eq!(
        single_diagnostic(&format!("{chain}nop[b4999]")).0,
        "expansion-limit"
    );
    let calls = format!(
        "#define f(x) x\nnop[{}1{}]",
        "f(".repeat(3000),
        ")".repeat(3000)
    );
    assert_eq!(single_diagnostic(&calls).0, "expansion-limit");
    let loops = "#repeat 1\n".repeat(1000) + &"#endloop\n".repeat(1000);
    assert_eq!(single_diagnostic(&loops).0, "expansion-limit");
}

#[test]
fn terminating_recursion_is_allowed() {
    let text = "#macro down(n)\n#if (n)\nset[n]\n#define_eval N_/**/n (n - 1)\ndown(N_/**/n)\n\
                #endif\n#endm\ndown(3)";
    assert_eq!(lines(text), ["set[3]", "set[2]", "set[1]"]);
}

#[test]
fn error_count_is_limited() {
    let run = run(&"#bad\n".repeat(1000));
    assert_eq!(run.diagnostics.len(), MAX_ERRORS + 1);
    assert_eq!(run.diagnostics.last().unwrap().code, "too-many-errors");
}

#[test]
fn large_expansion_succeeds() {
    let text = "#macro body(a, b)\nloop#: alu[a, b, +, 1]\nbr[loop#]\n#endm\n\
                #repeat 50000\nbody(x, y)\n#endloop";
    let run = run(text);
    assert!(run.diagnostics.is_empty(), "{:?}", run.diagnostics);
    assert_eq!(run.processed.lines.len(), 100_000);
}

const TOO_MUCH_TEXT: &str =
    "included files, macro arguments and messages have more than 128 MiB of text together";

#[test]
fn included_text_size_is_limited() {
    let large = "; a comment\n".repeat(800_000);
    let reported = |times: usize| {
        let main = "#include \"large\"\n".repeat(times) + "nop";
        let files = [("main.uc", &*main), ("large", &*large)];
        let run = run_files(&files, &Options::default());
        let messages = run.diagnostics.into_iter().map(|it| it.message);
        messages.collect::<Vec<_>>()
    };
    assert!(reported(2).is_empty());
    assert_eq!(reported(20), [TOO_MUCH_TEXT]);
}

#[test]
fn argument_text_size_is_limited() {
    let long = "a".repeat(60_000);
    for head in ["#define use(x)", "#macro use(x)\n#endm"] {
        let reported = |times: usize| {
            let run = run(&format!("{head}\n#repeat {times}\nuse({long})\n#endloop"));
            let messages = run.diagnostics.into_iter().map(|it| it.message);
            messages.collect::<Vec<_>>()
        };
        assert!(reported(2_000).is_empty(), "{head}");
        assert_eq!(reported(2_300), [TOO_MUCH_TEXT], "{head}");
    }
}

#[test]
fn note_and_warning_counts_are_limited() {
    let macros = "#macro note\n#info \"hi\"\n#endm\n#macro warn\n#warning \"ho\"\n#endm\n";
    let counts = |times: usize| {
        let run = run(&format!(
            "{macros}#repeat {times}\nnote\nwarn\n#endloop\nnop"
        ));
        assert_eq!(run.lines(), ["nop"]);
        let of = |code| run.diagnostics.iter().filter(|it| it.code == code).count();
        let last = run.diagnostics.last().map(|it| it.message.clone());
        (of("user-note"), of("user-warning"), last.unwrap())
    };
    let last = "ho".to_owned();
    assert_eq!(counts(MAX_REMARKS), (MAX_REMARKS, MAX_REMARKS, last));
    let last = "more than 10000 of these were found; the rest is not shown".to_owned();
    let most = MAX_REMARKS + 1;
    assert_eq!(counts(MAX_REMARKS * 2), (most, most, last));
}

#[test]
fn message_text_size_is_limited() {
    let long = "a".repeat(60_000);
    let text = format!("#macro m\n#info \"{long}\"\n#endm\n#repeat 5000\nm\n#endloop");
    let run = run(&text);
    let last = run.diagnostics.last().unwrap();
    assert_eq!(last.code, "expansion-limit");
    assert!(run.diagnostics.len() < 2_300, "{}", run.diagnostics.len());
}

#[test]
fn only_the_first_undefined_names_get_suggestions() {
    let mut text = "#define counter 1\n".to_owned();
    for _ in 0..2 * MAX_SUGGESTIONS {
        text += "#if countr\n#endif\n";
    }
    let run = run(&text);
    assert_eq!(run.diagnostics.len(), 2 * MAX_SUGGESTIONS);
    let guessed = |it: &&Diagnostic| it.help.as_deref() == Some("did you mean `counter`?");
    let first = run.diagnostics.iter().take_while(guessed).count();
    let all = run.diagnostics.iter().filter(guessed).count();
    assert_eq!((first, all), (MAX_SUGGESTIONS, MAX_SUGGESTIONS));
}

#[test]
fn skipped_and_long_lines_count_towards_the_limit() {
    let body = "a\n".repeat(3_000);
    let (words, text) = ("1 ".repeat(4_000), "\u{e9}".repeat(30_000));
    for line in [
        format!("#pragma x {words}"),
        format!("#macro m\n{body}#endm\n#undef m"),
        format!("#repeat 0\n{body}#endloop"),
        format!("#if strlen('{text}')\n#endif"),
        format!("nop[{}]", "a".repeat(60_000)),
    ] {
        let run = |times: usize| {
            let run = run(&format!("#repeat {times}\n{line}\n#endloop"));
            let reached = run
                .diagnostics
                .iter()
                .any(|it| it.code == "expansion-limit");
            (reached, run.diagnostics)
        };
        let (reached, reported) = run(1_000);
        assert!(!reached, "{reported:?}");
        let (reached, reported) = run(60_000);
        assert!(reached, "{reported:?}");
        let last = reported.last().map(|it| &*it.message);
        assert_eq!(
            last,
            Some("macros make more text than any real program needs")
        );
    }
}
