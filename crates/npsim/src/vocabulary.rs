//! The words of the language that no instruction table holds: directives,
//! preprocessor directives, functions and optional tokens, each with its form
//! and meaning. The editor support and its grammars are made from them.

/// A word of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, with the `.` or `#` that belongs to it.
    pub name: &'static str,
    /// How it is written.
    pub syntax: &'static str,
    /// What it does.
    pub doc: &'static str,
}

const fn word(name: &'static str, syntax: &'static str, doc: &'static str) -> Word {
    Word { name, syntax, doc }
}

/// Directives of the assembler.
pub const DIRECTIVES: &[Word] = &[
    word(
        ".begin",
        ".begin",
        "Opens a scope: names declared in it are known up to `.end`.",
    ),
    word(".end", ".end", "Closes the scope that `.begin` opened."),
    word(
        ".local",
        ".local name ...",
        "Opens a scope and declares general-purpose registers in it.",
    ),
    word(
        ".endlocal",
        ".endlocal",
        "Closes the scope that `.local` opened.",
    ),
    word(
        ".reg",
        ".reg [read] [write] [volatile] [global] name ...",
        "Declares registers; the sigil of a name says of which kind.",
    ),
    word(
        ".sig",
        ".sig [volatile] [global] name ...",
        "Declares signals.",
    ),
    word(
        ".xfer_order",
        ".xfer_order $a $b ...",
        "The transfer registers get consecutive numbers in this order.",
    ),
    word(
        ".xfer_order_rd",
        ".xfer_order_rd $a $b ...",
        "The same for the registers that are read from memory.",
    ),
    word(
        ".xfer_order_wr",
        ".xfer_order_wr $a $b ...",
        "The same for the registers that are written to memory.",
    ),
    word(
        ".set",
        ".set name ...",
        "The registers are written here by something that the program does not show.",
    ),
    word(
        ".set_rd",
        ".set_rd $a ...",
        "The same for the read side of transfer registers.",
    ),
    word(
        ".set_wr",
        ".set_wr $a ...",
        "The same for the write side of transfer registers.",
    ),
    word(
        ".use",
        ".use name ...",
        "The registers are needed here by something that the program does not show.",
    ),
    word(
        ".use_rd",
        ".use_rd $a ...",
        "The same for the read side of transfer registers.",
    ),
    word(
        ".use_wr",
        ".use_wr $a ...",
        "The same for the write side of transfer registers.",
    ),
    word(
        ".set_sig",
        ".set_sig name ...",
        "The signals are raised by something that the program does not show.",
    ),
    word(
        ".io_completed",
        ".io_completed name ...",
        "The commands that raise these signals are finished here.",
    ),
    word(
        ".addr",
        ".addr name number [A|B]",
        "The register or signal gets this number, a general-purpose register in this bank.",
    ),
    word(
        ".areg",
        ".areg name number",
        "The general-purpose register gets this number in bank A.",
    ),
    word(
        ".breg",
        ".breg name number",
        "The general-purpose register gets this number in bank B.",
    ),
    word(
        ".reg_addr",
        ".reg_addr name number A|B",
        "The general-purpose register gets this number and bank.",
    ),
    word(
        ".num_contexts",
        ".num_contexts 4|8",
        "How many contexts the program is made for; 8 if it is not said.",
    ),
    word(
        ".init_nn_mode",
        ".init_nn_mode neighbor|self",
        "Who writes the next-neighbour registers: the microengine before, or this one.",
    ),
    word(
        ".init",
        ".init register value",
        "The register has this value in all contexts when the program starts.",
    ),
    word(
        ".init_ctx",
        ".init_ctx context register value",
        "The register has this value in one context when the program starts.",
    ),
    word(
        ".import_var",
        ".import_var name ...",
        "Names constants that the loader supplies.",
    ),
    word(
        ".subroutine",
        ".subroutine",
        "Marks the beginning of a subroutine.",
    ),
    word(".endsub", ".endsub", "Marks the end of a subroutine."),
    word(
        ".reentry",
        ".reentry",
        "Marks a place that is entered by `rtn` or `jump`.",
    ),
    word(
        ".assert",
        ".assert expression, \"text\"",
        "An error with the text if the constant expression is 0.",
    ),
    word(
        ".operand_synonym",
        ".operand_synonym new old",
        "Another name for an operand.",
    ),
    word(
        ".word",
        ".word constant",
        "A word as it stands in the control store, 40 bits: for what no text says.",
    ),
    word(
        ".if",
        ".if (condition)",
        "The lines up to `.elif`, `.else` or `.endif` are executed if the condition is true; compares are signed.",
    ),
    word(
        ".if_unsigned",
        ".if_unsigned (condition)",
        "The same with unsigned compares.",
    ),
    word(".elif", ".elif (condition)", "Another arm of an `.if`."),
    word(
        ".elif_unsigned",
        ".elif_unsigned (condition)",
        "Another arm of an `.if`, with unsigned compares.",
    ),
    word(
        ".else",
        ".else",
        "The arm of an `.if` that is executed if no condition was true.",
    ),
    word(".endif", ".endif", "Ends an `.if`."),
    word(
        ".while",
        ".while (condition)",
        "The lines up to `.endw` are repeated while the condition is true; compares are signed.",
    ),
    word(
        ".while_unsigned",
        ".while_unsigned (condition)",
        "The same with unsigned compares.",
    ),
    word(".endw", ".endw", "Ends a `.while`."),
    word(
        ".repeat",
        ".repeat",
        "The lines up to `.until` are executed until its condition is true, at least once.",
    ),
    word(".until", ".until (condition)", "Ends a `.repeat`."),
    word(
        ".until_unsigned",
        ".until_unsigned (condition)",
        "Ends a `.repeat`, with unsigned compares.",
    ),
    word(
        ".break",
        ".break",
        "Leaves the innermost `.while` or `.repeat`.",
    ),
    word(
        ".continue",
        ".continue",
        "Goes to the test of the innermost `.while` or `.repeat`.",
    ),
];

