//! The directives, in tables: each with its form and meaning, and by which stage of the
//! assembler it is carried out. A source's word is read once, by [`DirectiveName::parse`]; from then on
//! a directive is a variant, and a new row leads the compiler to the stage that must know
//! it. Suggestions, editors, the layout of sources and reference pages take the words
//! from here.

use crate::vocabulary::{Word, words};

use Block::{Condition, Loop, Macro, PreprocessorCondition, PreprocessorLoop, Repeat, Scope};
use Role::{Closes, Declares, Divides, Opens, Stands};

/// What a directive opens and closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Names that are known inside only.
    Scope,
    /// A subroutine.
    Subroutine,
    /// What is executed on a condition.
    Condition,
    /// A loop with its condition before it.
    Loop,
    /// A loop with its condition behind it.
    Repeat,
    /// A macro.
    Macro,
    /// Lines that count on a condition.
    PreprocessorCondition,
    /// Lines that the preprocessor repeats.
    PreprocessorLoop,
}

impl Block {
    /// Whether it belongs to structured assembly.
    #[must_use]
    pub const fn is_structured(self) -> bool {
        matches!(self, Self::Condition | Self::Loop | Self::Repeat)
    }
}

/// What a directive is to the lines around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The directive opens a block.
    Opens(Block),
    /// The directive ends one part of a block and begins the next.
    Divides(Block),
    /// The directive closes a block.
    Closes(Block),
    /// The directive declares something or concerns the whole program.
    Declares,
    /// The directive stands among the statements.
    Stands,
}

words! {
    /// Scopes: opened and closed where names are declared.
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
            "Declares registers; the sigil of a name says of which kind.";
        Sig: ".sig", ".sig [volatile] [global] name ...", "Declares signals.";
        ImportVar: ".import_var", ".import_var name ...",
            "Names constants that the loader supplies.";
    }
}

words! {
    /// Hints to the analyses about the point of the program where they stand; they go with
    /// code that is left out.
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
    /// What directives say of the program and its names, when its instructions are chosen.
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
            "How many contexts the program is made for; 8 if it is not said.";
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
    /// Directives in whose place the front end puts something else.
    RewriteDirective {
        OperandSynonym: ".operand_synonym", ".operand_synonym new old",
            "Another name for an operand.";
        Word: ".word", ".word constant",
            "A word as it stands in the control store, 40 bits: for what no text says.";
    }
}

words! {
    /// Structured assembly, which becomes compares and branches.
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
    /// Directives of the preprocessor.
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
        Include: "#include", "#include \"file\"", "The text of the file stands here.";
        Macro: "#macro", "#macro name(a, b)",
            "The lines up to `#endm` stand for `name(x, y)`; names may differ in the number of parameters only.";
        Endm: "#endm", "#endm", "Ends a macro.";
        Exitm: "#exitm", "#exitm", "Ends the use of the macro here.";
        While: "#while", "#while expression",
            "The lines up to `#endloop` are repeated while the expression is not 0.";
        For: "#for", "#for NAME [a, b, c]",
            "The lines up to `#endloop` are repeated with the name standing for each value.";
        Repeat: "#repeat", "#repeat expression",
            "The lines up to `#endloop` are repeated so many times.";
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
    /// Where names are declared, it opens or closes a scope.
    Scope(ScopeDirective),
    /// The directive declares names.
    Declaration(DeclarationDirective),
    /// The directive informs the analyses about the place where it stands.
    Hint(HintDirective),
    /// The directive says something about the program or its names.
    Program(ProgramDirective),
    /// The front end puts something else in its place.
    Rewrite(RewriteDirective),
    /// The directive is lowered to compares and branches.
    Structured(StructuredDirective),
}

/// The rows of all directives that [`DirectiveName`] names but those of structured assembly.
pub const GENERAL: [&[Word]; 5] = [
    ScopeDirective::WORDS,
    DeclarationDirective::WORDS,
    HintDirective::WORDS,
    ProgramDirective::WORDS,
    RewriteDirective::WORDS,
];

/// Other spellings that the assembler takes: directive and what it stands for.
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

/// What is written for the end of a block, or for its next arm, by slips of the hand and by
/// habits from other languages.
const SLIPS: &[(&str, StructuredDirective)] = &[
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

/// The structured directive that a word which is none stands for.
#[must_use]
pub fn meant(word: &str) -> Option<StructuredDirective> {
    let mut slips = SLIPS.iter();
    let found = slips.find(|(wrong, _)| wrong.eq_ignore_ascii_case(word));
    found.map(|(_, meant)| *meant)
}

/// All directives in all their spellings.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    let tables = GENERAL.into_iter().chain([StructuredDirective::WORDS]);
    let spellings = SPELLINGS.iter().map(|(spelling, _)| *spelling);
    tables.flatten().map(|word| word.name).chain(spellings)
}

