//! Tests of how frames are distributed over flows.

use super::*;

/// Returns the 5-tuple of a datagram.
fn five_tuple(frame: &[u8]) -> Vec<u8> {
    [&frame[23..24], &frame[26..38]].concat()
}

#[test]
fn ended_flows_are_replaced() {
    let endless = Load {
        flows: 10,
        ..load("1", "1ms")
    };
    let ending = Load {
        flow_packets: 4,
        ..endless.clone()
    };
    let lines = ports(3, GIGABIT);
    let generator = Generator::new(&ending, &lines).unwrap();
    assert_eq!(generator.flow_slots(), 10);
    let (before, after) = (frames(&endless, &lines), frames(&ending, &lines));
    assert_eq!(before.len(), after.len());
    let mut tuples: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for (old, new) in before.iter().zip(&after) {
        assert_eq!((old.start_ps, old.port), (new.start_ps, new.port));
        let (was, is) = (
            Stamp::read(&old.bytes).unwrap(),
            Stamp::read(&new.bytes).unwrap(),
        );
        assert_eq!((is.sequence, is.port), (was.sequence % 4, was.port));
        assert_eq!(
            u64::from(is.flow),
            u64::from(was.flow) + was.sequence / 4 * 10
        );
        let tuple = five_tuple(&new.bytes);
        assert_eq!(
            tuples.entry(is.flow).or_insert_with(|| tuple.clone()),
            &tuple
        );
        // Still in the same network.
        assert_eq!(old.bytes[30..32], new.bytes[30..32]);
    }
    let flows = tuples.len();
    assert!(flows > 1000, "{flows}");
    let mut different: Vec<_> = tuples.into_values().collect();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), flows);
}

#[test]
fn every_port_has_a_flow_slot() {
    let few = Load {
        flows: 1,
        flow_packets: 2,
        ..load("1", "100us")
    };
    let lines = ports(3, GIGABIT);
    assert_eq!(Generator::new(&few, &lines).unwrap().flow_slots(), 3);
    for frame in frames(&few, &lines) {
        let stamp = Stamp::read(&frame.bytes).unwrap();
        assert_eq!(stamp.flow % 3, u32::from(stamp.port));
    }
}

#[test]
fn drawn_flows_do_not_change_times_or_sizes() {
    let turn = Load {
        flows: 9,
        size: Sizes::imix(),
        arrivals: Arrivals::Poisson,
        special: Special {
            tcp: "0.3".parse().unwrap(),
            ..Special::default()
        },
        ..load("0.7", "3ms")
    };
    let random = Load {
        interleave: Interleave::Random,
        ..turn.clone()
    };
    let lines = ports(2, GIGABIT);
    let (turn, drawn) = (frames(&turn, &lines), frames(&random, &lines));
    assert_eq!(turn.len(), drawn.len());
    let mut next: BTreeMap<(u8, u32), u64> = BTreeMap::new();
    let mut repeated = 0;
    let mut last = None;
    for (a, b) in turn.iter().zip(&drawn) {
        assert_eq!((a.start_ps, a.port), (b.start_ps, b.port));
        assert_eq!(a.bytes.len(), b.bytes.len());
        let stamp = Stamp::read(&b.bytes).unwrap();
        let sequence = next.entry((stamp.kind as u8, stamp.flow)).or_default();
        assert_eq!(stamp.sequence, *sequence);
        *sequence += 1;
        repeated += u64::from(last.replace(stamp.flow) == Some(stamp.flow));
    }
    assert_eq!(next.len(), 18, "9 flows of datagrams and 9 of TCP");
    assert!(repeated > 0, "a flow is drawn twice in a row now and then");
    assert_eq!(drawn, frames(&random, &lines));
    let other = Load { seed: 1, ..random };
    assert_ne!(drawn, frames(&other, &lines));
}

#[test]
fn default_flow_keys_are_omitted() {
    let text = serde_json::to_string(&Load::default()).unwrap();
    assert!(!text.contains("flow_packets") && !text.contains("interleave"));
    let load = Load {
        flow_packets: 100,
        interleave: Interleave::Random,
        ..load("1", "1ms")
    };
    let text = serde_json::to_string(&load).unwrap();
    assert_eq!(serde_json::from_str::<Load>(&text).unwrap(), load);
    let shown = "120 flows of 100 frames drawn at random, seed 0";
    assert!(load.to_string().ends_with(shown), "{load}");
}
