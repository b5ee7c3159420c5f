//! Lowering of structured control flow to compares and branches, between statements and instruction
//! selection.
//!
//! Other statements pass through unchanged. Generated labels and registers begin with `_` and
//! differ from all names in the source.

mod arms;
mod condition;
mod loops;
mod test;
mod writer;

use std::collections::BTreeSet;

use npsim_isa::msf_csr;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{
    DeclarationDirective, DirectiveName, Role, ScopeDirective, StructuredDirective,
};
use crate::front::statement::{Body, Directive, SourcePlace, Statement};
use crate::front::token::Token;
use condition::{ConditionNode, NameFacts};
use test::Tester;
use writer::StatementWriter;

/// An open construct.
struct OpenConstruct {
    /// The spelling of its directive.
    spelling: &'static str,
    place: SourcePlace,
    kind: ConstructKind,
    /// Whether the code at this point is never executed and produces no words.
    dropped: bool,
    /// Whether an enclosing block was being dropped when this one began.
    outer_dropped: bool,
}

enum ConstructKind {
    If {
        /// Label of the next arm, if the last test can fail.
        next: Option<Token>,
        end: Token,
        end_used: bool,
        /// Whether an arm has had a condition that is always true.
        decided: bool,
        otherwise: Option<SourcePlace>,
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

/// Facts about names that conditions use before declarations are processed.
struct KnownNames {
    imports: BTreeSet<String>,
    declared: BTreeSet<String>,
}

impl NameFacts for KnownNames {
    fn is_import(&self, name: &str) -> bool {
        self.imports.contains(name)
    }

    fn is_constant(&self, name: &str) -> bool {
        !self.declared.contains(name) && msf_csr::by_name(name).is_some()
    }
}

/// Lowers a program; constructs that cannot be lowered are reported.
pub fn lower(mut statements: Vec<Statement>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Statement> {
    for (number, statement) in statements.iter_mut().enumerate() {
        if let Body::Instruction(instruction) = &mut statement.body {
            instruction.statement = number;
        }
    }
    let structured = statements.iter().find_map(|statement| {
        let (directive, _) = structured_of(statement)?;
        Some(directive.place)
    });
    let Some(place) = structured else {
        return statements;
    };
    let (names, known) = names_of(&statements);
    let mut lowering = Lowering {
        writer: StatementWriter::new(&names, place),
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
            ConstructKind::If { .. } => StructuredDirective::Endif,
            ConstructKind::While { .. } => StructuredDirective::Endw,
            ConstructKind::Repeat { .. } => StructuredDirective::Until,
        };
        let closer = closer.word().name;
        // A missing end must not also be reported as missing labels.
        let labels = match open.kind {
            ConstructKind::If { next, end, .. } => [next, Some(end)],
            ConstructKind::While { end, .. } => [Some(end), None],
            ConstructKind::Repeat { test, end, .. } => [Some(test), Some(end)],
        };
        for label in labels.into_iter().flatten() {
            lowering.writer.define(label);
        }
        lowering.diagnostics.push(
            open.place
                .error(
                    codes::UNBALANCED_BLOCK,
                    format!("`{}` without `{closer}`", open.spelling),
                )
                .label("opened here and never closed")
                .help(format!("add `{closer}`")),
        );
    }
    lowering.writer.out
}

/// Collects all names in the source, and the facts about them.
fn names_of(statements: &[Statement]) -> (BTreeSet<String>, KnownNames) {
    let mut names = BTreeSet::new();
    let mut known = KnownNames {
        imports: BTreeSet::new(),
        declared: BTreeSet::new(),
    };
    for statement in statements {
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
                match directive.name {
                    DirectiveName::Declaration(DeclarationDirective::ImportVar) => {
                        known.imports.extend(texts.clone());
                    }
                    DirectiveName::Declaration(
                        DeclarationDirective::Reg | DeclarationDirective::Sig,
                    )
                    | DirectiveName::Scope(ScopeDirective::Local) => {
                        known.declared.extend(texts.clone());
                    }
                    DirectiveName::Scope(
                        ScopeDirective::Begin | ScopeDirective::End | ScopeDirective::Endlocal,
                    )
                    | DirectiveName::Hint(_)
                    | DirectiveName::Program(_)
                    | DirectiveName::Rewrite(_)
                    | DirectiveName::Structured(_) => {}
                }
                names.extend(texts);
            }
        }
    }
    (names, known)
}

/// Returns the structured directive of a statement, if it is one.
fn structured_of(statement: &Statement) -> Option<(&Directive, StructuredDirective)> {
    let directive = statement.directive()?;
    match directive.name {
        DirectiveName::Structured(name) => Some((directive, name)),
        DirectiveName::Scope(_)
        | DirectiveName::Declaration(_)
        | DirectiveName::Hint(_)
        | DirectiveName::Program(_)
        | DirectiveName::Rewrite(_) => None,
    }
}

