//! The directives, in tables: syntax, meaning, and the stage of the assembler that carries each
//! out. [`DirectiveName::parse`] reads a source word once; from then on a directive is a variant,
//! so the compiler points to the stage that must handle a new row. Suggestions, editors, the source
//! formatter and reference pages also use these tables.

use crate::vocabulary::{Word, words};

use Block::{Condition, Loop, Macro, PreprocessorCondition, PreprocessorLoop, Repeat, Scope};
use Role::{Closes, Continues, Declares, Opens, Plain};

/// The kind of block that a directive opens or closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// A scope of names.
    Scope,
    /// A subroutine.
    Subroutine,
    /// Statements executed conditionally.
    Condition,
    /// A loop with its condition at the start.
    Loop,
    /// A loop with its condition at the end.
    Repeat,
    /// A macro.
    Macro,
    /// Lines included conditionally by the preprocessor.
    PreprocessorCondition,
    /// Lines that the preprocessor repeats.
    PreprocessorLoop,
}

impl Block {
    /// Whether the block belongs to structured assembly.
    #[must_use]
    pub const fn is_structured(self) -> bool {
        matches!(self, Self::Condition | Self::Loop | Self::Repeat)
    }
}

/// The role of a directive with respect to the lines around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The directive opens a block.
    Opens(Block),
    /// The directive ends one part of a block and begins the next.
    Continues(Block),
    /// The directive closes a block.
    Closes(Block),
    /// The directive declares something or applies to the whole program.
    Declares,
    /// The directive is an ordinary statement.
    Plain,
}

words! {
    /// Scope directives, processed when names are declared.
    ScopeDirective {
        Begin: ".begin", ".begin",
            "Opens a scope: names declared in it are known up to `.end`.";
        End: ".end", ".end", "Closes the scope that `.begin` opened.";
        Local: ".local", ".local name ...",
            "Opens a scope and declares general-purpose registers in it.";
        Endlocal: ".endlocal", ".endlocal", "Closes the scope that `.local` opened.";
    }
}

words! {
    /// Declarations of names.
    DeclarationDirective {
        Reg: ".reg", ".reg [read] [write] [volatile] [global] name ...",
            "Declares registers; the sigil of a name gives its kind.";
        Sig: ".sig", ".sig [volatile] [global] name ...", "Declares signals.";
        ImportVar: ".import_var", ".import_var name ...",
            "Names constants that the loader supplies.";
    }
}

words! {
    /// Hints to the analyses about the point of the program at which they appear; they are dropped
    /// along with code that is left out.
    HintDirective {
        Set: ".set", ".set name ...",
            "The registers are written here by something that the program does not show.";
        SetRd: ".set_rd", ".set_rd $a ...",
            "The read sides of the transfer registers are written here by something that the program does not show.";
        SetWr: ".set_wr", ".set_wr $a ...",
            "The write sides of the transfer registers are written here by something that the program does not show.";
        Use: ".use", ".use name ...",
            "The registers are needed here by something that the program does not show.";
        UseRd: ".use_rd", ".use_rd $a ...",
            "The read sides of the transfer registers are needed here by something that the program does not show.";
        UseWr: ".use_wr", ".use_wr $a ...",
            "The write sides of the transfer registers are needed here by something that the program does not show.";
        SetSig: ".set_sig", ".set_sig name ...",
            "The signals are raised by something that the program does not show.";
        IoCompleted: ".io_completed", ".io_completed name ...",
            "The commands that raise these signals are finished here.";
        Reentry: ".reentry", ".reentry", "Marks a place that is entered by `rtn` or `jump`.";
    }
}

