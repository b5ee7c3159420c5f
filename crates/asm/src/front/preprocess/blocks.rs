//! Blocks of lines between two directives.

use crate::directives::PreprocessorDirective;
use crate::front::lexer::{HashWord, RawLine};

/// Finds the directive that closes the block opened before `from`.
pub(super) fn block_end(
    lines: &[RawLine],
    from: usize,
    opens: impl Fn(PreprocessorDirective) -> bool,
    closes: PreprocessorDirective,
) -> Option<usize> {
    let mut depth = 0usize;
    for (at, line) in lines.iter().enumerate().skip(from) {
        let Some((HashWord::Directive(directive), _)) = line.directive else {
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
