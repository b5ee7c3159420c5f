//! Everything sent arrives, is lost with a reason, or is in flight; and a run may be split
//! anywhere.

use npsim_network::topology::{Loss, Topology};
use npsim_network::{NoTap, Simulation};
use npsim_transport::time::{MILLISECOND, SECOND};
use proptest::prelude::*;

use crate::rig::{Discipline, Dumbbell};

fn disciplines() -> impl Strategy<Value = Discipline> {
    prop_oneof![
        Just(Discipline::Fifo),
        Just(Discipline::Red),
        Just(Discipline::Xcp)
    ]
}

fn topologies() -> impl Strategy<Value = Topology> {
    (disciplines(), 1_u64..40, 0_u32..50_000, any::<u64>()).prop_map(
        |(discipline, queue, loss, seed)| {
            let mut topology = Dumbbell {
                queue,
                seed,
                rtts: vec![80 * MILLISECOND, 30 * MILLISECOND],
                starts: vec![0, 100 * MILLISECOND],
                rate: 2_000_000,
                ..Dumbbell::new(discipline)
            }
            .topology();
            for link in &mut topology.links {
                link.lines[0].loss = Loss::Random(loss);
            }
            topology
        },
    )
}

fn conserved(simulation: &Simulation) -> Result<(), TestCaseError> {
    let mut under_way = vec![(0, 0); simulation.topology().flows.len()];
    for frame in simulation.frames() {
        let flow = frame.flow.expect("a packet of a flow");
        let flow = &mut under_way[flow as usize];
        *flow = (flow.0 + 1, flow.1 + u64::from(frame.bytes));
    }
    let counters = simulation.counters();
    for (flow, (packets, bytes)) in counters.flows.iter().zip(under_way) {
        prop_assert_eq!(
            flow.sent.packets,
            flow.arrived.packets + flow.gone.packets + packets
        );
        prop_assert_eq!(
            flow.sent.bytes,
            flow.arrived.bytes + flow.gone.bytes + bytes
        );
        prop_assert!(flow.delivered <= flow.arrived.bytes);
    }
    for (number, line) in counters.lines.iter().enumerate() {
        let (bytes, packets) = simulation.queue(number);
        let dropped = line.dropped.iter().map(|it| it.bytes).sum::<u64>();
        prop_assert_eq!(
            line.offered.packets,
            line.drops() + line.sent.packets + packets
        );
        prop_assert_eq!(line.offered.bytes, dropped + line.sent.bytes + bytes);
        prop_assert!(line.utilisation() <= 1.0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_packet_is_delivered_dropped_or_in_flight(
        topology in topologies(),
        steps in prop::collection::vec(1_u64..700, 1..12),
    ) {
        let mut simulation = Simulation::new(topology).expect("a network");
        let mut now = 0;
        for step in steps {
            now += step * MILLISECOND;
            simulation.run_to(now, &mut NoTap);
            conserved(&simulation)?;
        }
    }

    #[test]
    fn stepped_and_restored_runs_equal_a_whole_run(
        topology in topologies(),
        cuts in prop::collection::vec(1_u64..4_000, 1..6),
    ) {
        let mut whole = Simulation::new(topology.clone()).expect("a network");
        whole.run_to(4 * SECOND, &mut NoTap);
        let mut cut = Simulation::new(topology).expect("a network");
        let mut cuts = cuts;
        cuts.sort_unstable();
        for at in cuts {
            cut.run_to(at * MILLISECOND, &mut NoTap);
            let bytes = postcard::to_stdvec(&cut).expect("a state");
            cut = postcard::from_bytes(&bytes).expect("the same state");
        }
        cut.run_to(4 * SECOND, &mut NoTap);
        prop_assert_eq!(cut.counters(), whole.counters());
        prop_assert!(cut.frames().eq(whole.frames()));
    }
}
