//! Random programs of names, branches, loops and calls give the same results as a direct
//! evaluation of their text: neither splitting names, nor sharing registers, nor copies
//! between banks may change a value.

#![allow(
    clippy::format_push_string,
    reason = "short programs are built as text"
)]

use crate::evaluate::Machine;
use crate::support::{describe, run_with};
use npsim_asm::Options;
use npsim_testkit::exact_names::inexact_names;
use proptest::prelude::*;

const VARIABLES: usize = 7;

#[derive(Clone, Debug)]
enum Statement {
    Set(usize, u32),
    Copy(usize, usize),
    Compute(usize, &'static str, usize, usize),
    /// `ld_field`: byte enables, source.
    Field(usize, u8, usize),
    /// Replaces the upper half.
    Upper(usize, u16),
    If(usize, usize, Vec<Statement>, Vec<Statement>),
    /// Iterations of a loop.
    Loop(u32, Vec<Statement>),
    /// A call of one of two subroutines.
    Call(bool),
    Out(usize),
}

/// The bodies of the subroutines: destination, source, source.
type Bodies = [(usize, usize, usize); 2];

struct Source {
    text: String,
    loops: usize,
    calls: usize,
}

impl Source {
    fn block(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Set(v, n) => {
                    self.text +=
                        &format!("immed[v{v}, {}]\nimmed_w1[v{v}, {}]\n", n & 0xffff, n >> 16);
                }
                Statement::Copy(d, s) => self.text += &format!("alu[v{d}, --, B, v{s}]\n"),
                Statement::Compute(d, op, a, b) => {
                    self.text += &format!("alu[v{d}, v{a}, {op}, v{b}]\n");
                }
                Statement::Field(d, mask, s) => {
                    self.text += &format!("ld_field[v{d}, {mask:04b}, v{s}]\n");
                }
                Statement::Upper(d, n) => self.text += &format!("immed_w1[v{d}, {n}]\n"),
                Statement::If(a, b, yes, no) => {
                    self.text += &format!(".if_unsigned (v{a} < v{b})\n");
                    self.block(yes);
                    self.text += ".else\n";
                    self.block(no);
                    self.text += ".endif\n";
                }
                Statement::Loop(turns, body) => {
                    self.loops += 1;
                    let counter = format!("turns{}", self.loops);
                    self.text += &format!(
                        ".begin\n.reg {counter}\nimmed[{counter}, {turns}]\n.while ({counter} != 0)\n"
                    );
                    self.block(body);
                    self.text += &format!("alu[{counter}, {counter}, -, 1]\n.endw\n.end\n");
                }
                Statement::Call(second) => {
                    self.calls += 1;
                    let back = format!("back{}#", self.calls);
                    self.text += &format!(
                        "load_addr[ret, {back}]\nbr[sub{}#]\n{back}:\n",
                        usize::from(*second)
                    );
                }
                Statement::Out(v) => self.text += &format!("local_csr_wr[0x10, v{v}]\n"),
            }
        }
    }
}

fn compute(op: &str, a: u32, b: u32) -> u32 {
    match op {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        _ => a ^ b,
    }
}

