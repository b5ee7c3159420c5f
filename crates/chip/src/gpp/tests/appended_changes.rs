//! Changes of the routes that arrive while the chip runs, interleaved with another task.

use proptest::prelude::*;

use super::*;
use crate::gpp::boot::{RouteChangesSetup, RouterRoutes};
use crate::gpp::routes::{Change, ChangeError, RouteChange, RoutePrefix};
use crate::gpp::task::{NextAction, Start};
use crate::kernel::row::Row;

const ROOT: u32 = 0x10_0000;
const NEXT_HOPS: u32 = 0x20_0000;
const GRACE: Cycle = 20_000;
const END: Cycle = 400_000;

/// A task that writes down when it runs, as often as it can.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Clerk {
    period: Cycle,
    ran: u32,
}

impl Task for Clerk {
    fn name(&self) -> &'static str {
        "clerk"
    }

    fn prepare(&mut self, _: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        Ok(Some(self.period))
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let place = LongwordAddress {
            space: Space::Sram(0),
            address: 0x1000 + 4 * (self.ran % 1024),
        };
        self.ran += 1;
        let cost = access.write(place, &[access.now() as u32]);
        let due = access.now() + self.period;
        ("note the time", NextAction::Done { cost, due })
    }
}

fn hop(port: u8) -> NextHop {
    NextHop {
        port,
        mtu: 1500,
        local: false,
        discard: false,
        destination: [2; 6],
        source: [4; 6],
    }
}

fn route(number: u32, port: u8) -> Route {
    Route {
        prefix: 0x0a01_0000 + number % 3 * 0x1_0000 + number / 3 * 0x100,
        length: 24,
        next_hop: hop(port),
    }
}

fn bench(period: Cycle, open: Option<usize>, changes: Vec<RouteChange>) -> Bench {
    let default = Route {
        prefix: 0,
        length: 0,
        next_hop: hop(1),
    };
    let clerk = |period| Box::new(Clerk { period, ran: 0 }) as Box<dyn Task>;
    let routes = Routes::new(RoutesSetup {
        channel: 1,
        root: ROOT,
        next_hops: NEXT_HOPS,
        routers: vec![RouterRoutes::new(vec![default], Vec::new()).unwrap()],
        changes: Some(RouteChangesSetup {
            changes,
            blocks: 2,
            grace: GRACE,
            open,
        }),
    });
    let boot = BootPlan {
        tasks: vec![clerk(period), Box::new(routes), clerk(period + 1)],
        ..BootPlan::default()
    };
    load(&boot).unwrap()
}

/// Everything observable about a chip at its end.
fn seen(bench: &mut Bench) -> (Vec<Option<u32>>, Vec<Row>, Vec<TaskCounts>) {
    bench.run_until(END);
    let trie = (ROOT..ROOT + 4 * 0x1_0200).step_by(4);
    let places = trie.chain((NEXT_HOPS..NEXT_HOPS + 0x100).step_by(4));
    let words = places.map(|at| bench.units.sram.read_word(1 << 30 | at));
    let noted = (0x1000..0x2000)
        .step_by(4)
        .map(|at| bench.units.sram.read_word(at));
    let words = words.chain(noted).collect();
    let memories = Memories {
        scratch: &bench.units.scratch,
        sram: &bench.units.sram,
    };
    let rows = bench.gpp.tasks()[1].rows(memories);
    let counts = (0..3).map(|task| bench.gpp.counts(task, END)).collect();
    (words, rows, counts)
}

/// A change: its kind and route, its cycle, and how long before that it is appended.
fn any_change() -> impl Strategy<Value = (RouteChange, Cycle)> {
    let times = (1..250_000_u64, prop_oneof![Just(0), 0..50_000_u64]);
    (0_u8..3, 0_u32..6, 0_u8..4, times).prop_map(|(kind, number, port, (at, lead))| {
        // Cycles at which the other tasks begin as well.
        let at = at - at % 500;
        let change = match kind {
            0 => Change::Add(route(number, port)),
            1 => Change::Redirect(route(number, port)),
            _ => Change::Remove(route(number, 0).network()),
        };
        (RouteChange { at, change }, lead)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn appended_route_changes_act_like_planned_ones(
        period in prop_oneof![Just(500_u64), 100..2_000_u64],
        known in prop::option::of(1..250_000_u64),
        told in prop::collection::vec(any_change(), 1..30),
    ) {
        let known: Vec<_> = { known.into_iter() }
            .map(|at| RouteChange { at, change: Change::Add(route(0, 3)) })
            .collect();
        let mut told = told;
        told.sort_by_key(|(change, lead)| change.at.saturating_sub(*lead));
        let mut live = bench(period, Some(6), known.clone());
        let mut all = known;
        for (change, lead) in told {
            live.run_until(change.at.saturating_sub(lead));
            let fabric = &mut live.fabric;
            if live.gpp.append_route_change(change, fabric).is_ok() {
                all.push(change);
            }
        }
        all.sort_by_key(|change| change.at);
        let mut again = bench(period, Some(6), all);
        prop_assert_eq!(seen(&mut live), seen(&mut again));
    }
}

#[test]
fn refused_route_changes_leave_the_table_unchanged() {
    let remove = |number| {
        let RoutePrefix { prefix, length } = route(number, 0).network();
        Change::Remove(RoutePrefix { prefix, length })
    };
    let mut closed = bench(
        500,
        None,
        vec![RouteChange {
            at: 1,
            change: Change::Add(route(0, 1)),
        }],
    );
    let change = RouteChange {
        at: 9_000,
        change: remove(0),
    };
    let refused = closed.gpp.append_route_change(change, &mut closed.fabric);
    assert_eq!(refused, Err(ChangeError::Closed));

    let mut open = bench(500, Some(3), Vec::new());
    open.run_until(1_000);
    let mut append = |at, change| {
        let change = RouteChange { at, change };
        open.gpp.append_route_change(change, &mut open.fabric)
    };
    assert_eq!(
        append(2_000, remove(0)),
        Err(ChangeError::NoSuchRoute(route(0, 0).network()))
    );
    assert_eq!(append(2_000, Change::Add(route(0, 0))), Ok(()));
    assert_eq!(
        append(2_000, Change::Add(route(0, 0))),
        Err(ChangeError::AlreadyExists(route(0, 0).network()))
    );
    assert_eq!(append(3_000, Change::Add(route(1, 2))), Ok(()));
    let full = append(4_000, Change::Add(route(2, 1)));
    assert_eq!(full, Err(ChangeError::Full { needed: 3, room: 2 }));
    let hops = append(4_000, Change::Redirect(route(0, 3)));
    assert_eq!(hops, Err(ChangeError::TooManyNextHops { room: 3 }));
    // A change that would remove a route needed by a later one.
    assert_eq!(append(5_000, Change::Redirect(route(1, 1))), Ok(()));
    let needed = append(4_500, remove(1));
    assert_eq!(needed, Err(ChangeError::NoSuchRoute(route(1, 0).network())));
    let (_, rows, _) = seen(&mut open);
    assert_eq!(
        (rows[0].get("changes"), rows[0].get("pending")),
        (Some(3), Some(0))
    );
}
