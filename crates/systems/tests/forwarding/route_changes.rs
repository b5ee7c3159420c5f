//! Thousands of route changes under load, in the forwarder and in the standard router: every packet
//! takes the route of the longest prefix before or after one of the changes made while it was
//! inside.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project, Setting};
use npsim::simulation::{RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::gpp::routes::Routes;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent, TraceEventKind};
use npsim_inspect::stats::Stats;
use npsim_net::LineFrame;

use crate::forwarder::drain;
use crate::oracle::checksum;
use crate::recorded_lines::{RecordedLines, Sent};
use npsim_systems::project::{assembled, load};
use npsim_testkit::microcode::shipped;

/// A router, with the number of changes and of frames.
struct Case {
    project: &'static str,
    changes: u32,
    frames: u32,
}

/// Contexts of the standard router poll for work all the time, which costs the host more.
const FORWARDER: Case = Case {
    project: "forward",
    changes: 100_000,
    frames: 40_000,
};
const ROUTER: Case = Case {
    project: "router",
    changes: 25_000,
    frames: 10_000,
};

/// Prefix lengths of the routes that change; short ones take many accesses.
const LENGTHS: [u32; 12] = [16, 20, 20, 24, 24, 28, 28, 28, 32, 32, 32, 32];
/// Picoseconds from one frame to the next.
const GAP: u128 = 1_600_000;

/// Pseudo-random numbers: 64-bit xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) as u32) % bound
    }

    /// An address below 20.44.0.0, from a set small enough for repetitions. The last four networks
    /// have one address each, so that their blocks come and go with its route.
    fn address(&mut self) -> u32 {
        if self.below(8) == 0 {
            return 0x1400_0001 | (40 + self.below(4)) << 16;
        }
        let third = self.below(4) * 64;
        0x1400_0000 | self.below(40) << 16 | third << 8 | (self.below(4) * 21)
    }
}

/// Where packets go: port and next-hop address.
type Hop = (u8, [u8; 6]);

/// The destination that the change of this number sets.
fn way(number: u32) -> Hop {
    // There are at most 65,535 next hops.
    let [_, a, b, c] = (number % 60_000).to_be_bytes();
    ((number % 3) as u8, [0x02, 0x11, 0, a, b, c])
}

/// The routers' default route.
const DEFAULT: Hop = (1, [0x02, 0, 0x5e, 0x10, 0, 0x01]);

/// The effect of a change: a route with the destination of its number, or none.
struct Change {
    prefix: u32,
    length: u32,
    way: Option<Hop>,
}

impl Change {
    fn covers(&self, address: u32) -> bool {
        (address ^ self.prefix) >> (32 - self.length) == 0
    }
}

/// The changes, and npsim's file of them.
fn changes(random: &mut Random, count: u32) -> (Vec<Change>, String) {
    let (mut there, mut text) = (BTreeSet::new(), String::from("# time,kind,prefix,way\n"));
    let each = |number: u32| {
        let address = random.address();
        let length = match address >> 16 & 0xff {
            40.. => 32,
            _ => LENGTHS[random.below(12) as usize],
        };
        let prefix = address >> (32 - length) << (32 - length);
        let is_there = there.contains(&(length, prefix));
        let goes = is_there && random.below(3) > 0;
        let kind = match (is_there, goes) {
            (false, _) => "add",
            (true, false) => "change",
            (true, true) => "remove",
        };
        let (at, shown) = (number * 200, Ipv4Addr::from_bits(prefix));
        write!(text, "{at},{kind},{shown}/{length}").unwrap();
        let way = (!goes).then(|| way(number));
        if let Some((port, mac)) = way {
            there.insert((length, prefix));
            let mac = mac.map(|byte| format!("{byte:02x}")).join(":");
            writeln!(text, ",{port},{mac}").unwrap();
        } else {
            there.remove(&(length, prefix));
            text.push('\n');
        }
        Change {
            prefix,
            length,
            way,
        }
    };
    ((0..count).map(each).collect(), text)
}

/// For one destination address, its route from each number of changes on.
fn history(address: u32, changes: &[Change]) -> Vec<(usize, Hop)> {
    let mut routes: BTreeMap<u32, Hop> = BTreeMap::new();
    let mut history = vec![(0, DEFAULT)];
    for (number, change) in changes.iter().enumerate() {
        if !change.covers(address) {
            continue;
        }
        match change.way {
            Some(way) => routes.insert(change.length, way),
            None => routes.remove(&change.length),
        };
        // The routes that cover one address differ only in their lengths.
        let best = routes.values().next_back().copied().unwrap_or(DEFAULT);
        history.push((number + 1, best));
    }
    history
}

/// The routes of a history while the number of changes was in this range.
fn routes_between(history: &[(usize, Hop)], from: usize, to: usize) -> &[(usize, Hop)] {
    let first = history.partition_point(|(number, _)| *number <= from) - 1;
    let end = history.partition_point(|(number, _)| *number <= to);
    &history[first..end.max(first + 1)]
}

/// When the core began each of the changes.
#[derive(Default)]
struct ChangeStarts(Vec<Cycle>);

impl Observer for ChangeStarts {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Gpp])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        if let TraceEvent::Gpp { step, .. } = event
            && *step == "work out a change"
        {
            self.0.push(at);
        }
    }
}

