//! Dumbbells against the results of ns-2.

use npsim_network::counters::NetworkCounters;
use npsim_network::{NoTap, Simulation};

use crate::reference::{Fixed, Quantity, ROWS, Row, dumbbell};
use crate::rig::{BOTTLENECK, Discipline, Dumbbell, SECOND_BOTTLENECK};

/// The counts of a run up to a given second, and the part of them from another second on.
pub fn run(dumbbell: &Dumbbell, (from, until): (u64, u64)) -> [NetworkCounters; 2] {
    let mut simulation = Simulation::new(dumbbell.topology()).expect("a network");
    simulation.run_to(dumbbell.at(from), &mut NoTap);
    let begin = simulation.counters();
    simulation.run_to(dumbbell.at(until), &mut NoTap);
    let all = simulation.counters();
    let late = all.since(&begin);
    [all, late]
}

/// The result of one run for a quantity.
fn measured(quantity: Quantity, dumbbell: &Dumbbell, [all, late]: &[NetworkCounters; 2]) -> f64 {
    let last = dumbbell.second.map_or(BOTTLENECK, |_| SECOND_BOTTLENECK);
    match quantity {
        Quantity::Utilisation => late.lines[BOTTLENECK].utilisation(),
        Quantity::Queue => late.lines[BOTTLENECK].mean_queue() / 1e3,
        Quantity::Drops => all.lines[last].drops() as f64,
        Quantity::Jain => {
            let index = late.jain(&dumbbell.topology(), 0..dumbbell.rtts.len());
            index.expect("something was delivered")
        }
        Quantity::Goodput => {
            (0..dumbbell.rtts.len())
                .map(|f| late.goodput(f))
                .sum::<f64>()
                / 1e6
        }
    }
}

/// The allowed difference between our value and that of ns-2.
fn tolerance(quantity: Quantity, value: f64) -> f64 {
    match quantity {
        Quantity::Utilisation => 0.02,
        Quantity::Queue => (0.1 * value).max(5.0),
        Quantity::Drops => 0.2 * value,
        Quantity::Jain => 0.05,
        Quantity::Goodput => 0.1 * value,
    }
}

/// The means over the runs of a row, in the order of its values.
fn means(row: &Row) -> Vec<f64> {
    let mut sums = vec![0.0; row.values.len()];
    for number in 0..row.runs {
        let dumbbell = dumbbell(row.set_up).run(number);
        let counters = run(&dumbbell, (row.from, row.until));
        for (sum, &(quantity, ..)) in sums.iter_mut().zip(row.values) {
            *sum += measured(quantity, &dumbbell, &counters);
        }
    }
    for sum in &mut sums {
        *sum /= row.runs as f64;
    }
    sums
}

fn compare(rows: impl Iterator<Item = &'static Row>) {
    let mut faults = Vec::new();
    for row in rows {
        for (ours, &(quantity, theirs, apart)) in means(row).into_iter().zip(row.values) {
            println!(
                "{}: {quantity:?} {ours:.4}, ns-2 {theirs} {apart:?}",
                row.name
            );
            let usual = tolerance(quantity, theirs);
            let miss = (ours - theirs).abs();
            let told = match apart {
                None if miss > usual => "differs",
                // Values listed as different must differ, and by the listed amount.
                Some(_) if miss <= usual => "is listed as different and is not",
                Some(Fixed { ours: known, .. }) if (ours - known).abs() > usual => "has moved",
                _ => continue,
            };
            let told = format!("{}: {quantity:?} {ours:.4} {told}: ns-2 {theirs}", row.name);
            faults.push(told);
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

fn of(discipline: Discipline) -> impl Iterator<Item = &'static Row> {
    { ROWS.iter() }.filter(move |row| dumbbell(row.set_up).discipline == discipline)
}

#[test]
fn fifo_agrees_with_ns_2() {
    compare(of(Discipline::Fifo));
}

#[test]
fn red_agrees_with_ns_2() {
    compare(of(Discipline::Red));
}

#[test]
fn xcp_agrees_with_ns_2() {
    compare(of(Discipline::Xcp));
}

#[test]
fn overestimated_xcp_capacity_gives_the_predicted_queue() {
    for capacity in [1_100, 1_200, 1_300, 1_350, 1_400, 1_500] {
        let dumbbell = Dumbbell {
            capacity,
            ..Dumbbell::new(Discipline::Xcp)
        };
        let [all, late] = run(&dumbbell, (30, 120));
        // In equilibrium, alpha (C_set - C) d = beta q, where d is the round-trip time with the queue, which the router
        // limits to 1 s; C is the rate in bytes.
        let rate = dumbbell.rate as f64 / 8.0;
        let spare = 0.4 / 0.226 * rate * (capacity as f64 / 1_000.0 - 1.0);
        let endless = spare * 0.5 / (1.0 - spare / rate);
        let longest = 0.5 * rate;
        let exact = if (0.0..=longest).contains(&endless) {
            endless
        } else {
            spare
        };
        let queue = late.lines[BOTTLENECK].mean_queue();
        assert!(
            (queue / exact - 1.0).abs() < 0.05,
            "{capacity}: {queue} {exact}"
        );
        assert_eq!(
            all.lines[BOTTLENECK].drops(),
            0,
            "two products have room for it"
        );
    }
}
