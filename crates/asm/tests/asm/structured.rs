//! Structured assembly does what its text says: programs are run and compared
//! with a direct evaluation of their conditions.

#![allow(
    clippy::format_push_string,
    reason = "short programs are built as text"
)]

use crate::evaluate::Machine;
use crate::support::{describe, image, run_with};
use npsim_asm::Options;
use npsim_isa::Operand;
use proptest::prelude::*;

/// A value: its text, and its result for given variables.
#[derive(Clone, Debug)]
enum Part {
    Variable(usize),
    Number(u32),
    Bit(usize, u8),
    Byte(usize, u8),
    Complement(Box<Part>),
    Minus(Box<Part>),
    /// The left side always contains a variable, because constant expressions are computed in 64
    /// bits.
    Binary(&'static str, Box<Part>, Box<Part>),
    Shift(&'static str, Box<Part>, u8),
}

#[derive(Clone, Debug)]
enum Test {
    Compare(&'static str, Part, Part),
    Truth(Part),
    Bit(usize, u8),
    Byte(usize, u8, u8),
    Context(bool, u8),
    State(u8),
    Not(Box<Test>),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "@g", "$in"];

impl Part {
    fn text(&self) -> String {
        match self {
            Self::Variable(i) => NAMES[*i].to_owned(),
            Self::Number(n) => n.to_string(),
            Self::Bit(i, n) => format!("BIT({}, {n})", NAMES[*i]),
            Self::Byte(i, n) => format!("BYTE({}, {n})", NAMES[*i]),
            Self::Complement(part) => format!("~{}", part.text()),
            Self::Minus(part) => format!("(-{})", part.text()),
            Self::Binary(op, a, b) => format!("({} {op} {})", a.text(), b.text()),
            Self::Shift(op, a, n) => format!("({} {op} {n})", a.text()),
        }
    }

    fn value(&self, of: &[u32; 6]) -> u32 {
        match self {
            Self::Variable(i) => of[*i],
            Self::Number(n) => *n,
            Self::Bit(i, n) => of[*i] >> n & 1,
            Self::Byte(i, n) => of[*i] >> (8 * n) & 0xff,
            Self::Complement(part) => !part.value(of),
            Self::Minus(part) => part.value(of).wrapping_neg(),
            Self::Binary(op, a, b) => {
                let (a, b) = (a.value(of), b.value(of));
                match *op {
                    "+" => a.wrapping_add(b),
                    "-" => a.wrapping_sub(b),
                    "&" => a & b,
                    "|" => a | b,
                    _ => a ^ b,
                }
            }
            Self::Shift(op, a, n) => match *op {
                "<<" => a.value(of) << n,
                _ => a.value(of) >> n,
            },
        }
    }
}

impl Test {
    fn text(&self) -> String {
        match self {
            Self::Compare(op, a, b) => format!("{} {op} {}", a.text(), b.text()),
            Self::Truth(part) => part.text(),
            Self::Bit(i, n) => format!("bit({}, {n})", NAMES[*i]),
            Self::Byte(i, n, c) => format!("{c} == BYTE({}, {n})", NAMES[*i]),
            Self::Context(equal, n) => format!("CTX() {} {n}", if *equal { "==" } else { "!=" }),
            Self::State(n) => format!("INP_STATE({n})"),
            Self::Not(test) => format!("!({})", test.text()),
            Self::And(a, b) => format!("({}) && ({})", a.text(), b.text()),
            Self::Or(a, b) => format!("({} || {})", a.text(), b.text()),
        }
    }

    fn value(&self, of: &[u32; 6], unsigned: bool, machine: (u8, u16)) -> bool {
        match self {
            Self::Compare(op, a, b) => {
                let (a, b) = (a.value(of), b.value(of));
                let order = if unsigned {
                    a.cmp(&b)
                } else {
                    a.cast_signed().cmp(&b.cast_signed())
                };
                match *op {
                    "==" => order.is_eq(),
                    "!=" => order.is_ne(),
                    "<" => order.is_lt(),
                    "<=" => order.is_le(),
                    ">" => order.is_gt(),
                    _ => order.is_ge(),
                }
            }
            Self::Truth(part) => part.value(of) != 0,
            Self::Bit(i, n) => of[*i] >> n & 1 == 1,
            Self::Byte(i, n, c) => (of[*i] >> (8 * n)) as u8 == *c,
            Self::Context(equal, n) => (machine.0 == *n) == *equal,
            Self::State(n) => machine.1 >> n & 1 == 1,
            Self::Not(test) => !test.value(of, unsigned, machine),
            Self::And(a, b) => a.value(of, unsigned, machine) && b.value(of, unsigned, machine),
            Self::Or(a, b) => a.value(of, unsigned, machine) || b.value(of, unsigned, machine),
        }
    }
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        0u32..4,
        250u32..260,
        Just(0x7fff_ffff),
        Just(0x8000_0000),
        Just(0xffff_ffff),
        Just(0xffff),
        any::<u32>(),
    ]
}

fn leaf() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => (0usize..6).prop_map(Part::Variable),
        1 => ((0usize..6), 0u8..32).prop_map(|(i, n)| Part::Bit(i, n)),
        1 => ((0usize..6), 0u8..4).prop_map(|(i, n)| Part::Byte(i, n)),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    let running = leaf().prop_recursive(2, 6, 2, |inner| {
        let op = prop::sample::select(vec!["+", "-", "&", "|", "^"]);
        let right = prop_oneof![inner.clone(), number().prop_map(Part::Number)];
        prop_oneof![
            inner.clone().prop_map(|p| Part::Complement(Box::new(p))),
            inner.clone().prop_map(|p| Part::Minus(Box::new(p))),
            (op, inner.clone(), right).prop_map(|(op, a, b)| Part::Binary(
                op,
                Box::new(a),
                Box::new(b)
            )),
            (prop::sample::select(vec!["<<", ">>"]), inner, 0u8..32)
                .prop_map(|(op, a, n)| Part::Shift(op, Box::new(a), n)),
        ]
    });
    prop_oneof![3 => running, 1 => number().prop_map(Part::Number)]
}

fn test() -> impl Strategy<Value = Test> {
    let op = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        6 => (op, part(), part()).prop_map(|(op, a, b)| Test::Compare(op, a, b)),
        1 => part().prop_map(Test::Truth),
        1 => ((0usize..6), 0u8..32).prop_map(|(i, n)| Test::Bit(i, n)),
        1 => ((0usize..6), 0u8..4, prop_oneof![0u8..2, any::<u8>()])
            .prop_map(|(i, n, c)| Test::Byte(i, n, c)),
        1 => (any::<bool>(), 0u8..8).prop_map(|(e, n)| Test::Context(e, n)),
        1 => (0u8..16).prop_map(Test::State),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|t| Test::Not(Box::new(t))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Test::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Test::Or(Box::new(a), Box::new(b))),
        ]
    })
}

