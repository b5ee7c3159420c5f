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

    /// The test in front of an arm of the innermost `.if`.
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
            // Labels in the arm let control in from elsewhere.
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
        let cut_off = self.writer.is_cut_off();
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
            // What follows an arm that is always taken is never reached.
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

    /// `.endif`: defines the labels at which failed tests and finished arms arrive. `next` is
    /// where the last arm's test goes when it fails, none if it cannot or an `.else` took it;
    /// `end` is where an arm goes that is followed by others, if one does (`end_used`).
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
