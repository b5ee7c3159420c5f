//! The grammar of the conditions of structured assembly.

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::statement::SourcePlace;
use crate::front::token::{Token, TokenKind, arguments};
use crate::spelling::closest;
use crate::vocabulary::{ConditionFunction, Function};

/// Maximum nesting depth of a condition.
const MAX_DEPTH: usize = 64;
/// Maximum number of operators between parts of a condition; each adds a level to the tree that is
/// lowered.
const MAX_OPERATORS: usize = 512;

/// When the value of a part becomes known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BindingTime {
    /// At run time.
    RunTime,
    /// After allocation or at load time.
    Deferred,
    /// During assembly.
    AssemblyTime,
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `||`
    OrElse,
    /// `&&`
    AndAlso,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// One of `+ - & | ^`, by its ALU operator.
    Alu(&'static str),
    /// `<<` or `>>`.
    Shift(&'static str),
    /// `*`, `/` or `%`, for constants only.
    Constant,
}

impl Operator {
    fn of(token: &Token) -> Option<(Self, u8)> {
        if token.kind != TokenKind::Punct {
            return None;
        }
        Some(match &*token.text {
            "*" | "/" | "%" => (Self::Constant, 10),
            "+" => (Self::Alu("+"), 9),
            "-" => (Self::Alu("-"), 9),
            "<<" => (Self::Shift("<<"), 8),
            ">>" => (Self::Shift(">>"), 8),
            "<" => (Self::Less, 7),
            "<=" => (Self::LessOrEqual, 7),
            ">" => (Self::Greater, 7),
            ">=" => (Self::GreaterOrEqual, 7),
            "==" => (Self::Equal, 6),
            "!=" => (Self::NotEqual, 6),
            "&" => (Self::Alu("AND"), 5),
            "^" => (Self::Alu("XOR"), 4),
            "|" => (Self::Alu("OR"), 3),
            "&&" => (Self::AndAlso, 2),
            "||" => (Self::OrElse, 1),
            _ => return None,
        })
    }

    /// Whether the operator compares two values.
    const fn compares(self) -> bool {
        self.is_test() && !matches!(self, Self::OrElse | Self::AndAlso)
    }

    /// Whether the result is a truth value.
    #[must_use]
    pub const fn is_test(self) -> bool {
        !matches!(self, Self::Alu(_) | Self::Shift(_) | Self::Constant)
    }
}

/// A node of a condition's syntax tree.
#[derive(Clone, Debug)]
pub struct ConditionNode {
    /// The kind of node.
    pub kind: ConditionKind,
    /// Its tokens, including parentheses.
    pub tokens: Vec<Token>,
    /// When its value becomes known.
    pub known: BindingTime,
}

/// The kind of a condition's node.
#[derive(Clone, Debug)]
pub enum ConditionKind {
    /// A constant or register operand.
    Leaf,
    /// `!x`
    Not(Box<ConditionNode>),
    /// `~x`
    Complement(Box<ConditionNode>),
    /// `-x`
    Minus(Box<ConditionNode>),
    /// `x op y`
    Binary(Operator, Box<ConditionNode>, Box<ConditionNode>),
    /// `BIT(x, n)`
    Bit(Box<ConditionNode>, Box<ConditionNode>),
    /// `BYTE(x, n)`
    Byte(Box<ConditionNode>, Box<ConditionNode>),
    /// No operand before a comparison, as in `(==0)`: tests the current condition codes.
    Codes,
    /// `COUT`
    Carry,
    /// `CTX()`
    Context,
    /// `SIGNAL(s)`
    Signal(Vec<Token>),
    /// `INP_STATE(name)`
    Input(Vec<Token>),
}

impl ConditionNode {
    /// Returns the node's place in the source.
    #[must_use]
    pub fn place(&self, otherwise: SourcePlace) -> SourcePlace {
        SourcePlace::of_all(&self.tokens).unwrap_or(otherwise)
    }
}

/// The facts about names that parsing a condition needs.
pub trait NameFacts {
    /// Whether a name is an import variable.
    fn is_import(&self, name: &str) -> bool;
    /// Whether a name denotes a constant.
    fn is_constant(&self, name: &str) -> bool;
}

/// Parses a condition.
///
/// # Errors
/// Returns a `condition` or `syntax` error at the offending token.
pub fn parse(
    tokens: &[Token],
    place: SourcePlace,
    names: &dyn NameFacts,
) -> Result<ConditionNode, Diagnostic> {
    let mut parser = ConditionParser {
        tokens,
        at: 0,
        depth: 0,
        operators: 0,
        place,
        names,
    };
    let node = parser.binary(1)?;
    match parser.tokens.get(parser.at) {
        None => Ok(node),
        Some(extra) => Err(ConditionParser::unexpected(extra)),
    }
}

struct ConditionParser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    operators: usize,
    place: SourcePlace,
    names: &'a dyn NameFacts,
}

