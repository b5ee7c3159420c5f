//! What programs cost, and that it is the same however a run is cut.

use crate::bench::Running;
use npsim_testkit::slow_path::{self, Bench};

#[test]
fn caches_count_what_a_simple_model_says() {
    let model = Running::new("walk", "").well(10_000_000);
    assert!(model.processor().has_ended());
    // The array is twice as large as the cache: of 2048 lines none is found again. Then 128 lines, of which
    // none is there, and which stay. Beside them the few lines of stack and constants.
    let misses = model.count("data_misses");
    assert!(
        (2 * 2048 + 128..2 * 2048 + 128 + 40).contains(&misses),
        "{misses}"
    );
    let hits = model.count("data_hits");
    assert!((9 * 128..9 * 128 + 60).contains(&hits), "{hits}");
    let lines = model.count("code_misses");
    assert!((4..12).contains(&lines), "{lines}");
}

#[test]
fn each_cache_is_slower_than_the_next_better_one() {
    let busy = |cache: &str| {
        let running = Running::new("walk", &format!("cache = \"{cache}\"\n")).well(20_000_000);
        assert!(running.processor().has_ended(), "{cache}");
        (
            running.bench.gpp.counts(0, 20_000_000).busy,
            running.count("instructions"),
        )
    };
    let [none, model, perfect] = ["none", "model", "perfect"].map(busy);
    assert_eq!(
        (none.1, model.1),
        (model.1, perfect.1),
        "the same instructions"
    );
    assert!(
        none.0 > model.0 && model.0 > perfect.0,
        "{none:?} {model:?} {perfect:?}"
    );
    // A line takes 180 cycles and what it waits for the bus and the pins.
    let lines = 2 * 2048 + 128;
    let difference = model.0 - perfect.0;
    assert!(
        (lines * 180..lines * 240).contains(&difference),
        "{difference}"
    );
}

/// All that a chip's core has.
fn state(bench: &Bench) -> (Vec<u8>, Vec<Vec<u8>>) {
    let core = postcard::to_allocvec(&bench.gpp).unwrap();
    (core, bench.gpp.save_tasks().unwrap())
}

#[test]
fn a_saved_program_goes_on_as_if_nothing_had_happened() {
    for (name, keys) in [
        ("echo", ""),
        ("timer", ""),
        ("walk", ""),
        ("walk", "cache = \"none\"\n"),
        ("hello", "input = [{ at = \"100us\", text = \"ab\" }]\n"),
    ] {
        let mut whole = Running::new(name, keys);
        let mut saved = Running::new(name, keys);
        let fresh = slow_path::load(&saved.project.boot).unwrap();
        let ring = whole.ring(0);
        for part in 0..40_u32 {
            let at = u64::from(part + 1) * 7_919;
            for running in [&mut whole, &mut saved] {
                if part % 3 == 0 {
                    running.put(ring, part + 1);
                }
                running.run_until(at);
            }
            let bench = &mut saved.bench;
            let states = bench.gpp.save_tasks().unwrap();
            let bytes = postcard::to_allocvec(&(&bench.gpp, &bench.fabric.events)).unwrap();
            (bench.gpp, bench.fabric.events) = postcard::from_bytes(&bytes).unwrap();
            bench.gpp.restore_tasks(&fresh.gpp, &states).unwrap();
        }
        assert_eq!(whole.fault(), None);
        assert!(state(&whole.bench) == state(&saved.bench), "{name}");
        assert_eq!(whole.text(), saved.text());
        assert_eq!(whole.on_ring(whole.ring(1)), saved.on_ring(saved.ring(1)));
    }
}

#[test]
fn a_state_of_another_program_is_refused() {
    let mut one = Running::new("echo", "");
    let other = Running::new("wake", "");
    let states = other.bench.gpp.save_tasks().unwrap();
    let fresh = slow_path::load(&one.project.boot).unwrap();
    assert!(one.bench.gpp.restore_tasks(&fresh.gpp, &states).is_err());
}
