//! Files of the repository that are generated from the tables, so that they cannot disagree with
//! them: the editors' grammars, the schema of project files, the instruction reference, and the
//! schemas of what commands print.

use std::fmt::Write as _;

use npsim_asm::directives;
use npsim_isa::{InputState, cap_csr, csr, mnemonics, msf_csr, reference};
use serde_json::json;

use crate::schemas;
use npsim::vocabulary::{CONDITIONS, FUNCTIONS, OPTIONS, PREPROCESSOR, pages};

/// The path, relative to the repository, and the contents of every such file.
#[must_use]
pub fn files() -> Vec<(String, String)> {
    let textmate = textmate();
    let own = [
        ("editors/uc.tmLanguage.json", textmate.clone()),
        ("editors/vscode/uc.tmLanguage.json", textmate),
        ("editors/vim/syntax/uc.vim", vim()),
        ("editors/npsim-project.schema.json", project_schema()),
        ("docs/src/instructions.md", instructions()),
    ];
    let own = own.into_iter().map(|(name, text)| (name.to_owned(), text));
    own.chain(schemas::files()).collect()
}

/// The JSON schema of project files.
fn project_schema() -> String {
    let schema = npsim::project::schema::schema(&npsim::registry());
    format!("{schema:#}\n")
}

/// The instruction reference: the pages of `npsim isa --all` under one title.
fn instructions() -> String {
    let mut text = String::from(
        "# Instruction reference\n\n\
         Printed from the tables in `isa/`, as `npsim isa --all` does; `npsim isa` lists the\n\
         parts. Where a table has a column Evidence, it says what supports a row.\n",
    );
    for (_, page) in reference::pages().into_iter().chain(pages()) {
        text.push('\n');
        for line in page.trim_end().lines() {
            if line.starts_with('#') {
                text.push('#');
            }
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn mnemonic_names() -> Vec<&'static str> {
    let mut names: Vec<_> = mnemonics()
        .iter()
        .flat_map(|info| std::iter::once(&info.name).chain(info.aliases))
        .copied()
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn register_names() -> Vec<&'static str> {
    let tables = [csr::all(), cap_csr::all(), msf_csr::all()];
    let rows = tables.into_iter().flatten();
    let mut names: Vec<_> = rows
        .flat_map(|row| std::iter::once(&row.name).chain(row.aliases))
        .copied()
        .collect();
    names.extend(
        InputState::ALL
            .into_iter()
            .flat_map(|state| std::iter::once(&state.info().text).chain(state.info().aliases))
            .copied(),
    );
    names.sort_unstable();
    names.dedup();
    names
}

/// Directive names without the leading dot.
fn directive_names() -> Vec<&'static str> {
    let mut names: Vec<_> = directives::names()
        .filter_map(|name| name.strip_prefix('.'))
        .collect();
    names.sort_unstable();
    names
}

/// Preprocessor directive names without the leading `#`.
fn preprocessor_names() -> Vec<&'static str> {
    let marked = PREPROCESSOR.iter().map(|word| word.name);
    marked.filter_map(|name| name.strip_prefix('#')).collect()
}

fn function_names() -> Vec<&'static str> {
    let words = FUNCTIONS.iter().chain(CONDITIONS);
    words.map(|word| word.name).collect()
}

fn option_names() -> Vec<&'static str> {
    OPTIONS.iter().map(|word| word.name).collect()
}

/// A pattern that matches any of the words. Longer words come first, so that none is mistaken for
/// a prefix of another.
fn any(words: &[&str]) -> String {
    let mut words = words.to_vec();
    words.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    let escaped: Vec<String> = words
        .iter()
        .map(|word| {
            let mut text = String::new();
            for character in word.chars() {
                if !(character.is_ascii_alphanumeric() || "_!=".contains(character)) {
                    text.push('\\');
                }
                text.push(character);
            }
            text
        })
        .collect();
    format!("(?:{})", escaped.join("|"))
}

