//! The names of all diagnostics and what each of them means.

/// A kind of diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The stable name, such as `bank-conflict`.
    pub name: &'static str,
    /// One sentence on what it means.
    pub explanation: &'static str,
}

macro_rules! codes {
    ($($constant:ident $name:literal $explanation:literal)*) => {
        $(
            #[doc = $explanation]
            pub const $constant: &str = $name;
        )*

        const TABLE: &[Code] = &[
            $(Code { name: $name, explanation: $explanation },)*
        ];
    };
}

codes! {
    // Lexer.
    INVALID_CHARACTER "invalid-character" "A character that no token of the language begins with."
    INVALID_NUMBER "invalid-number" "A number with digits that do not belong to its base, or one that does not fit 64 bits."
    TRAILING_COMMA "trailing-comma" "A line ends with a comma, so that it should go on, but nothing follows."
    UNCLOSED_BRACKET "unclosed-bracket" "An opening bracket has no closing one before the next statement."
    UNEXPECTED_BRACKET "unexpected-bracket" "A closing bracket has no opening one, or one of another kind."
    UNTERMINATED_COMMENT "unterminated-comment" "A comment opened by /* is not closed by */ before the end of the file."
    UNTERMINATED_STRING "unterminated-string" "A quoted text is not closed before the end of its line."

    // Preprocessor: structure.
    DUPLICATE_ELSE "duplicate-else" "A conditional block has a second #else, or an #elif after its #else."
    EXTRA_TOKENS "extra-tokens" "A directive is followed by text that it does not use."
    INCLUDE_CYCLE "include-cycle" "A file includes itself, directly or through others."
    INCLUDE_FAILED "include-failed" "A source text could not be read."
    UNKNOWN_DIRECTIVE "unknown-directive" "A line begins with # and a word that is no preprocessor directive."
    UNKNOWN_PRAGMA "unknown-pragma" "A #pragma that this assembler does not know is passed over."
    UNMATCHED_DIRECTIVE "unmatched-directive" "A directive that closes or continues a block stands where no such block is open."
    UNTERMINATED_CONDITIONAL "unterminated-conditional" "An #if, #ifdef or #ifndef has no #endif in the same file, macro or loop body."
    UNTERMINATED_LOOP "unterminated-loop" "A #while, #for or #repeat has no #endloop in the same file, macro or loop body."
    UNTERMINATED_MACRO "unterminated-macro" "A #macro has no #endm in the same file, macro or loop body."

    // Preprocessor: macros.
    DUPLICATE_PARAMETER "duplicate-parameter" "Two parameters of a macro have the same name."
    EXPANSION_LIMIT "expansion-limit" "Macros or loops produce more text, or nest deeper, than any real program needs."
    MACRO_ARGUMENTS "macro-arguments" "A macro is used with a number of arguments for which it has no definition."
    MACRO_REDEFINED "macro-redefined" "A macro is defined again with another text."
    MALFORMED_DIRECTIVE "malformed-directive" "A directive lacks a name, list or text that it needs, or has it in a wrong form."
    PASTE_OPERAND "paste-operand" "The paste operator ## needs a token on both sides."
    TEXT_AFTER_MACRO_CALL "text-after-macro-call" "A macro call must end its line."

    // Preprocessor: conditions and messages.
    TOO_MANY_ERRORS "too-many-errors" "So many errors were found that the rest of the source is not looked at."
    UNDEFINED_IN_CONDITION "undefined-in-condition" "A name in a preprocessor condition is not defined and counts as 0."
    USER_ERROR "user-error" "An #error directive was met."
    USER_NOTE "user-note" "An #info directive was met."
    USER_WARNING "user-warning" "A #warning directive was met."

    // Constant expressions.
    DIVISION_BY_ZERO "division-by-zero" "A constant expression divides by zero."
    EXPRESSION_OVERFLOW "expression-overflow" "A constant expression leaves the range of 64-bit signed numbers."
    EXPRESSION_TOO_LARGE "expression-too-large" "A constant expression has too many terms or nests too deeply."
    FUNCTION_ARGUMENT "function-argument" "A built-in function is used with a wrong number or kind of arguments."
    MALFORMED_EXPRESSION "malformed-expression" "A constant expression is incomplete or has something that does not belong there."
    NOT_CONSTANT "not-constant" "A constant expression uses a value that is not known where it is evaluated."
    TEXT_IN_ARITHMETIC "text-in-arithmetic" "A text is used where a constant expression needs a number."
    UNKNOWN_FUNCTION "unknown-function" "A constant expression calls a function that does not exist."

    // Parser, allocator and encoder.
}

/// All codes in the order of the stages that report them.
#[must_use]
pub fn all() -> &'static [Code] {
    TABLE
}

/// What the code of this name means.
#[must_use]
pub fn explain(name: &str) -> Option<&'static str> {
    TABLE
        .iter()
        .find(|code| code.name == name)
        .map(|code| code.explanation)
}

#[cfg(test)]
mod tests {
    use super::{TABLE, explain};

    #[test]
    fn names_are_kebab_case_and_unique() {
        for (i, code) in TABLE.iter().enumerate() {
            assert!(
                code.name
                    .split('-')
                    .all(|word| !word.is_empty()
                        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())),
                "{}",
                code.name
            );
            assert!(
                TABLE[..i].iter().all(|other| other.name != code.name),
                "{} is there twice",
                code.name
            );
            assert!(code.explanation.ends_with('.'), "{}", code.name);
        }
    }

    #[test]
    fn explains_known_names_only() {
        assert!(explain("unclosed-bracket").is_some_and(|text| text.contains("bracket")));
        assert_eq!(explain("no-such-code"), None);
    }
}
