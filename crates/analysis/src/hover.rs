//! The meaning of words, as Markdown.

use std::fmt::Write as _;
use std::ops::Range;

use npsim_isa::{
    CommandOp, CsrInfo, ENUMERATIONS, Evidence, Generation, InputState, MnemonicInfo, Unit,
    cap_csr, csr, mnemonic, msf_csr,
};

use super::analysis::Analysis;
use super::paths::file_uri;
use super::project;
use super::scan::{Context, context_at, first_word_at, word_at};
use super::vocabulary;
use super::workspace::{Spot, Workspace};

/// Maximum number of meanings shown for one text.
const MAX_USES: usize = 3;

/// The meaning of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The meaning, in Markdown.
    pub text: String,
    /// The bytes of the word.
    pub range: Range<usize>,
}

impl Workspace {
    /// The meaning of the word at a place in a source or a project file; `None` if it has none.
    #[must_use]
    pub fn hover(&self, spot: &Spot) -> Option<Hover> {
        let (text, range) = if project::is_project(self, spot) {
            project::hover(spot)?
        } else {
            describe(self, spot)?
        };
        Some(Hover { text, range })
    }
}

fn describe(workspace: &Workspace, spot: &Spot) -> Option<(String, Range<usize>)> {
    if let Some(range) = first_word_at(&spot.text, spot.offset)
        && let Some(info) = mnemonic(&spot.text.code()[range.clone()])
    {
        return Some((mnemonic_text(info), range));
    }
    let range = word_at(&spot.text, spot.offset)?;
    let word = &spot.text.code()[range.clone()];
    let context = context_at(&spot.text, range.start);
    let text = keyword(word, &context)
        .or_else(|| symbol(workspace, spot))
        .or_else(|| macro_text(workspace, spot, word))
        .or_else(|| define(workspace, spot, word))
        .or_else(|| chip_register(word, &context))
        .or_else(|| {
            let word = vocabulary::find(word)?;
            Some(format!("```uc\n{}\n```\n{}", word.syntax, word.doc))
        })
        .or_else(|| Some(mnemonic_text(mnemonic(word)?)))?;
    Some((text, range))
}

fn support(text: &mut String, evidence: &[Evidence], uncertain: Option<&str>) {
    let named = |mark: &Evidence| format!("{} ({})", mark.label(), mark.meaning());
    let marks: Vec<_> = evidence.iter().map(named).collect();
    let _ = write!(text, "\n\nWhere this is known from: {}", marks.join(", "));
    if let Some(remark) = uncertain {
        let _ = write!(text, "; uncertain: {remark}");
    }
    text.push('.');
}

/// Describes an instruction: its form, meaning and word.
#[must_use]
pub fn mnemonic_text(info: &MnemonicInfo) -> String {
    let format = info.class.info();
    let mut text = format!("```uc\n{}\n```\n{}", info.syntax, info.doc);
    if !info.aliases.is_empty() {
        let _ = write!(text, "\n\nAlso written `{}`.", info.aliases.join("`, `"));
    }
    if info.since != Generation::default() {
        let _ = write!(text, "\n\nOnly from {} on.", info.since);
    }
    if let Some(unit) = Unit::by_name(info.name) {
        text += "\n\n| command | meaning |\n| --- | --- |\n";
        for command in CommandOp::ALL.map(CommandOp::info) {
            if command.unit == unit {
                let _ = writeln!(text, "| `{}` | {} |", command.name, command.doc);
            }
        }
    }
    if matches!(info.name, "alu" | "alu_shf") {
        let list = if info.name == "alu" { "AluOp" } else { "ShfOp" };
        text += "\n\n| operator | result |\n| --- | --- |\n";
        for list in ENUMERATIONS.iter().filter(|known| known.name == list) {
            for value in list.values {
                let _ = writeln!(text, "| `{}` | {} |", value.text, value.doc);
            }
        }
    }
    let _ = write!(
        text,
        "\n\nDefer: {}. Word format: {} (`{}` from bit 39).",
        match info.max_defer {
            0 => "none".to_owned(),
            most => format!("at most {most}"),
        },
        format.title,
        format.pattern
    );
    support(&mut text, info.evidence, info.uncertain);
    text
}

/// Describes a word that is only part of the language in its context: a
/// command, an operator, an input state.
fn keyword(word: &str, context: &Context) -> Option<String> {
    if context.closed || context.depth != 1 {
        return (context.inner == "inp_state").then(|| state(word))?;
    }
    if context.operand == 0
        && let Some(unit) = Unit::by_name(&context.head)
    {
        let info = CommandOp::by_name(unit, word)?.info();
        let mut text = format!(
            "`{}[{}, ...]`: {}\n\nPulls {}, pushes {}; signals: {}.",
            context.head,
            info.name,
            info.doc,
            info.pull_words.label(),
            info.push_words.label(),
            info.signals.label()
        );
        if info.takes_count {
            let _ = write!(text, " Count at most {}.", info.max_count);
        }
        support(&mut text, info.evidence, info.uncertain);
        return Some(text);
    }
    match (context.head.as_str(), context.operand) {
        ("br_inp_state" | "br_!inp_state", 0) => state(word),
        ("local_csr_rd" | "local_csr_wr", 0) => {
            Some(csr_text("local CSR", find_csr(csr::all(), word)?))
        }
        _ => None,
    }
}

