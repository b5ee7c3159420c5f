//! Spellings of other assemblers, and their equivalents here.

use npsim_isa::{MnemonicInfo, mnemonic};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{DirectiveName, PreprocessorDirective};
use crate::front::expression::joins_operands;
use crate::front::statement::SourcePlace;
use crate::front::token::{Nesting, NestingEvent, Token, TokenKind, spell, split_labels};

/// The largest constant that an operand holds.
const MAX_OPERAND_CONSTANT: u64 = 255;

/// Returns the equivalent of a mnemonic of other assemblers.
#[must_use]
pub fn equivalent_instruction(name: &str) -> Option<&'static str> {
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

/// Returns the directives that a word would be with a mark before it: `.else` and `#else` for
/// `else`.
#[must_use]
pub fn directives(word: &str) -> Vec<&'static str> {
    let own = DirectiveName::parse(&format!(".{word}")).map(|(_, spelling)| spelling);
    let of_text = PreprocessorDirective::named(word).map(|directive| directive.word().name);
    own.into_iter().chain(of_text).collect()
}

/// Returns the error for a word that is not an instruction but would be a directive with a mark;
/// `None` if it would not.
#[must_use]
pub fn missing_mark_error(word: &str, place: SourcePlace) -> Option<Diagnostic> {
    let meant = directives(word);
    let error = |what: &str| {
        place
            .error(
                codes::UNKNOWN_INSTRUCTION,
                format!("there is no instruction `{word}`, but {what}"),
            )
            .label("not an instruction")
    };
    match *meant.as_slice() {
        [] => None,
        [one] => Some(
            error(&format!("a directive `{one}`"))
                .help(format!("write `{one}`"))
                .patch(place.span, one),
        ),
        [program, text, ..] => Some(
            error(&format!("the directives `{program}` and `{text}`")).help(format!(
                "write `{program}` for what the program does, `{text}` for which lines it has"
            )),
        ),
    }
}

/// Returns the error for an invalid line in the style of another assembler: `mov a, 1`,
/// `alu (a, b, +, c)`, `a = b + 1`; `None` for a line of another form.
#[must_use]
pub fn explain(tokens: &[Token]) -> Option<Diagnostic> {
    let (_, statement) = split_labels(tokens);
    instruction_without_brackets(statement).or_else(|| assignment(statement))
}

/// Returns a line's first word, which may be several tokens for an instruction like `br=ctx`, those
/// tokens, and the rest.
fn first_word(statement: &[Token]) -> Option<(String, &[Token], &[Token])> {
    let joined = |token: &&Token| token.joined && !["(", "["].iter().any(|it| token.is(it));
    let more = { statement.get(1..)?.iter() }.take_while(joined).count();
    let split = |length| {
        let (word, rest) = statement.split_at(length);
        let text: String = word.iter().map(|token| &*token.text).collect();
        (text.to_ascii_lowercase(), word, rest)
    };
    let whole = split(1 + more);
    Some(match mnemonic(&whole.0) {
        Some(_) => whole,
        None => split(1),
    })
}

/// Whether a token can begin an operand.
fn begins_operand(token: &Token) -> bool {
    match token.kind {
        TokenKind::Punct => ["$", "$$", "@", "*", "&", "--", "(", "-"].contains(&&*token.text),
        TokenKind::Ident | TokenKind::Label | TokenKind::Number(_) => true,
        TokenKind::Str | TokenKind::Quoted => false,
    }
}

/// Splits a name from operands without brackets; `None` for another form.
pub fn bare_operands(statement: &[Token]) -> Option<(&Token, &[Token])> {
    let (name, operands) = statement.split_first()?;
    let first = operands.first()?;
    let bare = name.kind == TokenKind::Ident && !first.joined && begins_operand(first);
    bare.then_some((name, operands))
}

/// Suggests brackets around a line's operands, with an edit if the operands are contiguous.
pub fn in_brackets(
    error: Diagnostic,
    name: &Token,
    operands: &[Token],
    [open, close]: [&str; 2],
) -> Diagnostic {
    let given = format!("{open}{}{close}", spell(operands));
    rewritten(error, &name.text, name, operands, &given)
}

