//! The step between statements and instructions: structured control flow
//! becomes compares and branches here.
//!
//! Statements that mean themselves pass through. The labels and registers that
//! the constructs need begin with `_` and differ from all names of the source.

mod arms;
mod condition;
mod loops;
mod test;
mod writer;

use std::collections::BTreeSet;

use npsim_isa::msf_csr;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::meant;
use crate::front::statement::{Body, Directive, Place, Statement};
use crate::front::token::Token;
use condition::{Names, Node};
use test::Tester;
use writer::Writer;

/// What a structured directive does, and whether its compares are unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    If(bool),
    Elif(bool),
    Else,
    Endif,
    While(bool),
    Endw,
    Repeat,
    Until(bool),
    Break,
    Continue,
}

impl Word {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            ".if" | ".if_likely" | ".if_unlikely" | ".if_signed" => Self::If(false),
            ".if_unsigned" | ".if_likely_unsigned" | ".if_unlikely_unsigned" => Self::If(true),
            ".elif" | ".elif_likely" | ".elif_unlikely" | ".elif_signed" => Self::Elif(false),
            ".elif_unsigned" => Self::Elif(true),
            ".else" => Self::Else,
            ".endif" => Self::Endif,
            ".while" | ".while_signed" => Self::While(false),
            ".while_unsigned" => Self::While(true),
            ".endw" => Self::Endw,
            ".repeat" => Self::Repeat,
            ".until" | ".until_signed" => Self::Until(false),
            ".until_unsigned" => Self::Until(true),
            ".break" => Self::Break,
            ".continue" => Self::Continue,
            _ => return None,
        })
    }
}

/// Directives that speak of the point of the program where they stand.
const HINTS: &[&str] = &[
    ".set",
    ".set_rd",
    ".set_wr",
    ".use",
    ".use_rd",
    ".use_wr",
    ".set_sig",
    ".io_completed",
    ".reentry",
];

/// An open construct.
struct Open {
    name: String,
    place: Place,
    kind: Kind,
    /// What stands here now is never executed and makes no words.
    dropped: bool,
    /// An enclosing block was left out when this one began.
    outer_dropped: bool,
}

enum Kind {
    If {
        /// Where the next arm begins, if the last test can fail.
        next: Option<Token>,
        end: Token,
        end_used: bool,
        /// An arm whose condition is always true has been there.
        decided: bool,
        otherwise: Option<Place>,
    },
    While {
        top: Token,
        end: Token,
        end_used: bool,
    },
    Repeat {
        top: Token,
        test: Token,
        test_used: bool,
        end: Token,
        end_used: bool,
    },
}

/// What the source says of names before they are declared.
struct Known {
    imports: BTreeSet<String>,
    declared: BTreeSet<String>,
}

impl Names for Known {
    fn is_import(&self, name: &str) -> bool {
        self.imports.contains(name)
    }

    fn is_constant(&self, name: &str) -> bool {
        !self.declared.contains(name) && msf_csr::by_name(name).is_some()
    }
}

