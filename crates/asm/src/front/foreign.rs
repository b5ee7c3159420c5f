//! Spellings of other assemblers, and how they are written here.

use npsim_isa::mnemonic;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::DirectiveName;
use crate::front::statement::SourcePlace;
use crate::front::token::{Token, TokenKind, spell, split_labels};

/// How that is written here which other assemblers have a mnemonic for.
#[must_use]
pub fn written_here(name: &str) -> Option<&'static str> {
    Some(match name {
        "add" => "alu[dest, a, +, b]",
        "sub" => "alu[dest, a, -, b]",
        "and" => "alu[dest, a, AND, b]",
        "or" => "alu[dest, a, OR, b]",
        "xor" => "alu[dest, a, XOR, b]",
        "not" => "alu[dest, --, ~B, src]",
        "mov" | "move" => "alu[dest, --, B, src]",
        "cmp" => "alu[--, a, -, b]",
        "shl" | "lsl" | "sll" => "alu_shf[dest, --, B, src, <<n]",
        "shr" | "lsr" | "srl" => "alu_shf[dest, --, B, src, >>n]",
        "jmp" | "goto" | "b" => "br[label#]",
        "call" | "jal" => "load_addr[register, back#]` and `br[label#]",
        "ret" | "return" => "rtn[register]",
        _ => return None,
    })
}

/// What is wrong with an instruction whose operands do not stand in brackets, as in
/// `mov a, 1`; none for a line of another form.
#[must_use]
pub fn without_brackets(tokens: &[Token]) -> Option<Diagnostic> {
    let (_, statement) = split_labels(tokens);
    let (name, operands) = statement.split_first()?;
    let first = operands.first()?;
    let is_operand = match first.kind {
        TokenKind::Punct => ["$", "$$", "@", "*", "&", "--", "(", "-"].contains(&&*first.text),
        TokenKind::Ident | TokenKind::Label | TokenKind::Number(_) => true,
        TokenKind::Str | TokenKind::Quoted => false,
    };
    if name.kind != TokenKind::Ident || first.joined || !is_operand {
        return None;
    }
    let word = name.text.to_ascii_lowercase();
    let place = SourcePlace::of_all(operands)?;
    let error = |message: String| {
        place
            .error(codes::SYNTAX, message)
            .label("operands stand in brackets")
    };
    if mnemonic(&word).is_some() {
        let given = format!("[{}]", spell(operands));
        let error = error(format!("the operands of `{word}` have no brackets"))
            .help(format!("write `{word}{given}`"));
        let mut gap = place.span;
        gap.lo = SourcePlace::of(name).span.hi;
        let together = place.expansion == name.expansion && gap.file == name.span.file;
        return Some(if together {
            error.patch(gap, given)
        } else {
            error
        });
    }
    if let Some(written) = written_here(&word) {
        let error = error(format!("there is no instruction `{word}`"));
        return Some(error.help(format!("write `{written}`")));
    }
    let directive = format!(".{word}");
    if let Some((_, spelling)) = DirectiveName::parse(&directive) {
        let error = SourcePlace::of(name).error(
            codes::SYNTAX,
            format!("there is no instruction `{word}`, but a directive `{spelling}`"),
        );
        return Some(error.help(format!("write `{spelling}`")));
    }
    let error = error(format!("there is no instruction `{word}`"));
    Some(error.help("an instruction is written `name[operand, operand]`"))
}