/// Suggests a replacement for the operands of a word whose last token is `name`, with an edit if
/// the operands are contiguous.
fn rewritten(
    error: Diagnostic,
    word: &str,
    name: &Token,
    operands: &[Token],
    given: &str,
) -> Diagnostic {
    let error = error.help(format!("write `{word}{given}`"));
    let after = SourcePlace::of(name);
    let together = operands.iter().all(|token| {
        token.expansion == name.expansion
            && token.span.file == name.span.file
            && token.span.lo >= after.span.hi
    });
    match operands.last() {
        Some(last) if together => {
            let mut gap = last.span;
            gap.lo = after.span.hi;
            error.patch(gap, given)
        }
        _ => error,
    }
}

fn instruction_without_brackets(statement: &[Token]) -> Option<Diagnostic> {
    let (word, name, operands) = first_word(statement)?;
    let (first, name) = (operands.first()?, name.last()?);
    if !begins_operand(first) {
        return None;
    }
    let place = SourcePlace::of(statement.first()?);
    let error = |message: String| {
        place
            .error(codes::SYNTAX, message)
            .label("operands must be in brackets")
    };
    if let Some(row) = mnemonic(&word) {
        return Some(bracketed(row, &word, error, name, operands));
    }
    if { operands.iter() }.any(|token| token.is("=")) {
        return None;
    }
    if let Some(meant) = missing_mark_error(&word, place) {
        return Some(meant);
    }
    // A call of an undefined macro.
    if first.joined {
        return None;
    }
    if let Some(written) = equivalent_instruction(&word) {
        let error = error(format!("there is no instruction `{word}`"));
        return Some(error.help(format!("write `{written}`")));
    }
    let error = error(format!("there is no instruction `{word}`"));
    Some(error.help("an instruction is written `name[operand, operand]`"))
}

/// Returns the error for an instruction whose operands are not in square brackets.
fn bracketed(
    row: &MnemonicInfo,
    word: &str,
    error: impl Fn(String) -> Diagnostic,
    name: &Token,
    operands: &[Token],
) -> Diagnostic {
    let Some(most) = operand_count(row) else {
        return error(format!("`{word}` takes no operands"))
            .label("has no operands")
            .help(format!("write `{}`", row.syntax));
    };
    let round = enclosed(operands);
    let error = error(match round {
        Some(_) => format!("the operands of `{word}` must be in square brackets"),
        None => format!("the operands of `{word}` have no brackets"),
    });
    let parts: Vec<&[Token]> = parts(round.unwrap_or(operands));
    // Without all commas it is unclear which operand is which, and for a list of arbitrary length,
    // where it ends and options begin.
    let open_ended = row.syntax.contains("...");
    if open_ended || parts.len() + 1 < most || parts.iter().any(|part| lacks_comma(part)) {
        return error.help(format!(
            "write `{}`, with commas between operands",
            row.syntax
        ));
    }
    let inside = parts.len().min(most);
    let list = |parts: &[&[Token]]| -> Vec<String> { parts.iter().map(|it| spell(it)).collect() };
    let mut given = format!("[{}]", list(&parts[..inside]).join(", "));
    for option in list(&parts[inside..]) {
        given += ", ";
        given += &option;
    }
    rewritten(error, word, name, operands, &given)
}

/// Returns the maximum number of operands of an instruction; `None` if it has no brackets.
fn operand_count(row: &MnemonicInfo) -> Option<usize> {
    let forms = row.syntax.split(" | ");
    forms
        .filter_map(|form| {
            let (operands, _) = form
                .strip_prefix(row.name)?
                .strip_prefix('[')?
                .split_once(']')?;
            Some(operands.split(',').count())
        })
        .max()
}

/// Returns the contents of round brackets that enclose all tokens.
fn enclosed(tokens: &[Token]) -> Option<&[Token]> {
    let mut nesting = Nesting::default();
    tokens.first().filter(|token| token.is("("))?;
    let close = { tokens.iter() }.position(|token| {
        nesting.process(token) == Some(NestingEvent::Closed) && nesting.depth == 0
    })?;
    (close + 1 == tokens.len()).then(|| &tokens[1..close])
}

/// Splits tokens at the commas outside of brackets.
fn parts(tokens: &[Token]) -> Vec<&[Token]> {
    let mut nesting = Nesting::default();
    tokens
        .split(|token| nesting.process(token) == Some(NestingEvent::Comma) && nesting.depth == 0)
        .collect()
}

/// Whether two operands are adjacent without a comma.
fn lacks_comma(part: &[Token]) -> bool {
    part.is_empty()
        || part.windows(2).any(|pair| {
            let ends = match pair[0].kind {
                TokenKind::Punct => [")", "]", "--"].iter().any(|it| pair[0].is(it)),
                _ => true,
            };
            let word = pair[1].kind != TokenKind::Punct || pair[1].is("--");
            ends && word && !pair[1].joined
        })
}