/// Lowers a program; what cannot be lowered becomes a diagnostic.
pub fn lower(mut statements: Vec<Statement>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Statement> {
    for (number, statement) in statements.iter_mut().enumerate() {
        if let Body::Instruction(instruction) = &mut statement.body {
            instruction.statement = number;
        }
    }
    let structured = statements.iter().find_map(|statement| {
        let directive = directive_of(statement)?;
        Word::of(&directive.name).map(|_| directive.place)
    });
    let Some(place) = structured else {
        return statements;
    };
    for statement in &mut statements {
        // Told once, and taken for what it stands for, so that its block has an end.
        if let Body::Directive(directive) = &mut statement.body
            && let Some(meant) = meant(&directive.name)
        {
            diagnostics.push(directive.unsupported());
            meant.clone_into(&mut directive.name);
        }
    }
    let mut names = BTreeSet::new();
    let mut known = Known {
        imports: BTreeSet::new(),
        declared: BTreeSet::new(),
    };
    for statement in &statements {
        names.extend(
            statement
                .labels
                .iter()
                .map(|label| String::from(&*label.text)),
        );
        match &statement.body {
            Body::Empty => {}
            Body::Instruction(instruction) => {
                for token in instruction.operands.iter().flatten() {
                    names.insert(String::from(&*token.text));
                }
            }
            Body::Directive(directive) => {
                let texts = directive.arguments.iter().map(|t| String::from(&*t.text));
                match directive.name.as_str() {
                    ".import_var" | ".import" => known.imports.extend(texts.clone()),
                    ".reg" | ".sig" | ".local" => known.declared.extend(texts.clone()),
                    _ => {}
                }
                names.extend(texts);
            }
        }
    }
    let mut lowering = Lowering {
        writer: Writer::new(&names, place),
        known: &known,
        open: Vec::new(),
        diagnostics,
    };
    let labelled = labels_ahead(&statements);
    for (number, (statement, labelled)) in statements.iter().zip(labelled).enumerate() {
        lowering.writer.statement = number;
        lowering.statement(statement, labelled);
    }
    for open in std::mem::take(&mut lowering.open) {
        let closer = match open.kind {
            Kind::If { .. } => ".endif",
            Kind::While { .. } => ".endw",
            Kind::Repeat { .. } => ".until",
        };
        // A missing end must not be reported as missing labels too.
        let labels = match open.kind {
            Kind::If { next, end, .. } => [next, Some(end)],
            Kind::While { end, .. } => [Some(end), None],
            Kind::Repeat { test, end, .. } => [Some(test), Some(end)],
        };
        for label in labels.into_iter().flatten() {
            lowering.writer.define(label);
        }
        lowering.diagnostics.push(
            open.place
                .error(
                    codes::UNBALANCED_BLOCK,
                    format!("`{}` without `{closer}`", open.name),
                )
                .label("opened here and never closed")
                .help(format!("add `{closer}`")),
        );
    }
    lowering.writer.out
}

fn directive_of(statement: &Statement) -> Option<&Directive> {
    match &statement.body {
        Body::Directive(directive) => Some(directive),
        _ => None,
    }
}

/// For each statement, whether labels stand between it and the end of its arm
/// or, for one that opens a block, of that block's first arm.
fn labels_ahead(statements: &[Statement]) -> Vec<bool> {
    /// What stands in a block after the place that the walk has come to.
    struct Level {
        /// A label in the rest of the arm.
        in_arm: bool,
        /// A label in the rest of the block.
        in_block: bool,
    }
    let mut ahead = vec![false; statements.len()];
    let mut levels = vec![Level {
        in_arm: false,
        in_block: false,
    }];
    for (i, statement) in statements.iter().enumerate().rev() {
        let labelled = !statement.labels.is_empty();
        let word = directive_of(statement).and_then(|directive| Word::of(&directive.name));
        ahead[i] = levels.last().is_some_and(|level| level.in_arm);
        let inner = match word {
            Some(Word::Endif | Word::Endw | Word::Until(_)) => {
                levels.push(Level {
                    in_arm: labelled,
                    in_block: labelled,
                });
                continue;
            }
            // A block that is never closed goes on to the end.
            Some(Word::If(_) | Word::While(_) | Word::Repeat) if levels.len() == 1 => {
                levels[0].in_block
            }
            Some(Word::If(_) | Word::While(_) | Word::Repeat) => {
                levels.pop().is_some_and(|level| level.in_block)
            }
            _ => false,
        };
        let Some(level) = levels.last_mut() else {
            continue;
        };
        let ends_arm = matches!(word, Some(Word::Elif(_) | Word::Else));
        level.in_arm = labelled || inner || (level.in_arm && !ends_arm);
        level.in_block |= labelled || inner;
    }
    ahead
}

struct Lowering<'n, 'd> {
    writer: Writer<'n>,
    known: &'n Known,
    open: Vec<Open>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Lowering<'_, '_> {
    fn is_dropped(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.dropped || open.outer_dropped)
    }

    fn statement(&mut self, statement: &Statement, labelled: bool) {
        let word = directive_of(statement)
            .and_then(|directive| Word::of(&directive.name).map(|word| (directive, word)));
        let Some((directive, word)) = word else {
            if self.is_dropped() {
                let kept = match &statement.body {
                    Body::Directive(directive) => !HINTS.contains(&directive.name.as_str()),
                    Body::Empty | Body::Instruction(_) => false,
                };
                if !kept {
                    return;
                }
            }
            self.writer.out.push(statement.clone());
            return;
        };
        if !statement.labels.is_empty() {
            self.writer.out.push(Statement {
                labels: statement.labels.clone(),
                body: Body::Empty,
            });
        }
        // The place of a construct is its directive with its condition.
        self.writer.place = directive.place;
        if let Some(condition) = Place::of_all(&directive.arguments)
            && condition.expansion == directive.place.expansion
        {
            self.writer.place.span = directive.place.span.to(condition.span);
        }
        let wants_condition = matches!(
            word,
            Word::If(_) | Word::Elif(_) | Word::While(_) | Word::Until(_)
        );
        if let (false, Some(extra)) = (wants_condition, directive.arguments.first()) {
            self.diagnostics.push(
                Place::of(extra)
                    .error(
                        codes::SYNTAX,
                        format!("`{}` takes nothing after it", directive.name),
                    )
                    .label("not expected here"),
            );
        }
        if let Err(diagnostic) = self.word(directive, word, labelled) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn word(
        &mut self,
        directive: &Directive,
        word: Word,
        labelled: bool,
    ) -> Result<(), Diagnostic> {
        match word {
            Word::If(unsigned) => self.begin_if(directive, unsigned, labelled),
            Word::Elif(unsigned) => self.next_arm(directive, Some(unsigned), labelled),
            Word::Else => self.next_arm(directive, None, labelled),
            Word::Endif => self.end_if(directive),
            Word::While(unsigned) => self.begin_while(directive, unsigned, labelled),
            Word::Endw => self.end_while(directive),
            Word::Repeat => {
                let top = self.writer.label("repeat");
                let test = self.writer.label("until");
                let end = self.writer.label("done");
                if !self.is_dropped() {
                    self.writer.define(top.clone());
                }
                self.push(
                    directive,
                    Kind::Repeat {
                        top,
                        test,
                        test_used: false,
                        end,
                        end_used: false,
                    },
                );
                Ok(())
            }
            Word::Until(unsigned) => self.end_repeat(directive, unsigned),
            Word::Break | Word::Continue => self.leave(directive, word == Word::Break),
        }
    }

    fn push(&mut self, directive: &Directive, kind: Kind) {
        let outer_dropped = self.is_dropped();
        self.open.push(Open {
            name: directive.name.clone(),
            place: directive.place,
            kind,
            dropped: false,
            outer_dropped,
        });
    }

    fn condition(&self, directive: &Directive) -> Result<Node, Diagnostic> {
        if directive.arguments.is_empty() {
            return Err(directive
                .place
                .error(
                    codes::CONDITION,
                    format!("`{}` needs a condition", directive.name),
                )
                .help(format!("write `{} (x == 1)`", directive.name)));
        }
        condition::parse(&directive.arguments, directive.place, self.known)
    }

    /// Tests a condition; with `None` there is nothing that could be tested
    /// because it is wrong.
    fn test(
        &mut self,
        node: &Node,
        unsigned: bool,
        sense: bool,
        target: &Token,
        place: Place,
    ) -> Result<Option<bool>, Diagnostic> {
        let mut tester = Tester {
            writer: &mut self.writer,
            diagnostics: self.diagnostics,
            unsigned,
            place,
        };
        let decided = tester.decided(node)?;
        if decided.is_none() {
            tester.branch(node, sense, target)?;
        }
        Ok(decided)
    }

    fn misplaced(&self, directive: &Directive, opener: &str) -> Diagnostic {
        let place = directive.place;
        match self.open.last() {
            Some(open) => place
                .error(
                    codes::UNBALANCED_BLOCK,
                    format!("`{}` does not belong to `{}`", directive.name, open.name),
                )
                .label(format!("needs an open `{opener}`"))
                .also(
                    open.place.span,
                    open.place.expansion,
                    "the innermost open block",
                )
                .help("close the inner block first"),
            None => place
                .error(
                    codes::UNBALANCED_BLOCK,
                    format!("`{}` without `{opener}`", directive.name),
                )
                .label("no block is open here"),
        }
    }
}

#[cfg(test)]
mod tests;