fn project(folder: &std::path::Path, base: &str, changes: &str) -> Project {
    let base = shipped().join(base).canonicalize().unwrap();
    // Blocks that always exist, so that most changes are short and there are many.
    let next_hop = "port = 1\nmac = \"02:00:5e:10:00:01\"\n";
    let mut anchors = String::new();
    for net in 0..40 {
        let prefix = format!("20.{net}.255.0/24");
        writeln!(anchors, "[[route]]\nprefix = {prefix:?}\n{next_hop}").unwrap();
    }
    let text = format!(
        "extends = \"{}\"\n[routes]\nchanges = \"changes.csv\"\ngrace = \"20us\"\n{anchors}",
        base.display()
    );
    std::fs::write(folder.join("npsim.toml"), text).unwrap();
    std::fs::write(folder.join("changes.csv"), changes).unwrap();
    // A fast core, so that many changes occur during one packet.
    let faster = ["profile.gpp.exception_work=0", "profile.gpp.sram_access=12"];
    let set: Vec<Setting> = faster.iter().map(|text| text.parse().unwrap()).collect();
    let overrides = Overrides {
        set,
        ..Overrides::default()
    };
    load(folder, &overrides)
}

/// A datagram of 60 bytes.
fn frame(destination: u32) -> Vec<u8> {
    let mut frame = vec![0x02, 0, 0x5e, 0, 0, 0, 0x02, 0, 0x5e, 0x20, 0, 1, 0x08, 0];
    frame.extend([0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 9, 8, 7]);
    frame.extend(destination.to_be_bytes());
    let sum = checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame.resize(60, 0);
    frame
}

#[test]
fn forwarder_packets_take_a_route_before_or_after_a_change() {
    expect_routes_before_or_after_changes(&FORWARDER);
}

#[test]
fn router_packets_take_a_route_before_or_after_a_change() {
    expect_routes_before_or_after_changes(&ROUTER);
}

fn expect_routes_before_or_after_changes(case: &Case) {
    let mut random = Random(0x2400_2800);
    let (changes, text) = changes(&mut random, case.changes);
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), case.project, &text);
    let programs = assembled(&project);
    let simulation = Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
    let mut chip = simulation.chip().clone();

    let destinations: Vec<u32> = (0..600).map(|_| random.address()).collect();
    let to: Vec<usize> = (0..case.frames)
        .map(|_| random.below(600) as usize)
        .collect();
    let frames = (0_u128..).zip(&to).map(|(number, &to)| LineFrame {
        start_ps: number * GAP,
        end_ps: number * GAP + 672_000,
        port: (number % 3) as u32,
        bytes: frame(destinations[to]),
    });
    let mut lines = RecordedLines::with_frames(&project, frames);
    let mut begun = ChangeStarts::default();
    drain(&mut chip, &mut lines, &mut begun);

    let (begun, end) = (begun.0, lines.arrivals_end());
    let made = chip.gpp().task::<Routes>().unwrap().changed();
    assert_eq!((made, begun.len()), (changes.len(), changes.len()));
    let loaded = begun.iter().filter(|at| **at < end).count();
    assert_eq!(loaded, made, "changes under load; the frames end at {end}");
    assert_eq!((lines.departures.len(), lines.drops.len()), (to.len(), 0));

    let histories: Vec<_> = destinations
        .iter()
        .map(|address| history(*address, &changes))
        .collect();
    // A change ends at the latest when the next one begins.
    let may_go = |sent: &Sent, older: usize| {
        let number = sent.frame.unwrap() as usize;
        let begun_before = |cycle| begun.partition_point(|at| *at <= cycle);
        let from = begun_before(lines.arrivals[number].start).saturating_sub(1);
        let until = begun_before(sent.start);
        let (from, until) = (from.saturating_sub(older), until.saturating_sub(older));
        routes_between(&histories[to[number]], from, until)
    };
    let went = |sent: &Sent| -> Hop { (sent.port, sent.bytes[..6].try_into().unwrap()) };
    let is_right = |sent: &Sent, older: usize| {
        let way = went(sent);
        may_go(sent, older).iter().any(|(_, right)| *right == way)
    };
    for sent in &lines.departures {
        assert!(is_right(sent, 0), "{sent:?} may go {:?}", may_go(sent, 0));
    }
    // The model determines the route: nearly always a single one, and not an old one.
    let count = |is: &dyn Fn(&&Sent) -> bool| lines.departures.iter().filter(is).count();
    let single = count(&|sent| may_go(sent, 0).len() == 1);
    let amid = count(&|sent| may_go(sent, 0).len() > 1);
    let outdated = count(&|sent| !is_right(sent, 2000));
    assert!(single > to.len() * 8 / 10, "{single} have a single way");
    assert!(amid > to.len() / 400, "{amid} saw their way change");
    assert!(outdated > to.len() / 10, "{outdated} refute an old table");
    let row = Stats::collect(&chip).gpp.rows.of("routes")[0].clone();
    assert_eq!(row.get("changes"), Some(case.changes.into()));
    // Each block was used many times.
    let blocks = row.get("blocks").unwrap() + row.get("free_blocks").unwrap();
    assert!(blocks < 1000, "{row:?}");
}
