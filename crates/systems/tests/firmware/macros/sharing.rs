//! `lock.uc` and `atomic.uc`: contexts of several microengines in one longword.

use std::collections::BTreeSet;

use super::bench::{Program, Run, run};

/// Microengines, and contexts of each.
const SIZES: [(u32, u32); 5] = [(1, 2), (1, 8), (2, 5), (8, 1), (8, 8)];

fn project(space: &str) -> String {
    format!(
        "[[memory]]\nname = \"LOCK\"\nspace = \"{space}\"\nsize = 8\n\
         [[memory]]\nname = \"COUNT\"\nspace = \"{space}\"\nsize = 32\n\
         [[memory]]\nname = \"OLD\"\nspace = \"sram0\"\nsize = 4096\n"
    )
}

/// Runs a program with everything in `space`.
fn run_in_space(name: &str, space: &str, size: (u32, u32), flag: (&'static str, u32)) -> Run {
    let unit = space.trim_end_matches(char::is_numeric).to_string();
    let ids = format!("0-{}", size.0 - 1);
    let defines = [
        ("SPACE", unit.clone()),
        ("LOCK_SPACE", unit),
        ("CONTEXTS", size.1.to_string()),
        (flag.0, flag.1.to_string()),
    ];
    let project = project(space);
    let program = Program {
        name,
        ids: &ids,
        project: &project,
        defines: &defines,
    };
    run(&program, &[])
}

fn word(run: &Run, space: &str, name: &str, word: u32) -> u32 {
    let at = run.value(name) + 4 * word;
    if space == "scratch" {
        run.chip.units().scratch.read(at).unwrap()
    } else {
        run.chip.units().sram.read_word(at).unwrap()
    }
}

#[test]
fn lock_excludes_other_contexts() {
    const ROUNDS: u32 = 12;
    for space in ["scratch", "sram1"] {
        for size in SIZES {
            let all = size.0 * size.1 * ROUNDS;
            let run = run_in_space("locks", space, size, ("LOCKED", 1));
            let count = word(&run, space, "COUNT", 0);
            assert_eq!(count, all, "{space}, {size:?}");
            assert_eq!(word(&run, space, "LOCK", 1), 0, "free again");
            let open = run_in_space("locks", space, size, ("LOCKED", 0));
            let count = word(&open, space, "COUNT", 0);
            assert!(count < all, "{space}, {size:?}: {count} without the lock");
        }
    }
}

#[test]
fn atomic_additions_lose_nothing() {
    const ROUNDS: u32 = 16;
    for space in ["scratch", "sram1"] {
        for size in SIZES {
            let run = run_in_space("atomics", space, size, ("WHOLE", 1));
            let contexts = size.0 * size.1;
            let all = contexts * ROUNDS;
            let number = |n: u32| n / size.1 * 8 + n % size.1;
            let numbers: u32 = (0..contexts).map(number).sum();
            let got: Vec<u32> = (0..3).map(|at| word(&run, space, "COUNT", at)).collect();
            let expected = [3 * all, 5 * all, (numbers * ROUNDS).wrapping_neg()];
            assert_eq!(got, expected, "{space}, {size:?}");
            let old: BTreeSet<u32> = (0..contexts)
                .flat_map(|n| (0..ROUNDS).map(move |round| 16 * number(n) + round))
                .map(|at| word(&run, "sram", "OLD", at))
                .collect();
            assert_eq!(old, (0..all).map(|n| 3 * n).collect(), "{space}, {size:?}");
            let torn = run_in_space("atomics", space, size, ("WHOLE", 0));
            let count = word(&torn, space, "COUNT", 0);
            assert!(count < 3 * all, "{space}, {size:?}: {count} in pieces");
        }
    }
}
