//! Functions on strings and numbers.

use std::rc::Rc;

use super::{Expression, Failure, Resolver, Value, fail};
use crate::codes;
use crate::front::token::{Token, TokenKind, spell};
use crate::vocabulary::Function;

/// Evaluates the functions that are available wherever expressions are allowed: `log2`, `streq`,
/// `strlen`, `strstr`, `strleft` and `strright`; `None` for others.
///
/// `log2(x)` rounds down and `log2(x, 1)` up. `strstr` counts from 1 and returns 0 if the needle is
/// absent. A negative count drops characters: `strleft('abc', -1)` is `ab` and
/// `strright('abc', -1)` is `bc`. `strright` with 0 drops none: libraries split lists with
/// `strright(list, -start)`, where start may be 0.
///
/// # Errors
/// The inner result is an error if an argument does not fit.
pub fn builtin(
    function: &Token,
    arguments: &[Vec<Token>],
    resolver: &mut dyn Resolver,
) -> Option<Result<Value, Failure>> {
    let known = Function::by_name(&function.text)?;
    let (least, most) = match known {
        Function::Strlen => (1, 1),
        Function::Log2 => (1, 2),
        Function::Streq | Function::Strstr | Function::Strleft | Function::Strright => (2, 2),
        Function::Defined
        | Function::Isnum
        | Function::IsCtConst
        | Function::IsRtConst
        | Function::Isimport
        | Function::Isrestricted
        | Function::IsIxptype
        | Function::Mask => return None,
    };
    let name = known.word().name;
    if arguments.len() < least || arguments.len() > most {
        let wanted = match (least, most) {
            (1, 1) => "1 argument",
            (1, _) => "1 or 2 arguments",
            _ => "2 arguments",
        };
        let failure = fail(
            codes::FUNCTION_ARGUMENT,
            format!("{name} takes {wanted}, but {} are given", arguments.len()),
            function,
        );
        return Some(Err(Box::new(failure.help(
            "commas separate arguments; put a text that contains commas in single quotes",
        ))));
    }
    Some(apply(known, function, arguments, resolver))
}

fn apply(
    known: Function,
    function: &Token,
    arguments: &[Vec<Token>],
    resolver: &mut dyn Resolver,
) -> Result<Value, Failure> {
    if known == Function::Log2 {
        let n = Expression::parse(&arguments[0], function)?.number(resolver)?;
        let up = match arguments.get(1) {
            Some(mode) => Expression::parse(mode, function)?.number(resolver)? != 0,
            None => false,
        };
        if n <= 0 {
            return Err(fail(
                codes::FUNCTION_ARGUMENT,
                format!("log2 needs a number above 0, not {n}"),
                function,
            ));
        }
        let floor = n.ilog2();
        let up = up && !n.cast_unsigned().is_power_of_two();
        return Ok(Value::Number(i128::from(floor) + i128::from(up)));
    }
    let text = text_argument(&arguments[0], function, resolver)?;
    Ok(match known {
        Function::Strlen => Value::Number(text.chars().count() as i128),
        Function::Streq => {
            let other = text_argument(&arguments[1], function, resolver)?;
            Value::Number(i128::from(text == other))
        }
        Function::Strstr => {
            let needle = text_argument(&arguments[1], function, resolver)?;
            let place = text
                .find(&*needle)
                .map_or(0, |at| text[..at].chars().count() as i128 + 1);
            Value::Number(place)
        }
        _ => {
            let count = Expression::parse(&arguments[1], function)?.number(resolver)?;
            let length = text.chars().count();
            let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
            let kept = if count < 0 || (count == 0 && known == Function::Strright) {
                length.saturating_sub(wanted)
            } else {
                wanted.min(length)
            };
            Value::Text(if known == Function::Strleft {
                text.chars().take(kept).collect::<String>().into()
            } else {
                text.chars().skip(length - kept).collect::<String>().into()
            })
        }
    })
}

/// Returns a quoted string, the result of a string function, or else the bare words.
fn text_argument(
    argument: &[Token],
    function: &Token,
    resolver: &mut dyn Resolver,
) -> Result<Rc<str>, Failure> {
    match argument {
        [token] if matches!(token.kind, TokenKind::Quoted | TokenKind::Str) => {
            Ok(token.text.clone())
        }
        [name, open, ..]
            if open.is("(")
                && matches!(
                    Function::by_name(&name.text),
                    Some(Function::Strleft | Function::Strright)
                ) =>
        {
            match Expression::parse(argument, function)?.evaluate(resolver)? {
                Value::Text(text) => Ok(text),
                Value::Number(n) => Ok(n.to_string().into()),
            }
        }
        _ => Ok(spell(argument).into()),
    }
}
