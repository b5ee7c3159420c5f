//! Constant expressions in operands: numbers, addresses and imports denoted by names.

use npsim_isa::{Operand, msf_csr, physical_register};

use super::Selector;
use super::values::with_project_note;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::statement::SourcePlace;
use crate::front::token::{Token, TokenKind, arguments, element_tokens};
use crate::middle::program::{BoundExpression, SignalRef, SymbolReference};
use crate::middle::scope::{Element, NameSpace, physical_signal};
use crate::vocabulary::Function;

impl Selector<'_> {
    /// Resolves the references in a constant expression.
    pub fn expression(&mut self, tokens: &[Token]) -> Result<BoundExpression, Diagnostic> {
        let mut expression = BoundExpression::default();
        let mut i = 0;
        while i < tokens.len() {
            let token = &tokens[i];
            let after_value = expression
                .tokens
                .last()
                .is_some_and(|last: &Token| last.kind != TokenKind::Punct || last.is(")"));
            let address_of = token.is("&")
                && !after_value
                && tokens
                    .get(i + 1)
                    .is_some_and(|t| t.kind == TokenKind::Ident);
            if address_of {
                let name = &tokens[i + 1];
                let index = element_tokens(&tokens[i + 2..]);
                i += 2 + index.map_or(0, |index| index.len() + 2);
                let (reference, odd) = self.address_of(name, index)?;
                push(&mut expression, name, reference, odd);
                continue;
            }
            match token.kind {
                TokenKind::Label => {
                    expression.references.push((
                        expression.tokens.len(),
                        SymbolReference::Label(token.clone()),
                    ));
                    expression.tokens.push(token.clone());
                }
                TokenKind::Ident => {
                    let called = tokens.get(i + 1).is_some_and(|next| next.is("("));
                    if called && Function::by_name(&token.text) == Some(Function::Mask) {
                        i += 1 + self.mask(&mut expression, token, &tokens[i + 1..])?;
                        continue;
                    }
                    let import = self.symbols.imports.contains_key(&*token.text)
                        && !self.symbols.is_declared(self.scope, &token.text);
                    if import {
                        let reference = SymbolReference::Import(token.clone());
                        let at = expression.tokens.len();
                        expression.references.push((at, reference));
                    }
                    expression.tokens.push(if called || import {
                        token.clone()
                    } else {
                        self.named_constant(token)?
                    });
                }
                _ => expression.tokens.push(token.clone()),
            }
            i += 1;
        }
        Ok(expression)
    }

    /// Translates `mask(name)`: one bit at the number of a signal or register. Returns the number
    /// of tokens after the word.
    fn mask(
        &mut self,
        expression: &mut BoundExpression,
        word: &Token,
        rest: &[Token],
    ) -> Result<usize, Diagnostic> {
        let argument = arguments(rest).and_then(|(list, used)| match list.as_slice() {
            [one] => one.split_first().map(|(name, index)| (name, index, used)),
            _ => None,
        });
        let Some((name, index, used)) = argument.filter(|(n, ..)| n.kind == TokenKind::Ident)
        else {
            return Err(SourcePlace::of(word)
                .error(
                    codes::FUNCTION_ARGUMENT,
                    "mask takes one signal or register",
                )
                .help("write `mask(name)`"));
        };
        let (reference, odd) = self.address_of(name, element_tokens(index))?;
        expression
            .tokens
            .push(token_like(word, TokenKind::Punct, "("));
        expression
            .tokens
            .push(token_like(word, TokenKind::Number(1), "1"));
        expression
            .tokens
            .push(token_like(word, TokenKind::Punct, "<<"));
        push(expression, name, reference, odd);
        expression
            .tokens
            .push(token_like(word, TokenKind::Punct, ")"));
        Ok(used)
    }

    /// Resolves `&name`, and whether to add one for the second signal of a pair.
    fn address_of(
        &mut self,
        name: &Token,
        index: Option<&[Token]>,
    ) -> Result<(SymbolReference, bool), Diagnostic> {
        if let Some(index) = index
            && let Some((id, odd)) = self.half(name, index)?
        {
            self.symbols.signals[id].private = true;
            return Ok((SymbolReference::Signal(SignalRef::Symbol(id)), odd));
        }
        let reference = self.symbol(name, index)?;
        Ok((reference, false))
    }

    /// Resolves the symbol whose number `&name` is.
    fn symbol(
        &mut self,
        name: &Token,
        index: Option<&[Token]>,
    ) -> Result<SymbolReference, Diagnostic> {
        // If a signal and a register share the name, programs mean the signal's number.
        match self.find(name, index, NameSpace::Signal)? {
            Some(Element::Signal(id)) => {
                // The program passes its number on, so it may be raised from elsewhere.
                self.symbols.signals[id].private = true;
                return Ok(SymbolReference::Signal(SignalRef::Symbol(id)));
            }
            Some(Element::Register { read, write }) => {
                for id in [read, write].into_iter().flatten() {
                    self.symbols.variables[id].private = true;
                }
                let (Some(id), true) = (
                    read.or(write),
                    read.is_none() || write.is_none() || read == write,
                ) else {
                    return Err(SourcePlace::of(name)
                        .error(
                            codes::AMBIGUOUS_ADDRESS,
                            format!("`&{}` could mean the IN or the OUT register", name.text),
                        )
                        .help("declare two names, one `read` and one `write`"));
                };
                return Ok(SymbolReference::Register(id));
            }
            None => {}
        }
        if let Some(number) = physical_signal(&name.text) {
            return Ok(SymbolReference::Number(number));
        }
        match physical_register(&name.text) {
            Some(
                Operand::STransfer(n)
                | Operand::DTransfer(n)
                | Operand::Nn(n)
                | Operand::Gpr(_, n)
                | Operand::GprAbsolute(_, n),
            ) => Ok(SymbolReference::Number(n)),
            _ => Err(self.undefined_register(name)),
        }
    }

    /// Resolves a bare name in an expression: the address of an MSF register, else an error.
    fn named_constant(&self, name: &Token) -> Result<Token, Diagnostic> {
        if self.symbols.is_declared(self.scope, &name.text)
            || physical_register(&name.text).is_some()
        {
            return Err(SourcePlace::of(name)
                .error(
                    codes::NOT_CONSTANT,
                    format!("`{}` has no value before the program runs", name.text),
                )
                .help(format!(
                    "write `&{}` if its number is meant; otherwise compute with `alu`",
                    name.text
                )));
        }
        if let Some(address) = msf_csr::by_name(&name.text) {
            return Ok(Token {
                kind: TokenKind::Number(u64::from(address)),
                text: address.to_string().into(),
                ..name.clone()
            });
        }
        let diagnostic = SourcePlace::of(name).error(
            codes::NOT_CONSTANT,
            format!("`{}` is not defined", name.text),
        );
        Err(match self.similar(&name.text, NameSpace::Register) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => with_project_note(diagnostic, &name.text)
                .help("define it with `#define`, or declare a register with `.reg`"),
        })
    }
}

/// Makes a token at the place of another one.
fn token_like(like: &Token, kind: TokenKind, text: &str) -> Token {
    Token {
        kind,
        text: text.into(),
        ..like.clone()
    }
}

/// Adds a name that stands for a number, or for that number plus one.
fn push(expression: &mut BoundExpression, name: &Token, reference: SymbolReference, more: bool) {
    let tokens = &mut expression.tokens;
    if more {
        tokens.push(token_like(name, TokenKind::Punct, "("));
    }
    expression.references.push((tokens.len(), reference));
    tokens.push(name.clone());
    if more {
        tokens.push(token_like(name, TokenKind::Punct, "+"));
        tokens.push(token_like(name, TokenKind::Number(1), "1"));
        tokens.push(token_like(name, TokenKind::Punct, ")"));
    }
}