/// Declares the variables and assigns their values.
fn prologue(of: &[u32; 6]) -> String {
    let mut text = String::from(".reg a b c d out\n.reg @g\n.reg read $in\n.addr $in 3\n");
    for (name, value) in NAMES.iter().zip(of).take(5) {
        text += &format!(
            "immed[{name}, {}]\nimmed_w1[{name}, {}]\n",
            value & 0xffff,
            value >> 16
        );
    }
    text + ".set $in\n"
}

fn options() -> Options {
    Options {
        spill_moves: true,
        ..Options::default()
    }
}

fn outcome(text: &str, of: &[u32; 6], machine: (u8, u16)) -> Vec<u32> {
    let assembly = run_with(text, &options());
    let Some(image) = &assembly.image else {
        panic!("{text}\n{}", describe(&assembly));
    };
    let mut context = Machine::default();
    context.context = machine.0;
    context.states = machine.1;
    context.registers.insert(Operand::STransfer(3), of[5]);
    context.run(image);
    context.written.iter().map(|(_, value)| *value).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn branches_follow_the_condition(
        test in test(),
        of in prop::array::uniform6(number()),
        unsigned: bool,
        context in 0u8..8,
        states: u16,
    ) {
        let suffix = if unsigned { "_unsigned" } else { "" };
        let text = format!(
            "{}.if{suffix} ({})\nimmed[out, 1]\n.else\nimmed[out, 2]\n.endif\nlocal_csr_wr[0x10, out]\nctx_arb[kill]\n",
            prologue(&of),
            test.text()
        );
        let wanted = if test.value(&of, unsigned, (context, states)) { 1 } else { 2 };
        prop_assert_eq!(outcome(&text, &of, (context, states)), [wanted], "{}", text);
    }

    #[test]
    fn first_true_arm_executes(
        tests in prop::collection::vec(test(), 2..4),
        of in prop::array::uniform6(number()),
        otherwise: bool,
    ) {
        let mut text = prologue(&of) + "immed[out, 99]\n";
        for (i, test) in tests.iter().enumerate() {
            let word = if i == 0 { ".if" } else { ".elif" };
            text += &format!("{word} ({})\nimmed[out, {i}]\n", test.text());
        }
        if otherwise {
            text += ".else\nimmed[out, 50]\n";
        }
        text += ".endif\nlocal_csr_wr[0x10, out]\nctx_arb[kill]\n";
        let first = tests.iter().position(|test| test.value(&of, false, (0, 0)));
        let wanted = match first {
            Some(i) => i as u32,
            None if otherwise => 50,
            None => 99,
        };
        prop_assert_eq!(outcome(&text, &of, (0, 0)), [wanted], "{}", text);
    }

    #[test]
    fn loops_iterate_as_written(from in 0u32..6, to in 0u32..6, skip in 0u32..6, stop in 0u32..8) {
        let text = format!(
            ".reg i sum\nimmed[i, {from}]\nimmed[sum, 0]\n.while (i < {to})\nalu[i, i, +, 1]\n\
             .if (i == {skip})\n.continue\n.elif (i == {stop})\n.break\n.endif\n\
             alu[sum, sum, +, i]\n.endw\nlocal_csr_wr[0x10, sum]\nlocal_csr_wr[0x10, i]\n\
             .repeat\nalu[i, i, +, 3]\n.if (i == {stop})\n.continue\n.endif\nalu[sum, sum, +, 1]\n\
             .until (i >= {to} || sum > 9)\nlocal_csr_wr[0x10, sum]\nctx_arb[kill]\n"
        );
        let (mut i, mut sum, mut wanted) = (from, 0, Vec::new());
        while i < to {
            i += 1;
            if i == skip {
                continue;
            }
            if i == stop {
                break;
            }
            sum += i;
        }
        wanted.extend([sum, i]);
        loop {
            i += 3;
            if i != stop {
                sum += 1;
            }
            if i >= to || sum > 9 {
                break;
            }
        }
        wanted.push(sum);
        prop_assert_eq!(outcome(&text, &[0; 6], (0, 0)), wanted, "{}", text);
    }
}

