use super::{Interner, RawLine, lex};
use crate::front::token::{TokenKind, spell};
use crate::source::FileId;

fn lines(text: &str) -> Vec<RawLine> {
    lex(text, FileId(0), &mut Interner::default())
}

/// Returns the token texts of each line; directives begin with their name.
fn texts(text: &str) -> Vec<Vec<String>> {
    lines(text)
        .iter()
        .map(|line| {
            let name = line.directive.iter().map(|(_, name)| name);
            name.chain(&line.tokens)
                .map(|t| t.text.to_string())
                .collect()
        })
        .collect()
}

fn kinds(text: &str) -> Vec<TokenKind> {
    lines(text)
        .into_iter()
        .flat_map(|line| line.tokens)
        .map(|t| t.kind)
        .collect()
}

fn errors(text: &str) -> Vec<(&'static str, u32)> {
    lines(text)
        .iter()
        .flat_map(|line| &line.errors)
        .map(|e| (e.code, e.primary.span.lo))
        .collect()
}

#[test]
fn names_keep_their_sigils() {
    assert_eq!(
        texts(".reg $a $$b[2] @c n$d *l$index0++ &$x"),
        [[
            ".reg", "$a", "$$b", "[", "2", "]", "@c", "n$d", "*", "l$index0", "++", "&", "$x"
        ]]
    );
}

#[test]
fn labels_end_with_a_hash() {
    assert_eq!(
        texts("loop#: br[loop#]"),
        [["loop#", ":", "br", "[", "loop#", "]"]]
    );
    assert_eq!(kinds("loop#")[0], TokenKind::Label);
}

#[test]
fn branch_mnemonics_split_into_several_tokens() {
    assert_eq!(texts("br=ctx[0, a#]")[0][..3], ["br", "=", "ctx"]);
    assert_eq!(texts("br!=byte[r]")[0][..3], ["br", "!=", "byte"]);
    assert_eq!(texts("br_!signal[s]")[0][..3], ["br_", "!", "signal"]);
    assert_eq!(texts("alu[a,b,AND~,c]")[0][6..8], ["AND", "~"]);
    let line = &lines("br=ctx [0]")[0];
    let joined: Vec<bool> = line.tokens.iter().map(|t| t.joined).collect();
    assert_eq!(joined, [false, true, true, false, true, true]);
}

#[test]
fn numbers_in_all_bases_are_lexed() {
    let numbers: Vec<TokenKind> = kinds("10 0x1F 0b101 1100b 0011 18446744073709551615");
    let expected = [10, 31, 5, 12, 11, u64::MAX].map(TokenKind::Number);
    assert_eq!(numbers, expected);
    assert_eq!(texts("ld_field[a, 0011, b]")[0][4], "0011");
}

#[test]
fn word_starting_with_digits_is_a_name() {
    assert_eq!(
        kinds("16x16_start 32x32"),
        [TokenKind::Ident, TokenKind::Ident]
    );
}

#[test]
fn bad_numbers_are_reported() {
    assert_eq!(errors("a 0xZZ"), [("invalid-number", 2)]);
    assert_eq!(errors("18446744073709551616"), [("invalid-number", 0)]);
    assert_eq!(errors("0b102"), [("invalid-number", 0)]);
}

#[test]
fn comments_are_removed() {
    assert_eq!(
        texts("a // x\nb ; y\nc /* z\n z */ d\n//\n;;\n"),
        [vec!["a"], vec!["b"], vec!["c", "d"]]
    );
}

#[test]
fn unterminated_comment_error_points_at_its_start() {
    assert_eq!(errors("a\nb /* c\n"), [("unterminated-comment", 4)]);
}