fn state(word: &str) -> Option<String> {
    let info = InputState::ALL
        .into_iter()
        .map(InputState::info)
        .find(|info| info.is_spelt(word))?;
    let mut text = format!("Input state {}: {}", info.code, info.doc);
    support(&mut text, info.evidence, info.uncertain);
    Some(text)
}

fn find_csr(table: &'static [CsrInfo], word: &str) -> Option<&'static CsrInfo> {
    table.iter().find(|row| {
        row.name.eq_ignore_ascii_case(word)
            || row
                .aliases
                .iter()
                .any(|name| name.eq_ignore_ascii_case(word))
    })
}

fn csr_text(what: &str, info: &CsrInfo) -> String {
    let mut text = format!(
        "`{}`: {what} at {:#x}\n\n{}",
        info.name, info.address, info.doc
    );
    support(&mut text, info.source, info.uncertain);
    text
}

fn chip_register(word: &str, context: &Context) -> Option<String> {
    let cap = || find_csr(cap_csr::all(), word).map(|row| csr_text("chip-wide CSR", row));
    let msf =
        || find_csr(msf_csr::all(), word).map(|row| csr_text("media interface register", row));
    let local = || find_csr(csr::all(), word).map(|row| csr_text("local CSR", row));
    match context.head.as_str() {
        "cap" => cap().or_else(msf).or_else(local),
        _ => msf().or_else(cap).or_else(local),
    }
}

fn symbol(workspace: &Workspace, spot: &Spot) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for (analysis, id) in workspace.symbols_at(spot) {
        let text = symbol_text(analysis, id, spot);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    // A macro's own names refer to something different at each use.
    let more = texts.len().saturating_sub(MAX_USES);
    texts.truncate(MAX_USES);
    if more > 0 {
        texts.push(format!("and {more} more uses"));
    }
    (!texts.is_empty()).then(|| texts.join("\n\n---\n\n"))
}

fn symbol_text(analysis: &Analysis, id: usize, spot: &Spot) -> String {
    let symbol = &analysis.index.symbols[id];
    let mut text = format!("```uc\n{}\n```\n{}", symbol.declaration, symbol.kind.name());
    let line = spot.text.line(spot.offset) as u32 + 1;
    let rows = analysis.allocation(id, &spot.path, line);
    if !rows.is_empty() {
        let _ = write!(text, ": {}", rows.join(", "));
    }
    if let Some(place) = analysis.place(symbol.place)
        && let Some(uri) = file_uri(&place.path)
    {
        let name = place.path.file_name().unwrap_or_default();
        let (name, line) = (name.to_string_lossy(), place.line());
        let _ = write!(text, "\n\nDeclared in [{name}:{line}]({uri}#L{line})");
        if let Some(used) = analysis.sources.expansion(symbol.expansion) {
            let _ = write!(text, ", in an expansion of `{}`", used.name);
        }
        text.push('.');
    }
    text
}

fn macro_text(workspace: &Workspace, spot: &Spot, word: &str) -> Option<String> {
    let mut text = String::new();
    for (path, found) in workspace.definitions(&spot.path, &spot.text) {
        for known in found.macros.iter().filter(|known| known.name == word) {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            if !text.is_empty() {
                text += "\n\n---\n\n";
            }
            let _ = write!(text, "```uc\n#macro {}\n```\n", known.signature());
            if !known.comment.is_empty() {
                let _ = write!(text, "```text\n{}\n```\n", known.comment);
            }
            let _ = write!(text, "Defined in {file}.");
        }
    }
    (!text.is_empty()).then_some(text)
}

fn define(workspace: &Workspace, spot: &Spot, word: &str) -> Option<String> {
    let mut text = String::new();
    for (path, found) in workspace.definitions(&spot.path, &spot.text) {
        for known in found.defines.iter().filter(|known| known.name == word) {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            if !text.is_empty() {
                text += "\n\n---\n\n";
            }
            let parameters = known.parameters.as_deref().unwrap_or("");
            let _ = write!(
                text,
                "```uc\n#define {word}{parameters} {}\n```\n",
                known.value
            );
            if !known.comment.is_empty() {
                let _ = writeln!(text, "{}\n", known.comment);
            }
            let _ = write!(text, "Defined in {file}.");
        }
    }
    if text.is_empty() {
        text = project_define(workspace, spot, word)?;
    }
    Some(text)
}

fn project_define(workspace: &Workspace, spot: &Spot, word: &str) -> Option<String> {
    workspace.analyses_of(&spot.path).find_map(|analysis| {
        let defines = &analysis.root.options.defines;
        let (_, value) = defines.iter().find(|(name, _)| name == word)?;
        let from = match &analysis.root.project {
            Some((name, me)) => format!("the project {name} for microengine {me}"),
            None => "the default project".to_owned(),
        };
        Some(format!(
            "```uc\n#define {word} {value}\n```\nDefined by {from}."
        ))
    })
}
