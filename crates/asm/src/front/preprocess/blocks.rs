//! Blocks of lines between two directives.

use crate::front::directive::Directive;
use crate::front::lexer::RawLine;

/// Finds the directive that closes the block opened before `from`.
pub(super) fn block_end(
    lines: &[RawLine],
    from: usize,
    opens: impl Fn(Directive) -> bool,
    closes: Directive,
) -> Option<usize> {
    let mut depth = 0usize;
    for (at, line) in lines.iter().enumerate().skip(from) {
        let Some((directive, _)) = line.directive else {
            continue;
        };
        if opens(directive) {
            depth += 1;
        } else if directive == closes {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
    }
    None
}
