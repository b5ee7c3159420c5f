//! Dividing all times and multiplying all rates changes nothing.

use crate::dumbbell::run;
use crate::rig::{BOTTLENECK, Discipline, Dumbbell};

#[test]
fn scaling_times_and_rates_preserves_results() {
    for discipline in [Discipline::Fifo, Discipline::Red, Discipline::Xcp] {
        let [slow, fast, faster] = [1, 10, 50].map(|k| {
            let dumbbell = Dumbbell {
                k,
                ..Dumbbell::new(discipline)
            };
            let [all, late] = run(&dumbbell, (30, 120));
            let line = &late.lines[BOTTLENECK];
            let drops = all.lines[BOTTLENECK].drops() as f64;
            (line.utilisation(), line.mean_queue(), drops)
        });
        for other in [fast, faster] {
            let told = format!("{discipline:?}: {slow:?} {other:?}");
            assert!((slow.0 - other.0).abs() < 0.01, "{told}");
            // A packet, or a hundredth.
            let near = (0.01 * slow.1).max(1_000.0);
            assert!((slow.1 - other.1).abs() < near, "{told}");
            assert!((slow.2 - other.2).abs() <= 0.01 * slow.2, "{told}");
        }
    }
}
