//! `constant.uc`, `random.uc`, `timer.uc` and the computations of `rbuf.uc`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::bench::{Program, Words, few_runs, results, word};

/// Cases with a number of ticks and a status word.
fn cases(count: u32) -> Vec<Words> {
    (0..count)
        .map(|n| [n % 254 + 2, n.wrapping_mul(0x9e37_79b9), 0, 0, 0, 0, 0, 0])
        .collect()
}

#[test]
fn random_words_are_distinct_and_can_be_fixed() {
    let cases = cases(600);
    let got = results(&Program::new("words"), &cases);
    let words: BTreeSet<u32> = got.iter().flat_map(|words| [words[0], words[2]]).collect();
    assert_eq!(words.len(), 1_200);
    assert!(!words.contains(&0));
    // Each bit is set about half of the time.
    for bit in 0..32 {
        let set = words.iter().filter(|word| *word >> bit & 1 == 1).count();
        assert!((480..720).contains(&set), "bit {bit}: {set}");
    }
    let fixed = [("RANDOM_WORD", "0xdeadbeef".to_string())];
    let program = Program {
        defines: &fixed,
        ..Program::new("words")
    };
    for words in results(&program, &cases[..5]) {
        assert_eq!((words[0], words[2]), (0xdead_beef, 0xdead_beef));
    }
}

#[test]
fn timer_waits_for_the_set_time() {
    let cases = cases(254);
    for (case, got) in cases.iter().zip(results(&Program::new("words"), &cases)) {
        let ticks = case[0];
        assert!((ticks..=ticks + 2).contains(&got[1]), "{ticks}: {}", got[1]);
    }
}

#[test]
fn receive_words_match_the_media_interface_format() {
    for (ids, place) in [("0", 0), ("3", 3), ("4", 1 << 2), ("7", 1 << 2 | 3)] {
        let program = Program {
            ids,
            ..Program::new("words")
        };
        let cases = cases(40);
        for (case, got) in cases.iter().zip(results(&program, &cases)) {
            assert_eq!(got[3], case[1] & 0x1f, "the port");
            // Microengines 4 to 7 are cluster 1: bit 9, and bits 8..7 in it.
            let microengine = if place >= 4 {
                1 << 9 | (place & 3) << 7
            } else {
                place << 7
            };
            assert_eq!(
                got[4],
                (microengine | got[5]) << 16 | got[6],
                "microengine {ids}"
            );
        }
    }
}

proptest! {
    #![proptest_config(few_runs())]

    #[test]
    fn any_constant_is_loaded(words in prop::collection::vec(word(), 120)) {
        let mut text = String::from("#include \"constant.uc\"\n#macro test_case()\n.begin\n.reg word at\nalu[at, --, B, $$i0]\nimmed[word, 0]\n");
        for (at, word) in words.iter().enumerate() {
            writeln!(text, "alu[--, at, -, {at}]\nbne[not{at}#]\nload_constant(word, {word:#x})\nnot{at}#:").unwrap();
        }
        for result in 0..8 {
            writeln!(text, "alu[$$o{result}, --, B, word]").unwrap();
        }
        text.push_str(".end\n#endm\n#include \"loop.uc\"\n");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("constants");
        std::fs::write(file.with_extension("uc"), text).unwrap();
        let cases: Vec<Words> = (0..words.len() as u32).map(|at| [at; 8]).collect();
        let got = results(&Program::new(file.to_str().unwrap()), &cases);
        let expected: Vec<Words> = words.iter().map(|word| [*word; 8]).collect();
        prop_assert_eq!(got, expected);
    }
}