words! {
    /// Directives about the program and its names, processed during instruction selection.
    ProgramDirective {
        XferOrder: ".xfer_order", ".xfer_order $a $b ...",
            "The transfer registers get consecutive numbers in this order.";
        XferOrderRd: ".xfer_order_rd", ".xfer_order_rd $a $b ...",
            "The transfer registers that are read from memory get consecutive numbers in this order.";
        XferOrderWr: ".xfer_order_wr", ".xfer_order_wr $a $b ...",
            "The transfer registers that are written to memory get consecutive numbers in this order.";
        Addr: ".addr", ".addr name number [A|B]",
            "The register or signal gets this number, a general-purpose register in this bank.";
        Areg: ".areg", ".areg name number",
            "The general-purpose register gets this number in bank A.";
        Breg: ".breg", ".breg name number",
            "The general-purpose register gets this number in bank B.";
        RegAddr: ".reg_addr", ".reg_addr name number A|B",
            "The general-purpose register gets this number and bank.";
        NumContexts: ".num_contexts", ".num_contexts 4|8",
            "How many contexts the program is made for; 8 if not given.";
        InitNnMode: ".init_nn_mode", ".init_nn_mode neighbor|self",
            "Which microengine writes the next-neighbour registers: the one before, or this one.";
        Init: ".init", ".init register|memory+offset value",
            "The register has this value in all contexts when the program starts, or the longword of the project's memory.";
        InitCtx: ".init_ctx", ".init_ctx context register value",
            "The register has this value in one context when the program starts.";
        Subroutine: ".subroutine", ".subroutine", "Marks the beginning of a subroutine.";
        Endsub: ".endsub", ".endsub", "Marks the end of a subroutine.";
        Assert: ".assert", ".assert expression, \"text\"",
            "An error with the text if the constant expression is 0.";
    }
}

words! {
    /// Directives that the front end replaces by something else.
    RewriteDirective {
        OperandSynonym: ".operand_synonym", ".operand_synonym new old",
            "Another name for an operand.";
        Word: ".word", ".word constant",
            "A 40-bit word exactly as in the control store, for what has no text form.";
    }
}

words! {
    /// Structured assembly, lowered to compares and branches.
    StructuredDirective {
        If: ".if", ".if (condition)",
            "The lines up to `.elif`, `.else` or `.endif` are executed if the condition is true; compares are signed.";
        IfUnsigned: ".if_unsigned", ".if_unsigned (condition)",
            "An `.if` whose compares are unsigned.";
        Elif: ".elif", ".elif (condition)", "Another arm of an `.if`.";
        ElifUnsigned: ".elif_unsigned", ".elif_unsigned (condition)",
            "Another arm of an `.if`, with unsigned compares.";
        Else: ".else", ".else",
            "The arm of an `.if` that is executed if no condition was true.";
        Endif: ".endif", ".endif", "Ends an `.if`.";
        While: ".while", ".while (condition)",
            "The lines up to `.endw` are repeated while the condition is true; compares are signed.";
        WhileUnsigned: ".while_unsigned", ".while_unsigned (condition)",
            "A `.while` whose compares are unsigned.";
        Endw: ".endw", ".endw", "Ends a `.while`.";
        Repeat: ".repeat", ".repeat",
            "The lines up to `.until` are executed until its condition is true, at least once.";
        Until: ".until", ".until (condition)", "Ends a `.repeat`.";
        UntilUnsigned: ".until_unsigned", ".until_unsigned (condition)",
            "Ends a `.repeat`, with unsigned compares.";
        Break: ".break", ".break", "Leaves the innermost `.while` or `.repeat`.";
        Continue: ".continue", ".continue",
            "Goes to the test of the innermost `.while` or `.repeat`.";
    }
}

