//! Results of ns-2 2.35, as data; `ns-2.md` describes how they were made.

use npsim_transport::time::{MILLISECOND, SECOND};

use crate::rig::{Discipline, Dumbbell, Side};
use Quantity::{Drops, Goodput, Jain, Queue, Utilisation};
use SetUp::{Buffer, Loss, Plain, RoundTrips, Second, Short, Starts};

/// The compared quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Share of the time in which the bottleneck sends.
    Utilisation,
    /// Mean queue before it, KB.
    Queue,
    /// Packets that found no room in the whole run, at the second bottleneck if there is one.
    Drops,
    /// Jain's index of the flows' shares.
    Jain,
    /// Throughput of all flows, Mb/s.
    Goodput,
}

/// The dumbbells.
#[derive(Clone, Copy, Debug)]
pub enum SetUp {
    /// Four flows of 500 ms, two bandwidth-delay products of queue.
    Plain(Discipline),
    /// Half a product.
    Short(Discipline),
    /// Starts at 0, 15, 30 and 45 s.
    Starts(Discipline),
    /// Round-trip times of 100, 200, 400 and 800 ms.
    RoundTrips(Discipline),
    /// A FIFO of 100 packets at 5 Mb/s on one side.
    Second(Discipline, Side),
    /// Random loss, parts per million, with SACK or without.
    Loss(u32, bool),
    /// Receivers with room for 65 packets.
    Buffer,
}

/// Our value if it differs by more than the tolerance, and the reason.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    pub ours: f64,
    #[expect(dead_code, reason = "for who reads the table, and in Debug")]
    pub reason: &'static str,
}

/// Means over some runs, each with other start times.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub set_up: SetUp,
    pub runs: u64,
    /// Seconds that are left out, except for drops.
    pub from: u64,
    /// The end of a run, in seconds.
    pub until: u64,
    pub values: &'static [(Quantity, f64, Option<Fixed>)],
}

/// The dumbbell of a row.
pub fn dumbbell(set_up: SetUp) -> Dumbbell {
    let new = Dumbbell::new;
    match set_up {
        Plain(discipline) => new(discipline),
        Short(discipline) => Dumbbell {
            queue: 5,
            ..new(discipline)
        },
        Starts(discipline) => Dumbbell {
            starts: [0, 15, 30, 45].map(|seconds| seconds * SECOND).to_vec(),
            ..new(discipline)
        },
        RoundTrips(discipline) => Dumbbell {
            rtts: [100, 200, 400, 800].map(|rtt| rtt * MILLISECOND).to_vec(),
            ..new(discipline)
        },
        Second(discipline, side) => Dumbbell {
            second: Some(side),
            // The XCP sender of ns-2 has none.
            sack: discipline != Discipline::Xcp,
            ..new(discipline)
        },
        Loss(loss, sack) => Dumbbell {
            loss,
            sack,
            ..new(Discipline::Fifo)
        },
        Buffer => Dumbbell {
            buffer: 65 * 960,
            ..new(Discipline::Fifo)
        },
    }
}

const fn row(
    name: &'static str,
    set_up: SetUp,
    runs: u64,
    (from, until): (u64, u64),
    values: &'static [(Quantity, f64, Option<Fixed>)],
) -> Row {
    Row {
        name,
        set_up,
        runs,
        from,
        until,
        values,
    }
}

const FIFO: Discipline = Discipline::Fifo;
const RED: Discipline = Discipline::Red;
const XCP: Discipline = Discipline::Xcp;

#[expect(clippy::unnecessary_wraps, reason = "the other choice is `None`")]
const fn known_difference(ours: f64, reason: &'static str) -> Option<Fixed> {
    Some(Fixed { ours, reason })
}

/// Slow start overshoots by a thousand packets, every second of which is lost. RFC 6675 takes what is
/// lost out of the flight and repairs within a round trip; Sack1 of ns-2 waits until as many have
/// arrived. So other repairs are lost, other timers expire, and other windows stand after it, which only
/// the next losses level: those come once in a hundred seconds. The long runs compare what comes then.
const REPAIR: &str = "the overshoot of slow start is repaired by RFC 6675";