#[test]
fn conditions_can_test_carry_and_signals() {
    let text = ".reg x\n.sig s\nimmed[x, -1]\nalu[x, x, +, 1]\n.if (COUT)\nlocal_csr_wr[0x10, 1]\n.else\nlocal_csr_wr[0x10, 2]\n.endif\n\
                .addr s 5\n.set_sig s\n.if (!SIGNAL(s))\nlocal_csr_wr[0x10, 3]\n.endif\n.if (signal(s))\nlocal_csr_wr[0x10, 4]\n.endif\nctx_arb[kill]\n";
    for (signals, wanted) in [(0, vec![1, 3]), (1 << 5, vec![1])] {
        let mut machine = Machine::default();
        machine.signals = signals;
        machine.run(&image(text));
        let written: Vec<u32> = machine.written.iter().map(|(_, v)| *v).collect();
        assert_eq!(written, wanted);
    }
}

#[test]
fn register_shifts_use_the_low_five_bits() {
    let text = ".reg x n\nimmed[x, 8]\nimmed[n, 35]\n.if ((x >> n) == 1)\nlocal_csr_wr[0x10, 1]\n.endif\n.if ((x << n) == 64)\nlocal_csr_wr[0x10, 2]\n.endif\nctx_arb[kill]\n";
    let mut machine = Machine::default();
    machine.run(&image(text));
    let written: Vec<u32> = machine.written.iter().map(|(_, v)| *v).collect();
    assert_eq!(written, [1, 2]);
}

#[test]
fn repeated_macro_conditions_do_not_interfere() {
    let text = "#macro bump(r, limit)\n.if (r < limit)\nalu[r, r, +, 1]\n.else\nimmed[r, 0]\n.endif\n#endm\n\
                .reg x\nimmed[x, 0]\nbump(x, 2)\nbump(x, 2)\nlocal_csr_wr[0x10, x]\nbump(x, 2)\nlocal_csr_wr[0x10, x]\nctx_arb[kill]\n";
    let mut machine = Machine::default();
    machine.run(&image(text));
    let written: Vec<u32> = machine.written.iter().map(|(_, v)| *v).collect();
    assert_eq!(written, [2, 0]);
}
