//! `.if` and its arms.

use super::condition::ConditionNode;
use super::{ConstructKind, Lowering, OpenConstruct};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::statement::{Directive, SourcePlace};
use crate::front::token::Token;

impl Lowering<'_, '_> {
    pub(super) fn begin_if(
        &mut self,
        directive: &Directive,
        unsigned: bool,
        labelled: bool,
    ) -> Result<(), Diagnostic> {
        let next = self.writer.label("else");
        let end = self.writer.label("endif");
        let dead = self.is_dropped();
        self.push(
            directive,
            ConstructKind::If {
                next: None,
                end,
                end_used: false,
                decided: false,
                otherwise: None,
            },
        );
        if dead {
            return Ok(());
        }
        let node = self.condition(directive)?;
        self.arm(&node, unsigned, next, directive.place, labelled)
    }

    /// Emits the test before an arm of the innermost `.if`.
    pub(super) fn arm(
        &mut self,
        node: &ConditionNode,
        unsigned: bool,
        next: Token,
        place: SourcePlace,
        labelled: bool,
    ) -> Result<(), Diagnostic> {
        let decided_now = self.test(node, unsigned, false, &next, place)?;
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        let ConstructKind::If {
            next: next_arm,
            decided,
            ..
        } = &mut open.kind
        else {
            return Ok(());
        };
        match decided_now {
            None => *next_arm = Some(next),
            Some(true) => *decided = true,
            // Control may enter the arm at its labels.
            Some(false) if labelled => {
                *next_arm = Some(next.clone());
                self.writer.branch("br", Vec::new(), &next);
            }
            Some(false) => open.dropped = true,
        }
        Ok(())
    }

    pub(super) fn next_arm(
        &mut self,
        directive: &Directive,
        condition: Option<bool>,
        labelled: bool,
    ) -> Result<(), Diagnostic> {
        let place = directive.place;
        match self.open.last_mut() {
            Some(OpenConstruct {
                kind: ConstructKind::If { otherwise, .. },
                ..
            }) => {
                if let Some(at) = *otherwise {
                    return Err(place
                        .error(
                            codes::UNBALANCED_BLOCK,
                            format!("`{}` after `.else`", directive.spelling),
                        )
                        .also(at.span, at.expansion, "the `.else` of this `.if`")
                        .help("`.else` must be the last arm"));
                }
                if condition.is_none() {
                    *otherwise = Some(place);
                }
            }
            _ => return Err(self.misplaced(directive, ".if")),
        }
        if self.open.last().is_some_and(|open| open.outer_dropped) {
            return Ok(());
        }
        let cut_off = self.writer.cannot_fall_through();
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        let was_dropped = std::mem::take(&mut open.dropped);
        let ConstructKind::If {
            next,
            end,
            end_used,
            decided,
            ..
        } = &mut open.kind
        else {
            return Ok(());
        };
        if *decided {
            // Arms after one that is always taken are unreachable.
            if labelled && !cut_off && !was_dropped {
                *end_used = true;
                let end = end.clone();
                self.writer.branch("br", Vec::new(), &end);
            } else if !labelled {
                open.dropped = true;
            }
            return Ok(());
        }
        let before = next.take();
        if !was_dropped && !cut_off {
            *end_used = true;
            let end = end.clone();
            self.writer.branch("br", Vec::new(), &end);
        }
        if let Some(label) = before {
            self.writer.define(label);
        }
        if let Some(unsigned) = condition {
            let node = self.condition(directive)?;
            let next = self.writer.label("else");
            return self.arm(&node, unsigned, next, place, labelled);
        }
        Ok(())
    }

    /// Handles `.endif`: defines the labels for failed tests and finished arms. `next` is the
    /// target of the last arm's failed test, `None` if it cannot fail or an `.else` used it; `end`
    /// is the target of finished arms that others follow, if there are any (`end_used`).
    pub(super) fn end_if(&mut self, directive: &Directive) -> Result<(), Diagnostic> {
        if !matches!(
            self.open.last(),
            Some(OpenConstruct {
                kind: ConstructKind::If { .. },
                ..
            })
        ) {
            return Err(self.misplaced(directive, ".if"));
        }
        let Some(OpenConstruct {
            kind:
                ConstructKind::If {
                    next,
                    end,
                    end_used,
                    ..
                },
            ..
        }) = self.open.pop()
        else {
            return Ok(());
        };
        if !self.is_dropped() {
            if let Some(next) = next {
                self.writer.define(next);
            }
            if end_used {
                self.writer.define(end);
            }
        }
        Ok(())
    }
}
