//! Scheduled changes of the routing table, in accesses that cost what the profile specifies.

use super::*;
use crate::gpp::boot::{RouteChangesSetup, RouterRoutes};
use crate::gpp::routes::{Change, NEXT_HOP_LONGWORDS, RouteChange, RoutePrefix};

const ROOT: u32 = 0x10_0000;
const NEXT_HOPS: u32 = 0x20_0000;
const GRACE: Cycle = 10_000;
/// The costs of a change: working it out, and an access to SRAM.
const WORK: Cycle = 1200;
const ACCESS: Cycle = 144;

fn route(prefix: u32, length: u8, port: u8) -> Route {
    Route {
        prefix,
        length,
        next_hop: NextHop {
            port,
            mtu: 1500,
            local: false,
            discard: false,
            destination: [2; 6],
            source: [4; 6],
        },
    }
}

fn bench(blocks: u32, changes: &[(Cycle, Change)]) -> Result<Bench, LoadError> {
    let routes = vec![route(0, 0, 1)];
    let change = |&(at, change): &(Cycle, Change)| RouteChange { at, change };
    let boot = BootPlan {
        tasks: vec![Box::new(Routes::new(RoutesSetup {
            channel: 1,
            root: ROOT,
            next_hops: NEXT_HOPS,
            routers: vec![RouterRoutes::new(routes, Vec::new()).unwrap()],
            changes: Some(RouteChangesSetup {
                changes: changes.iter().map(change).collect(),
                blocks,
                grace: GRACE,
                open: None,
            }),
        }))],
        ..BootPlan::default()
    };
    load(&boot)
}

fn port(bench: &Bench, address: u32) -> u32 {
    let word = |address: u32| bench.units.sram.read_word(1 << 30 | address).unwrap();
    let mut entry = word(ROOT + 4 * (address >> 16));
    for shift in [8, 0] {
        if entry >> 31 == 1 {
            entry = word(ROOT + (entry & 0x7fff_fffc) + 4 * (address >> shift & 0xff));
        }
    }
    word(NEXT_HOPS + 4 * NEXT_HOP_LONGWORDS as u32 * entry) & 0xff
}

fn row(bench: &Bench, name: &str) -> i128 {
    let memories = Memories {
        scratch: &bench.units.scratch,
        sram: &bench.units.sram,
    };
    let rows = bench.gpp.tasks()[0].rows(memories);
    rows[0].get(name).unwrap()
}

fn removed(prefix: u32, length: u8) -> Change {
    Change::Remove(RoutePrefix { prefix, length })
}

#[test]
fn route_change_takes_effect_with_its_last_write() {
    let changes = [(5000, Change::Add(route(0x0a01_0200, 24, 2)))];
    let mut bench = bench(4, &changes).unwrap();
    // The next hop, 32 times eight entries of a block, and then the entry that leads to it.
    let leads = 5000 + WORK + 33 * ACCESS;
    bench.run_until(leads);
    assert_eq!((port(&bench, 0x0a01_0203), row(&bench, "changes")), (1, 0));
    bench.run_until(leads + 1);
    assert_eq!((port(&bench, 0x0a01_0203), row(&bench, "changes")), (2, 1));
    assert_eq!(port(&bench, 0x0a01_0303), 1);
    assert_eq!(row(&bench, "took"), i128::from(leads + ACCESS - 5000));
    assert_eq!(
        (row(&bench, "writes"), row(&bench, "words")),
        (34, 4 + 256 + 1)
    );
    assert!(bench.fabric.events.is_empty(), "nothing is left to do");
    assert_eq!(bench.counts(bench.fabric.now).busy, WORK + 34 * ACCESS);
}

#[test]
fn route_block_is_reused_after_the_grace_time() {
    let there = |port| Change::Add(route(0x0a01_0200, 24, port));
    let gone = removed(0x0a01_0200, 24);
    let changes = [(100, there(2)), (100, gone), (100, there(2))];
    let mut narrow = bench(1, &changes).unwrap();
    narrow.run_until(60_000);
    // The entry is written once the first change and the work of the second are done.
    let freed = 100 + WORK + 34 * ACCESS + WORK;
    let waited = GRACE - ACCESS;
    assert_eq!(
        (row(&narrow, "grace_waits"), row(&narrow, "changes")),
        (1, 3)
    );
    assert_eq!(row(&narrow, "grace_waited"), i128::from(waited));
    assert_eq!(
        row(&narrow, "late_longest"),
        i128::from(freed + GRACE - 100)
    );
    assert_eq!(
        (row(&narrow, "blocks"), row(&narrow, "free_blocks")),
        (1, 0)
    );
    let mut wide = bench(2, &changes).unwrap();
    wide.run_until(60_000);
    assert_eq!((row(&wide, "grace_waits"), row(&wide, "changes")), (0, 3));
    assert_eq!(
        (port(&narrow, 0x0a01_0203), port(&wide, 0x0a01_0203)),
        (2, 2)
    );
}

#[test]
fn route_task_resumes_identically_from_any_cycle() {
    let there = |port| Change::Add(route(0x0a01_0203, 32, port));
    let gone = removed(0x0a01_0203, 32);
    let wide = Change::Redirect(route(0, 0, 3));
    let changes = [(10, there(2)), (10, gone), (20, there(4)), (20_000, gone)];
    let changes = [&changes[..], &[(20_000, wide), (30_000, there(5))]].concat();
    let mut through = bench(3, &changes).unwrap();
    let fresh = bench(3, &changes).unwrap();
    let mut steps = bench(3, &changes).unwrap();
    for until in (0..1_400_000).step_by(1777) {
        steps.run_until(until);
        let states = steps.gpp.save_tasks().unwrap();
        // From the beginning, and from the current position.
        let ahead = steps.gpp.clone();
        for other in [&fresh.gpp, &ahead] {
            steps.gpp.restore_tasks(other, &states).unwrap();
            assert_eq!(steps.gpp.save_tasks().unwrap(), states);
        }
    }
    through.run_until(1_400_000);
    assert_eq!(row(&through, "changes"), 6);
    assert_eq!(
        steps.gpp.save_tasks().unwrap(),
        through.gpp.save_tasks().unwrap()
    );
    for address in [0x0a01_0203, 0x0a01_0204, 0x0b00_0000] {
        assert_eq!(port(&steps, address), port(&through, address));
    }
    assert_eq!((port(&steps, 0x0a01_0203), port(&steps, 0)), (5, 3));
    let early = fresh.gpp.save_tasks().unwrap();
    let mut changed = changes.clone();
    changed[5].1 = there(6);
    for (other, states) in [(&changes[..2], &through.gpp), (&changed[..], &fresh.gpp)] {
        let states = states.save_tasks().unwrap();
        let mut other = bench(3, other).unwrap();
        let own = other.gpp.clone();
        assert!(other.gpp.restore_tasks(&own, &states).is_err());
        assert_ne!(other.gpp.save_tasks().unwrap(), early, "the list counts");
    }
}

#[test]
fn invalid_route_changes_are_refused_at_load() {
    let gone = removed(0x0a01_0200, 24);
    let there = Change::Add(route(0x0a01_0200, 24, 2));
    let text =
        |blocks, changes: &[(Cycle, Change)]| bench(blocks, changes).err().unwrap().to_string();
    assert!(text(1, &[(1, gone)]).contains("route change 0: there is no route"));
    assert!(text(0, &[(1, there)]).contains("the routing table is full"));
    assert!(text(u32::MAX, &[(1, there)]).contains("has no longword"));
}
