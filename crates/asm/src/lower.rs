//! The step between statements and instructions: constructs that stand for
//! several instructions become those instructions here.
//!
//! Statements that mean themselves pass through.

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::statement::{Body, Statement};

/// Structured control flow, which has to be written with branches.
const STRUCTURED: &[&str] = &[
    ".if",
    ".elif",
    ".else",
    ".endif",
    ".while",
    ".endw",
    ".repeat",
    ".until",
    ".break",
    ".continue",
    ".if_unsigned",
    ".elif_unsigned",
    ".while_unsigned",
    ".until_unsigned",
];

/// Lowers a program; what cannot be lowered becomes a diagnostic.
pub fn lower(statements: Vec<Statement>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Statement> {
    statements
        .into_iter()
        .filter(|statement| {
            let Body::Directive(directive) = &statement.body else {
                return true;
            };
            if !STRUCTURED.contains(&directive.name.as_str()) {
                return true;
            }
            diagnostics.push(
                directive
                    .place
                    .error(
                        codes::UNSUPPORTED_DIRECTIVE,
                        format!("the directive `{}` is not supported", directive.name),
                    )
                    .help("write the test and the branch as instructions"),
            );
            false
        })
        .collect()
}
