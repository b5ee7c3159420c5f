use super::{Text, context_at, first_word_at, word_at};

#[test]
fn words_include_sigils_labels_and_directives() {
    let text = "  #define_eval x 1\nend#: br[end#]\n .reg $$data n$next @lock";
    let word = |needle: &str, add: usize| {
        let at = text.find(needle).expect("the word") + add;
        word_at(&Text::new(text), at).map(|range| &text[range])
    };
    assert_eq!(word("#define", 0), Some("#define_eval"));
    assert_eq!(word("fine_eval", 2), Some("#define_eval"));
    assert_eq!(word("end#:", 1), Some("end#"));
    assert_eq!(word("end#]", 4), Some("end#"));
    assert_eq!(word("$$data", 3), Some("$$data"));
    assert_eq!(word("n$next", 0), Some("n$next"));
    assert_eq!(word("@lock", 0), Some("@lock"));
    assert_eq!(word(".reg", 1), Some(".reg"));
    assert_eq!(word("[", 0), Some("br"));
    let quoted = "#if (strstr('one two', \"a\") > 0)";
    let two = word_at(&Text::new(quoted), 18);
    assert_eq!(two.map(|range| &quoted[range]), Some("two"));
    assert_eq!(word_at(&Text::new(""), 5), None);
    assert_eq!(word_at(&Text::new("µ"), 1), None);
}

#[test]
fn context_identifies_the_operand() {
    let at_end = |text: &str| context_at(&Text::new(text), text.len());
    let context = at_end("l1#: alu[a, (b + 1), ");
    assert_eq!((context.head.as_str(), context.operand), ("alu", 2));
    assert_eq!(context.operands, ["a", "(b + 1)"]);
    assert!(!context.closed);
    let context = at_end("sram[read, $x,\n  a, 0, 2], ctx_swap[");
    assert!(context.closed);
    assert_eq!(
        (context.head.as_str(), context.inner.as_str()),
        ("sram", "ctx_swap")
    );
    let context = at_end("nop\n br!=c");
    assert_eq!((context.head.as_str(), context.depth), ("br!=c", 0));
    assert_eq!(at_end(".if (INP_STATE(").inner, "inp_state");
    assert_eq!(at_end("").head, "");
}

#[test]
fn mnemonics_may_contain_punctuation() {
    let text = "go#: br_!signal[s, go#]\n  16x16_start";
    let first = |at| first_word_at(&Text::new(text), at).map(|range| &text[range]);
    assert_eq!(first(8), Some("br_!signal"));
    assert_eq!(first(17), None);
    assert_eq!(first(30), Some("16x16_start"));
}

#[test]
fn definitions_carry_their_comments() {
    let text = "; not this\n\n; put(ring, data)\n;   Puts it.\n#macro put(ring,\\\n data)\n#define N 3 ; three\n#endm\n// old\n#define F(a) (a + 1)\n#define_eval M (N)\n#macro none\n";
    let found = Text::new(text).definitions().clone();
    assert_eq!(found.macros.len(), 2);
    let put = &found.macros[0];
    assert_eq!(
        put.parameters,
        ["ring", "\\\n data"].map(|name| name.trim_start_matches('\\').trim())
    );
    assert_eq!(put.comment, "put(ring, data)\n  Puts it.");
    assert!(text[put.whole.clone()].ends_with("#endm"));
    assert_eq!(found.macros[1].signature(), "none()");
    let [n, f, m] = found.defines.as_slice() else {
        panic!("{:?}", found.defines)
    };
    assert_eq!((n.value.as_str(), n.comment.as_str()), ("3", "three"));
    assert_eq!(f.parameters.as_deref(), Some("(a)"));
    assert_eq!((f.value.as_str(), f.comment.as_str()), ("(a + 1)", "old"));
    assert_eq!((m.parameters.as_deref(), m.value.as_str()), (None, "(N)"));
}

#[test]
fn statement_context_is_independent_of_preceding_text() {
    let before = "#define N 3 /* two\n lines */\nl1#: nop\n.reg a \"x;\n";
    let statement = "alu[a, b, +,\\\n c], defer[";
    let (alone, whole) = (Text::new(statement), format!("{before}{statement}"));
    for at in 0..=statement.len() {
        let found = context_at(&Text::new(whole.as_str()), before.len() + at);
        assert_eq!(found, context_at(&alone, at), "{at}");
    }
}
