//! The words of the language with their syntax and meaning, in tables that the assembler, editors
//! and reference pages share.

/// A word of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, including its `.` or `#`.
    pub name: &'static str,
    /// Its syntax.
    pub syntax: &'static str,
    /// Its meaning.
    pub doc: &'static str,
}

/// Defines an enum of words, with spelling, syntax and meaning of each variant.
macro_rules! words {
    ($(#[$note:meta])* $name:ident {
        $($variant:ident: $word:literal, $syntax:literal, $doc:literal;)*
    }) => {
        $(#[$note])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = $doc] $variant,)*
        }

        impl $name {
            /// The table, in the order of the variants.
            pub const WORDS: &'static [$crate::vocabulary::Word] = &[$(
                $crate::vocabulary::Word { name: $word, syntax: $syntax, doc: $doc },
            )*];

            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the variant's row in the table.
            #[must_use]
            pub const fn word(self) -> &'static $crate::vocabulary::Word {
                &Self::WORDS[self as usize]
            }

            /// Returns the variant with this name, in any letter case.
            #[must_use]
            pub fn by_name(name: &str) -> Option<Self> {
                let mut all = Self::ALL.iter().copied();
                all.find(|it| it.word().name.eq_ignore_ascii_case(name))
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Functions in constant expressions.
    Function {
        Defined: "defined", "defined(NAME)", "1 if the name is defined.";
        Isnum: "isnum", "isnum(x)", "1 if the argument is a constant expression.";
        IsCtConst: "is_ct_const", "is_ct_const(x)",
            "1 if the argument's value is known to the assembler.";
        IsRtConst: "is_rt_const", "is_rt_const(x)",
            "1 if the argument's value is known to the assembler or to the loader.";
        Isimport: "isimport", "isimport(x)", "1 if the argument is an import variable.";
        Isrestricted: "isrestricted", "isrestricted(x)",
            "1 if every instruction can take the argument as an operand, those with narrow operand fields too.";
        IsIxptype: "is_ixptype", "is_ixptype(NAME)",
            "1 if the name, that of a chip or a family such as `__IXP2400`, is defined.";
        Streq: "streq", "streq('a', 'b')", "1 if the texts are equal.";
        Strlen: "strlen", "strlen('a')", "Number of characters.";
        Strstr: "strstr", "strstr('text', 'part')",
            "Place of the part in the text, from 1; 0 if it is not there.";
        Strleft: "strleft", "strleft('text', n)",
            "The first n characters; with n below 0 all but the last -n.";
        Strright: "strright", "strright('text', n)",
            "The last n characters; with n below 0 all but the first -n.";
        Log2: "log2", "log2(x) or log2(x, 1)",
            "Logarithm to base 2, rounded down; rounded up with 1.";
        Mask: "mask", "mask(name)",
            "1 shifted left by the number of the signal or register.";
    }
}

words! {
    /// Functions of `.if` and `.while` conditions, besides those of constant expressions.
    ConditionFunction {
        Bit: "BIT", "BIT(register, n)", "Whether the bit is set.";
        Byte: "BYTE", "BYTE(register, n) == value", "Compares a byte.";
        Ctx: "CTX", "CTX() == n", "Whether this is context n.";
        Signal: "SIGNAL", "SIGNAL(name)", "Whether the signal is raised; clears it.";
        InpState: "INP_STATE", "INP_STATE(name)", "Whether the input state holds.";
        Cout: "COUT", "COUT", "Whether the last result had a carry.";
    }
}

const fn word(name: &'static str, syntax: &'static str, doc: &'static str) -> Word {
    Word { name, syntax, doc }
}

/// Optional tokens after the brackets of an instruction.
pub const OPTIONAL_TOKENS: &[Word] = &[
    word(
        "ctx_swap",
        "ctx_swap[signal]",
        "The context yields until the signal comes.",
    ),
    word(
        "sig_done",
        "sig_done[signal]",
        "The signal comes when the command is done.",
    ),
    word(
        "defer",
        "defer[n]",
        "The next n instructions are executed before the branch or swap.",
    ),
    word(
        "indirect_ref",
        "indirect_ref",
        "The result of the instruction before overrides fields of the command.",
    ),
    word(
        "ignore_data_error",
        "ignore_data_error",
        "The command signals even if the data is wrong.",
    ),
    word("targets", "targets[label#, ...]", "Where a jump can go."),
    word(
        "br",
        "br[label#]",
        "Where the context continues after the swap.",
    ),
    word("any", "any", "One of the signals is enough."),
    word("all", "all", "All signals must have come."),
    word("load_cc", "load_cc", "Sets the condition codes."),
    word(
        "bit_swap",
        "bit_swap",
        "The bits of each byte are taken in reverse order.",
    ),
    word(
        "lm_addr0",
        "lm_addr0[n]",
        "The result of a CAM lookup goes to this local-memory pointer too.",
    ),
    word(
        "lm_addr1",
        "lm_addr1[n]",
        "The result of a CAM lookup goes to this local-memory pointer too.",
    ),
    word(
        "bytes_0_3",
        "bytes_0_3",
        "All four bytes go into the remainder.",
    ),
    word(
        "bytes_1_3",
        "bytes_1_3",
        "Bytes 1 to 3 go into the remainder.",
    ),
    word(
        "bytes_2_3",
        "bytes_2_3",
        "Bytes 2 and 3 go into the remainder.",
    ),
    word("byte_3", "byte_3", "Byte 3 goes into the remainder."),
    word(
        "bytes_0_2",
        "bytes_0_2",
        "Bytes 0 to 2 go into the remainder.",
    ),
    word(
        "bytes_0_1",
        "bytes_0_1",
        "Bytes 0 and 1 go into the remainder.",
    ),
    word("byte_0", "byte_0", "Byte 0 goes into the remainder."),
];
