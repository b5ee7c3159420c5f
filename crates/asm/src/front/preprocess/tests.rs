mod libraries;
mod limits;
mod pastes;
mod properties;

use std::collections::BTreeMap;

use super::{Preprocessed, preprocess, print_preprocessed};
use crate::Includes;
use crate::Options;
use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::front::token::{TokenKind, spell};
use crate::source::{ExpansionId, SourceMap};

/// Source texts by file name.
struct Texts(BTreeMap<&'static str, String>);

impl Includes for Texts {
    fn load(&self, name: &str, _: Option<&str>) -> Result<(String, String), String> {
        self.0
            .get(name)
            .map(|text| (name.to_owned(), text.clone()))
            .ok_or_else(|| format!("there is no {name}"))
    }
}

struct Run {
    processed: Preprocessed,
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
}

fn run_files(files: &[(&'static str, &str)], options: &Options) -> Run {
    let texts = Texts(
        files
            .iter()
            .map(|(name, text)| (*name, (*text).to_owned()))
            .collect(),
    );
    let mut sources = SourceMap::default();
    let mut diagnostics = Vec::new();
    let processed = preprocess("main.uc", &texts, options, &mut sources, &mut diagnostics);
    for diagnostic in &diagnostics {
        assert!(codes::explain(diagnostic.code).is_some(), "{diagnostic:?}");
    }
    Run {
        processed,
        sources,
        diagnostics,
    }
}

fn run(text: &str) -> Run {
    run_files(&[("main.uc", text)], &Options::default())
}

impl Run {
    fn lines(&self) -> Vec<String> {
        self.processed
            .lines
            .iter()
            .map(|l| spell(&l.tokens))
            .collect()
    }

    /// Returns the code and source text of each diagnostic.
    fn reported(&self) -> Vec<(&'static str, &str)> {
        self.diagnostics
            .iter()
            .map(|d| (d.code, self.sources.text(d.primary.span)))
            .collect()
    }

    fn print(&self) -> String {
        print_preprocessed(&self.processed.lines, &self.sources)
    }
}

/// Returns the lines of a source without diagnostics.
fn lines(text: &str) -> Vec<String> {
    let run = run(text);
    assert!(run.diagnostics.is_empty(), "{:?}", run.diagnostics);
    run.lines()
}

fn reported(text: &str) -> Vec<(&'static str, String)> {
    run(text)
        .reported()
        .into_iter()
        .map(|(code, at)| (code, at.to_owned()))
        .collect()
}

fn single_diagnostic(text: &str) -> (&'static str, String) {
    let all = reported(text);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

#[test]
fn plain_lines_are_unchanged() {
    assert_eq!(lines("immed[a, 1] // x\n\nnop\n"), ["immed[a, 1]", "nop"]);
}

#[test]
fn object_definitions_are_expanded() {
    assert_eq!(
        lines("#define N 4\n#define M (N + 1)\nimmed[a, M]"),
        ["immed[a, (4 + 1)]"]
    );
    assert_eq!(lines("#define N\nimmed[a, N 1]"), ["immed[a, 1]"]);
}

#[test]
fn function_definitions_are_expanded() {
    let text = "#define MIN(a, b) ((a) < (b) ? (a) : (b))\nimmed[r, MIN(f(1, 2), [3, 4])]";
    assert_eq!(
        lines(text),
        ["immed[r, ((f(1, 2)) < ([3, 4]) ? (f(1, 2)) : ([3, 4]))]"]
    );
    assert_eq!(lines("#define F(x) x+1\nnop[F(F(2))]"), ["nop[2+1+1]"]);
    assert_eq!(lines("#define F(x) x\nnop[F]"), ["nop[F]"]);
    assert_eq!(
        lines("#define F G\n#define G(x) <x>\nnop[F(1)]"),
        ["nop[<1>]"]
    );
}

#[test]
fn definitions_do_not_expand_recursively() {
    assert_eq!(
        lines("#define X X + Y\n#define Y X\nnop[X]"),
        ["nop[X + X]"]
    );
    assert_eq!(lines("#define F(x) F(x)\nnop[F(1)]"), ["nop[F(1)]"]);
}

#[test]
fn wrong_definition_argument_count_is_reported() {
    assert_eq!(
        single_diagnostic("#define F(a, b) a b\nnop[F(1)]"),
        ("macro-arguments", "F(1)".into())
    );
}

#[test]
fn redefinition_warns_only_if_the_text_differs() {
    assert_eq!(
        single_diagnostic("#define A 1\n#define A 2").0,
        "macro-redefined"
    );
    assert!(reported("#define A 1\n#define A 1").is_empty());
    assert!(reported("#define A 1\n#undef A\n#define A 2").is_empty());
    assert!(reported("#define A 1\n#define_eval A (A + 1)").is_empty());
}

#[test]
fn define_eval_evaluates_immediately() {
    assert_eq!(
        lines("#define A 1\n#define_eval B (A + 1) * 3\n#undef A\n#define A 9\nnop[B, A]"),
        ["nop[6, 9]"]
    );
    assert_eq!(lines("#define_eval A 3 - 5\nnop[A]"), ["nop[-2]"]);
    assert_eq!(
        lines("#define I 3\n#define_eval E 'x[/**/I/**/]'\nnop[E]"),
        ["nop[x[3]]"]
    );
    assert_eq!(
        lines("#define R reg\n#define_eval E R\n#undef R\nnop[E]"),
        ["nop[reg]"]
    );
    assert_eq!(
        lines("#define_eval A (reg + 1)\nnop[A]"),
        ["nop[(reg + 1)]"]
    );
    assert_eq!(
        single_diagnostic("#define_eval A (A + 1)"),
        ("not-constant", "A".into())
    );
    assert_eq!(
        single_diagnostic("#define_eval A 1 / 0").0,
        "division-by-zero"
    );
    assert_eq!(
        lines("#define_eval A reg + 1\nnop[(A * 2)]"),
        ["nop[((reg + 1) * 2)]"]
    );
    assert_eq!(
        lines("#define R (reg)\n#define_eval E (R)\nnop[E]"),
        ["nop[reg]"]
    );
}

#[test]
fn conditionals_select_one_arm() {
    assert_eq!(
        lines(
            "#define A 2\n#if A == 1\none\n#elif (A == 2)\ntwo\n#elif 1\nx\n#else\nthree\n#endif"
        ),
        ["two"]
    );
    assert_eq!(
        lines("#if 0\na\n#if 1\nb\n#else\nc\n#endif\n#else\nd\n#endif"),
        ["d"]
    );
    assert_eq!(
        lines("#define A\n#ifdef A\na\n#endif\n#ifndef A\nb\n#else\nc\n#endif"),
        ["a", "c"]
    );
    assert_eq!(
        lines("#define A\n#if defined(A) && !defined B\na\n#endif"),
        ["a"]
    );
    assert_eq!(lines("#IF 1\na\n#EndIf"), ["a"]);
}

#[test]
fn skipped_text_may_be_anything() {
    assert!(lines("#if 0\n don't ` [ \n#nonsense\n#error no\n#elif 0\n#endif").is_empty());
    assert!(lines("#ifdef N\n#if N > 3\n#endif\n#endif").is_empty());
}

#[test]
fn undefined_names_in_conditions_warn_and_are_zero() {
    let run = run("#define LIMIT 3\n#if LIMT > 2\na\n#else\nb\n#endif");
    assert_eq!(run.lines(), ["b"]);
    assert_eq!(run.reported(), [("undefined-in-condition", "LIMT")]);
    assert_eq!(run.diagnostics[0].level, Severity::Warning);
    assert_eq!(
        run.diagnostics[0].help.as_deref(),
        Some("did you mean `LIMIT`?")
    );
}

#[test]
fn invalid_condition_selects_no_arm() {
    let run = run("#if 1 +\na\n#else\nb\n#endif\nc");
    assert_eq!(run.lines(), ["c"]);
    assert_eq!(run.reported().len(), 1);
}

#[test]
fn mismatched_blocks_are_reported() {
    assert_eq!(
        single_diagnostic("#if 1\na"),
        ("unterminated-conditional", "#if".into())
    );
    assert_eq!(
        single_diagnostic("#endif"),
        ("unmatched-directive", "#endif".into())
    );
    assert_eq!(
        single_diagnostic("#else"),
        ("unmatched-directive", "#else".into())
    );
    assert_eq!(
        single_diagnostic("#endm"),
        ("unmatched-directive", "#endm".into())
    );
    assert_eq!(
        single_diagnostic("#endloop"),
        ("unmatched-directive", "#endloop".into())
    );
    assert_eq!(
        single_diagnostic("#macro m(a)\nx"),
        ("unterminated-macro", "#macro".into())
    );
    assert_eq!(
        single_diagnostic("#while 1\nx"),
        ("unterminated-loop", "#while".into())
    );
    assert_eq!(
        single_diagnostic("#if 1\n#else\n#else\n#endif"),
        ("duplicate-else", "#else".into())
    );
    assert_eq!(
        single_diagnostic("#if 1\n#else\n#elif 1\n#endif"),
        ("duplicate-else", "#elif".into())
    );
    assert_eq!(
        single_diagnostic("#if 1\n#endif X Y"),
        ("extra-tokens", "X Y".into())
    );
}

#[test]
fn macros_are_overloaded_by_argument_count() {
    let text = "#macro m(a, b)\n alu[a, b, +, 1]\n#endm\n#macro m(a)\n immed[a, 0]\n#endm\n\
                #macro m\n nop\n#endm\nm(x, y)\nm(z)\nm()\nm";
    assert_eq!(
        lines(text),
        ["alu[x, y, +, 1]", "immed[z, 0]", "nop", "nop"]
    );
}

#[test]
fn macro_calls_nest_and_accept_macro_names() {
    let text = "#macro inner(x)\n immed[x, 1]\n#endm\n#macro outer(a, what)\n inner(a)\n what\n\
                #endm\n#macro done\n halt\n#endm\nouter(r, done)";
    assert_eq!(lines(text), ["immed[r, 1]", "halt"]);
}

#[test]
fn macro_arguments_are_raw_tokens() {
    let text = "#macro m(a, b)\n f[a, b]\n#endm\nm([1, 2], (3, 4))\nm(,--)";
    assert_eq!(lines(text), ["f[[1, 2], (3, 4)]", "f[, --]"]);
}

#[test]
fn for_and_repeat_loops_are_expanded() {
    assert_eq!(
        lines("#for x [1, (2, 3), a]\nset[x, 'x']\n#endloop"),
        ["set[1, '1']", "set[(2, 3), '(2, 3)']", "set[a, 'a']"]
    );
    assert_eq!(
        lines("#define L (p, q)\n#for x L\nv/**/x\n#endloop"),
        ["vp", "vq"]
    );
    assert_eq!(
        lines("#repeat 2\n#repeat 1 + 1\nnop\n#endloop\n#endloop"),
        ["nop"; 4]
    );
    assert!(lines("#repeat 0\nnop\n#endloop").is_empty());
    assert_eq!(
        single_diagnostic("#repeat 0 - 1\n#endloop").0,
        "malformed-directive"
    );
    assert_eq!(
        single_diagnostic("#for x 1\n#endloop").0,
        "malformed-directive"
    );
}

#[test]
fn label_may_precede_a_macro_call() {
    let text = "#macro m(a)\n immed[a, 0]\n#endm\nhere#: m(x)\nthere#: m(y)";
    assert_eq!(
        lines(text),
        ["here#:", "immed[x, 0]", "there#:", "immed[y, 0]"]
    );
}

#[test]
fn invalid_macro_calls_are_reported() {
    let run = run("#macro m(a)\n#endm\n#macro m(a, b, c)\n#endm\nm(1, 2)\nm(1) nop\nother(1)");
    assert_eq!(
        run.reported(),
        [
            ("macro-arguments", "m(1, 2)"),
            ("text-after-macro-call", "nop")
        ]
    );
    assert_eq!(
        run.diagnostics[0].message,
        "macro `m` takes 1 argument or 3 arguments, not 2"
    );
    assert_eq!(run.diagnostics[0].secondary.len(), 2);
    assert_eq!(run.lines(), ["other(1)"]);
    assert_eq!(run.processed.macros, ["m"]);
}

#[test]
fn tokens_record_their_expansion() {
    let run = run("#macro m(a)\nimmed[a, 0]\nend#: br[end#]\n#endm\nm(x)\nm(y)\nnop");
    assert_eq!(run.lines().len(), 5);
    let (first, second) = (&run.processed.lines[0], &run.processed.lines[2]);
    assert_ne!(first.expansion, ExpansionId::ROOT);
    assert_ne!(first.expansion, second.expansion);
    assert_eq!(first.tokens[0].expansion, first.expansion);
    assert_eq!(first.tokens[2].expansion, ExpansionId::ROOT);
    assert_eq!(run.sources.text(first.tokens[2].span), "x");
    let chain: Vec<_> = run.sources.expansion_chain(second.expansion).collect();
    assert_eq!(chain.len(), 1);
    assert_eq!(chain[0].name, "m");
    assert_eq!(run.sources.text(chain[0].call), "m(y)");
    assert_eq!(run.processed.lines[4].expansion, ExpansionId::ROOT);
}

#[test]
fn labels_from_definitions_have_the_scope_of_their_use() {
    let run = run("#define OUT done#\nbr[OUT]\ndone#: nop");
    assert_eq!(run.processed.lines[0].tokens[2].kind, TokenKind::Label);
    assert_eq!(
        run.processed.lines[0].tokens[2].expansion,
        ExpansionId::ROOT
    );
}

#[test]
fn errors_in_macros_record_the_expansion() {
    let run = run("#macro m(a)\n#error \"bad \" a\n#endm\n#define V 3\nm(V + 1)\nm(r)");
    assert_eq!(run.diagnostics[0].message, "bad 4");
    assert_eq!(run.diagnostics[1].message, "bad r");
    let chain = run
        .sources
        .expansion_chain(run.diagnostics[1].primary.expansion);
    assert_eq!(chain.count(), 1);
}

#[test]
fn message_operands_are_concatenated() {
    let text = "#define N 2\n#error 12, \"x\"\n#error 7 \"a\" N \"b\", N * 3, 'q'\n\
                #warning plain words\n#info \"i\"\n#warn \"w\" strleft('abc', 1)";
    let run = run(text);
    let all: Vec<_> = run
        .diagnostics
        .iter()
        .map(|d| (d.level, d.message.as_str()))
        .collect();
    assert_eq!(
        all,
        [
            (Severity::Error, "12x"),
            (Severity::Error, "a2b6q"),
            (Severity::Warning, "plain words"),
            (Severity::Note, "i"),
            (Severity::Warning, "wa"),
        ]
    );
}

#[test]
fn messages_need_no_quotes() {
    let run = run("#macro m\n#error don't (do that\n#endm\nm");
    assert_eq!(run.diagnostics.len(), 1, "{:?}", run.diagnostics);
    assert_eq!(run.diagnostics[0].message, "don't (do that");
}

#[test]
fn includes_are_read() {
    let files = [
        (
            "main.uc",
            "#include \"a.uc\"\n#include <lib/b.uc>\nget[A, B]",
        ),
        (
            "a.uc",
            "#ifndef G\n#define G\n#define A 1\n#include \"a.uc\"\nin_a\n#endif",
        ),
        ("lib/b.uc", "#define B 2\n"),
    ];
    let run = run_files(&files, &Options::default());
    assert!(run.diagnostics.is_empty(), "{:?}", run.diagnostics);
    assert_eq!(run.lines(), ["in_a", "get[1, 2]"]);
    assert_eq!(run.sources.files()[0].path, "main.uc");
    assert!(run.sources.files()[1].included_from.is_some());
}

/// An include provider whose text names the including file.
struct IncluderEcho;

impl Includes for IncluderEcho {
    fn load(&self, name: &str, including: Option<&str>) -> Result<(String, String), String> {
        let text = match name {
            "main.uc" => "#include \"lib/a.uc\"\nm".to_owned(),
            "lib/a.uc" => "#macro m\n#include \"b.uc\"\n#endm".to_owned(),
            _ => format!("from['{}']", including.unwrap_or_default()),
        };
        Ok((name.to_owned(), text))
    }
}

#[test]
fn macro_include_is_relative_to_the_defining_file() {
    let mut sources = SourceMap::default();
    let mut diagnostics = Vec::new();
    let options = Options::default();
    let processed = preprocess(
        "main.uc",
        &IncluderEcho,
        &options,
        &mut sources,
        &mut diagnostics,
    );
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(spell(&processed.lines[0].tokens), "from['lib/a.uc']");
}

#[test]
fn missing_and_recursive_includes_are_reported() {
    let failed = run("#include \"no.uc\"\nnop");
    assert_eq!(failed.reported(), [("include-failed", "\"no.uc\"")]);
    assert_eq!(failed.diagnostics[0].notes, ["there is no no.uc"]);
    assert_eq!(failed.lines(), ["nop"]);
    let twice = run("#include \"main.uc\"\n#include \"main.uc\"");
    assert_eq!(twice.reported().len(), 1);
    assert_eq!(twice.diagnostics[0].code, "include-cycle");
    assert_eq!(single_diagnostic("#include").0, "malformed-directive");
    // No file includes itself, and each doubles the lot.
    let doubling = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o",
    ];
    let mut files = vec![("main.uc", "#include \"a\"".to_owned())];
    for pair in doubling.windows(2) {
        let text = format!("#include \"{0}\"\n#include \"{0}\"", pair[1]);
        files.push((pair[0], text));
    }
    files.push(("o", "nop".to_owned()));
    let files: Vec<_> = { files.iter() }
        .map(|(name, text)| (*name, &**text))
        .collect();
    let endless = run_files(&files, &Options::default());
    assert_eq!(endless.reported().len(), 1);
    assert_eq!(endless.diagnostics[0].code, "expansion-limit");
    assert!(
        endless.diagnostics[0]
            .message
            .contains("files were included")
    );
    let none = run_files(&[], &Options::default());
    assert_eq!(none.diagnostics[0].code, "include-failed");
}

#[test]
fn command_line_definitions_are_applied() {
    let options = Options {
        defines: vec![("N".into(), "5".into()), ("0".into(), String::new())],
        ..Options::default()
    };
    let run = run_files(&[("main.uc", "nop[N]")], &options);
    assert_eq!(run.lines(), ["nop[5]"]);
    assert_eq!(run.reported(), [("malformed-directive", "0")]);
}

#[test]
fn unknown_directives_suggest_similar_names() {
    let run = run("#inculde \"x\"\n#wibble\n#\nnop");
    assert_eq!(
        run.reported(),
        [
            ("unknown-directive", "#inculde"),
            ("unknown-directive", "#wibble")
        ]
    );
    assert_eq!(
        run.diagnostics[0].help.as_deref(),
        Some("did you mean `#include`?")
    );
    assert_eq!(run.diagnostics[0].patches[0].replacement, "#include");
    assert_eq!(run.lines(), ["nop"]);
}

#[test]
fn pragmas_are_accepted() {
    assert!(reported("#pragma warning(disable:4701)\n#pragma warning(push)").is_empty());
    assert_eq!(
        single_diagnostic("#pragma optimize(1)"),
        ("unknown-pragma", "optimize".into())
    );
}

#[test]
fn argument_predicates_classify_arguments() {
    let ask = |question: &str, argument: &str| {
        let text = format!(
            ".import_var imp\n#define N 4\n#macro m(x)\n#if ({question}(x))\nyes\n#else\nno\n\
             #endif\n#endm\nm({argument})"
        );
        lines(&text)[1].clone()
    };
    for (question, argument, answer) in [
        ("isnum", "3", "yes"),
        ("isnum", "N", "yes"),
        ("isnum", "(N << 2)", "yes"),
        ("isnum", "reg", "no"),
        ("isnum", "--", "no"),
        ("is_ct_const", "0x10", "yes"),
        ("is_ct_const", "$x[2]", "no"),
        ("is_ct_const", "imp", "no"),
        ("is_rt_const", "imp", "yes"),
        ("is_rt_const", "imp + 1", "yes"),
        ("isimport", "imp", "yes"),
        ("isimport", "N", "no"),
    ] {
        assert_eq!(ask(question, argument), answer, "{question}({argument})");
    }
}

#[test]
fn unknown_functions_and_non_constant_conditions_are_reported() {
    assert_eq!(
        single_diagnostic("#if is_num(3)\n#endif"),
        ("unknown-function", "is_num".into())
    );
    assert_eq!(single_diagnostic("#if mask(s)\n#endif").0, "not-constant");
    assert_eq!(single_diagnostic("#if &reg\n#endif").0, "not-constant");
    assert_eq!(
        single_diagnostic("#if isnum(1, 2)\n#endif").0,
        "function-argument"
    );
    assert_eq!(single_diagnostic("#if 'a'\n#endif").0, "text-in-arithmetic");
    assert_eq!(single_diagnostic("#if\n#endif").0, "malformed-expression");
}

#[test]
fn malformed_definitions_are_reported() {
    for bad in [
        "#define",
        "#define 3",
        "#define F(a b) c",
        "#define F(1) c",
        "#macro",
        "#macro m(a,)\n#endm\nnop",
        "#macro m x\n#endm",
        "#undef",
        "#ifdef\n#endif",
        "#for\n#endloop",
        "#line x",
        "#pragma",
    ] {
        let codes: Vec<_> = reported(bad).into_iter().map(|(code, _)| code).collect();
        assert!(
            codes == ["malformed-directive"] || codes == ["unterminated-macro"],
            "{bad}: {codes:?}"
        );
    }
    assert_eq!(
        single_diagnostic("#define F(a, a) c").0,
        "duplicate-parameter"
    );
}

#[test]
fn several_errors_are_found_in_one_run() {
    let run = run("a ` b\n#if 1 +\n#endif\nalu[x\n#endif\nnop");
    let codes: Vec<_> = run.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(
        codes,
        [
            "invalid-character",
            "malformed-expression",
            "unclosed-bracket",
            "unmatched-directive"
        ]
    );
    assert_eq!(run.lines(), ["nop"]);
}

#[test]
fn definitions_with_open_brackets_or_comments_are_reported() {
    assert_eq!(
        single_diagnostic("#define X (1\nnop[X]").0,
        "unclosed-bracket"
    );
    assert_eq!(lines("#define X (1\nnop\n"), ["nop"]);
    assert_eq!(
        single_diagnostic("#define X /* 1\nnop\n").0,
        "unterminated-comment"
    );
    assert_eq!(
        single_diagnostic("#define X 1,\nnop X\nnop").0,
        "unclosed-bracket"
    );
}

#[test]
fn macros_can_define_macros() {
    let text = "#macro make(name, value)\n#macro get_/**/name(r)\nimmed[r, value]\n#endm\n#endm\n\
                make(one, 1)\nget_one(x)";
    assert_eq!(lines(text), ["immed[x, 1]"]);
}

#[test]
fn printed_text_has_line_directives_and_unique_labels() {
    let run = run("#macro m(t)\nend#: br[end#]\nbr[t]\n#endm\nm(end#)\n\nm(end#)\nend#: nop\nnop");
    assert_eq!(
        run.print(),
        "#line 2 \"main.uc\"\nend__1#: br[end__1#]\n    br[end#]\n\
         #line 2 \"main.uc\"\nend__2#: br[end__2#]\n    br[end#]\n\
         #line 8 \"main.uc\"\nend#: nop\n    nop\n"
    );
}

#[test]
fn line_directives_set_the_reported_position() {
    let run = run("nop\n#line 100 \"other.uc\"\nnop\nnop\n#line 7\nnop");
    let places: Vec<_> = run
        .processed
        .lines
        .iter()
        .map(|line| {
            let (path, number, _) = run.sources.presumed_location(line.tokens[0].span);
            (path.to_owned(), number)
        })
        .collect();
    let at = |path: &str, number| (path.to_owned(), number);
    assert_eq!(
        places,
        [
            at("main.uc", 1),
            at("other.uc", 100),
            at("other.uc", 101),
            at("other.uc", 7)
        ]
    );
}
