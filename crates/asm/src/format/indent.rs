//! How far statements are indented.

use crate::front::lexer::RawLine;
use crate::front::preprocess::Directive;
use crate::front::token::{Token, TokenKind};

/// Columns of one level.
const STEP: usize = 4;

/// What declares something or speaks of the whole program: outside of blocks it stands at
/// the margin, among what it belongs to.
const DECLARATIONS: &[&str] = &[
    ".reg",
    ".sig",
    ".xfer_order",
    ".xfer_order_rd",
    ".xfer_order_wr",
    ".addr",
    ".areg",
    ".breg",
    ".reg_addr",
    ".num_contexts",
    ".init_nn_mode",
    ".init",
    ".init_ctx",
    ".import_var",
    ".operand_synonym",
];

/// What stands at the margin wherever no structured directive is around it.
const BLOCKS: &[&str] = &[
    ".begin",
    ".end",
    ".local",
    ".endlocal",
    ".subroutine",
    ".endsub",
];

/// The blocks and structured directives around a line.
#[derive(Clone, Copy, Default)]
struct Depth {
    blocks: usize,
    structured: usize,
    in_macro: bool,
}

/// Follows the statements of a text.
#[derive(Default)]
pub(super) struct Indentation {
    now: Depth,
    /// The depth where each open condition of the preprocessor began: its other arm
    /// begins there too.
    conditions: Vec<Depth>,
    /// The depth outside of the macro that is being defined.
    outside: Depth,
}

impl Indentation {
    /// The column of a statement at this place.
    pub fn of_statement(&self) -> usize {
        STEP * (1 + self.now.structured)
    }

    /// Goes past a statement whose layout stays.
    pub fn follow(&mut self, line: Option<&RawLine>) {
        if line.is_some_and(|line| !line.is_wrong()) {
            self.take(line);
        }
    }

    /// The column of a statement, which is gone past.
    pub fn take(&mut self, line: Option<&RawLine>) -> usize {
        let Some(line) = line else {
            return self.of_statement();
        };
        if let Some((directive, _)) = &line.directive {
            self.direct(*directive);
            return 0;
        }
        let word = first_word(&line.tokens).map_or_else(String::new, |it| it.text.to_lowercase());
        let closes = matches!(
            &*word,
            ".endif"
                | ".endw"
                | ".until"
                | ".until_unsigned"
                | ".else"
                | ".elif"
                | ".elif_unsigned"
        );
        let opens = matches!(
            &*word,
            ".if"
                | ".if_unsigned"
                | ".if_likely"
                | ".if_unlikely"
                | ".else"
                | ".elif"
                | ".elif_unsigned"
                | ".while"
                | ".while_unsigned"
                | ".repeat"
        );
        let now = &mut self.now;
        if closes {
            now.structured = now.structured.saturating_sub(1);
        }
        if matches!(&*word, ".end" | ".endlocal") {
            now.blocks = now.blocks.saturating_sub(1);
        }
        let at_margin = now.structured == 0
            && (BLOCKS.contains(&&*word)
                || (DECLARATIONS.contains(&&*word) && now.blocks == 0 && !now.in_macro));
        let labelled = line
            .tokens
            .first()
            .is_some_and(|it| it.kind == TokenKind::Label);
        let column = if at_margin || labelled {
            0
        } else {
            self.of_statement()
        };
        if opens {
            self.now.structured += 1;
        }
        if matches!(&*word, ".begin" | ".local") {
            self.now.blocks += 1;
        }
        column
    }

    fn direct(&mut self, directive: Directive) {
        match directive {
            Directive::If | Directive::Ifdef | Directive::Ifndef => self.conditions.push(self.now),
            Directive::Elif | Directive::Else => {
                if let Some(began) = self.conditions.last() {
                    self.now = *began;
                }
            }
            Directive::Endif => {
                self.conditions.pop();
            }
            Directive::Macro => {
                self.outside = self.now;
                self.now = Depth {
                    in_macro: true,
                    ..Depth::default()
                };
            }
            Directive::Endm => self.now = self.outside,
            _ => {}
        }
    }
}

/// The first token behind the labels of a statement.
fn first_word(tokens: &[Token]) -> Option<&Token> {
    let labels = tokens
        .chunks_exact(2)
        .take_while(|pair| pair[0].kind == TokenKind::Label && pair[1].is(":"))
        .count();
    tokens.get(2 * labels)
}
