//! `.while`, `.repeat`, and the branches out of them.

use super::{ConstructKind, Lowering, OpenConstruct};
use crate::diagnostic::Diagnostic;
use crate::front::statement::Directive;

impl Lowering<'_, '_> {
    pub(super) fn begin_while(
        &mut self,
        directive: &Directive,
        unsigned: bool,
        labelled: bool,
    ) -> Result<(), Diagnostic> {
        let top = self.writer.label("while");
        let end = self.writer.label("endw");
        let dead = self.is_dropped();
        self.push(
            directive,
            ConstructKind::While {
                top: top.clone(),
                end: end.clone(),
                end_used: false,
            },
        );
        if dead {
            return Ok(());
        }
        let node = self.condition(directive)?;
        self.writer.define(top);
        let decided = self.test(&node, unsigned, false, &end, directive.place)?;
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        let ConstructKind::While { end_used, .. } = &mut open.kind else {
            return Ok(());
        };
        match decided {
            None => *end_used = true,
            Some(true) => {}
            Some(false) if labelled => {
                *end_used = true;
                self.writer.branch("br", Vec::new(), &end);
            }
            Some(false) => {
                open.dropped = true;
                // A loop that never runs needs no label at its top.
                self.writer.out.pop();
            }
        }
        Ok(())
    }

    pub(super) fn end_while(&mut self, directive: &Directive) -> Result<(), Diagnostic> {
        if !matches!(
            self.open.last(),
            Some(OpenConstruct {
                kind: ConstructKind::While { .. },
                ..
            })
        ) {
            return Err(self.misplaced(directive, ".while"));
        }
        let Some(OpenConstruct {
            kind: ConstructKind::While { top, end, end_used },
            dropped,
            ..
        }) = self.open.pop()
        else {
            return Ok(());
        };
        if self.is_dropped() || dropped {
            return Ok(());
        }
        if !self.writer.cannot_fall_through() {
            self.writer.branch("br", Vec::new(), &top);
        }
        if end_used {
            self.writer.define(end);
        }
        Ok(())
    }

    pub(super) fn end_repeat(
        &mut self,
        directive: &Directive,
        unsigned: bool,
    ) -> Result<(), Diagnostic> {
        if !matches!(
            self.open.last(),
            Some(OpenConstruct {
                kind: ConstructKind::Repeat { .. },
                ..
            })
        ) {
            return Err(self.misplaced(directive, ".repeat"));
        }
        let Some(OpenConstruct {
            kind:
                ConstructKind::Repeat {
                    top,
                    test,
                    test_used,
                    end,
                    end_used,
                },
            ..
        }) = self.open.pop()
        else {
            return Ok(());
        };
        if self.is_dropped() {
            return Ok(());
        }
        let node = self.condition(directive)?;
        if test_used {
            self.writer.define(test);
        }
        if self.test(&node, unsigned, false, &top, directive.place)? == Some(false) {
            self.writer.branch("br", Vec::new(), &top);
        }
        if end_used {
            self.writer.define(end);
        }
        Ok(())
    }

    /// Handles `.break` (`breaks`) or `.continue`: branches out of the innermost loop, or to its
    /// next iteration, regardless of `.if` blocks open inside it.
    ///
    /// The labels at the end of a loop are defined only if a branch uses them, which each branch
    /// records in `*_used`. Nothing is emitted in code that constant conditions drop.
    pub(super) fn break_or_continue(
        &mut self,
        directive: &Directive,
        breaks: bool,
    ) -> Result<(), Diagnostic> {
        let dead = self.is_dropped();
        let innermost = self
            .open
            .iter_mut()
            .rev()
            .find(|open| !matches!(open.kind, ConstructKind::If { .. }));
        let Some(open) = innermost else {
            return Err(self.misplaced(directive, ".while` or `.repeat"));
        };
        let target = match &mut open.kind {
            ConstructKind::While { end, end_used, .. } if breaks => {
                *end_used = true;
                end
            }
            ConstructKind::Repeat { end, end_used, .. } if breaks => {
                *end_used = true;
                end
            }
            ConstructKind::While { top, .. } => top,
            ConstructKind::Repeat {
                test, test_used, ..
            } => {
                *test_used = true;
                test
            }
            // The search above excludes this case, which the compiler cannot infer.
            ConstructKind::If { end, .. } => end,
        };
        if !dead {
            let target = target.clone();
            self.writer.branch("br", Vec::new(), &target);
        }
        Ok(())
    }
}