impl ConditionParser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn unexpected(token: &Token) -> Diagnostic {
        SourcePlace::of(token)
            .error(
                codes::CONDITION,
                format!("`{}` does not belong in a condition here", token.text),
            )
            .label("not expected here")
            .help("write comparisons such as `x == 1`, joined by `&&`, `||`, `!` and parentheses")
    }

    fn missing(&self) -> Diagnostic {
        let mut place = self.tokens.last().map_or(self.place, SourcePlace::of);
        place.span.lo = place.span.hi;
        place
            .error(codes::CONDITION, "a part of the condition is missing")
            .label("something is missing here")
            .help("write the condition in parentheses, such as `(x == 1)`")
    }

    fn tokens_since(&self, start: usize) -> Vec<Token> {
        self.tokens[start..self.at].to_vec()
    }

    fn binary(&mut self, least: u8) -> Result<ConditionNode, Diagnostic> {
        let start = self.at;
        let mut left = self.unary()?;
        while let Some((operator, strength)) = self.peek().and_then(Operator::of) {
            if strength < least {
                break;
            }
            let at = self.at;
            self.at += 1;
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                let joint = self.tokens.get(at).map_or(self.place, SourcePlace::of);
                return Err(joint
                    .error(
                        codes::CONDITION,
                        format!("the condition has more than {MAX_OPERATORS} operators"),
                    )
                    .label("one too many")
                    .help("split it over several `.if`s"));
            }
            let right = self.binary(strength + 1)?;
            // Condition codes are not a value to compute with.
            let misplaced = matches!(right.kind, ConditionKind::Codes)
                || matches!(left.kind, ConditionKind::Codes) && !operator.compares();
            if misplaced {
                return Err(self
                    .tokens
                    .get(at)
                    .map_or_else(|| self.missing(), Self::unexpected));
            }
            let known = left.known.min(right.known);
            left = ConditionNode {
                kind: ConditionKind::Binary(operator, Box::new(left), Box::new(right)),
                tokens: self.tokens_since(start),
                known,
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<ConditionNode, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self
                .place
                .error(
                    codes::CONDITION,
                    format!("the condition nests more than {MAX_DEPTH} deep"),
                )
                .help("split it over several `.if`s"));
        }
        let node = self.operand();
        self.depth -= 1;
        node
    }

    fn operand(&mut self) -> Result<ConditionNode, Diagnostic> {
        let start = self.at;
        let Some(first) = self.peek().cloned() else {
            return Err(self.missing());
        };
        match first.kind {
            TokenKind::Number(_) | TokenKind::Quoted | TokenKind::Str => {
                self.at += 1;
                Ok(self.leaf(start, BindingTime::AssemblyTime))
            }
            TokenKind::Label => {
                self.at += 1;
                Ok(self.leaf(start, BindingTime::Deferred))
            }
            TokenKind::Ident => self.name(start, &first),
            TokenKind::Punct => match &*first.text {
                "(" => {
                    self.at += 1;
                    let mut inner = self.binary(1)?;
                    match self.peek() {
                        Some(close) if close.is(")") => self.at += 1,
                        Some(other) => return Err(Self::unexpected(other)),
                        None => return Err(self.missing()),
                    }
                    // Parentheses around a register must not end up in an operand.
                    let bare = matches!(inner.kind, ConditionKind::Leaf)
                        && inner.known != BindingTime::AssemblyTime;
                    if !bare {
                        inner.tokens = self.tokens_since(start);
                    }
                    Ok(inner)
                }
                "==" | "!=" | "<" | "<=" | ">" | ">=" => Ok(ConditionNode {
                    kind: ConditionKind::Codes,
                    tokens: Vec::new(),
                    known: BindingTime::RunTime,
                }),
                "!" | "~" | "-" | "+" => {
                    self.at += 1;
                    let inner = self.unary()?;
                    let known = inner.known;
                    let inner = Box::new(inner);
                    let kind = match &*first.text {
                        "!" => ConditionKind::Not(inner),
                        "~" => ConditionKind::Complement(inner),
                        "-" => ConditionKind::Minus(inner),
                        _ => return Ok(*inner),
                    };
                    Ok(ConditionNode {
                        kind,
                        tokens: self.tokens_since(start),
                        known,
                    })
                }
                "&" => {
                    self.at += 1;
                    match self.peek() {
                        Some(name) if name.kind == TokenKind::Ident => self.at += 1,
                        Some(other) => return Err(Self::unexpected(other)),
                        None => return Err(self.missing()),
                    }
                    self.element()?;
                    Ok(self.leaf(start, BindingTime::Deferred))
                }
                "*" => {
                    self.at += 1;
                    match self.peek() {
                        Some(name)
                            if name.kind == TokenKind::Ident && name.text.contains("$index") =>
                        {
                            self.at += 1;
                        }
                        Some(other) => return Err(Self::unexpected(other)),
                        None => return Err(self.missing()),
                    }
                    self.element()?;
                    if self.peek().is_some_and(|t| t.is("++") || t.is("--")) {
                        self.at += 1;
                    }
                    Ok(self.leaf(start, BindingTime::RunTime))
                }
                _ => Err(Self::unexpected(&first)),
            },
        }
    }

    fn leaf(&self, start: usize, known: BindingTime) -> ConditionNode {
        ConditionNode {
            kind: ConditionKind::Leaf,
            tokens: self.tokens_since(start),
            known,
        }
    }

    /// Skips `[n]` after a name.
    fn element(&mut self) -> Result<(), Diagnostic> {
        if !self.peek().is_some_and(|token| token.is("[")) {
            return Ok(());
        }
        let rest = &self.tokens[self.at..];
        match rest.iter().position(|token| token.is("]")) {
            Some(close) => {
                self.at += close + 1;
                Ok(())
            }
            None => Err(self.missing()),
        }
    }

    fn name(&mut self, start: usize, first: &Token) -> Result<ConditionNode, Diagnostic> {
        self.at += 1;
        if self.peek().is_some_and(|token| token.is("(")) {
            return self.call(start, first);
        }
        if ConditionFunction::by_name(&first.text) == Some(ConditionFunction::Cout) {
            return Ok(ConditionNode {
                kind: ConditionKind::Carry,
                tokens: self.tokens_since(start),
                known: BindingTime::RunTime,
            });
        }
        self.element()?;
        let known = if self.names.is_import(&first.text) || self.names.is_constant(&first.text) {
            BindingTime::Deferred
        } else {
            BindingTime::RunTime
        };
        Ok(self.leaf(start, known))
    }

    fn call(&mut self, start: usize, function: &Token) -> Result<ConditionNode, Diagnostic> {
        let tokens = self.tokens;
        let Some((list, used)) = arguments(&tokens[self.at..]) else {
            return Err(self.missing());
        };
        self.at += used;
        let place = SourcePlace::of(function);
        let known = ConditionFunction::by_name(&function.text);
        let constant = Function::by_name(&function.text);
        let (wanted, soon) = match (known, constant) {
            (Some(ConditionFunction::Bit | ConditionFunction::Byte), _) => {
                (2, BindingTime::RunTime)
            }
            (Some(ConditionFunction::Signal | ConditionFunction::InpState), _) => {
                (1, BindingTime::RunTime)
            }
            (Some(ConditionFunction::Ctx), _) => (0, BindingTime::RunTime),
            (None, Some(Function::Mask)) => (1, BindingTime::Deferred),
            (None, Some(name)) if CONSTANTS.contains(&name) => {
                (list.len(), BindingTime::AssemblyTime)
            }
            // The carry is a name, not a function.
            (Some(ConditionFunction::Cout) | None, _) => return Err(unknown(function)),
        };
        if list.len() != wanted {
            return Err(place.error(
                codes::FUNCTION_ARGUMENT,
                format!(
                    "`{}` takes {wanted} argument{}, but {} are given",
                    function.text,
                    if wanted == 1 { "" } else { "s" },
                    list.len()
                ),
            ));
        }
        let part = |index: usize| parse(list[index], place, self.names).map(Box::new);
        let kind = match known {
            Some(ConditionFunction::Bit) => ConditionKind::Bit(part(0)?, part(1)?),
            Some(ConditionFunction::Byte) => ConditionKind::Byte(part(0)?, part(1)?),
            Some(ConditionFunction::Signal) => ConditionKind::Signal(list[0].to_vec()),
            Some(ConditionFunction::InpState) => ConditionKind::Input(list[0].to_vec()),
            Some(ConditionFunction::Ctx) => ConditionKind::Context,
            Some(ConditionFunction::Cout) => ConditionKind::Carry,
            None => ConditionKind::Leaf,
        };
        Ok(ConditionNode {
            kind,
            tokens: self.tokens_since(start),
            known: soon,
        })
    }
}

/// The functions of constant expressions that conditions may use.
const CONSTANTS: [Function; 4] = [
    Function::Log2,
    Function::Streq,
    Function::Strlen,
    Function::Strstr,
];

fn unknown(function: &Token) -> Diagnostic {
    let error = SourcePlace::of(function).error(
        codes::UNKNOWN_FUNCTION,
        format!("conditions have no function `{}`", function.text),
    );
    let names = { ConditionFunction::WORDS.iter() }
        .chain([Function::Mask.word()])
        .chain(CONSTANTS.iter().map(|name| name.word()))
        .map(|word| word.name);
    match closest(&function.text, names) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error
            .help("the functions are BIT, BYTE, SIGNAL, CTX and INP_STATE, and those of constants"),
    }
}