words! {
    /// Preprocessor directives.
    PreprocessorDirective {
        Define: "#define", "#define NAME [text]",
            "The name stands for the text; `NAME(a, b)` takes arguments.";
        DefineEval: "#define_eval", "#define_eval NAME expression",
            "The name stands for the value that the expression has now.";
        Undef: "#undef", "#undef NAME", "The name stands for itself again.";
        If: "#if", "#if expression",
            "The lines up to `#elif`, `#else` or `#endif` count if the expression is not 0.";
        Ifdef: "#ifdef", "#ifdef NAME", "The lines count if the name is defined.";
        Ifndef: "#ifndef", "#ifndef NAME", "The lines count if the name is not defined.";
        Elif: "#elif", "#elif expression", "Another arm of an `#if`.";
        Else: "#else", "#else", "The lines count if no arm before did.";
        Endif: "#endif", "#endif", "Ends an `#if`, `#ifdef` or `#ifndef`.";
        Include: "#include", "#include \"file\"", "Inserts the text of the file.";
        Macro: "#macro", "#macro name(a, b)",
            "The lines up to `#endm` stand for `name(x, y)`; names may differ in the number of parameters only.";
        Endm: "#endm", "#endm", "Ends a macro.";
        Exitm: "#exitm", "#exitm", "Ends the use of the macro here.";
        While: "#while", "#while expression",
            "The lines up to `#endloop` are repeated while the expression is not 0.";
        For: "#for", "#for NAME [a, b, c]",
            "The lines up to `#endloop` are repeated with the name standing for each value.";
        Repeat: "#repeat", "#repeat expression",
            "The lines up to `#endloop` are repeated that many times.";
        Endloop: "#endloop", "#endloop", "Ends a `#while`, `#for` or `#repeat`.";
        Error: "#error", "#error \"text\"", "An error with this text.";
        Warning: "#warning", "#warning \"text\"", "A warning with this text.";
        Warn: "#warn", "#warn \"text\"", "A warning with this text.";
        Info: "#info", "#info \"text\"", "A note with this text.";
        Pragma: "#pragma", "#pragma warning(disable:NAME)",
            "Sets the treatment of a warning from here on: `disable`, `enable`, `error` or `default`; `push` and `pop` save and restore.";
        Line: "#line", "#line number \"file\"",
            "The next line is shown as this line of this file.";
    }
}

/// A directive, by the stage of the assembler that carries it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveName {
    /// The directive opens or closes a scope when names are declared.
    Scope(ScopeDirective),
    /// The directive declares names.
    Declaration(DeclarationDirective),
    /// The directive informs the analyses about its position.
    Hint(HintDirective),
    /// The directive states something about the program or its names.
    Program(ProgramDirective),
    /// The front end replaces the directive by something else.
    Rewrite(RewriteDirective),
    /// The directive is lowered to compares and branches.
    Structured(StructuredDirective),
}

/// The tables of all directives in [`DirectiveName`] except those of structured assembly.
pub const UNSTRUCTURED: [&[Word]; 5] = [
    ScopeDirective::WORDS,
    DeclarationDirective::WORDS,
    HintDirective::WORDS,
    ProgramDirective::WORDS,
    RewriteDirective::WORDS,
];

/// Alternative spellings that the assembler accepts, with the directives they stand for.
pub const SPELLINGS: &[(&str, DirectiveName)] = &[
    (
        ".import",
        DirectiveName::Declaration(DeclarationDirective::ImportVar),
    ),
    (".if_signed", structured(StructuredDirective::If)),
    (".if_likely", structured(StructuredDirective::If)),
    (".if_unlikely", structured(StructuredDirective::If)),
    (
        ".if_likely_unsigned",
        structured(StructuredDirective::IfUnsigned),
    ),
    (
        ".if_unlikely_unsigned",
        structured(StructuredDirective::IfUnsigned),
    ),
    (".elif_signed", structured(StructuredDirective::Elif)),
    (".elif_likely", structured(StructuredDirective::Elif)),
    (".elif_unlikely", structured(StructuredDirective::Elif)),
    (".while_signed", structured(StructuredDirective::While)),
    (".until_signed", structured(StructuredDirective::Until)),
];

const fn structured(directive: StructuredDirective) -> DirectiveName {
    DirectiveName::Structured(directive)
}

