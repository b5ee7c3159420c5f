//! `#while`, `#for` and `#repeat`.

use super::{
    Preprocessor, SKIPPED_PER_TOKEN, blocks::block_end, environment::Environment, open_comment,
};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{Block, PreprocessorDirective, Role};
use crate::front::lexer::RawLine;
use crate::front::token::{Token, arguments};

impl Preprocessor<'_> {
    /// Runs the loop at `lines[at]`; returns the index of the line after it.
    pub(super) fn run_loop(
        &mut self,
        directive: PreprocessorDirective,
        name: &Token,
        lines: &[RawLine],
        at: usize,
        environment: &Environment,
    ) -> usize {
        let nests = |it: PreprocessorDirective| it.role() == Role::Opens(Block::PreprocessorLoop);
        let Some(end) = block_end(lines, at + 1, nests, PreprocessorDirective::Endloop) else {
            self.unterminated(
                open_comment(lines),
                environment,
                Diagnostic::error(
                    codes::UNTERMINATED_LOOP,
                    format!("this #{} has no #endloop", name.text),
                    name.span,
                    name.expansion,
                )
                .label("opened here")
                .help("close it with #endloop in the same file, macro or loop"),
            );
            return lines.len();
        };
        // A loop without iterations is passed over quickly, but may be so again and again.
        self.charge((end - at) / SKIPPED_PER_TOKEN, 0, name);
        if let Some((_, close)) = &lines[end].directive {
            let rest = self.substitute(&lines[end].tokens, environment);
            let close = close.clone();
            self.extra(&close, &rest);
        }
        let line = &lines[at];
        if !line.is_wrong() {
            let body = &lines[at + 1..end];
            match directive {
                PreprocessorDirective::While => self.run_while(name, line, body, environment),
                PreprocessorDirective::For => self.run_for(name, line, body, environment),
                _ => {
                    let count = self.substitute(&line.tokens, environment);
                    match self.number(count, name) {
                        Some(count) if count < 0 => self.malformed(
                            name,
                            &format!("{count} is not a number of repetitions"),
                            "#repeat with a count from 0 on",
                        ),
                        Some(count) => {
                            let mut done = 0;
                            while done < count && self.run_iteration(name, body, environment) {
                                done += 1;
                            }
                        }
                        None => {}
                    }
                }
            }
        }
        end + 1
    }

    /// Runs the body once; returns false if no more iterations may follow.
    fn run_iteration(&mut self, name: &Token, body: &[RawLine], environment: &Environment) -> bool {
        // Loops with empty bodies must terminate as well.
        self.executed += 1;
        if self.executed > super::MAX_LINES {
            self.report_limit("this loop does not end", name.span, name.expansion);
        }
        if !self.stopped {
            self.run(body, environment);
        }
        !self.stopped && !self.leaving
    }

    fn run_while(
        &mut self,
        name: &Token,
        line: &RawLine,
        body: &[RawLine],
        environment: &Environment,
    ) {
        loop {
            let condition = self.substitute(&line.tokens, environment);
            if self.condition(condition, name) != Some(true)
                || !self.run_iteration(name, body, environment)
            {
                return;
            }
        }
    }

    /// Runs the body of `#for NAME [...]` once for each value of the list, with the name bound to
    /// that value. The list is expanded before the loop begins; the body is not.
    fn run_for(
        &mut self,
        name: &Token,
        line: &RawLine,
        body: &[RawLine],
        environment: &Environment,
    ) {
        let tokens = self.substitute(&line.tokens, environment);
        let Some((variable, list)) = self.name_of(name, tokens) else {
            return;
        };
        let Ok(list) = self.expand(list) else {
            return;
        };
        let values = match list.first() {
            Some(open) if open.is("[") || open.is("(") => arguments(&list),
            _ => None,
        };
        let Some((values, used)) = values else {
            self.malformed(
                list.first().unwrap_or(&variable),
                "#for needs a list of values in brackets",
                "#for NAME [a, b, c]",
            );
            return;
        };
        self.extra(name, &list[used..]);
        for value in values {
            let inner = environment.with(&variable.text, value);
            if !self.run_iteration(name, body, &inner) {
                return;
            }
        }
    }
}
