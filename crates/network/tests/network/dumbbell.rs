//! Dumbbells against what ns-2 gives for them.

use npsim_network::census::Census;
use npsim_network::{NoTap, Simulation};
use npsim_transport::time::{MILLISECOND, SECOND};

use crate::rig::{BOTTLENECK, Discipline, Dumbbell};

/// All of a run of so many seconds.
pub fn run(dumbbell: &Dumbbell, seconds: u64) -> Census {
    let mut simulation = Simulation::new(dumbbell.topology()).expect("a network");
    simulation.run_to(dumbbell.at(seconds), &mut NoTap);
    simulation.census()
}

#[test]
fn print() {
    for discipline in [Discipline::Fifo, Discipline::Red, Discipline::Xcp] {
        for seed in 1..4 {
            let dumbbell = Dumbbell {
                seed,
                ..Dumbbell::new(discipline)
            };
            let mut simulation = Simulation::new(dumbbell.topology()).expect("a network");
            simulation.run_to(dumbbell.at(30), &mut NoTap);
            let begin = simulation.census();
            simulation.run_to(dumbbell.at(120), &mut NoTap);
            let all = simulation.census();
            let census = all.since(&begin);
            let line = &census.lines[BOTTLENECK];
            println!(
                "{discipline:?}: utilisation {:.4}, mean queue {:.1} KB, longest {:.1} KB, drops {} of {}, jain {:.3} timeouts {:?} recoveries {:?}",
                line.utilisation(),
                line.mean_queue() / 1e3,
                line.longest as f64 / 1e3,
                line.drops(),
                all.lines[BOTTLENECK].drops(),
                census.jain(0..4),
                all.flows
                    .iter()
                    .map(|f| f.sender.timeouts)
                    .collect::<Vec<_>>(),
                all.flows
                    .iter()
                    .map(|f| f.sender.fast_recoveries)
                    .collect::<Vec<_>>(),
            );
        }
    }
    let _ = (SECOND, MILLISECOND);
}
