//! The indentation of statements.

use crate::directives::{Block, Role, role};
use crate::front::lexer::{HashWord, RawLine};
use crate::front::token::{TokenKind, split_labels};

/// Columns per level.
const STEP: usize = 4;
/// Deepest level shown; deeper statements are indented like this one.
const MAX_LEVELS: usize = 40;

/// The nesting of scopes and structured directives around a line.
#[derive(Clone, Copy, Default)]
struct Depth {
    scopes: usize,
    structured: usize,
    in_macro: bool,
}

impl Depth {
    fn of(&mut self, block: Block) -> Option<&mut usize> {
        match block {
            Block::Scope => Some(&mut self.scopes),
            Block::Subroutine
            | Block::Macro
            | Block::PreprocessorCondition
            | Block::PreprocessorLoop => None,
            Block::Condition | Block::Loop | Block::Repeat => Some(&mut self.structured),
        }
    }

    fn enter(&mut self, block: Block) {
        if let Some(depth) = self.of(block) {
            *depth += 1;
        }
    }

    fn leave(&mut self, block: Block) {
        if let Some(depth) = self.of(block) {
            *depth = depth.saturating_sub(1);
        }
    }
}

/// Tracks the nesting through the statements of a text.
#[derive(Default)]
pub(super) struct Indentation {
    now: Depth,
    /// The depth at the start of each open preprocessor condition, where its other arm begins too.
    conditions: Vec<Depth>,
    /// The depth outside the macro that is being defined.
    outside: Depth,
}

impl Indentation {
    /// Returns the column of a statement at this point.
    pub fn of_statement(&self) -> usize {
        STEP * (1 + self.now.structured).min(MAX_LEVELS)
    }

    /// Advances past a statement whose layout is kept.
    pub fn follow(&mut self, line: Option<&RawLine>) {
        if line.is_some_and(|line| !line.is_wrong()) {
            self.take(line);
        }
    }

    /// Returns the column of a statement and advances past it.
    pub fn take(&mut self, line: Option<&RawLine>) -> usize {
        let Some(line) = line else {
            return self.of_statement();
        };
        if let Some((directive, _)) = &line.directive {
            if let HashWord::Directive(directive) = directive {
                self.preprocess(directive.role());
            }
            return 0;
        }
        let role = split_labels(&line.tokens)
            .1
            .first()
            .and_then(|it| role(&it.text));
        if let Some(Role::Closes(block) | Role::Continues(block)) = role {
            self.now.leave(block);
        }
        // Name scopes and declarations start at the margin, like the code they belong to.
        let now = self.now;
        let at_margin = match role {
            Some(Role::Opens(block) | Role::Closes(block)) => !block.is_structured(),
            Some(Role::Declares) => now.scopes == 0 && !now.in_macro,
            _ => false,
        };
        let first = line.tokens.first();
        let labelled = first.is_some_and(|it| it.kind == TokenKind::Label);
        let column = if labelled || (at_margin && now.structured == 0) {
            0
        } else {
            self.of_statement()
        };
        if let Some(Role::Opens(block) | Role::Continues(block)) = role {
            self.now.enter(block);
        }
        column
    }

    fn preprocess(&mut self, role: Role) {
        match role {
            Role::Opens(Block::PreprocessorCondition) => self.conditions.push(self.now),
            Role::Continues(Block::PreprocessorCondition) => {
                if let Some(began) = self.conditions.last() {
                    self.now = *began;
                }
            }
            Role::Closes(Block::PreprocessorCondition) => {
                self.conditions.pop();
            }
            Role::Opens(Block::Macro) => {
                self.outside = self.now;
                self.now = Depth {
                    in_macro: true,
                    ..Depth::default()
                };
            }
            Role::Closes(Block::Macro) => self.now = self.outside,
            // The lines of a loop are indented like those around it.
            Role::Opens(_)
            | Role::Continues(_)
            | Role::Closes(_)
            | Role::Declares
            | Role::Plain => {}
        }
    }
}
