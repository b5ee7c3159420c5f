//! The front end, from source text to statements: preprocessor, lexer, expressions, parser, and the
//! lowering of structured assembly to instructions and labels.

pub(crate) mod constant;
pub(crate) mod expression;
pub(crate) mod foreign;
pub(crate) mod lexer;
pub(crate) mod lower;
pub(crate) mod parse;
pub mod preprocess;
pub(crate) mod raw_word;
pub(crate) mod statement;
pub(crate) mod synonyms;
pub mod text;
pub mod token;