/// Returns, for each statement, whether labels lie between it and the end of its arm or, if it
/// opens a block, of that block's first arm.
fn labels_ahead(statements: &[Statement]) -> Vec<bool> {
    /// The rest of a block, after the current position of the backward scan.
    struct BlockRest {
        /// Whether the rest of the arm has a label.
        in_arm: bool,
        /// Whether the rest of the block has a label.
        in_block: bool,
    }
    let mut ahead = vec![false; statements.len()];
    let mut levels = vec![BlockRest {
        in_arm: false,
        in_block: false,
    }];
    for (i, statement) in statements.iter().enumerate().rev() {
        let labelled = !statement.labels.is_empty();
        let role = structured_of(statement).map(|(_, name)| name.role());
        ahead[i] = levels.last().is_some_and(|level| level.in_arm);
        let inner = match role {
            Some(Role::Closes(_)) => {
                levels.push(BlockRest {
                    in_arm: labelled,
                    in_block: labelled,
                });
                continue;
            }
            // A block that is never closed extends to the end.
            Some(Role::Opens(_)) if levels.len() == 1 => levels[0].in_block,
            Some(Role::Opens(_)) => levels.pop().is_some_and(|level| level.in_block),
            Some(Role::Continues(_) | Role::Declares | Role::Plain) | None => false,
        };
        let Some(level) = levels.last_mut() else {
            continue;
        };
        let ends_arm = matches!(role, Some(Role::Continues(_)));
        level.in_arm = labelled || inner || (level.in_arm && !ends_arm);
        level.in_block |= labelled || inner;
    }
    ahead
}

struct Lowering<'n, 'd> {
    writer: StatementWriter<'n>,
    known: &'n KnownNames,
    open: Vec<OpenConstruct>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Lowering<'_, '_> {
    fn is_dropped(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.dropped || open.outer_dropped)
    }

    fn statement(&mut self, statement: &Statement, labelled: bool) {
        let Some((directive, name)) = structured_of(statement) else {
            // Declarations and directives about the program hold even in dropped code.
            let kept = statement
                .directive()
                .is_some_and(|directive| !matches!(directive.name, DirectiveName::Hint(_)));
            if self.is_dropped() && !kept {
                return;
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
        // The place of a construct is its directive, including the condition.
        self.writer.place = directive.place;
        if let Some(condition) = SourcePlace::of_all(&directive.arguments)
            && condition.expansion == directive.place.expansion
        {
            self.writer.place.span = directive.place.span.to(condition.span);
        }
        if let (false, Some(extra)) = (name.has_condition(), directive.arguments.first()) {
            let error = SourcePlace::of(extra)
                .error(
                    codes::SYNTAX,
                    format!("`{}` takes nothing after it", directive.spelling),
                )
                .label("not expected here");
            let is_elif = name == StructuredDirective::Else && &*extra.text == "if";
            self.diagnostics.push(if is_elif {
                let words = directive.place.span.to(extra.span);
                error
                    .help("another arm with a condition is `.elif`")
                    .patch(words, ".elif")
            } else {
                error
            });
        }
        if let Err(diagnostic) = self.structured(directive, name, labelled) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn structured(
        &mut self,
        directive: &Directive,
        name: StructuredDirective,
        labelled: bool,
    ) -> Result<(), Diagnostic> {
        use StructuredDirective as Name;
        match name {
            Name::If => self.begin_if(directive, false, labelled),
            Name::IfUnsigned => self.begin_if(directive, true, labelled),
            Name::Elif => self.next_arm(directive, Some(false), labelled),
            Name::ElifUnsigned => self.next_arm(directive, Some(true), labelled),
            Name::Else => self.next_arm(directive, None, labelled),
            Name::Endif => self.end_if(directive),
            Name::While => self.begin_while(directive, false, labelled),
            Name::WhileUnsigned => self.begin_while(directive, true, labelled),
            Name::Endw => self.end_while(directive),
            Name::Repeat => {
                let top = self.writer.label("repeat");
                let test = self.writer.label("until");
                let end = self.writer.label("done");
                if !self.is_dropped() {
                    self.writer.define(top.clone());
                }
                self.push(
                    directive,
                    ConstructKind::Repeat {
                        top,
                        test,
                        test_used: false,
                        end,
                        end_used: false,
                    },
                );
                Ok(())
            }
            Name::Until => self.end_repeat(directive, false),
            Name::UntilUnsigned => self.end_repeat(directive, true),
            Name::Break => self.break_or_continue(directive, true),
            Name::Continue => self.break_or_continue(directive, false),
        }
    }

    fn push(&mut self, directive: &Directive, kind: ConstructKind) {
        let outer_dropped = self.is_dropped();
        self.open.push(OpenConstruct {
            spelling: directive.spelling,
            place: directive.place,
            kind,
            dropped: false,
            outer_dropped,
        });
    }

    fn condition(&self, directive: &Directive) -> Result<ConditionNode, Diagnostic> {
        if directive.arguments.is_empty() {
            return Err(directive
                .place
                .error(
                    codes::CONDITION,
                    format!("`{}` needs a condition", directive.spelling),
                )
                .help(format!("write `{} (x == 1)`", directive.spelling)));
        }
        condition::parse(&directive.arguments, directive.place, self.known)
    }

    /// Tests a condition. Returns its value if it is known now; otherwise emits a branch to
    /// `target` and returns `None`.
    fn test(
        &mut self,
        node: &ConditionNode,
        unsigned: bool,
        sense: bool,
        target: &Token,
        place: SourcePlace,
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
                    format!(
                        "`{}` does not belong to `{}`",
                        directive.spelling, open.spelling
                    ),
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
                    format!("`{}` without `{opener}`", directive.spelling),
                )
                .label("no block is open here"),
        }
    }
}

#[cfg(test)]
mod tests;
