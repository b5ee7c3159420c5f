//! Cases with the results of qemu-arm, for machines without it. `NPSIM_UPDATE_GOLDEN=1` rewrites them.
//!
//! A case is a line: name of the form, code, flags, r0 to r14; landing, flags, the registers that changed, and the
//! longwords of the window that changed since the case before.

use std::fmt::Write;
use std::path::Path;

use npsim_arm::ByteOrder;

use crate::case::{After, Case, Code, WINDOW_WORDS};
use crate::{forms, harness, interpreter};

const FILES: [(&str, ByteOrder, usize); 2] = [
    ("tests/architecture/little.golden", ByteOrder::Little, 4),
    ("tests/architecture/big.golden", ByteOrder::Big, 2),
];

/// Cases of each form, and their results.
fn text(order: ByteOrder, of_each: usize) -> String {
    let named = forms::cases(2006, of_each * forms::all().count());
    let cases: Vec<_> = named.iter().map(|(_, case)| case.clone()).collect();
    let mut text = String::new();
    let mut window = [0; WINDOW_WORDS];
    for ((name, case), after) in named.iter().zip(harness::run(order, &cases).unwrap()) {
        write!(text, "{name}; ").unwrap();
        match case.code {
            Code::Arm(word) => write!(text, "arm {word:08x} 0").unwrap(),
            Code::Thumb(one, two) => write!(text, "thumb {one:04x} {two:04x}").unwrap(),
        }
        write!(text, " {:x}", case.flags).unwrap();
        for value in case.registers {
            write!(text, " {value:x}").unwrap();
        }
        write!(text, "; {:x} {:x};", after.landing, after.flags).unwrap();
        changes(&mut text, &case.registers, &after.registers);
        changes(&mut text, &window, &after.window);
        text.pop();
        text.push('\n');
        window = after.window;
    }
    text
}

fn changes(text: &mut String, before: &[u32], after: &[u32]) {
    for (n, (old, new)) in before.iter().zip(after).enumerate() {
        if old != new {
            write!(text, " {n:x}={new:x}").unwrap();
        }
    }
    text.push(';');
}

fn change(text: &str, values: &mut [u32]) {
    for change in text.split_whitespace() {
        let (n, value) = change.split_once('=').unwrap();
        values[usize::from_str_radix(n, 16).unwrap()] = number(value);
    }
}

fn number(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap()
}

/// The case of a line, and its result, given the window before it.
fn parse(line: &str, before: [u32; WINDOW_WORDS]) -> (Case, After) {
    let parts: Vec<_> = line.split(';').collect();
    let (state, numbers) = parts[1].trim().split_once(' ').unwrap();
    let numbers: Vec<_> = numbers.split(' ').map(number).collect();
    let case = Case {
        code: if state == "arm" {
            Code::Arm(numbers[0])
        } else {
            Code::Thumb(numbers[0] as u16, numbers[1] as u16)
        },
        flags: numbers[2],
        registers: numbers[3..].try_into().unwrap(),
    };
    let (landing, flags) = parts[2].trim().split_once(' ').unwrap();
    let mut after = After {
        landing: number(landing),
        flags: number(flags),
        registers: case.registers,
        window: before,
    };
    change(parts[3], &mut after.registers);
    change(parts.get(4).unwrap_or(&""), &mut after.window);
    (case, after)
}

#[test]
fn recorded_cases_match_qemu_results() {
    for (file, order, of_each) in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        if std::env::var_os("NPSIM_UPDATE_GOLDEN").is_some() && harness::available(order) {
            std::fs::write(&path, text(order, of_each)).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), of_each * forms::all().count());
        let mut window = [0; WINDOW_WORDS];
        for (number, line) in text.lines().enumerate() {
            let (case, expected) = parse(line, window);
            let found = interpreter::run(order, number, &case, window);
            assert_eq!(found.as_ref(), Ok(&expected), "{file}: {line}");
            window = expected.window;
        }
    }
}