fn textmate() -> String {
    let rule = |name: &str, pattern: String| json!({"name": name, "match": pattern});
    let word = |words: &[&str]| format!(r"(?i)(?<![\w$@.]){}(?![\w$@!=])", any(words));
    let grammar = json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Microengine microcode",
        "scopeName": "source.uc",
        "fileTypes": ["uc"],
        "patterns": [
            {"name": "comment.block.uc", "begin": r"/\*", "end": r"\*/"},
            rule("comment.line.uc", r"(?:;|//).*$".into()),
            {"name": "string.quoted.double.uc", "begin": "\"", "end": "\"|$"},
            {"name": "string.quoted.single.uc", "begin": "'", "end": "'|$"},
            {
                "match": r"(?i)^\s*(#\s*macro)\s+(\w+)",
                "captures": {
                    "1": {"name": "keyword.control.preprocessor.uc"},
                    "2": {"name": "entity.name.function.uc"}
                }
            },
            rule(
                "keyword.control.preprocessor.uc",
                format!(r"(?i)^\s*#\s*{}\b", any(&preprocessor_names())),
            ),
            rule(
                "keyword.control.directive.uc",
                format!(r"(?i)(?<![\w.])\.{}\b", any(&directive_names())),
            ),
            rule("entity.name.label.uc", r"\b\w+#(?!#)".into()),
            rule("keyword.mnemonic.uc", word(&mnemonic_names())),
            rule("storage.modifier.option.uc", word(&option_names())),
            rule("support.function.uc", word(&function_names())),
            rule("support.constant.register.uc", word(&register_names())),
            rule("variable.other.transfer.uc", r"(?:\$\$?|\bn\$)\w+".into()),
            rule("variable.other.absolute.uc", r"@\w+".into()),
            rule("constant.numeric.uc", r"(?i)\b(?:0x[0-9a-f]+|0b[01]+|\d+)\b".into()),
            rule("keyword.operator.uc", r"--|\+\+|<<|>>|&&|\|\||[=!<>]=|[-+*/%&|^~!<>=?:]".into())
        ]
    });
    // Only strings and lists, all of which JSON can represent.
    serde_json::to_string_pretty(&grammar).unwrap_or_default() + "\n"
}

fn vim() -> String {
    let mut text = String::from(
        "\" Microengine microcode (.uc). Made from npsim's tables by `npsim generate`.\n\n\
         if exists(\"b:current_syntax\")\n  finish\nendif\n\n\
         syntax case ignore\n\n",
    );
    let matches = [
        ("ucOption", r"[0-9A-Za-z_.$@]\@1<!", option_names()),
        ("ucMnemonic", r"[0-9A-Za-z_.$@]\@1<!", mnemonic_names()),
        ("ucFunction", r"[0-9A-Za-z_.$@]\@1<!", function_names()),
        ("ucRegister", r"[0-9A-Za-z_.$@]\@1<!", register_names()),
        ("ucDirective", r"[0-9A-Za-z_]\@1<!\.", directive_names()),
        ("ucPreproc", r"^\s*#\s*", preprocessor_names()),
    ];
    // Later patterns take precedence in Vim, so the general ones come first.
    text += "syntax match ucOperator /--\\|++\\|<<\\|>>\\|&&\\|||\\|[-+*\\/%&|^~!<>=?:]/\n\
             syntax match ucNumber /\\<\\(0x\\x\\+\\|0b[01]\\+\\|\\d\\+\\)\\>/\n\
             syntax match ucLabel /\\<\\w\\+##\\@!/\n\
             syntax match ucTransfer /\\(\\$\\$\\?\\|\\<n\\$\\)\\w\\+/\n\
             syntax match ucAbsolute /@\\w\\+/\n";
    for (group, before, mut words) in matches {
        words.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
        // Short lines: Vim reads them faster than one long one.
        for part in words.chunks(24) {
            let list: Vec<String> = part.iter().map(|word| word.replace('/', "\\/")).collect();
            let _ = writeln!(
                text,
                "syntax match {group} /{before}\\({}\\)[0-9A-Za-z_$@!=]\\@!/",
                list.join("\\|")
            );
        }
    }
    text += "syntax region ucString start=/\"/ end=/\"\\|$/\n\
             syntax region ucString start=/'/ end=/'\\|$/\n\
             syntax match ucComment /;.*$/\n\
             syntax match ucComment /\\/\\/.*$/\n\
             syntax region ucComment start=/\\/\\*/ end=/\\*\\//\n\n";
    for (group, link) in [
        ("ucAbsolute", "Identifier"),
        ("ucComment", "Comment"),
        ("ucDirective", "Keyword"),
        ("ucFunction", "Function"),
        ("ucLabel", "Label"),
        ("ucMnemonic", "Statement"),
        ("ucNumber", "Number"),
        ("ucOperator", "Operator"),
        ("ucOption", "StorageClass"),
        ("ucPreproc", "PreProc"),
        ("ucRegister", "Constant"),
        ("ucString", "String"),
        ("ucTransfer", "Identifier"),
    ] {
        let _ = writeln!(text, "highlight default link {group} {link}");
    }
    text += "\nlet b:current_syntax = \"uc\"\n";
    text
}
