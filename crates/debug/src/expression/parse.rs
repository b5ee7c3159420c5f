//! The parser of expressions.

use npsim_image::TransferDirection;
use npsim_isa::{Bank, Operand, csr as local_csr};

use super::{Binary, ExpressionNode, RingField, RunNumber, Unary};
use crate::error::DebugError;
use crate::names::Memory;

/// Maximum nesting depth of expressions.
const MAX_DEPTH: usize = 64;
/// Maximum number of names, numbers and operators in an expression: a chain of operators is nested
/// too.
const MAX_TOKENS: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq)]
enum ExpressionToken {
    Number(u64),
    /// A name, including its `$`, `$$` or `@`.
    Name(String),
    Mark(&'static str),
}

const MARKS: &[&str] = &[
    "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "<", ">", "|", "^", "&", "+", "-", "*", "/",
    "%", "!", "~", "(", ")", "[", "]", ".", "?", ":",
];

/// The operators, from weakest to strongest binding.
const BINDING: &[&[(&str, Binary)]] = &[
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[("|", Binary::BitOr)],
    &[("^", Binary::BitXor)],
    &[("&", Binary::BitAnd)],
    &[("==", Binary::Equal), ("!=", Binary::Unequal)],
    &[
        ("<", Binary::Less),
        ("<=", Binary::AtMost),
        (">", Binary::More),
        (">=", Binary::AtLeast),
    ],
    &[("<<", Binary::Left), (">>", Binary::Right)],
    &[("+", Binary::Plus), ("-", Binary::Minus)],
    &[
        ("*", Binary::Times),
        ("/", Binary::Over),
        ("%", Binary::Rest),
    ],
];

/// Parses a whole text.
pub(super) fn whole(text: &str) -> Result<ExpressionNode, DebugError> {
    let tokens = tokens(text)?;
    if tokens.is_empty() {
        return Err(DebugError::new("there is no expression"));
    }
    if tokens.len() > MAX_TOKENS {
        let count = tokens.len();
        return Err(DebugError::new(format!(
            "the expression has {count} parts, and {MAX_TOKENS} is the most"
        ))
        .help("look at parts of it one after the other"));
    }
    let mut parser = ExpressionParser {
        text,
        tokens,
        next: 0,
        depth: 0,
    };
    let node = parser.choice()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.unexpected("the end or an operator")),
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn tokens(text: &str) -> Result<Vec<(usize, ExpressionToken)>, DebugError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let sigil = match rest.strip_prefix("n$") {
            Some(_) => 2,
            None => rest.len() - rest.trim_start_matches(['$', '@']).len(),
        };
        let end = |from: usize| {
            let tail = &rest[from..];
            from + tail.find(|c| !is_name(c)).unwrap_or(tail.len())
        };
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if c.is_ascii_digit() {
            let word = &rest[..end(0)];
            let value = number(word).ok_or_else(|| {
                DebugError::new(format!("`{word}` is not a number"))
                    .help("write 255, 0xff or 0b11111111")
            })?;
            tokens.push((at, ExpressionToken::Number(value)));
            at += word.len();
        } else if sigil > 0 || is_name(c) {
            let word = &rest[..end(sigil)];
            if word.len() == sigil {
                return Err(DebugError::new(format!(
                    "there is no name or number after `{word}`"
                )));
            }
            tokens.push((at, ExpressionToken::Name(word.to_owned())));
            at += word.len();
        } else {
            let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
            let mark = mark.ok_or_else(|| {
                DebugError::new(format!("`{c}` means nothing in an expression"))
                    .help("`help expressions` says what does")
            })?;
            tokens.push((at, ExpressionToken::Mark(mark)));
            at += mark.len();
        }
    }
    Ok(tokens)
}

fn number(word: &str) -> Option<u64> {
    let plain: String = word.chars().filter(|c| *c != '_').collect();
    let lower = plain.to_ascii_lowercase();
    match (lower.strip_prefix("0x"), lower.strip_prefix("0b")) {
        (Some(digits), _) => u64::from_str_radix(digits, 16).ok(),
        (_, Some(digits)) => u64::from_str_radix(digits, 2).ok(),
        _ => lower.parse().ok(),
    }
}