fn evaluate(
    statements: &[Statement],
    bodies: &Bodies,
    of: &mut [u32; VARIABLES],
    out: &mut Vec<u32>,
) {
    for statement in statements {
        match statement {
            Statement::Set(v, n) => of[*v] = *n,
            Statement::Copy(d, s) => of[*d] = of[*s],
            Statement::Compute(d, op, a, b) => of[*d] = compute(op, of[*a], of[*b]),
            Statement::Field(d, mask, s) => {
                for byte in (0..4).filter(|byte| mask >> byte & 1 == 1) {
                    let bits = 0xff << (8 * byte);
                    of[*d] = of[*d] & !bits | of[*s] & bits;
                }
            }
            Statement::Upper(d, n) => of[*d] = of[*d] & 0xffff | u32::from(*n) << 16,
            Statement::If(a, b, yes, no) => {
                let arm = if of[*a] < of[*b] { yes } else { no };
                evaluate(arm, bodies, of, out);
            }
            Statement::Loop(turns, body) => {
                for _ in 0..*turns {
                    evaluate(body, bodies, of, out);
                }
            }
            Statement::Call(second) => {
                let (d, a, b) = bodies[usize::from(*second)];
                of[d] = of[a].wrapping_add(of[b]);
            }
            Statement::Out(v) => out.push(of[*v]),
        }
    }
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let v = || 0..VARIABLES;
    let op = prop::sample::select(vec!["+", "-", "XOR"]);
    let simple = prop_oneof![
        2 => (v(), any::<u32>()).prop_map(|(d, n)| Statement::Set(d, n)),
        2 => (v(), v()).prop_map(|(d, s)| Statement::Copy(d, s)),
        4 => (v(), op, v(), v()).prop_map(|(d, op, a, b)| Statement::Compute(d, op, a, b)),
        1 => (v(), 1u8..16, v()).prop_map(|(d, m, s)| Statement::Field(d, m, s)),
        1 => (v(), any::<u16>()).prop_map(|(d, n)| Statement::Upper(d, n)),
        1 => any::<bool>().prop_map(Statement::Call),
        3 => v().prop_map(Statement::Out),
    ];
    let nested = simple.prop_recursive(3, 24, 5, move |inner| {
        let block = || prop::collection::vec(inner.clone(), 0..5);
        prop_oneof![
            (v(), v(), block(), block()).prop_map(|(a, b, y, n)| Statement::If(a, b, y, n)),
            (0u32..4, block()).prop_map(|(n, body)| Statement::Loop(n, body)),
        ]
    });
    prop::collection::vec(nested, 1..14)
}

fn bodies() -> impl Strategy<Value = Bodies> {
    let v = || 0..VARIABLES;
    prop::array::uniform2((v(), v(), v()))
}

fn program(statements: &[Statement], bodies: &Bodies, marked: bool) -> String {
    let mut text = Source {
        text: ".reg ret\n".to_owned(),
        loops: 0,
        calls: 0,
    };
    for i in 0..VARIABLES {
        text.text += &format!(".reg v{i}\nimmed[v{i}, {}]\n", i * 11);
    }
    text.block(statements);
    text.text += "ctx_arb[kill]\n";
    for (i, (d, a, b)) in bodies.iter().enumerate() {
        let (open, close) = if marked {
            (".subroutine\n", ".endsub\n")
        } else {
            ("", "")
        };
        text.text += &format!("{open}sub{i}#: alu[v{d}, v{a}, +, v{b}]\nrtn[ret]\n{close}");
    }
    text.text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_programs_compute_the_values_of_their_source(
        statements in statements(),
        bodies in bodies(),
        marked: bool,
    ) {
        let text = program(&statements, &bodies, marked);
        let options = Options {
            spill_moves: true,
            ..Options::default()
        };
        let assembly = run_with(&text, &options);
        let Some(image) = &assembly.image else {
            panic!("{text}\n{}", describe(&assembly));
        };
        let mut messages = assembly.diagnostics.iter();
        let unreachable = messages.any(|d| d.code == "unreachable-code");
        let inexact = inexact_names(image, &assembly.sources, unreachable);
        prop_assert!(inexact.is_empty(), "{}\n{}", text, inexact.join("\n"));
        let mut machine = Machine::default();
        machine.run(image);
        let found: Vec<u32> = machine.written.iter().map(|(_, value)| *value).collect();
        let mut of = [0; VARIABLES];
        for (i, value) in of.iter_mut().enumerate() {
            *value = i as u32 * 11;
        }
        let mut wanted = Vec::new();
        evaluate(&statements, &bodies, &mut of, &mut wanted);
        prop_assert_eq!(found, wanted, "{}", text);
    }
}
