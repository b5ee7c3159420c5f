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
            #[doc = concat!("The code `", $name, "`.")]
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
    TRAILING_COMMA "trailing-comma" "A line ends with a comma, so it should continue, but nothing follows."
    UNCLOSED_BRACKET "unclosed-bracket" "An opening bracket has no closing one before the next statement."
    UNEXPECTED_BRACKET "unexpected-bracket" "A closing bracket has no opening one, or one of another kind."
    UNTERMINATED_COMMENT "unterminated-comment" "A comment opened by /* is not closed by */ before the end of the file."
    UNTERMINATED_STRING "unterminated-string" "A quoted text is not closed before the end of its line."

    // Preprocessor: structure.
    DUPLICATE_ELSE "duplicate-else" "A conditional block has a second #else, or an #elif after its #else."
    EXTRA_TOKENS "extra-tokens" "A directive is followed by text that it does not use."
    INCLUDE_CYCLE "include-cycle" "A file includes itself, directly or through others."
    INCLUDE_FAILED "include-failed" "A source text could not be read."
    UNKNOWN_DIRECTIVE "unknown-directive" "A line begins with # and a word that is not a preprocessor directive."
    UNKNOWN_PRAGMA "unknown-pragma" "A #pragma that this assembler does not know is ignored."
    UNMATCHED_DIRECTIVE "unmatched-directive" "A directive closes or continues a block where no such block is open."
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
    TOO_MANY_ERRORS "too-many-errors" "So many errors were found that the rest of the source is not read."
    UNDEFINED_IN_CONDITION "undefined-in-condition" "A name in a preprocessor condition is not defined and counts as 0."
    USER_ERROR "user-error" "An #error directive was reached."
    USER_NOTE "user-note" "An #info directive was reached."
    USER_WARNING "user-warning" "A #warning directive was reached."

    // Constant expressions.
    DIVISION_BY_ZERO "division-by-zero" "A constant expression divides by zero."
    EXPRESSION_OVERFLOW "expression-overflow" "A constant expression leaves the range of 64-bit numbers, or shifts by a negative count."
    EXPRESSION_TOO_LARGE "expression-too-large" "A constant expression has too many terms or nests too deeply."
    FUNCTION_ARGUMENT "function-argument" "A built-in function is used with a wrong number or kind of arguments."
    MALFORMED_EXPRESSION "malformed-expression" "A constant expression is incomplete or has something that does not belong there."
    NOT_CONSTANT "not-constant" "A constant expression uses a value that is not known where it is evaluated."
    TEXT_IN_ARITHMETIC "text-in-arithmetic" "A text is used where a constant expression needs a number."
    UNKNOWN_FUNCTION "unknown-function" "A constant expression calls a function that does not exist."

    // Parser, allocator and encoder.
    ADDRESS_LIKE_LABEL "address-like-label" "A branch goes to an address, such as L1, and a label with that name and a # is elsewhere."
    ADDRESS_TAKEN "address-taken" "A register is given a number that another register has or that does not exist."
    ALIGN_WITHOUT_PREDECESSOR "align-without-predecessor" "A byte alignment has no alignment before it that provides the other half of its input."
    AMBIGUOUS_ADDRESS "ambiguous-address" "The name whose number is used stands for two transfer registers."
    AMBIGUOUS_LABEL "ambiguous-label" "A label is defined in several scopes, none of which contains its use."
    ANY_AND_ALL "any-and-all" "A ctx_arb has both any and all."
    ARRAY_BOUNDS "array-bounds" "An array element does not exist, or an array has an impossible size."
    ASSERTION_FAILED "assertion-failed" "The expression of an .assert is 0."
    BANK_CONFLICT "bank-conflict" "An instruction reads two registers that would have to be in the same bank."
    BRANCH_IN_DEFER "branch-in-defer" "An instruction that changes the flow of control is in a defer slot."
    BYTE_MASK "byte-mask" "The byte mask of ld_field is not made of up to four digits of 0 and 1."
    COMMAND_WITHOUT_SIGNAL "command-without-signal" "A command that never raises a signal is given one."
    CONDITION "condition" "A condition of structured assembly cannot be read or tested."
    CONSTANT_DESTINATION "constant-destination" "A constant is given where a result is written."
    CONSTANT_RANGE "constant-range" "A constant does not fit the field that holds it."
    CRC_KIND "crc-kind" "A crc instruction names no known polynomial."
    CSR_READ_WITHOUT_IMMED "csr-read-without-immed" "A local_csr_rd is not followed by the immed that receives the value."
    DECLARED_TWICE "declared-twice" "A name is declared twice in one scope."
    DEFER_PAST_END "defer-past-end" "Fewer instructions follow than a defer requires."
    DEFER_TOO_LARGE "defer-too-large" "A defer count is larger than the instruction allows."
    DEFER_WITHOUT_SWAP "defer-without-swap" "A command that does not swap out has a defer."
    EMPTY_PROGRAM "empty-program" "A program has no instruction."
    IMPORT_VALUE "import-value" "An import variable is used where its value cannot be filled in, or its value does not fit."
    INDIRECT_SOURCE "indirect-source" "An instruction uses a hidden result that the instruction before it may not have made."
    LABEL_TWICE "label-twice" "A label is defined twice in one scope."
    LATE_CONSTANT "late-constant" "A field needs a constant that is known before registers and labels are placed."
    MAX_COUNT "max-count" "A count of max_N is used in a command without indirect_ref."
    MISSING_OPERAND "missing-operand" "An operand is -- where the instruction needs one."
    MUL_STEP "mul-step" "A mul_step does not say which step it is."
    NO_COMPLETION "no-completion" "A command that moves transfer registers has no signal to say when they are free again."
    NOT_A_TRANSFER_REGISTER "not-a-transfer-register" "A register that no memory unit reaches is given where a transfer register is required."
    OPERAND_COUNT "operand-count" "An instruction has too few or too many operands."
    OPERATOR_WITH_SHIFT "operator-with-shift" "An operator is used with a shift that does not go through the shifter."
    PATH_CONFLICT "path-conflict" "Both sources of an instruction come over the same internal path."
    POINTER_TOO_SOON "pointer-too-soon" "A pointer register is used before a write to it takes effect."
    PROGRAM_TOO_LONG "program-too-long" "The program has more words than the control store."
    READ_BEFORE_WRITE "read-before-write" "A register may be read before anything was written to it."
    REGISTER_AS_SIGNAL "register-as-signal" "A register is given where a signal is required."
    RESTRICTED_OPERAND "restricted-operand" "An operand is used in an instruction whose narrower operand fields cannot name it."
    RUNS_OFF_THE_END "runs-off-the-end" "Control can run past the last instruction."
    SIGNAL_AS_REGISTER "signal-as-register" "A signal is given where a register is required."
    SIGNAL_KINDS "signal-kinds" "One signal is used by commands that raise different members of its pair."
    SIGNAL_NEVER_AWAITED "signal-never-awaited" "A command raises a signal that nothing waits for afterwards."
    SIGNAL_ODD "signal-odd" "A command that raises a pair of signals names the odd one."
    SIGNED_COMPARE "signed-compare" "A signed compare has a constant of 0x80000000 or more, which counts as a negative number."
    SPILL_MOVE "spill-move" "A register is copied to the other bank because the source reads two registers of one bank together."
    SYNTAX "syntax" "A line does not have the form of a statement."
    TOO_MANY_REGISTERS "too-many-registers" "More registers hold needed values at one point than there are."
    TOO_MANY_SIGNALS "too-many-signals" "More signals are in use at one point than there are."
    TRANSFER_DIRECTION "transfer-direction" "A transfer register declared for one direction is used in the other."
    TRANSFER_GROUP_TOO_SHORT "transfer-group-too-short" "A command moves more transfer registers than are known to be consecutive."
    TRANSFER_IN_FLIGHT "transfer-in-flight" "A transfer register is used while a command may still read or fill it."
    TRANSFER_KIND "transfer-kind" "A command names a transfer register of a kind that it cannot use."
    TRANSFER_ORDER "transfer-order" "The orders of transfer registers contradict each other."
    TWO_COMPLETIONS "two-completions" "A command has both sig_done and ctx_swap."
    TWO_CONSTANTS "two-constants" "An instruction has two constant operands."
    UNBALANCED_SCOPE "unbalanced-scope" "A scope is closed but was not opened, or is left open."
    UNBALANCED_BLOCK "unbalanced-block" "A directive of structured assembly has no partner, or the wrong one."
    UNDEFINED_LABEL "undefined-label" "A label is used that is not defined in any scope around the use."
    UNDEFINED_REGISTER "undefined-register" "A register is used that is not declared."
    UNDEFINED_SIGNAL "undefined-signal" "A signal is used that is not declared."
    UNKNOWN_COMMAND "unknown-command" "A unit has no command of this name."
    UNKNOWN_CSR "unknown-csr" "There is no control and status register of this name."
    UNKNOWN_INSTRUCTION "unknown-instruction" "There is no instruction or macro of this name."
    UNKNOWN_OPTION "unknown-option" "An optional token does not exist or does not go with the instruction."
    UNKNOWN_STATE "unknown-state" "There is no input state of this name."
    UNREACHABLE_CODE "unreachable-code" "Control never reaches an instruction."
    UNSUPPORTED_DIRECTIVE "unsupported-directive" "A directive is not supported."
    UNUSED_OPERAND "unused-operand" "An operand is given that the instruction does not take."
    UNUSED_REGISTER "unused-register" "A register is declared and never used."
    UNUSED_SIGNAL "unused-signal" "A signal is declared and never used."
    USE_INSTEAD "use-instead" "An instruction has the same word as another one that should be written."
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

/// The shortest source that earns the message of this name. What the assembler says
/// to it gives the cause at its place, and what to do.
#[must_use]
pub fn example(name: &str) -> Option<&'static str> {
    let all = include_str!("codes/examples.txt");
    let (_, rest) = all.split_once(&format!("\n= {name}\n"))?;
    let (example, _) = rest.split_once("\n\n= ").unwrap_or((rest, ""));
    Some(example.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{TABLE, explain};

    #[test]
    fn names_are_kebab_case_and_unique() {
        for (i, code) in TABLE.iter().enumerate() {
            assert!(
                code.name.split('-').all(|word| !word.is_empty()
                    && word
                        .bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())),
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
    fn only_known_codes_are_explained() {
        assert!(explain("unclosed-bracket").is_some_and(|text| text.contains("bracket")));
        assert_eq!(explain("no-such-code"), None);
    }
}
