//! Generation of statements for lowering: tokens, labels and registers.

use std::collections::BTreeSet;

use crate::directives::{DeclarationDirective, DirectiveName};
use crate::front::statement::{Body, Directive, Instruction, SourcePlace, Statement};
use crate::front::token::{Token, TokenKind};

/// Generates statements for one construct after another.
pub struct StatementWriter<'n> {
    /// The output: generated statements among those from the source.
    pub out: Vec<Statement>,
    /// The place given to the next statements.
    pub place: SourcePlace,
    /// Index of the source statement that they come from.
    pub statement: usize,
    /// Names used in the source.
    names: &'n BTreeSet<String>,
    count: usize,
}

impl<'n> StatementWriter<'n> {
    /// Creates a writer without statements.
    #[must_use]
    pub fn new(names: &'n BTreeSet<String>, place: SourcePlace) -> Self {
        Self {
            out: Vec::new(),
            place,
            statement: 0,
            names,
            count: 0,
        }
    }

    fn token(&self, kind: TokenKind, text: &str, joined: bool) -> Token {
        Token {
            kind,
            text: text.into(),
            span: self.place.span,
            expansion: self.place.expansion,
            joined,
        }
    }

    /// Makes an operator or bracket.
    #[must_use]
    pub fn punct(&self, text: &str) -> Token {
        self.token(TokenKind::Punct, text, false)
    }

    /// Makes a name.
    #[must_use]
    pub fn ident(&self, text: &str) -> Token {
        self.token(TokenKind::Ident, text, false)
    }

    /// Makes a name directly after an operator.
    #[must_use]
    pub fn joined(&self, text: &str) -> Token {
        self.token(TokenKind::Ident, text, true)
    }

    /// Makes a number.
    #[must_use]
    pub fn number(&self, value: u64) -> Token {
        self.token(TokenKind::Number(value), &value.to_string(), false)
    }

    /// Makes a number directly after an operator.
    #[must_use]
    pub fn joined_number(&self, value: u64) -> Token {
        self.token(TokenKind::Number(value), &value.to_string(), true)
    }

    fn fresh(&mut self, stem: &str, end: &str) -> String {
        loop {
            self.count += 1;
            let name = format!("_{stem}_{}{end}", self.count);
            if !self.names.contains(&name) {
                return name;
            }
        }
    }

    /// Makes a new label.
    pub fn label(&mut self, stem: &str) -> Token {
        let name = self.fresh(stem, "#");
        let mut label = self.token(TokenKind::Label, &name, false);
        // The end of a construct may come from another macro than its
        // beginning, and the label must be visible in both.
        label.expansion = crate::source::ExpansionId::ROOT;
        label
    }

    /// Makes a new register and declares it at this point.
    pub fn temporary(&mut self) -> Token {
        let name = self.fresh("value", "");
        let token = self.ident(&name);
        self.out.push(Statement {
            labels: Vec::new(),
            body: Body::Directive(Directive::new(
                DirectiveName::Declaration(DeclarationDirective::Reg),
                self.place,
                vec![token.clone()],
            )),
        });
        token
    }

    /// Defines a label at this point.
    pub fn define(&mut self, label: Token) {
        self.out.push(Statement {
            labels: vec![label],
            body: Body::Empty,
        });
    }

    /// Emits an instruction.
    pub fn emit(&mut self, mnemonic: &str, operands: Vec<Vec<Token>>) {
        self.out.push(Statement {
            labels: Vec::new(),
            body: Body::Instruction(Instruction {
                mnemonic: mnemonic.to_owned(),
                mnemonic_place: self.place,
                operands,
                options: Vec::new(),
                place: self.place,
                raw: None,
                generated: true,
                statement: self.statement,
            }),
        });
    }

    /// Emits a branch with its target as the last operand.
    pub fn branch(&mut self, mnemonic: &str, mut operands: Vec<Vec<Token>>, target: &Token) {
        operands.push(vec![target.clone()]);
        self.emit(mnemonic, operands);
    }

    /// Whether control cannot fall through to the next statement.
    #[must_use]
    pub fn cannot_fall_through(&self) -> bool {
        let Some(last) = self.out.last() else {
            return false;
        };
        match &last.body {
            Body::Instruction(instruction) => {
                matches!(instruction.mnemonic.as_str(), "br" | "rtn" | "jump")
                    && !instruction.options.iter().any(|o| o.name == "defer")
            }
            _ => false,
        }
    }
}
