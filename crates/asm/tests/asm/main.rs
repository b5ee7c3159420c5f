//! The assembler from the outside: texts in; words, messages and files out.

mod codes;
mod corpus;
mod diagnostics;
mod evaluate;
mod image_file;
mod names;
mod programs;
mod robustness;
mod semantics;
mod structured;
mod support;
mod vectors;
