//! One window of Quick-Start, with requests from many contexts at once.

use proptest::prelude::*;

use super::bench::{CONTEXTS, Loaded, NO_LOCK, ensure};
use super::grants::{Contest, Ledger, Request, State, Variant, loaded, units};
use npsim_testkit::microcode::Edit;

/// 8, 64 and 128 contexts.
const SIZES: [u32; 3] = [1, 8, 16];
const BOTH: [Variant; 2] = [Variant::Lock, Variant::Atomic];

/// Cycles between checks of a running contest, chosen so that no two checks fall at the same point
/// of a request.
const CHECK_INTERVAL: u64 = 1_237;
/// Cycles after which a contest is stopped: none here takes a tenth of them.
const LATEST: u64 = 100_000_000;

/// A mistake: the read and the write of a counter are two commands.
pub const TORN: Edit = Edit {
    file: "quick-start/grant_atomic.uc",
    from: "    QS_SPACE[test_and_add, $share4, counter, QS_GRANTED], sig_done[shared]\n",
    to: "    QS_SPACE[read, $share4, counter, QS_GRANTED, 1], ctx_swap[shared]
    alu[$share4, want, +, $share4]
    QS_SPACE[write, $share4, counter, QS_GRANTED, 1], sig_done[shared]\n",
};

/// A window of one group: its initial state and the requests.
#[derive(Clone, Debug)]
struct Window {
    limit: i32,
    start: i32,
    phase: u32,
    lists: Vec<Vec<Request>>,
}

/// Makes all requests, with checks during the run and at the end.
fn contest(loaded: &Loaded, variant: Variant, window: &Window) -> Result<State, String> {
    let mut contest = Contest::new(loaded, variant, window.lists.clone());
    contest.set_window(0, window.limit, window.phase);
    contest.set_counter(0, window.phase, window.start);
    let untouched = 7_777;
    contest.set_counter(0, 8 - window.phase, untouched);
    let mut ledger = Ledger::default();
    loop {
        let (made, quiet) = contest.run(contest.now() + CHECK_INTERVAL)?;
        for made in made {
            ledger.add(made);
        }
        let state = contest.state(0);
        ledger.check_so_far(variant, window.limit, window.start, state.granted())?;
        if quiet {
            break;
        }
        ensure(contest.now() < LATEST, || "does not end".into())?;
    }
    let state = contest.state(0);
    ensure(!state.locked, || "the lock was left behind".into())?;
    let asked = window.lists.iter().flatten().filter(|it| it.code > 0);
    ensure(ledger.made.len() == asked.count(), || {
        "a request is lost".into()
    })?;
    ensure(
        ledger.made.iter().all(|made| made.phase == window.phase),
        || "a request found another phase".into(),
    )?;
    ledger.check_settled(variant, window.start, state.granted() as i32)?;
    let other = state.counters[usize::from(window.phase == 0)];
    ensure(other == untouched, || {
        format!("the other window's counter went to {other}")
    })?;
    Ok(state)
}

/// A list for every context of the values of a function of context and index: code and pause.
fn lists(
    microengines: u32,
    length: u32,
    request: impl Fn(u32, u32) -> (u8, u16),
) -> Vec<Vec<Request>> {
    (0..microengines * CONTEXTS)
        .map(|context| {
            (0..length)
                .map(|index| {
                    let (code, gap) = request(context, index);
                    Request {
                        code,
                        group: 0,
                        gap,
                    }
                })
                .collect()
        })
        .collect()
}

/// A pseudo-random number, the same in every run.
pub fn mix(context: u32, index: u32) -> u32 {
    let mut word = context.wrapping_mul(0x9e37_79b9) ^ index.wrapping_mul(0x85eb_ca6b) ^ 0x27d4;
    word ^= word >> 15;
    word = word.wrapping_mul(0x2c1b_3c6d);
    word ^ word >> 13
}

fn sum(lists: &[Vec<Request>]) -> i64 {
    lists.iter().flatten().map(|it| units(it.code)).sum()
}

/// Requests a context makes on so many microengines.
const fn room(microengines: u32) -> u32 {
    match microengines {
        1 => 256,
        8 => 32,
        _ => 8,
    }
}