/// Returns the error for an assignment, as in `a = b + 1`, `a += 1` or `a++`.
fn assignment(statement: &[Token]) -> Option<Diagnostic> {
    let (target, operator, value) = split_assignment(statement)?;
    let target = spell(target);
    let error = SourcePlace::of(statement.first()?)
        .error(codes::SYNTAX, "assignments are not supported")
        .label("an instruction names its destination first");
    let sides = match operator {
        Some(operator) => Some((target.clone(), operator.clone(), value)),
        None => { value.iter().position(joins_operands) }
            .filter(|at| *at > 0)
            .map(|at| (spell(&value[..at]), value[at].clone(), &value[at + 1..])),
    };
    let written = match sides {
        None => move_instruction(&target, value),
        Some((left, operator, right)) => compute_instruction(&target, &left, &operator, right),
    };
    let Some(written) = written else {
        return Some(error.help("write one instruction per step, as in `alu[a, b, +, c]`"));
    };
    let error = error.help(format!("write `{written}`"));
    let place = SourcePlace::of_all(statement)?;
    let together = { statement.iter() }
        .all(|token| token.expansion == place.expansion && token.span.file == place.span.file);
    Some(if together && !written.contains('`') {
        error.patch(place.span, written)
    } else {
        error
    })
}

/// Splits an assignment into destination, operator before the `=` if any, and value.
fn split_assignment(statement: &[Token]) -> Option<(&[Token], Option<&Token>, &[Token])> {
    let named = |target: &[Token]| {
        let first = target.first();
        let lacks = target.len() > 1 && !target[1].is("[");
        first.is_some_and(|first| first.kind == TokenKind::Ident) && !lacks
    };
    if let [target @ .., step] = statement
        && (step.is("++") || step.is("--"))
    {
        return named(target).then_some((target, Some(step), &[]));
    }
    let at = statement.iter().position(|token| token.is("="))?;
    let (target, value) = (&statement[..at], &statement[at + 1..]);
    let (target, operator) = match target {
        [target @ .., operator] if joins_operands(operator) => (target, Some(operator)),
        _ => (target, None),
    };
    (named(target) && !value.is_empty()).then_some((target, operator, value))
}

/// Returns an instruction that copies a value to `target`.
fn move_instruction(target: &str, value: &[Token]) -> Option<String> {
    match value {
        [number] if matches!(number.kind, TokenKind::Number(_)) => {
            Some(format!("immed[{target}, {}]", number.text))
        }
        [not, value @ ..] if not.is("~") && is_operand(value) => {
            Some(format!("alu[{target}, --, ~B, {}]", spell(value)))
        }
        value if is_operand(value) => Some(format!("alu[{target}, --, B, {}]", spell(value))),
        _ => None,
    }
}

/// Returns an instruction that computes `target` from two operands, or two instructions joined by
/// text if a constant must be loaded first.
fn compute_instruction(
    target: &str,
    left: &str,
    operator: &Token,
    right: &[Token],
) -> Option<String> {
    let step = operator.is("++") || operator.is("--");
    let right_text = if step { "1".to_owned() } else { spell(right) };
    if !step && !is_operand(right) {
        return None;
    }
    let written = match &*operator.text {
        "+" | "++" => "+",
        "-" | "--" => "-",
        "&" => "AND",
        "|" => "OR",
        "^" => "XOR",
        shift @ ("<<" | ">>") => {
            return Some(format!(
                "alu_shf[{target}, --, B, {left}, {shift}{right_text}]"
            ));
        }
        _ => return None,
    };
    Some(match right {
        [number] if matches!(number.kind, TokenKind::Number(n) if n > MAX_OPERAND_CONSTANT) => {
            format!("immed[temp, {right_text}]` and `alu[{target}, {left}, {written}, temp]")
        }
        _ => format!("alu[{target}, {left}, {written}, {right_text}]"),
    })
}

/// Whether tokens are a single operand: a number, or a name with or without an element number.
fn is_operand(tokens: &[Token]) -> bool {
    match tokens {
        [one] => matches!(one.kind, TokenKind::Ident | TokenKind::Number(_)),
        [name, open, .., close] => name.kind == TokenKind::Ident && open.is("[") && close.is("]"),
        _ => false,
    }
}
