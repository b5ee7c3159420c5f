//! The net of a router: every loss is counted, results are reproducible, and the reported limit is
//! the real one.

use npsim_net::order::THRESHOLD;
use npsim_petri::chain::{ChainOutcome, run};
use npsim_petri::parameters::Parameters;

fn outcome(settings: &[(&str, &str)], hops: usize) -> ChainOutcome {
    let mut parameters = Parameters {
        packets: 8_000,
        warm_up: 2_000,
        ..Parameters::default()
    };
    for (name, value) in settings {
        parameters.set(name, value).unwrap();
    }
    run(&parameters, hops).unwrap()
}

fn gbps(settings: &[(&str, &str)]) -> f64 {
    let mut all = vec![("offered_mbps", "5000"), ("packets", "60000")];
    all.extend(settings);
    outcome(&all, 1).gbps()
}

#[test]
fn every_packet_leaves_or_is_counted_as_lost() {
    for slots in ["contiguous", "strided", "local", "global"] {
        for (freed, drain) in [("filled", "waits"), ("sent", "waits"), ("filled", "skips")] {
            for bytes in ["64", "512"] {
                let settings = [
                    ("slots", slots),
                    ("freed", freed),
                    ("drain", drain),
                    ("bytes", bytes),
                ];
                let one = outcome(&settings, 2);
                assert_eq!(one.left + one.lost, one.offered, "{settings:?}");
                assert!(one.left > 1000, "{settings:?}");
            }
        }
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    let of = |seed: &str| {
        let one = outcome(&[("seed", seed)], 2);
        (one.order.total(THRESHOLD), one.counted)
    };
    assert_eq!(of("1"), of("1"));
    assert_ne!(of("1"), of("2"));
}

#[test]
fn below_capacity_nothing_is_lost() {
    let one = outcome(&[("offered_mbps", "2000")], 1);
    assert_eq!(one.lost, 0);
    assert!((one.gbps() - 2.0).abs() < 0.02, "{}", one.gbps());
}

/// A tenth more or less time at the limiting place changes the rate by as much, and nothing else
/// does.
#[test]
fn only_the_saturated_resource_affects_the_rate() {
    let before = gbps(&[]);
    assert!((before / 2.96 - 1.0).abs() < 0.02, "{before}");
    assert!((gbps(&[("dram_byte_milli", "793")]) * 1.1 / before - 1.0).abs() < 0.02);
    assert!((gbps(&[("dram_byte_milli", "655")]) / 1.1 / before - 1.0).abs() < 0.02);
    for (name, value) in [
        ("sram_service", "4"),
        ("command_bus", "3"),
        ("instructions", "190"),
    ] {
        let after = gbps(&[(name, value)]);
        assert!((after / before - 1.0).abs() < 0.01, "{name}: {after}");
    }
    assert!(outcome(&[("offered_mbps", "5000")], 1).dram_busy > 0.98);
    // Under the global mutex, the limit is the mutex: the work under it, and no DRAM.
    let global = gbps(&[("slots", "global")]);
    let slower = gbps(&[("slots", "global"), ("scratch_atomic", "100")]);
    assert!(slower < 0.97 * global, "{slower} {global}");
    assert!(outcome(&[("slots", "global"), ("offered_mbps", "5000")], 1).dram_busy < 0.5);
}

/// With one context of one microengine, constant times and no contention, a packet takes the sum of
/// its latencies.
#[test]
fn lone_packet_takes_the_sum_of_its_latencies() {
    let settings = [
        ("service", "deterministic"),
        ("microengines", "1"),
        ("contexts", "1"),
        ("drain_mbps", "100000"),
    ];
    // From RFIFO, header, two reads of SRAM, header, to TBUF, and the instructions.
    let cycles = 135 + 120 + 2 * 90 + 55 + 165 + 170;
    let expected = 512.0 * 0.6 / f64::from(cycles);
    let measured = gbps(&settings);
    assert!(
        (measured / expected - 1.0).abs() < 0.01,
        "{measured} {expected}"
    );
}

#[test]
fn order_is_kept_where_overtaking_is_impossible() {
    let one = outcome(
        &[
            ("microengines", "1"),
            ("contexts", "1"),
            ("offered_mbps", "300"),
        ],
        5,
    );
    assert_eq!(one.order.total(THRESHOLD).reordered, 0);
    let several = outcome(&[], 5);
    assert!(several.order.total(THRESHOLD).reordered > 0);
}

#[test]
fn impossible_parameters_are_refused() {
    let mut parameters = Parameters::default();
    let refused = |error: Result<(), String>| error.unwrap_err();
    assert!(refused(parameters.set("slot", "local")).contains("slots"));
    assert!(refused(parameters.set("slots", "mine")).contains("strided"));
    assert!(refused(parameters.set("bytes", "8")).contains("64"));
    for name in Parameters::NAMES {
        assert!(
            !refused(parameters.set(name, "?")).contains("there is no"),
            "{name}"
        );
    }
    parameters.set("warm_up", "100000").unwrap();
    assert!(run(&parameters, 1).is_err());
}