#[test]
fn empty_comments_paste_only_adjacent_tokens() {
    assert_eq!(texts("a/**/b"), [["a", "##", "b"]]);
    assert_eq!(texts("a /**/b"), [["a", "b"]]);
    assert_eq!(texts("a/**/ b"), [["a", "b"]]);
    assert_eq!(texts("a/**/[b]"), [["a", "[", "b", "]"]]);
    assert_eq!(texts("a/**/i#:"), [["a", "##", "i#", ":"]]);
    assert_eq!(texts("a/**/i/**/#:"), [["a", "##", "i", "##", "#", ":"]]);
    assert_eq!(texts("a ## b"), [["a", "##", "b"]]);
    assert_eq!(texts("0x/**/FF"), [["0x", "##", "FF"]]);
    assert!(errors("0x/**/FF").is_empty());
}

#[test]
fn lines_continue_after_commas_brackets_and_backslashes() {
    assert_eq!(texts("a,\n\n// c\nb"), [["a", ",", "b"]]);
    assert_eq!(
        texts("f(a\n+ b\n)\nc"),
        [vec!["f", "(", "a", "+", "b", ")"], vec!["c"]]
    );
    assert_eq!(texts("a \\\n b"), [["a", "b"]]);
    assert_eq!(
        texts("#define x 1 + \\ \r\n 2\nc"),
        [vec!["define", "x", "1", "+", "2"], vec!["c"]]
    );
}

#[test]
fn unclosed_bracket_does_not_swallow_the_next_statement() {
    assert_eq!(
        texts("alu[a, b\nbr[c#]\n"),
        [vec!["alu", "[", "a", ",", "b"], vec!["br", "[", "c#", "]"]]
    );
    assert_eq!(errors("alu[a, b\nbr[c#]\n"), [("unclosed-bracket", 3)]);
    assert_eq!(errors("alu[a,\n#endif\n"), [("unclosed-bracket", 3)]);
    assert_eq!(errors("alu[a, b,\n.reg c\n"), [("unclosed-bracket", 3)]);
    assert_eq!(errors("alu[a"), [("unclosed-bracket", 3)]);
}

#[test]
fn mismatched_closing_brackets_are_reported() {
    assert_eq!(errors("a]"), [("unexpected-bracket", 1)]);
    assert_eq!(errors("(a]"), [("unexpected-bracket", 2)]);
}

#[test]
fn trailing_comma_is_reported() {
    assert_eq!(errors("a,\n"), [("trailing-comma", 1)]);
    assert_eq!(errors("a,\n#if x\n"), [("trailing-comma", 1)]);
}

#[test]
fn strings_end_on_their_line() {
    let found = &lines("\"a // b\" 'c ; d'")[0].tokens;
    assert_eq!(found[0].kind, TokenKind::Str);
    assert_eq!(&*found[0].text, "a // b");
    assert_eq!(found[1].kind, TokenKind::Quoted);
    assert_eq!(errors("a 'b\nc"), [("unterminated-string", 2)]);
    assert_eq!(texts("a 'b\nc"), [["a"], ["c"]]);
}

#[test]
fn stray_characters_are_reported() {
    assert_eq!(errors("a ` b"), [("invalid-character", 2)]);
    assert_eq!(errors("a é"), [("invalid-character", 2)]);
    assert_eq!(errors("a # b"), [("invalid-character", 2)]);
}

#[test]
fn paste_without_right_operand_is_reported() {
    assert_eq!(errors("a ##"), [("paste-operand", 2)]);
}

#[test]
fn messages_may_contain_open_brackets() {
    assert_eq!(texts("#error (a\nb"), [vec!["error", "(", "a"], vec!["b"]]);
}

#[test]
fn spelling_separates_tokens_that_would_merge() {
    let spelled = |text: &str| spell(&lines(text)[0].tokens);
    assert_eq!(spelled("alu[a,b,  +,(c - -1)]"), "alu[a,b, +,(c - -1)]");
    let mut tokens = lines("a - - b c")[0].tokens.clone();
    for token in &mut tokens {
        token.joined = true;
    }
    assert_eq!(spell(&tokens), "a- -b c");
}