/// Other spellings that the assembler takes: directive and what it stands for.
pub const SPELLINGS: &[(&str, &str)] = &[
    (".import", ".import_var"),
    (".if_signed", ".if"),
    (".if_likely", ".if"),
    (".if_unlikely", ".if"),
    (".if_likely_unsigned", ".if_unsigned"),
    (".if_unlikely_unsigned", ".if_unsigned"),
    (".elif_signed", ".elif"),
    (".elif_likely", ".elif"),
    (".elif_unlikely", ".elif"),
    (".while_signed", ".while"),
    (".until_signed", ".until"),
];

/// Directives of the preprocessor.
pub const PREPROCESSOR: &[Word] = &[
    word(
        "#define",
        "#define NAME [text]",
        "The name stands for the text; `NAME(a, b)` takes arguments.",
    ),
    word(
        "#define_eval",
        "#define_eval NAME expression",
        "The name stands for the value that the expression has now.",
    ),
    word("#undef", "#undef NAME", "The name stands for itself again."),
    word(
        "#if",
        "#if expression",
        "The lines up to `#elif`, `#else` or `#endif` count if the expression is not 0.",
    ),
    word(
        "#ifdef",
        "#ifdef NAME",
        "The lines count if the name is defined.",
    ),
    word(
        "#ifndef",
        "#ifndef NAME",
        "The lines count if the name is not defined.",
    ),
    word("#elif", "#elif expression", "Another arm of an `#if`."),
    word("#else", "#else", "The lines count if no arm before did."),
    word("#endif", "#endif", "Ends an `#if`, `#ifdef` or `#ifndef`."),
    word(
        "#include",
        "#include \"file\"",
        "The text of the file stands here.",
    ),
    word(
        "#macro",
        "#macro name(a, b)",
        "The lines up to `#endm` stand for `name(x, y)`; names may differ in the number of parameters only.",
    ),
    word("#endm", "#endm", "Ends a macro."),
    word("#exitm", "#exitm", "Ends the use of the macro here."),
    word(
        "#while",
        "#while expression",
        "The lines up to `#endloop` are repeated while the expression is not 0.",
    ),
    word(
        "#for",
        "#for NAME [a, b, c]",
        "The lines up to `#endloop` are repeated with the name standing for each value.",
    ),
    word(
        "#repeat",
        "#repeat expression",
        "The lines up to `#endloop` are repeated so many times.",
    ),
    word(
        "#endloop",
        "#endloop",
        "Ends a `#while`, `#for` or `#repeat`.",
    ),
    word("#error", "#error \"text\"", "An error with this text."),
    word("#warning", "#warning \"text\"", "A warning with this text."),
    word("#warn", "#warn \"text\"", "A warning with this text."),
    word("#info", "#info \"text\"", "A note with this text."),
    word(
        "#pragma",
        "#pragma warning(disable:NAME)",
        "What becomes of a warning from here on: `disable`, `enable`, `error` or `default`; `push` and `pop` save and restore.",
    ),
    word(
        "#line",
        "#line number \"file\"",
        "The next line is shown as this line of this file.",
    ),
];

