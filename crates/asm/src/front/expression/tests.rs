use super::{Expression, Failure, Resolver, Value, builtin};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::lexer::{Interner, lex};
use crate::front::token::Token;
use crate::source::FileId;

/// Resolves `x` to 7, `&r` to 3 and `&r[i]` to 3 + i.
struct Known;

impl Resolver for Known {
    fn name(&mut self, name: &Token, index: Option<i64>) -> Result<Value, Failure> {
        match (&*name.text, index) {
            ("x", None) => Ok(Value::Number(7)),
            ("x", Some(i)) => Ok(Value::Number((70 + i).into())),
            _ => Err(Box::new(Diagnostic::error(
                codes::NOT_CONSTANT,
                "unknown",
                name.span,
                name.expansion,
            ))),
        }
    }

    fn address(&mut self, _: &Token, index: Option<i64>) -> Result<Value, Failure> {
        Ok(Value::Number((3 + index.unwrap_or(0)).into()))
    }

    fn call(&mut self, function: &Token, arguments: &[Vec<Token>]) -> Result<Value, Failure> {
        builtin(function, arguments, self).unwrap_or_else(|| self.name(function, None))
    }
}

fn tokens(text: &str) -> Vec<Token> {
    lex(text, FileId(0), &mut Interner::default())
        .into_iter()
        .flat_map(|line| line.tokens)
        .collect()
}

fn evaluate(text: &str) -> Result<Value, Failure> {
    let near = &tokens("near")[0];
    Expression::parse(&tokens(text), near)?.evaluate(&mut Known)
}

fn number(text: &str) -> i128 {
    match evaluate(text) {
        Ok(Value::Number(n)) => n,
        other => panic!("{text}: {other:?}"),
    }
}

fn text(source: &str) -> String {
    match evaluate(source) {
        Ok(Value::Text(text)) => text.to_string(),
        other => panic!("{source}: {other:?}"),
    }
}

fn code(text: &str) -> &'static str {
    match evaluate(text) {
        Err(failure) => failure.code,
        Ok(value) => panic!("{text}: {value:?}"),
    }
}

#[test]
fn operator_precedence_matches_c() {
    assert_eq!(number("1 + 2 * 3"), 7);
    assert_eq!(number("(1 + 2) * 3"), 9);
    assert_eq!(number("10 - 3 - 2"), 5);
    assert_eq!(number("1 << 2 + 1"), 8);
    assert_eq!(number("1 | 6 & 3 ^ 1"), 1 | ((6 & 3) ^ 1));
    assert_eq!(number("1 == 1 && 2 < 1 || 5 >= 5"), 1);
    assert_eq!(number("7 & 2 == 2"), 1);
    assert_eq!(number("100 / 7 % 5"), 4);
    assert_eq!(number("-3 + 1"), -2);
    assert_eq!(number("~0 & 0xff"), 255);
    assert_eq!(number("!0 + !5"), 1);
    assert_eq!(number("- - 4"), 4);
}

#[test]
fn conditional_evaluates_only_the_chosen_side() {
    assert_eq!(number("1 ? 2 : unknown"), 2);
    assert_eq!(number("0 ? unknown : 0 ? 1 : 3"), 3);
}

#[test]
fn logical_operators_short_circuit() {
    assert_eq!(number("0 && unknown"), 0);
    assert_eq!(number("2 || unknown"), 1);
    assert_eq!(code("1 && unknown"), "not-constant");
}

#[test]
fn names_elements_and_addresses_are_resolved() {
    assert_eq!(number("x + 1"), 8);
    assert_eq!(number("x[1 + 1]"), 72);
    assert_eq!(number("&r | (&m[2] << 12)"), 3 | (5 << 12));
    assert_eq!(number("6 & x"), 6);
}

#[test]
fn overflow_and_division_by_zero_are_errors() {
    assert_eq!(code("1 / 0"), "division-by-zero");
    assert_eq!(code("1 % (2 - 2)"), "division-by-zero");
    assert_eq!(code("0xffffffffffffffff + 1"), "expression-overflow");
    assert_eq!(code("-0x7fffffffffffffff - 2"), "expression-overflow");
    assert_eq!(code("0x8000000000000000 * 2"), "expression-overflow");
    assert_eq!(code("3 << 63"), "expression-overflow");
    assert_eq!(code("0xffffffffffffffff << 63"), "expression-overflow");
    assert_eq!(code("1 << 64"), "expression-overflow");
    assert_eq!(code("1 << -1"), "expression-overflow");
    assert_eq!(number("1 >> 100"), 0);
    assert_eq!(number("1 << 62"), 1 << 62);
}