#[test]
fn grants_never_exceed_the_limit() {
    type Pattern = fn(u32, u32) -> (u8, u16);
    let patterns: [(&str, Pattern); 5] = [
        ("the greatest rate", |_, _| (15, 0)),
        ("the greatest and the least", |_, index| {
            (if index % 2 == 0 { 15 } else { 1 }, 0)
        }),
        ("half of the contexts the least", |context, _| {
            (if context % 2 == 0 { 15 } else { 1 }, 0)
        }),
        ("any", |context, index| {
            ((mix(context, index) % 15 + 1) as u8, 0)
        }),
        ("any, with pauses", |context, index| {
            let word = mix(context, index);
            ((word % 15 + 1) as u8, (word >> 8 & 0x3f) as u16)
        }),
    ];
    for variant in BOTH {
        for microengines in SIZES {
            let length = room(microengines);
            let loaded = loaded(variant, microengines, length, &[], &[]);
            for (number, (name, pattern)) in patterns.into_iter().enumerate() {
                let lists = lists(microengines, length, pattern);
                let all = sum(&lists);
                // Room for a third of the requests; then for hardly any, for about all, or for half
                // of them.
                let second = [37, all - 1, all, all + 1, all / 2][number];
                for limit in [all / 3, second] {
                    let window = Window {
                        limit: limit as i32,
                        start: 0,
                        phase: 0,
                        lists: lists.clone(),
                    };
                    let what = format!("{name}, {variant:?}, {microengines}, limit {limit}");
                    let state = contest(&loaded, variant, &window);
                    let state = state.unwrap_or_else(|error| panic!("{what}: {error}"));
                    if limit >= all {
                        assert_eq!(state.granted(), all, "{what}: there was room for all");
                    } else if variant == Variant::Lock && limit <= all / 2 {
                        // Requests arrive until less than the lowest rate is left.
                        let left = limit - state.granted();
                        assert!(left < 2, "{what}: {left} left");
                    }
                }
            }
        }
    }
}

#[test]
fn extreme_limits_and_counters_are_safe() {
    const MICROENGINES: u32 = 8;
    let length = 8;
    let any = |context, index| ((mix(context, index) % 15 + 1) as u8, 0);
    let lists = lists(MICROENGINES, length, any);
    // The most that all contexts together can have added at one time.
    let transient = (MICROENGINES * CONTEXTS) as i32 * (1 << 15);
    let most = i32::MAX;
    let cases = [
        // limit, counter, phase
        (0, 0, 0),
        (1, 0, 8),
        (-1, 0, 0),
        (-30_000, 0, 8),
        (-(1 << 30), 0, 0),
        (5_000, 5_000, 8),
        (5_000, 6_000, 0),
        (5_000, -4_000, 0),
        (-4_000, -5_000, 8),
        (most - transient, most - transient - 40_000, 0),
        (most - transient, most - transient, 8),
        (60_000 - (1 << 30), -(1 << 30), 0),
    ];
    for variant in BOTH {
        let loaded = loaded(variant, MICROENGINES, length, &[], &[]);
        for (limit, start, phase) in cases {
            let window = Window {
                limit,
                start,
                phase,
                lists: lists.clone(),
            };
            let state = contest(&loaded, variant, &window)
                .unwrap_or_else(|error| panic!("{variant:?}, {start} of {limit}: {error}"));
            if limit < start.saturating_add(2) {
                assert_eq!(
                    state.granted(),
                    i64::from(start),
                    "{limit}: nothing to give"
                );
            }
        }
    }
}

/// The error found in a modified variant.
fn detected_error(variant: Variant, edit: Edit) -> String {
    let any = |context, index| ((mix(context, index) % 8 + 1) as u8, 0);
    let lists = lists(8, 32, any);
    let window = Window {
        limit: (sum(&lists) / 2) as i32,
        start: 0,
        phase: 0,
        lists,
    };
    contest(&loaded(variant, 8, 32, &[], &[]), variant, &window).unwrap();
    contest(&loaded(variant, 8, 32, &[], &[edit]), variant, &window).unwrap_err()
}

#[test]
fn missing_quick_start_lock_is_detected() {
    let what = detected_error(Variant::Lock, NO_LOCK);
    assert!(what.contains("counted"), "{what}");
}

#[test]
fn non_atomic_addition_is_detected() {
    let what = detected_error(Variant::Atomic, TORN);
    assert!(what.contains("counted"), "{what}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_requests_are_counted_exactly(
        atomic: bool,
        microengines in prop_oneof![Just(1_u32), Just(2), Just(8), Just(16)],
        codes in prop::collection::vec(1_u8..16, 1..12),
        (pause, seed) in (0_u32..200, any::<u16>()),
        (part, start, phase) in (0_i64..40, -20_000_i32..20_000, 0_u32..2),
    ) {
        let variant = BOTH[usize::from(atomic)];
        let length = (64 / microengines).next_power_of_two();
        let lists = lists(microengines, length, |context, index| {
            let draw = mix(context + u32::from(seed), index) as usize;
            let gap = draw >> 8 & 0xff;
            (codes[draw % codes.len()], ((gap as u32 * pause) >> 8) as u16)
        });
        let limit = i64::from(start) + sum(&lists) * (part - 4) / 32;
        let window = Window { limit: limit as i32, start, phase: 8 * phase, lists };
        let end = contest(&loaded(variant, microengines, length, &[], &[]), variant, &window);
        prop_assert!(end.is_ok(), "{:?}", end);
    }
}
