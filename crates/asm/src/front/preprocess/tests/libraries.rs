//! Behaviour that macro libraries written for other assemblers rely on.

use super::{lines, reported, run, single_diagnostic};

#[test]
fn square_brackets_call_a_macro_unless_an_instruction_has_the_name() {
    assert_eq!(
        lines("#macro twice[op, x]\nop[x]\nop[x]\n#endm\ntwice[nop, 4]\ntwice(nop, 5)"),
        ["nop[4]", "nop[4]", "nop[5]", "nop[5]"]
    );
    assert_eq!(
        lines("#macro immed(d, v)\nimmed[d, (v + 1)]\n#endm\nimmed[a, 7]\nimmed(a, 7)"),
        ["immed[a, 7]", "immed[a, (7 + 1)]"]
    );
    assert_eq!(
        lines("#macro quiet\nnop\n#endm\n#define loud quiet\nloud[]"),
        ["nop"]
    );
}

#[test]
fn strings_continue_after_a_backslash() {
    let run = run(
        "#if 0\n#error \"the size doesn't \\\n   fit, isn't it\"\n#endif\n\
                   #error \"first \\\n   second\"\nnop",
    );
    let messages: Vec<&str> = run.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["first second"]);
    assert_eq!(run.lines(), ["nop"]);
    // Without the backslash, the unclosed string ends with its line.
    assert_eq!(
        reported("use \"a\nnop")[0],
        ("unterminated-string", "\"".to_owned())
    );
}

#[test]
fn names_in_single_quotes_are_expanded() {
    assert_eq!(
        lines(
            "#define A 12\n#define_eval T 'x,A,A_B'\nuse[T]\n\
             #define_eval T 'T,9'\nuse[T]\n\
             #if streq('A', '12') && strstr('|x|12|', '|A|') == 3\nnop\n#endif"
        ),
        ["use[x,12,A_B]", "use[x,12,A_B,9]", "nop"]
    );
    assert_eq!(
        lines("#define F(x) x\n#define R R\nuse['F', 'R', \"R\"]"),
        ["use['F', 'R', \"R\"]"]
    );
}

#[test]
fn loop_can_build_a_label_list() {
    assert_eq!(
        lines(
            "#macro list(STEM, MARK, COUNT)\n#define_eval L ''\n#define_eval I 0\n\
             #while (I < COUNT)\n#define_eval L 'L,STEM/**/I/**/MARK'\n\
             #define_eval I (I + 1)\n#endloop\n#define_eval L strright('L', -1)\n#endm\n\
             list(case, #, 3)\njump[a, case0#], targets[L]"
        ),
        ["jump[a, case0#], targets[case0#,case1#,case2#]"]
    );
    assert_eq!(single_diagnostic("nop[a #]").0, "invalid-character");
}

#[test]
fn lists_and_local_memory_are_define_eval_values() {
    assert_eq!(
        lines(
            "#define_eval L '1,2'\n#define_eval M L\nuse[M]\n\
             #define_eval P '*l$index/**/0'\n#define_eval Q P\nuse[Q[3]]"
        ),
        ["use[1,2]", "use[*l$index0[3]]"]
    );
}

#[test]
fn strright_with_minus_zero_keeps_the_whole_text() {
    assert_eq!(
        lines("#define_eval E strright('abc', -0)\n#define_eval N strleft('abc', 0)\nuse[E N]"),
        ["use[abc]"]
    );
}

#[test]
fn pasted_dotted_name_equals_its_text() {
    assert_eq!(
        lines("#define_eval M 'i/**/25.mem'\n#if streq('M', 'i25.mem')\nnop\n#endif"),
        ["nop"]
    );
}