/// The XCP sender of ns-2 is a Reno sender: it leaves recovery with the first partial ACK, so that
/// several losses in a window end in a timeout, where ours continues as RFC 6582 specifies.
const RENO: &str = "ns-2 has XCP with Reno alone, without NewReno";

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("fifo", Plain(FIFO), 4, (30, 120), &[(Utilisation, 1.0, None), (Queue, 750.9, None), (Drops, 1296.0, None), (Jain, 0.873, None)]),
    row("fifo, half a product", Short(FIFO), 4, (30, 120), &[(Utilisation, 0.963, None), (Queue, 121.0, known_difference(134.0, REPAIR)), (Drops, 938.0, None), (Jain, 0.980, None)]),
    row("fifo, starts", Starts(FIFO), 4, (0, 120), &[(Utilisation, 0.907, None), (Queue, 626.1, None), (Drops, 3950.0, known_difference(5545.3, REPAIR)), (Jain, 0.948, known_difference(0.857, REPAIR))]),
    row("fifo, round trips", RoundTrips(FIFO), 4, (0, 120), &[(Utilisation, 0.988, None), (Queue, 748.6, known_difference(527.1, REPAIR)), (Drops, 1348.0, None), (Jain, 0.342, known_difference(0.428, REPAIR))]),
    row("fifo, another after", Second(FIFO, Side::After), 3, (30, 120), &[(Utilisation, 0.466, None), (Queue, 0.0, None), (Drops, 418.0, None), (Jain, 0.981, None), (Goodput, 4.471, None)]),
    row("fifo, another before", Second(FIFO, Side::Before), 2, (30, 120), &[(Utilisation, 0.460, None), (Queue, 0.0, None), (Drops, 422.0, None), (Jain, 0.994, None), (Goodput, 4.415, None)]),
    row("fifo, small buffer", Buffer, 1, (30, 120), &[(Utilisation, 0.416, None), (Queue, 0.0, None), (Drops, 0.0, None), (Jain, 1.0, None), (Goodput, 3.994, None)]),
    row("fifo, 0.1 % lost, sack", Loss(1_000, true), 8, (30, 120), &[(Utilisation, 0.237, None), (Jain, 0.972, None), (Goodput, 2.278, None)]),
    row("fifo, 0.1 % lost", Loss(1_000, false), 8, (30, 120), &[(Utilisation, 0.239, None), (Jain, 0.982, None), (Goodput, 2.295, None)]),
    row("fifo, 1 % lost, sack", Loss(10_000, true), 8, (30, 120), &[(Utilisation, 0.0725, None), (Jain, 0.984, None), (Goodput, 0.688, None)]),
    row("fifo, 1 % lost", Loss(10_000, false), 8, (30, 120), &[(Utilisation, 0.0729, None), (Jain, 0.992, None), (Goodput, 0.692, None)]),
    row("fifo, 5 % lost, sack", Loss(50_000, true), 8, (30, 120), &[(Utilisation, 0.029, None), (Jain, 0.990, None), (Goodput, 0.263, None)]),
    row("fifo, 5 % lost", Loss(50_000, false), 8, (30, 120), &[(Utilisation, 0.0296, None), (Jain, 0.990, None), (Goodput, 0.265, None)]),
    row("red", Plain(RED), 8, (30, 120), &[(Utilisation, 0.993, None), (Queue, 174.3, known_difference(203.0, REPAIR)), (Drops, 829.0, None), (Jain, 0.898, known_difference(0.765, REPAIR))]),
    row("red, half a product", Short(RED), 4, (30, 120), &[(Utilisation, 0.943, None), (Queue, 22.2, None), (Drops, 676.0, None), (Jain, 0.969, None)]),
    row("red, starts", Starts(RED), 3, (0, 120), &[(Utilisation, 0.773, known_difference(0.814, REPAIR)), (Queue, 113.2, None), (Drops, 1847.0, None), (Jain, 0.879, None)]),
    row("red, round trips", RoundTrips(RED), 3, (0, 120), &[(Utilisation, 0.930, known_difference(0.987, REPAIR)), (Queue, 213.0, known_difference(252.2, REPAIR)), (Drops, 478.0, known_difference(346.3, REPAIR)), (Jain, 0.656, known_difference(0.522, REPAIR))]),
    row("red, long", Plain(RED), 3, (120, 600), &[(Utilisation, 1.0, None), (Queue, 232.9, None), (Drops, 853.0, None), (Jain, 0.977, None)]),
    row("red, round trips, long", RoundTrips(RED), 3, (120, 600), &[(Utilisation, 1.0, None), (Queue, 261.4, None), (Drops, 522.0, known_difference(388.3, REPAIR)), (Jain, 0.846, None)]),
    row("fifo, long", Plain(FIFO), 3, (120, 600), &[(Utilisation, 1.0, None), (Queue, 833.2, None), (Drops, 1335.3, None), (Jain, 0.964, None)]),
    row("fifo, round trips, long", RoundTrips(FIFO), 2, (120, 600), &[(Utilisation, 1.0, None), (Queue, 1012.1, None), (Drops, 1366.5, None), (Jain, 0.600, known_difference(0.799, REPAIR))]),
    row("xcp", Plain(XCP), 3, (30, 120), &[(Utilisation, 1.0, None), (Queue, 0.1, None), (Drops, 0.0, None), (Jain, 1.0, None)]),
    row("xcp, starts", Starts(XCP), 3, (0, 120), &[(Utilisation, 0.982, None), (Queue, 4.9, None), (Drops, 0.0, None), (Jain, 0.860, None)]),
    row("xcp, round trips", RoundTrips(XCP), 3, (0, 120), &[(Utilisation, 0.989, None), (Queue, 9.6, None), (Drops, 0.0, None), (Jain, 0.994, None)]),
    row("xcp, a fifo after", Second(XCP, Side::After), 3, (30, 120), &[(Utilisation, 0.370, None), (Queue, 7.4, known_difference(1.8, RENO)), (Drops, 4247.0, known_difference(2489.3, RENO)), (Jain, 0.943, None), (Goodput, 2.492, known_difference(2.901, RENO))]),
    row("xcp, a fifo before", Second(XCP, Side::Before), 3, (30, 120), &[(Utilisation, 0.250, known_difference(0.361, RENO)), (Queue, 0.0, None), (Drops, 7514.0, known_difference(3151.0, RENO)), (Jain, 0.973, known_difference(0.912, RENO)), (Goodput, 1.801, known_difference(2.850, RENO))]),
];