#[test]
fn bit_63_is_an_ordinary_bit() {
    assert_eq!(number("1 << 63"), 1 << 63);
    assert_eq!(number("0xff << 56"), 0xff << 56);
    assert_eq!(number("0x8000000000000000 >> 63"), 1);
    assert_eq!(number("0xfedcba9876543210 >> 32"), 0xfedc_ba98);
    assert_eq!(number("0xfedcba9876543210 & 0xffffffff"), 0x7654_3210);
    assert_eq!(number("~0xffffffff00000000"), 0xffff_ffff);
    assert_eq!(number("~0"), -1);
    assert_eq!(number("~0 & 0xffffffffffffffff"), i128::from(u64::MAX));
    assert_eq!(number("-1 ^ 1"), -2);
    assert_eq!(number("0xffffffffffffffff > 0"), 1);
    assert_eq!(number("-1 << 63"), i128::from(i64::MIN));
    assert_eq!(number("log2(1 << 63)"), 63);
}

#[test]
fn malformed_expressions_are_reported() {
    for bad in [
        "", "1 +", "(1", "1)", "1 2", "* 3", "1 ? 2", "x[1", "&", "& 3", "a, b", "--", "f(1",
    ] {
        assert_eq!(code(bad), "malformed-expression", "{bad}");
    }
    let failure = evaluate("(1 + 2").unwrap_err();
    assert!(failure.message.contains("`)`"), "{}", failure.message);
}

#[test]
fn expression_depth_and_size_are_limited() {
    let nested = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(code(&nested), "expression-too-large");
    assert_eq!(
        code(&format!("{}1", "! ".repeat(1500))),
        "expression-too-large"
    );
    assert_eq!(
        code(&format!("1{}", "+1".repeat(5000))),
        "expression-too-large"
    );
    assert_eq!(
        code(&format!("{}1", "1?1:".repeat(500))),
        "expression-too-large"
    );
    assert_eq!(number(&format!("1{}", "+1".repeat(1000))), 1001);
    assert_eq!(number(&format!("{}1{}", "(".repeat(30), ")".repeat(30))), 1);
}

#[test]
fn text_functions_are_evaluated() {
    assert_eq!(number("streq('a', 'a')"), 1);
    assert_eq!(number("streq(--, '--')"), 1);
    assert_eq!(number("streq('a', 'A')"), 0);
    assert_eq!(number("strlen('abc') + strlen('')"), 3);
    assert_eq!(number("strstr('hay stack', 'stack')"), 5);
    assert_eq!(number("strstr('hay', 'z')"), 0);
    assert_eq!(text("strleft('abcd', 3)"), "abc");
    assert_eq!(text("strleft('abcd', -1)"), "abc");
    assert_eq!(text("strleft('abcd', 9)"), "abcd");
    assert_eq!(text("strright('abcd', 3)"), "bcd");
    assert_eq!(text("strright('abcd', -1)"), "bcd");
    assert_eq!(text("strright('abcd', -9)"), "");
    assert_eq!(number("streq(strleft('$$x', 2), '$$')"), 1);
    assert_eq!(number("'a' == 'a'"), 1);
    assert_eq!(number("'a' != 'a'"), 0);
}

#[test]
fn log2_rounds_and_rejects_non_positive_values() {
    assert_eq!(number("log2(1)"), 0);
    assert_eq!(number("log2(9)"), 3);
    assert_eq!(number("log2(9, 1)"), 4);
    assert_eq!(number("log2(8, 1)"), 3);
    assert_eq!(code("log2(0)"), "function-argument");
    assert_eq!(code("log2(0 - 4)"), "function-argument");
}

#[test]
fn text_is_rejected_in_arithmetic() {
    assert_eq!(code("'a' + 1"), "text-in-arithmetic");
    assert_eq!(code("'a' == 1"), "text-in-arithmetic");
    assert_eq!(code("strlen('a', 'b')"), "function-argument");
}
