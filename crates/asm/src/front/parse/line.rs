//! The grammar of a line.

use nom::Parser;
use nom::combinator::{map, opt};
use nom::multi::separated_list1;
use nom::sequence::{delimited, preceded, terminated};

use super::stream::{Parsed, Tokens, end, fail, punct, token};
use crate::directives::DirectiveName;
use crate::front::statement::{
    Body, Directive, Instruction, OptionalToken, SourcePlace, Statement, UnknownDirective,
};
use crate::front::token::{Token, TokenKind, each};

/// Parses one or more tokens up to one of `stops` outside of all brackets.
pub fn balanced_until<'a>(
    stops: &'static [&'static str],
) -> impl Fn(Tokens<'a>) -> Parsed<'a, &'a [Token]> {
    move |input| {
        let mut depth = 0usize;
        let mut length = input.0.len();
        for (i, token) in input.0.iter().enumerate() {
            if depth == 0 && stops.iter().any(|stop| token.is(stop)) {
                length = i;
                break;
            }
            if token.is("[") || token.is("(") {
                depth += 1;
            } else if token.is("]") || token.is(")") {
                let Some(outer) = depth.checked_sub(1) else {
                    return fail(Tokens(&input.0[i..]), "no closing bracket");
                };
                depth = outer;
            }
        }
        if length == 0 {
            return fail(input, "an operand");
        }
        let (taken, rest) = input.0.split_at(length);
        Ok((Tokens(rest), taken))
    }
}

fn bracketed(input: Tokens<'_>) -> Parsed<'_, Vec<Vec<Token>>> {
    if let Ok((rest, _)) = (punct("["), punct("]")).parse(input) {
        return Ok((rest, Vec::new()));
    }
    let operand = map(balanced_until(&[",", "]"]), <[Token]>::to_vec);
    delimited(punct("["), separated_list1(punct(","), operand), punct("]")).parse(input)
}

/// Parses a name that may contain operator characters (`br!=ctx`,
/// `16x16_start`): tokens without white space in between.
fn joined_name<'a>(what: &'static str) -> impl Fn(Tokens<'a>) -> Parsed<'a, (String, SourcePlace)> {
    move |input| {
        let length = input
            .0
            .iter()
            .enumerate()
            .position(|(i, token)| {
                token.is("[")
                    || token.is(",")
                    || token.is("]")
                    || token.kind == TokenKind::Label
                    || (i > 0 && !token.joined)
            })
            .unwrap_or(input.0.len());
        let (name, rest) = input.0.split_at(length);
        let starts_well = name
            .first()
            .is_some_and(|first| matches!(first.kind, TokenKind::Ident | TokenKind::Number(_)));
        match SourcePlace::of_all(name) {
            Some(place) if starts_well => {
                let text: String = name.iter().map(|token| &*token.text).collect();
                Ok((Tokens(rest), (text.to_ascii_lowercase(), place)))
            }
            _ => fail(input, what),
        }
    }
}

fn label_definition(input: Tokens<'_>) -> Parsed<'_, &Token> {
    terminated(
        token("a label", |token| token.kind == TokenKind::Label),
        punct(":"),
    )
    .parse(input)
}

fn choice(input: Tokens<'_>) -> Parsed<'_, OptionalToken> {
    map(
        (joined_name("an optional token"), opt(bracketed)),
        |((name, place), arguments)| OptionalToken {
            name,
            place,
            arguments: arguments.unwrap_or_default(),
        },
    )
    .parse(input)
}

fn instruction(input: Tokens<'_>) -> Parsed<'_, Body> {
    let (rest, (mnemonic, mnemonic_place)) = joined_name("an instruction")(input)?;
    // `a=b` and `immed(a, 1)` belong to other languages.
    let called = mnemonic.split('(').next().unwrap_or(&mnemonic);
    let round = called.len() < mnemonic.len() && npsim_isa::mnemonic(called).is_some();
    if round
        || ["=", "++"].iter().any(|it| mnemonic.contains(it))
            && npsim_isa::mnemonic(&mnemonic).is_none()
    {
        return fail(Tokens(&input.0[1..]), "`[` and operands");
    }
    let (rest, operands) = if rest.0.first().is_some_and(|token| token.is("[")) {
        bracketed(rest)?
    } else {
        (rest, Vec::new())
    };
    let (rest, options) = each(preceded(punct(","), choice)).parse(rest)?;
    // A trailing comma is the better place for the message.
    if rest.0.first().is_some_and(|token| token.is(",")) {
        return fail(Tokens(&rest.0[1..]), "an optional token such as `defer[1]`");
    }
    let place = SourcePlace::of_all(input.0).unwrap_or(mnemonic_place);
    Ok((
        rest,
        Body::Instruction(Instruction {
            mnemonic,
            mnemonic_place,
            operands,
            options,
            place,
            raw: None,
            generated: false,
            // Set once all lines are known.
            statement: 0,
        }),
    ))
}

/// The statement of a line, or its unknown directive.
type LineResult<'a> = Result<Statement, UnknownDirective<'a>>;

fn directive<'a>(labels: Vec<Token>, word: &'a Token, arguments: &'a [Token]) -> LineResult<'a> {
    let Some((name, spelling)) = DirectiveName::parse(&word.text) else {
        return Err(UnknownDirective {
            labels,
            word,
            arguments,
        });
    };
    Ok(Statement {
        labels,
        body: Body::Directive(Directive {
            name,
            spelling,
            place: SourcePlace::of(word),
            arguments: arguments.to_vec(),
        }),
    })
}

/// Parses a whole line.
pub fn statement(input: Tokens<'_>) -> Parsed<'_, LineResult<'_>> {
    let (rest, labels) = each(label_definition).parse(input)?;
    let labels: Vec<Token> = labels.into_iter().cloned().collect();
    if let Some((first, arguments)) = rest.0.split_first()
        && first.kind == TokenKind::Ident
        && first.text.starts_with('.')
    {
        return Ok((Tokens(&[]), directive(labels, first, arguments)));
    }
    let (rest, body) = match rest.0.first() {
        None => (rest, Body::Empty),
        Some(first) if first.kind == TokenKind::Label => {
            return fail(Tokens(&rest.0[1..]), "`:` after a label");
        }
        Some(first)
            if first.kind == TokenKind::Ident && rest.0.get(1).is_some_and(|t| t.is(":")) =>
        {
            return fail(
                Tokens(&rest.0[1..]),
                "`#:` at the end of a label, as in `start#:`",
            );
        }
        Some(_) => instruction(rest)?,
    };
    let (rest, ()) = end(rest)?;
    Ok((rest, Ok(Statement { labels, body })))
}
