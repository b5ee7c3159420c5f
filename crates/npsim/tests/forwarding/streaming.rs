//! Traffic that is made or read while it comes: no more of it is in memory than
//! must be, and all of it is accounted for.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use npsim::histogram::Histogram;
use npsim::links::{Frames, Links, Tap};
use npsim::project::{Overrides, Project};
use npsim::simulation::{Ending, Settings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::kernel::lines::{Arrival, Departure, MediaDrop};
use npsim_net::capture::CaptureError;
use npsim_net::load::{Generator, Kind, Load, Special, Stamp};

use crate::microcode::shipped;
use crate::project::{assembled, load as loaded};

const HERTZ: u64 = 600_000_000;

fn forwarder() -> (Project, Simulation) {
    let project = loaded(&shipped().join("forward"), &Overrides::default());
    let programs = assembled(&project);
    let settings = Settings {
        drain: Some(60_000),
        ..Settings::default()
    };
    let simulation = Simulation::new(&project, &programs, settings).unwrap();
    (project, simulation)
}

fn load(rate: &str, time: &str, special: Special) -> Load {
    Load {
        rate: Some(rate.parse().unwrap()),
        time: time.parse().unwrap(),
        special,
        ..Load::default()
    }
}

fn generator(load: &Load, project: &Project) -> Generator {
    let load = npsim::load::resolved(load.clone(), project);
    npsim::load::generator(&load, project).unwrap()
}

/// What a tap wrote down.
#[derive(Default)]
struct Notes {
    handed: u64,
    ends: BTreeMap<u64, Cycle>,
    latencies: Vec<u64>,
    /// Next sequence number of each flow at the egress.
    flows: BTreeMap<u32, u64>,
    missing: u64,
    departed: u64,
    dropped: u64,
}

struct Notebook(Rc<RefCell<Notes>>);

impl Tap for Notebook {
    fn arriving(&mut self, arrival: &Arrival) {
        let mut notes = self.0.borrow_mut();
        notes.handed += 1;
        notes.ends.insert(arrival.frame, arrival.end);
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let mut notes = self.0.borrow_mut();
        notes.departed += 1;
        let end = notes.ends[&departure.frame.unwrap()];
        assert_eq!(
            departure.arrived,
            Some(end),
            "the tag has the arrival's end"
        );
        notes.latencies.push(departure.end - end);
        let stamp = Stamp::read(departure.bytes).unwrap();
        if stamp.kind == Kind::Plain {
            let next = notes.flows.entry(stamp.flow).or_default();
            let before = *next;
            *next = stamp.sequence + 1;
            assert!(
                stamp.sequence >= before,
                "flow {} is out of order",
                stamp.flow
            );
            notes.missing += stamp.sequence - before;
        }
    }

    fn dropped(&mut self, _: Cycle, _: u8, frame: Option<u64>, _: MediaDrop) {
        let mut notes = self.0.borrow_mut();
        assert!(notes.ends.contains_key(&frame.unwrap()));
        notes.dropped += 1;
    }
}

#[test]
fn a_tap_sees_every_frame_and_the_counts_agree() {
    for (rate, losses) in [("0.3", false), ("1", true)] {
        let (project, mut simulation) = forwarder();
        let notes = Rc::new(RefCell::new(Notes::default()));
        let load = load(rate, "500us", Special::default());
        let mut links = Links::loaded(generator(&load, &project), HERTZ, None)
            .with_tap(Notebook(Rc::clone(&notes)));
        let ending = simulation.run(&mut links, &mut |_, _| {});
        assert_eq!(ending, Ending::Drained);
        let traffic = links.finish(simulation.now()).unwrap();
        let notes = notes.borrow();
        let dropped: u64 = traffic.drops.values().sum();
        assert_eq!(
            (notes.handed, notes.departed, notes.dropped),
            (traffic.offered_frames, traffic.sent_frames, dropped)
        );
        assert_eq!(traffic.offered_frames, traffic.sent_frames + dropped);
        assert_eq!(dropped > 0, losses, "{rate}: {dropped} of {}", notes.handed);
        let exact: Histogram = notes.latencies.iter().copied().collect();
        assert_eq!(traffic.latencies, exact);
        if !losses {
            assert_eq!((notes.flows.len(), notes.missing), (120, 0));
        }
        let sum = |part: fn(&npsim::links::PortTraffic) -> u64| -> u64 {
            traffic.ports.iter().map(part).sum()
        };
        assert_eq!(
            (
                sum(|port| port.offered_frames),
                sum(|port| port.offered_bytes),
                sum(|port| port.sent_frames),
                sum(|port| port.sent_bytes),
                sum(|port| port.dropped_frames)
            ),
            (
                traffic.offered_frames,
                traffic.offered_bytes,
                traffic.sent_frames,
                traffic.sent_bytes,
                dropped
            )
        );
    }
}

/// Counts the frames that were handed to the chip.
struct Handed(Rc<Cell<u64>>);

impl Tap for Handed {
    fn arriving(&mut self, _: &Arrival) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn frames_are_made_when_they_are_needed() {
    let (project, mut simulation) = forwarder();
    let (made, handed) = (Rc::new(Cell::new(0u64)), Rc::new(Cell::new(0u64)));
    let most_ahead = Rc::new(Cell::new(0u64));
    let frames: Frames<'_> = {
        let (made, handed, most_ahead) =
            (Rc::clone(&made), Rc::clone(&handed), Rc::clone(&most_ahead));
        let generator = generator(&load("0.5", "2ms", Special::default()), &project);
        Box::new(generator.map(move |frame| {
            made.set(made.get() + 1);
            most_ahead.set(most_ahead.get().max(made.get() - handed.get()));
            Ok(frame)
        }))
    };
    let mut links = Links::streaming(frames, 0, HERTZ, None).with_tap(Handed(Rc::clone(&handed)));
    let mut on_the_way = 0;
    simulation.run(&mut links, &mut |_, traffic| {
        // One frame is known to the lines and one to the chip before it comes.
        on_the_way = on_the_way.max(made.get() - traffic.offered_frames);
    });
    assert!(made.get() > 4000, "{}", made.get());
    assert!(most_ahead.get() <= 2, "{} frames ahead", most_ahead.get());
    assert!(on_the_way <= 2, "{on_the_way} frames ahead");
}

#[test]
fn a_source_that_fails_ends_the_run_and_keeps_what_it_has() {
    let (project, mut simulation) = forwarder();
    let good = generator(&load("0.1", "200us", Special::default()), &project).map(Ok);
    let failure = CaptureError::NotACapture {
        path: "in.pcap".into(),
        hint: "it changed".into(),
    };
    let frames: Frames<'_> = Box::new(good.chain([Err(failure)]));
    let mut links = Links::streaming(frames, 0, HERTZ, None);
    let ending = simulation.run(&mut links, &mut |_, _| {});
    assert_eq!(ending, Ending::InputFailed);
    let reason = links.input_failure().unwrap().to_string();
    assert!(reason.contains("it changed"), "{reason}");
    let traffic = links.finish(simulation.now()).unwrap();
    assert!(traffic.offered_frames > 50 && traffic.sent_frames > 50);
}

/// Counts frames by kind.
struct Kinds {
    offered: Rc<RefCell<BTreeMap<Kind, u64>>>,
    sent: Rc<RefCell<BTreeMap<Kind, u64>>>,
}
impl Tap for Kinds {
    fn arriving(&mut self, arrival: &Arrival) {
        let kind = Stamp::read(&arrival.bytes).map_or(Kind::Arp, |stamp| stamp.kind);
        *self.offered.borrow_mut().entry(kind).or_default() += 1;
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let kind = Stamp::read(departure.bytes).map_or(Kind::Arp, |stamp| stamp.kind);
        *self.sent.borrow_mut().entry(kind).or_default() += 1;
    }
}
#[test]
fn the_forwarder_does_with_special_frames_what_a_router_must() {
    let share = || "0.05".parse().unwrap();
    let special = Special {
        tcp: share(),
        icmp: share(),
        options: share(),
        ttl: share(),
        checksum: share(),
        fragment: share(),
        arp: share(),
        ipv6: share(),
        multicast: share(),
        broadcast: share(),
        ..Special::default()
    };
    let (project, mut simulation) = forwarder();
    let kinds = Rc::new(RefCell::new(BTreeMap::new()));
    let offered = Rc::new(RefCell::new(BTreeMap::new()));
    let tap = Kinds {
        offered: Rc::clone(&offered),
        sent: Rc::clone(&kinds),
    };
    let load = load("0.1", "2ms", special);
    let mut links = Links::loaded(generator(&load, &project), HERTZ, None).with_tap(tap);
    assert_eq!(simulation.run(&mut links, &mut |_, _| {}), Ending::Drained);
    let (offered, sent) = (offered.borrow(), kinds.borrow());
    assert_eq!(offered.len(), 11);
    for (kind, frames) in offered.iter() {
        let forwarded = matches!(kind, Kind::Plain | Kind::Tcp | Kind::Icmp | Kind::Fragment);
        let expected = forwarded.then_some(frames);
        assert_eq!(sent.get(kind), expected, "{kind:?}");
    }
}
