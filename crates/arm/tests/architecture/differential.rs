//! Random instructions with random states, here and in qemu-arm.

use npsim_arm::ByteOrder;
use npsim_strategy::cases;

use crate::case::WINDOW_WORDS;
use crate::forms;
use crate::{harness, interpreter};

/// Compares the given number of cases, of all forms in turn.
fn compare(order: ByteOrder, count: usize) {
    if !harness::available(order) {
        return;
    }
    let mut different = Vec::new();
    for (seed, first) in (0..count).step_by(harness::BATCH).enumerate() {
        let named = forms::cases(seed as u64, (count - first).min(harness::BATCH));
        let cases: Vec<_> = named.iter().map(|(_, case)| case.clone()).collect();
        let expected = harness::run(order, &cases).unwrap_or_else(|status| {
            // The last case of the shortest prefix that ends the process is the one that ends it.
            let (mut good, mut bad) = (0, cases.len());
            while bad - good > 1 {
                let middle = usize::midpoint(good, bad);
                match harness::run(order, &cases[..middle]) {
                    Ok(_) => good = middle,
                    Err(_) => bad = middle,
                }
            }
            let (name, case) = &named[good];
            panic!("{status} by {name}: {case:x?}")
        });
        let mut window = [0; WINDOW_WORDS];
        for (number, ((name, case), expected)) in named.iter().zip(expected).enumerate() {
            let found = interpreter::run(order, number, case, window);
            if found.as_ref() != Ok(&expected) {
                different.push(format!(
                    "{name}: {case:x?}\nhere     {found:x?}\nexpected {expected:x?}"
                ));
            }
            window = expected.window;
        }
    }
    assert!(
        different.is_empty(),
        "{} of {count} cases differ\n{}",
        different.len(),
        different[..different.len().min(5)].join("\n\n")
    );
}

#[test]
fn random_instructions_match_qemu() {
    compare(ByteOrder::Little, cases(100_000) as usize);
}

#[test]
fn random_instructions_match_qemu_in_big_endian_mode() {
    compare(ByteOrder::Big, cases(50_000) as usize);
}
