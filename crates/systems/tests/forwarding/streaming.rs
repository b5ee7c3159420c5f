//! Traffic that is generated or read as it arrives: only the necessary part is in memory, and all
//! of it is accounted for.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use npsim::engine::ENGINE;
use npsim::histogram::Histogram;
use npsim::links::{Frames, Links, Tap};
use npsim::project::{Overrides, Project};
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop};
use npsim_net::capture::CaptureError;
use npsim_net::load::{FrameKind, Generator, Load, Special, Stamp};

use npsim_systems::project::{assembled, load as loaded};
use npsim_testkit::microcode::shipped;

const HERTZ: u64 = 600_000_000;

fn forwarder() -> (Project, Simulation) {
    let project = loaded(&shipped().join("forward"), &Overrides::default());
    let programs = assembled(&project);
    let settings = RunSettings {
        drain: Some(60_000),
        ..RunSettings::new(ENGINE)
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

/// The record of a tap.
#[derive(Default)]
struct TapRecord {
    handed: u64,
    ends: BTreeMap<u64, Cycle>,
    latencies: Vec<u64>,
    /// Next sequence number of each flow at the egress.
    flows: BTreeMap<u32, u64>,
    missing: u64,
    departed: u64,
    dropped: u64,
}

struct RecordingTap(Arc<Mutex<TapRecord>>);

impl Tap for RecordingTap {
    fn arriving(&mut self, arrival: &Arrival) {
        let mut notes = self.0.lock().unwrap();
        notes.handed += 1;
        notes.ends.insert(arrival.frame, arrival.end);
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let mut notes = self.0.lock().unwrap();
        notes.departed += 1;
        let end = notes.ends[&departure.frame.unwrap()];
        assert_eq!(
            departure.arrived,
            Some(end),
            "the tag has the arrival's end"
        );
        notes.latencies.push(departure.end - end);
        let stamp = Stamp::read(departure.bytes).unwrap();
        if stamp.kind == FrameKind::Plain {
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
        let mut notes = self.0.lock().unwrap();
        assert!(notes.ends.contains_key(&frame.unwrap()));
        notes.dropped += 1;
    }
}

#[test]
fn a_tap_sees_every_frame_and_the_counts_agree() {
    for (rate, losses) in [("0.3", false), ("1", true)] {
        let (project, mut simulation) = forwarder();
        let notes = Arc::new(Mutex::new(TapRecord::default()));
        let load = load(rate, "500us", Special::default());
        let mut links = Links::loaded(generator(&load, &project), HERTZ, None)
            .with_tap(RecordingTap(Arc::clone(&notes)));
        let ending = simulation.run(&mut links, &mut |_, _| {});
        assert_eq!(ending, Ending::Drained);
        let traffic = links.finish(simulation.now()).unwrap();
        let notes = notes.lock().unwrap();
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

fn get(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

/// Counts the frames that were handed to the chip.
struct Handed(Arc<AtomicU64>);

impl Tap for Handed {
    fn arriving(&mut self, _: &Arrival) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn frames_are_generated_on_demand() {
    let (project, mut simulation) = forwarder();
    let (made, handed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let most_ahead = Arc::new(AtomicU64::new(0));
    let frames: Frames = {
        let (made, handed, most_ahead) = (
            Arc::clone(&made),
            Arc::clone(&handed),
            Arc::clone(&most_ahead),
        );
        let generator = generator(&load("0.5", "2ms", Special::default()), &project);
        Box::new(generator.map(move |frame| {
            made.fetch_add(1, Ordering::Relaxed);
            most_ahead.fetch_max(get(&made) - get(&handed), Ordering::Relaxed);
            Ok(frame)
        }))
    };
    let mut links = Links::streaming(frames, 0, HERTZ, None).with_tap(Handed(Arc::clone(&handed)));
    let mut on_the_way = 0;
    simulation.run(&mut links, &mut |_, traffic| {
        // The lines hold one frame, and the chip one, before it arrives.
        on_the_way = on_the_way.max(get(&made) - traffic.offered_frames);
    });
    assert!(get(&made) > 4000, "{}", get(&made));
    let most_ahead = get(&most_ahead);
    assert!(most_ahead <= 2, "{most_ahead} frames ahead");
    assert!(on_the_way <= 2, "{on_the_way} frames ahead");
}

#[test]
fn failing_source_ends_the_run_and_keeps_the_results() {
    let (project, mut simulation) = forwarder();
    let good = generator(&load("0.1", "200us", Special::default()), &project).map(Ok);
    let failure = CaptureError::NotACapture {
        path: "in.pcap".into(),
        hint: "it changed".into(),
    };
    let frames: Frames = Box::new(good.chain([Err(failure)]));
    let mut links = Links::streaming(frames, 0, HERTZ, None);
    let ending = simulation.run(&mut links, &mut |_, _| {});
    assert_eq!(ending, Ending::InputFailed);
    let reason = links.input_failure().unwrap().to_string();
    assert!(reason.contains("it changed"), "{reason}");
    let traffic = links.finish(simulation.now()).unwrap();
    assert!(traffic.offered_frames > 50 && traffic.sent_frames > 50);
}

/// Counts frames by kind.
struct EventKinds {
    offered: Arc<Mutex<BTreeMap<FrameKind, u64>>>,
    sent: Arc<Mutex<BTreeMap<FrameKind, u64>>>,
}
impl Tap for EventKinds {
    fn arriving(&mut self, arrival: &Arrival) {
        let kind = Stamp::read(&arrival.bytes).map_or(FrameKind::Arp, |stamp| stamp.kind);
        *self.offered.lock().unwrap().entry(kind).or_default() += 1;
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let kind = Stamp::read(departure.bytes).map_or(FrameKind::Arp, |stamp| stamp.kind);
        *self.sent.lock().unwrap().entry(kind).or_default() += 1;
    }
}
#[test]
fn forwarder_handles_special_frames_correctly() {
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
    let kinds = Arc::new(Mutex::new(BTreeMap::new()));
    let offered = Arc::new(Mutex::new(BTreeMap::new()));
    let tap = EventKinds {
        offered: Arc::clone(&offered),
        sent: Arc::clone(&kinds),
    };
    let load = load("0.1", "2ms", special);
    let mut links = Links::loaded(generator(&load, &project), HERTZ, None).with_tap(tap);
    assert_eq!(simulation.run(&mut links, &mut |_, _| {}), Ending::Drained);
    let (offered, sent) = (offered.lock().unwrap(), kinds.lock().unwrap());
    assert_eq!(offered.len(), 11);
    for (kind, frames) in offered.iter() {
        let forwarded = matches!(
            kind,
            FrameKind::Plain | FrameKind::Tcp | FrameKind::Icmp | FrameKind::Fragment
        );
        let expected = forwarded.then_some(frames);
        assert_eq!(sent.get(kind), expected, "{kind:?}");
    }
}