/// Functions of constant expressions.
pub const FUNCTIONS: &[Word] = &[
    word("defined", "defined(NAME)", "1 if the name is defined."),
    word(
        "isnum",
        "isnum(x)",
        "1 if the argument is a constant expression.",
    ),
    word(
        "is_ct_const",
        "is_ct_const(x)",
        "1 if the argument's value is known to the assembler.",
    ),
    word(
        "is_rt_const",
        "is_rt_const(x)",
        "1 if the argument's value is known to the assembler or to the loader.",
    ),
    word(
        "isimport",
        "isimport(x)",
        "1 if the argument is an import variable.",
    ),
    word(
        "is_ixptype",
        "is_ixptype(x)",
        "1 if the argument's value is known to the assembler.",
    ),
    word("streq", "streq('a', 'b')", "1 if the texts are equal."),
    word("strlen", "strlen('a')", "Number of characters."),
    word(
        "strstr",
        "strstr('text', 'part')",
        "Place of the part in the text, from 1; 0 if it is not there.",
    ),
    word(
        "strleft",
        "strleft('text', n)",
        "The first n characters; with n below 0 all but the last -n.",
    ),
    word(
        "strright",
        "strright('text', n)",
        "The last n characters; with n below 0 all but the first -n.",
    ),
    word(
        "log2",
        "log2(x) or log2(x, 1)",
        "Logarithm to base 2, rounded down; rounded up with 1.",
    ),
    word(
        "mask",
        "mask(name)",
        "1 shifted left by the number of the signal or register.",
    ),
];

/// Functions of the conditions of `.if` and `.while`.
pub const CONDITIONS: &[Word] = &[
    word("BIT", "BIT(register, n)", "Whether the bit is set."),
    word("BYTE", "BYTE(register, n) == value", "Compares a byte."),
    word("CTX", "CTX() == n", "Whether this is context n."),
    word(
        "SIGNAL",
        "SIGNAL(name)",
        "Whether the signal is raised; clears it.",
    ),
    word(
        "INP_STATE",
        "INP_STATE(name)",
        "Whether the input state holds.",
    ),
    word("COUT", "COUT", "Whether the last result had a carry."),
];

/// Optional tokens after the brackets of an instruction.
pub const OPTIONS: &[Word] = &[
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

/// The word of this name in any letter case, from all lists.
#[must_use]
pub fn find(name: &str) -> Option<&'static Word> {
    let meant = SPELLINGS
        .iter()
        .find(|(spelling, _)| spelling.eq_ignore_ascii_case(name))
        .map_or(name, |(_, meant)| meant);
    [DIRECTIVES, PREPROCESSOR, FUNCTIONS, CONDITIONS, OPTIONS]
        .into_iter()
        .flatten()
        .find(|word| word.name.eq_ignore_ascii_case(meant))
}

/// Pages on the words for reading, after those of the instruction tables: titles
/// and Markdown texts.
#[must_use]
pub fn pages() -> Vec<(String, String)> {
    let structured = |word: &&Word| npsim_asm::directives::is_structured(word.name);
    let page = |title: &str, words: Vec<&Word>| {
        let rows: Vec<String> = words
            .iter()
            .map(|word| {
                let cell = |text: &str| text.replace('|', "\\|");
                format!("| `{}` | {} |\n", cell(word.syntax), cell(word.doc))
            })
            .collect();
        let head = format!("# {title}\n\n| Form | Meaning |\n| --- | --- |\n");
        (title.to_owned(), head + &rows.concat())
    };
    let (control, plain): (Vec<&Word>, Vec<&Word>) = DIRECTIVES.iter().partition(structured);
    vec![
        page("Directives", plain),
        page(
            "Structured assembly",
            control.into_iter().chain(CONDITIONS).collect(),
        ),
        page("Optional tokens", OPTIONS.iter().collect()),
        page("Preprocessor", PREPROCESSOR.iter().collect()),
        page(
            "Functions of constant expressions",
            FUNCTIONS.iter().collect(),
        ),
    ]
}

/// What there is to say about one word, as Markdown.
#[must_use]
pub fn entry(name: &str) -> Option<String> {
    let word = find(name)?;
    Some(format!(
        "# {}\n\n    {}\n\n{}\n",
        word.name, word.syntax, word.doc
    ))
}

/// Every name that has an entry.
pub fn names() -> impl Iterator<Item = &'static str> {
    let lists = [DIRECTIVES, PREPROCESSOR, FUNCTIONS, CONDITIONS, OPTIONS];
    let spellings = SPELLINGS.iter().map(|(spelling, _)| *spelling);
    let words = lists.into_iter().flatten();
    words.map(|word| word.name).chain(spellings)
}