/// Words mistakenly written for the end of a block, or for its next arm, through typos or habits
/// from other languages.
const COMMON_MISTAKES: &[(&str, StructuredDirective)] = &[
    (".endf", StructuredDirective::Endif),
    (".endfi", StructuredDirective::Endif),
    (".end_if", StructuredDirective::Endif),
    (".enif", StructuredDirective::Endif),
    (".fi", StructuredDirective::Endif),
    (".elseif", StructuredDirective::Elif),
    (".elsif", StructuredDirective::Elif),
    (".else_if", StructuredDirective::Elif),
    (".endwhile", StructuredDirective::Endw),
    (".end_while", StructuredDirective::Endw),
    (".wend", StructuredDirective::Endw),
];

/// Returns the structured directive that a mistaken word stands for.
#[must_use]
pub fn intended_directive(word: &str) -> Option<StructuredDirective> {
    let mut mistakes = COMMON_MISTAKES.iter();
    let found = mistakes.find(|(wrong, _)| wrong.eq_ignore_ascii_case(word));
    found.map(|(_, directive)| *directive)
}

/// Returns all directives in all their spellings.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    let tables = UNSTRUCTURED.into_iter().chain([StructuredDirective::WORDS]);
    let spellings = SPELLINGS.iter().map(|(spelling, _)| *spelling);
    tables.flatten().map(|word| word.name).chain(spellings)
}

/// Returns the role of a directive in any accepted spelling; `None` if the word is no directive.
#[must_use]
pub fn role(word: &str) -> Option<Role> {
    DirectiveName::parse(word).map(|(name, _)| name.role())
}

impl DirectiveName {
    /// Returns the directive that a word stands for in any letter case, with its spelling from the
    /// table.
    #[must_use]
    pub fn parse(word: &str) -> Option<(Self, &'static str)> {
        if !word.starts_with('.') {
            return None;
        }
        if let Some(name) = Self::by_name(word) {
            return Some((name, name.word().name));
        }
        let mut spellings = SPELLINGS.iter();
        let found = spellings.find(|(spelling, _)| spelling.eq_ignore_ascii_case(word));
        found.map(|(spelling, name)| (*name, *spelling))
    }

    fn by_name(word: &str) -> Option<Self> {
        let scope = ScopeDirective::by_name(word).map(Self::Scope);
        scope
            .or_else(|| DeclarationDirective::by_name(word).map(Self::Declaration))
            .or_else(|| HintDirective::by_name(word).map(Self::Hint))
            .or_else(|| ProgramDirective::by_name(word).map(Self::Program))
            .or_else(|| RewriteDirective::by_name(word).map(Self::Rewrite))
            .or_else(|| StructuredDirective::by_name(word).map(Self::Structured))
    }

    /// Returns the directive's row in its table.
    #[must_use]
    pub const fn word(self) -> &'static Word {
        match self {
            Self::Scope(it) => it.word(),
            Self::Declaration(it) => it.word(),
            Self::Hint(it) => it.word(),
            Self::Program(it) => it.word(),
            Self::Rewrite(it) => it.word(),
            Self::Structured(it) => it.word(),
        }
    }

    /// Returns the directive's role with respect to the lines around it.
    #[must_use]
    pub const fn role(self) -> Role {
        use ProgramDirective as Program;
        match self {
            Self::Scope(ScopeDirective::Begin | ScopeDirective::Local) => Opens(Scope),
            Self::Scope(ScopeDirective::End | ScopeDirective::Endlocal) => Closes(Scope),
            Self::Declaration(_) | Self::Rewrite(RewriteDirective::OperandSynonym) => Declares,
            Self::Hint(_) | Self::Rewrite(RewriteDirective::Word) => Plain,
            Self::Program(directive) => match directive {
                Program::XferOrder
                | Program::XferOrderRd
                | Program::XferOrderWr
                | Program::Addr
                | Program::Areg
                | Program::Breg
                | Program::RegAddr
                | Program::NumContexts
                | Program::InitNnMode
                | Program::Init
                | Program::InitCtx => Declares,
                Program::Subroutine => Opens(Block::Subroutine),
                Program::Endsub => Closes(Block::Subroutine),
                Program::Assert => Plain,
            },
            Self::Structured(directive) => directive.role(),
        }
    }
}

