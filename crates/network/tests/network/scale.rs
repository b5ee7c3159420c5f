//! Dividing all times and multiplying all rates changes nothing.

use crate::dumbbell::run;
use crate::rig::{BOTTLENECK, Discipline, Dumbbell};

#[test]
fn a_faster_network_behaves_the_same() {
    for discipline in [Discipline::Fifo, Discipline::Red, Discipline::Xcp] {
        let [slow, fast, faster] = [1, 10, 50].map(|k| {
            let dumbbell = Dumbbell {
                k,
                ..Dumbbell::new(discipline)
            };
            run(&dumbbell, 120).lines[BOTTLENECK].utilisation()
        });
        for other in [fast, faster] {
            assert!(
                (slow - other).abs() < 0.01,
                "{discipline:?}: {slow} {other}"
            );
        }
    }
}