/// The role of a word in any spelling that the assembler takes; none if it is no directive.
#[must_use]
pub fn role(word: &str) -> Option<Role> {
    DirectiveName::parse(word).map(|(name, _)| name.role())
}

impl DirectiveName {
    /// The directive that a word in any letter case is, and the spelling that it has there.
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

    /// The row.
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

    /// What it is to the lines around it.
    #[must_use]
    pub const fn role(self) -> Role {
        use ProgramDirective as Program;
        match self {
            Self::Scope(ScopeDirective::Begin | ScopeDirective::Local) => Opens(Scope),
            Self::Scope(ScopeDirective::End | ScopeDirective::Endlocal) => Closes(Scope),
            Self::Declaration(_) | Self::Rewrite(RewriteDirective::OperandSynonym) => Declares,
            Self::Hint(_) | Self::Rewrite(RewriteDirective::Word) => Stands,
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
                Program::Assert => Stands,
            },
            Self::Structured(directive) => directive.role(),
        }
    }
}

impl StructuredDirective {
    /// What it is to the lines around it.
    #[must_use]
    pub const fn role(self) -> Role {
        match self {
            Self::If | Self::IfUnsigned => Opens(Condition),
            Self::Elif | Self::ElifUnsigned | Self::Else => Divides(Condition),
            Self::Endif => Closes(Condition),
            Self::While | Self::WhileUnsigned => Opens(Loop),
            Self::Endw => Closes(Loop),
            Self::Repeat => Opens(Repeat),
            Self::Until | Self::UntilUnsigned => Closes(Repeat),
            Self::Break | Self::Continue => Stands,
        }
    }

    /// Whether a condition follows it.
    #[must_use]
    pub fn has_condition(self) -> bool {
        self.word().syntax != self.word().name
    }
}

impl PreprocessorDirective {
    /// The directive of this name without its `#`, in any letter case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|it| it.bare_name().eq_ignore_ascii_case(name))
    }

    /// The name without the `#`.
    fn bare_name(self) -> &'static str {
        self.word().name.trim_start_matches('#')
    }

    /// All names without the `#`.
    pub(crate) fn bare_names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|it| it.bare_name())
    }

    /// What it is to the lines around it.
    #[must_use]
    pub const fn role(self) -> Role {
        match self {
            Self::If | Self::Ifdef | Self::Ifndef => Opens(PreprocessorCondition),
            Self::Elif | Self::Else => Divides(PreprocessorCondition),
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
            | Self::Line => Stands,
        }
    }

    /// Whether it opens, divides or closes a conditional block.
    #[must_use]
    pub const fn is_conditional(self) -> bool {
        matches!(
            self.role(),
            Opens(PreprocessorCondition)
                | Divides(PreprocessorCondition)
                | Closes(PreprocessorCondition)
        )
    }

    /// Whether a message follows it, in which anything may stand.
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
    use super::{Block, DirectiveName, Role, meant, names, role};

    #[test]
    fn every_spelling_has_the_role_of_its_directive() {
        let opens = Some(Role::Opens(Block::Condition));
        for word in [".if", ".IF_signed", ".if_likely", ".if_unlikely_unsigned"] {
            assert_eq!(role(word), opens, "{word}");
        }
        assert_eq!(
            role(".elif_unlikely"),
            Some(Role::Divides(Block::Condition))
        );
        assert_eq!(role(".until_unsigned"), Some(Role::Closes(Block::Repeat)));
        assert_eq!(role(".import"), Some(Role::Declares));
        assert_eq!(role(".reg"), Some(Role::Declares));
        for word in ["alu", ".likely", ".elsewhere", ".else_likely", ""] {
            assert_eq!(role(word), None, "{word}");
        }
    }

    #[test]
    fn a_name_is_in_one_table_and_is_no_slip() {
        for name in names() {
            let (_, spelling) =
                DirectiveName::parse(&name.to_ascii_uppercase()).expect("a directive");
            assert_eq!(spelling, name);
            assert_eq!(names().filter(|other| *other == name).count(), 1, "{name}");
            assert_eq!(meant(name), None, "{name}");
        }
    }
}