struct ExpressionParser<'a> {
    text: &'a str,
    tokens: Vec<(usize, ExpressionToken)>,
    next: usize,
    depth: usize,
}

impl ExpressionParser<'_> {
    fn peek(&self) -> Option<&ExpressionToken> {
        self.tokens.get(self.next).map(|it| &it.1)
    }

    fn takes(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Some(ExpressionToken::Mark(it)) if *it == mark);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Result<(), DebugError> {
        if self.takes(mark) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{mark}`")))
        }
    }

    fn unexpected(&self, wanted: &str) -> DebugError {
        match self.tokens.get(self.next) {
            Some((at, _)) => DebugError::new(format!(
                "{wanted} is expected at `{}`, column {}",
                &self.text[*at..],
                at + 1
            )),
            None => DebugError::new(format!("{wanted} is expected at the end")),
        }
    }

    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, DebugError>,
    ) -> Result<T, DebugError> {
        if self.depth == MAX_DEPTH {
            return Err(DebugError::new("the expression is nested too deeply"));
        }
        self.depth += 1;
        let done = inner(self);
        self.depth -= 1;
        done
    }

    fn choice(&mut self) -> Result<ExpressionNode, DebugError> {
        self.deeper(|it| {
            let condition = it.binary(0)?;
            if !it.takes("?") {
                return Ok(condition);
            }
            let yes = it.choice()?;
            it.expect(":")?;
            let no = it.choice()?;
            Ok(ExpressionNode::Choice(
                condition.into(),
                yes.into(),
                no.into(),
            ))
        })
    }

    fn binary(&mut self, level: usize) -> Result<ExpressionNode, DebugError> {
        let Some(operators) = BINDING.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        loop {
            let found = operators.iter().find(|(mark, _)| self.takes(mark));
            let Some((_, operator)) = found else {
                return Ok(left);
            };
            let right = self.binary(level + 1)?;
            left = ExpressionNode::Binary(*operator, left.into(), right.into());
        }
    }

    fn unary(&mut self) -> Result<ExpressionNode, DebugError> {
        for (mark, operator) in [
            ("-", Unary::Minus),
            ("!", Unary::Not),
            ("~", Unary::Complement),
        ] {
            if self.takes(mark) {
                let inner = self.deeper(Self::unary)?;
                return Ok(ExpressionNode::Unary(operator, inner.into()));
            }
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<ExpressionNode, DebugError> {
        if self.takes("(") {
            let inner = self.choice()?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.peek().cloned() {
            Some(ExpressionToken::Number(value)) => {
                self.next += 1;
                Ok(ExpressionNode::Constant(value))
            }
            Some(ExpressionToken::Name(name)) => {
                self.next += 1;
                self.name(name)
            }
            _ => Err(self.unexpected("a name or a number")),
        }
    }

    fn name(&mut self, name: String) -> Result<ExpressionNode, DebugError> {
        if self.takes("[") {
            let address = self.choice()?;
            self.expect("]")?;
            return Ok(match Memory::named(&name) {
                Some(memory) => ExpressionNode::Word(memory, address.into()),
                None => ExpressionNode::Named(name, address.into()),
            });
        }
        if self.takes("(") {
            return self.call(&name);
        }
        let own = match name.as_str() {
            "cycle" => Some(RunNumber::Cycle),
            "packet" => Some(RunNumber::Packet),
            "me" => Some(RunNumber::Me),
            "context" => Some(RunNumber::Context),
            "pc" => Some(RunNumber::Pc),
            _ => None,
        };
        Ok(match (own, numbered(&name)) {
            (Some(own), _) => ExpressionNode::Own(own),
            (None, Some(operand)) => ExpressionNode::Register(operand, side_in(operand)),
            (None, None) => ExpressionNode::Name(name),
        })
    }

    /// The text between parentheses, which is one name or number.
    fn argument(&mut self) -> Result<String, DebugError> {
        let from = self.tokens.get(self.next).map(|it| it.0);
        while self.next < self.tokens.len()
            && !matches!(self.peek(), Some(ExpressionToken::Mark(")")))
        {
            self.next += 1;
        }
        let to = self.tokens.get(self.next).map(|it| it.0);
        self.expect(")")?;
        match (from, to) {
            (Some(from), Some(to)) if from < to => Ok(self.text[from..to].trim().to_owned()),
            _ => Err(DebugError::new("there is nothing between the parentheses")),
        }
    }

    fn field(&mut self, of: &str, known: &[&str]) -> Result<String, DebugError> {
        let found = self.takes(".");
        match self.peek().cloned() {
            Some(ExpressionToken::Name(field)) if found && known.contains(&field.as_str()) => {
                self.next += 1;
                Ok(field)
            }
            _ => Err(self.unexpected(&format!("{of} and then `.{}`", known.join("` or `.")))),
        }
    }

    fn call(&mut self, function: &str) -> Result<ExpressionNode, DebugError> {
        match function {
            "ring" | "queue" => {
                let name = self.argument()?;
                let field = self.field("a ring", &["fill", "count", "size"])?;
                let of = if field == "size" {
                    RingField::Size
                } else {
                    RingField::Fill
                };
                Ok(ExpressionNode::Ring(name, of))
            }
            "signal" => Ok(ExpressionNode::Signal(self.argument()?)),
            "out" => {
                let name = self.argument()?;
                Ok(match numbered(&name) {
                    Some(operand) => ExpressionNode::Register(operand, TransferDirection::Write),
                    None => ExpressionNode::Out(name),
                })
            }
            "cam" => {
                let entry = self.choice()?;
                self.expect(")")?;
                let field = self.field("an entry", &["tag", "state"])?;
                Ok(ExpressionNode::Cam(entry.into(), field == "state"))
            }
            "csr" => {
                let name = self.argument()?;
                local_csr::by_name(&name)
                    .map(ExpressionNode::Csr)
                    .ok_or_else(|| {
                        let names = local_csr::all().iter().map(|it| it.name);
                        DebugError::new(format!("no local CSR is called `{name}`"))
                            .or_similar(&name.to_uppercase(), names)
                    })
            }
            other => Err(
                DebugError::new(format!("there is no function `{other}`")).or_similar(
                    other,
                    ["ring", "queue", "signal", "out", "cam", "csr"].into_iter(),
                ),
            ),
        }
    }
}

/// The side of a register that is meant by default.
fn side_in(operand: Operand) -> TransferDirection {
    match operand {
        Operand::STransfer(_) | Operand::DTransfer(_) => TransferDirection::Read,
        _ => TransferDirection::Both,
    }
}

/// `$3`, `$$3`, `@a3`, `@b3`. Names without a sigil may also be defined by the program and are
/// looked up later.
fn numbered(name: &str) -> Option<Operand> {
    let below = |digits: &str, limit: u8| -> Option<u8> {
        let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        digits.parse().ok().filter(|it| plain && *it < limit)
    };
    if let Some(digits) = name.strip_prefix("$$") {
        return below(digits, 32).map(Operand::DTransfer);
    }
    if let Some(digits) = name.strip_prefix('$') {
        return below(digits, 32).map(Operand::STransfer);
    }
    if let Some(digits) = name.strip_prefix("n$") {
        return below(digits, 32).map(Operand::Nn);
    }
    let absolute = name.strip_prefix('@')?;
    let (bank, digits) = bank(absolute)?;
    below(digits, 128).map(|number| Operand::GprAbsolute(bank, number))
}

/// `a3` or `b3`, which may also be a name in the program.
pub(super) fn relative(name: &str) -> Option<Operand> {
    let (bank, digits) = bank(name)?;
    let number = digits.parse().ok().filter(|number| *number < 32)?;
    Some(Operand::Gpr(bank, number))
}

fn bank(name: &str) -> Option<(Bank, &str)> {
    match (name.strip_prefix('a'), name.strip_prefix('b')) {
        (Some(digits), _) => Some((Bank::A, digits)),
        (_, Some(digits)) => Some((Bank::B, digits)),
        _ => None,
    }
}