impl StructuredDirective {
    /// Returns the directive's role with respect to the lines around it.
    #[must_use]
    pub const fn role(self) -> Role {
        match self {
            Self::If | Self::IfUnsigned => Opens(Condition),
            Self::Elif | Self::ElifUnsigned | Self::Else => Continues(Condition),
            Self::Endif => Closes(Condition),
            Self::While | Self::WhileUnsigned => Opens(Loop),
            Self::Endw => Closes(Loop),
            Self::Repeat => Opens(Repeat),
            Self::Until | Self::UntilUnsigned => Closes(Repeat),
            Self::Break | Self::Continue => Plain,
        }
    }

    /// Whether the directive takes a condition.
    #[must_use]
    pub fn has_condition(self) -> bool {
        self.word().syntax != self.word().name
    }
}

impl PreprocessorDirective {
    /// Returns the directive with this name, without its `#`, in any letter case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|it| it.bare_name().eq_ignore_ascii_case(name))
    }

    /// Returns the name without the `#`.
    fn bare_name(self) -> &'static str {
        self.word().name.trim_start_matches('#')
    }

    /// Returns all names without the `#`.
    pub(crate) fn bare_names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|it| it.bare_name())
    }

    /// Returns the directive's role with respect to the lines around it.
    #[must_use]
    pub const fn role(self) -> Role {
        match self {
            Self::If | Self::Ifdef | Self::Ifndef => Opens(PreprocessorCondition),
            Self::Elif | Self::Else => Continues(PreprocessorCondition),
            Self::Endif => Closes(PreprocessorCondition),
            Self::Macro => Opens(Macro),
            Self::Endm => Closes(Macro),
            Self::While | Self::For | Self::Repeat => Opens(PreprocessorLoop),
            Self::Endloop => Closes(PreprocessorLoop),
            Self::Define
            | Self::DefineEval
            | Self::Undef
            | Self::Include
            | Self::Exitm
            | Self::Error
            | Self::Warning
            | Self::Warn
            | Self::Info
            | Self::Pragma
            | Self::Line => Plain,
        }
    }

    /// Whether the directive opens, divides or closes a conditional block.
    #[must_use]
    pub const fn is_conditional(self) -> bool {
        matches!(
            self.role(),
            Opens(PreprocessorCondition)
                | Continues(PreprocessorCondition)
                | Closes(PreprocessorCondition)
        )
    }

    /// Whether the directive takes a message, which may be arbitrary text.
    #[must_use]
    pub const fn is_message(self) -> bool {
        matches!(
            self,
            Self::Error | Self::Warning | Self::Warn | Self::Info | Self::Pragma
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, DirectiveName, Role, intended_directive, names, role};

    #[test]
    fn every_spelling_has_the_role_of_its_directive() {
        let opens = Some(Role::Opens(Block::Condition));
        for word in [".if", ".IF_signed", ".if_likely", ".if_unlikely_unsigned"] {
            assert_eq!(role(word), opens, "{word}");
        }
        assert_eq!(
            role(".elif_unlikely"),
            Some(Role::Continues(Block::Condition))
        );
        assert_eq!(role(".until_unsigned"), Some(Role::Closes(Block::Repeat)));
        assert_eq!(role(".import"), Some(Role::Declares));
        assert_eq!(role(".reg"), Some(Role::Declares));
        for word in ["alu", ".likely", ".elsewhere", ".else_likely", ""] {
            assert_eq!(role(word), None, "{word}");
        }
    }

    #[test]
    fn directive_names_are_unique_and_no_known_typo() {
        for name in names() {
            let (_, spelling) =
                DirectiveName::parse(&name.to_ascii_uppercase()).expect("a directive");
            assert_eq!(spelling, name);
            assert_eq!(names().filter(|other| *other == name).count(), 1, "{name}");
            assert_eq!(intended_directive(name), None, "{name}");
        }
    }
}
