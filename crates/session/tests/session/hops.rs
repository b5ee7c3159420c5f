//! Chains of forwarders: each router is a run of its own, whatever happens at the same time, and
//! every frame is accounted for from the first router to the last.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::{Arrival, Departure};
use npsim_engine::ENGINE;
use npsim_net::LineFrame;
use npsim_net::egress::{CaptureFormat, TraceSink};
use npsim_net::load::Load;
use npsim_project::assemble::{Program, assemble_project};
use npsim_project::{Overrides, Project};
use npsim_session::links::{Frames, Links, Tap};
use npsim_session::report::Report;
use npsim_session::session::{Endpoints, MAX_ROUTERS, NodeCounts, Plan, Session};
use npsim_session::simulation::{Ending, RunSettings, Simulation};

const PICO: u128 = 1_000_000_000_000;
/// The offsets of the TTL and the checksum of an IPv4 header in a frame.
const TTL: usize = 22;
const CHECKSUM: usize = 24;

pub(super) struct Routers {
    project: Arc<Project>,
    programs: Arc<[Program]>,
}

impl Routers {
    pub(super) fn new(settings: &[&str]) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode/forward");
        let overrides = Overrides {
            set: settings.iter().map(|text| text.parse().unwrap()).collect(),
            ..Overrides::default()
        };
        let project = Project::load(&folder, &overrides, &npsim_protocols::registry()).unwrap();
        let programs = assemble_project(&project).0.unwrap();
        Self {
            project: project.into(),
            programs: programs.into(),
        }
    }

    fn hertz(&self) -> u64 {
        self.project.capacity.hertz
    }

    pub(super) fn frames(&self, load: &str, time: &str) -> Vec<LineFrame> {
        self.frames_of("imix", load, time)
    }

    pub(super) fn frames_of(&self, size: &str, load: &str, time: &str) -> Vec<LineFrame> {
        let load = Load {
            rate: Some(load.parse().unwrap()),
            size: size.parse().unwrap(),
            time: time.parse().unwrap(),
            ..Load::default()
        };
        let load = npsim_project::load::resolved(load, &self.project);
        let generator = npsim_project::load::generator(&load, &self.project).unwrap();
        generator.collect()
    }

    pub(super) fn plan(&self, hops: usize) -> Plan {
        Plan {
            project: Arc::clone(&self.project),
            programs: Arc::clone(&self.programs),
            settings: RunSettings {
                drain: Some(60_000),
                ..RunSettings::new(ENGINE)
            },
            mark: None,
            nodes: hops,
            threads: 2,
        }
    }
}

/// A frame that left: time, port, bytes, and the frame that it was made from.
type Left = (Cycle, Cycle, u8, Vec<u8>, Option<u64>);

#[derive(Clone, Default)]
pub(super) struct Notes {
    /// Last bit into the first router, by number.
    came: Arc<Mutex<BTreeMap<u64, Cycle>>>,
    left: Arc<Mutex<Vec<Left>>>,
}

impl Notes {
    fn left(&self) -> Vec<Left> {
        self.left.lock().unwrap().clone()
    }
}

impl Tap for Notes {
    fn arriving(&mut self, arrival: &Arrival) {
        let mut came = self.came.lock().unwrap();
        assert_eq!(came.insert(arrival.frame, arrival.end), None);
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let came = self.came.lock().unwrap();
        let end = departure.frame.map(|frame| came[&frame]);
        assert_eq!(
            departure.arrived, end,
            "the time is that at the first router"
        );
        self.left.lock().unwrap().push((
            departure.start,
            departure.end,
            departure.port,
            departure.bytes.to_vec(),
            departure.frame,
        ));
    }
}

pub(super) fn in_memory(frames: &[LineFrame]) -> Frames {
    let frames = frames.to_vec();
    Box::new(frames.into_iter().map(Ok))
}

pub(super) fn ends(frames: &[LineFrame], sink: Option<TraceSink>, notes: &Notes) -> Endpoints {
    Endpoints {
        frames: Some(in_memory(frames)),
        sink,
        entry: Some(Box::new(notes.clone())),
        exit: Some(Box::new(notes.clone())),
        ..Endpoints::default()
    }
}

fn run_with(
    plan: &Plan,
    frames: &[LineFrame],
    sink: Option<TraceSink>,
    stop: bool,
) -> (Session, Notes) {
    let notes = Notes::default();
    let mut session = Session::new(plan, ends(frames, sink, &notes)).unwrap();
    session.run(&mut |_| {
        if stop {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    session.finish().unwrap();
    assert_eq!(session.nodes().len(), plan.nodes);
    (session, notes)
}

pub(super) fn run(plan: &Plan, frames: &[LineFrame]) -> (Session, Notes) {
    run_with(plan, frames, None, false)
}

/// Offered, sent and lost frames are the same from router to router.
fn expect_conserved(session: &Session) -> Report {
    let report = session.stats();
    for pair in session.nodes().windows(2) {
        let [from, to] = [0, 1].map(|at| pair[at].traffic());
        assert_eq!(
            (from.sent_frames, from.sent_bytes),
            (to.offered_frames, to.offered_bytes)
        );
        for (from, to) in from.ports.iter().zip(&to.ports) {
            assert_eq!(from.sent_frames, to.offered_frames);
        }
    }
    let sum = &report.packets;
    assert_eq!((sum.unaccounted, sum.on_links, sum.untraced), (0, 0, 0));
    assert_eq!(
        sum.offered,
        sum.sent + sum.dropped_media + sum.dropped_microcode + sum.exceptions
    );
    report
}

#[test]
fn chain_of_one_equals_a_plain_run() {
    let routers = Routers::new(&[]);
    let frames = routers.frames("0.8", "300us");
    let folder = tempfile::tempdir().unwrap();
    let [plain, chained] = ["plain.pcap", "chained.pcap"].map(|name| folder.path().join(name));
    let plan = routers.plan(1);

    let settings = plan.settings.clone();
    let mut alone = Simulation::new(&plan.project, &plan.programs, settings).unwrap();
    let sink = TraceSink::create(&plain, CaptureFormat::Pcap, &[]).unwrap();
    let mut links = Links::streaming(in_memory(&frames), 0, routers.hertz(), Some(sink));
    let ending = alone.run(&mut links, &mut |_, _| {});
    let traffic = links.finish(alone.now()).unwrap();

    let sink = TraceSink::create(&chained, CaptureFormat::Pcap, &[]).unwrap();
    let (hops, _) = run_with(&plan, &frames, Some(sink), false);
    let hop = hops.node(0);
    assert_eq!((hop.ending(), hop.now()), (Some(&ending), alone.now()));
    assert_eq!(*hop.traffic(), traffic);
    assert_eq!(hop.stats(), alone.stats());
    assert_eq!(*hop.since_entry(), traffic.latencies);
    assert!(traffic.sent_frames > 100, "{}", traffic.sent_frames);
    let [plain, chained] = [plain, chained].map(|path| std::fs::read(path).unwrap());
    assert!(plain == chained);
}

/// The traffic of a link equals the input of a plain run that gets the frames that left, at the
/// times at which they left.
#[test]
fn each_router_equals_a_plain_run_on_its_input() {
    let routers = Routers::new(&["chain.delay=1234ns"]);
    let frames = routers.frames("0.9", "200us");
    let (hops, _) = run(&routers.plan(4), &frames);
    let delay = 741;
    for (count, chained) in hops.nodes().iter().enumerate().skip(1) {
        let (_, notes) = run(&routers.plan(count), &frames);
        let mut left = notes.left();
        left.sort_by_key(|(start, _, port, ..)| (*start, *port));
        let ps = |cycle: Cycle| u128::from(cycle) * PICO / u128::from(routers.hertz());
        let next: Vec<_> = left
            .into_iter()
            .map(|(start, end, port, bytes, _)| LineFrame {
                start_ps: ps(start + delay),
                end_ps: ps(end + delay),
                port: port.into(),
                bytes,
            })
            .collect();
        let (alone, _) = run(&routers.plan(1), &next);
        assert_eq!(
            alone.node(0).counts(),
            chained.counts(),
            "router {}",
            count + 1
        );
        assert_eq!(alone.node(0).now(), chained.now());
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let routers = Routers::new(&["chain.delay=3us"]);
    let frames = routers.frames("1", "400us");
    let folder = tempfile::tempdir().unwrap();
    let mut first = None;
    for threads in [1, 2, 3, 9] {
        let path = folder.path().join(format!("{threads}.pcap"));
        let sink = TraceSink::create(&path, CaptureFormat::Pcap, &[]).unwrap();
        let plan = Plan {
            threads,
            mark: Some(100_000),
            ..routers.plan(6)
        };
        let (hops, notes) = run_with(&plan, &frames, Some(sink), false);
        let capture = std::fs::read(path).unwrap();
        assert_eq!(
            notes.left().len() as u64,
            hops.node(5).traffic().sent_frames
        );
        let nodes = hops.nodes().iter();
        let seen: Vec<_> = nodes
            .map(|node| (node.ending().cloned(), node.mark().cloned(), node.counts()))
            .collect();
        let result = (seen, hops.stats(), notes.left(), capture);
        match &first {
            None => first = Some(result),
            Some(first) => assert!(*first == result, "{threads} threads"),
        }
    }
}

#[test]
fn ten_routers_conserve_frames_and_decrement_ttl_by_ten() {
    let routers = Routers::new(&[]);
    let frames = routers.frames("0.3", "400us");
    let (hops, notes) = run(&routers.plan(10), &frames);
    let report = expect_conserved(&hops);
    assert!(
        hops.nodes()
            .iter()
            .all(|hop| hop.ending() == Some(&Ending::Drained))
    );
    assert!(report.packets.sent > 100, "{:?}", report.packets);
    let left = notes.left();
    for (_, _, _, bytes, frame) in &left {
        let came = &frames[frame.unwrap() as usize];
        assert_eq!(came.bytes[TTL], bytes[TTL] + 10);
        // The part that routers leave unchanged, with the stamps in it, is intact.
        assert_eq!(came.bytes[26..], bytes[26..came.bytes.len()]);
    }
    // From the first router to the last, the time only increases.
    let p50: Vec<_> = { report.nodes.iter() }
        .map(|router| router.latency_since_entry.unwrap().p50_ns)
        .collect();
    assert!(p50.is_sorted_by(|a, b| a < b), "{p50:?}");
    assert_eq!(
        report.latency.unwrap().packets,
        hops.node(9).traffic().sent_frames
    );
}

#[test]
fn overload_drops_are_reported_at_the_first_router() {
    let routers = Routers::new(&[]);
    let frames = routers.frames("1", "1ms");
    let (hops, _) = run(&routers.plan(3), &frames);
    let report = expect_conserved(&hops);
    assert!(!report.drops.is_empty());
    let lost = |hop| {
        let of_hop = report.drops.iter().filter(move |drop| drop.node == hop);
        of_hop.map(|drop| drop.drop.frames).sum::<u64>()
    };
    for hop in 1..=3 {
        let own = report.nodes[hop - 1].packets;
        assert_eq!(lost(hop), own.dropped_media + own.dropped_microcode);
    }
    assert!(lost(1) > lost(2) + lost(3), "{:?}", report.drops);
}

#[test]
fn packet_is_dropped_where_its_ttl_expires() {
    let routers = Routers::new(&[]);
    let mut frames = routers.frames("0.05", "200us");
    for (number, frame) in frames.iter_mut().enumerate() {
        frame.bytes[TTL] = 1 + (number % 4) as u8;
        frame.bytes[CHECKSUM..CHECKSUM + 2].fill(0);
        let header = frame.bytes[14..34].chunks(2);
        let sum: u32 = header
            .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
            .sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        let checksum = !(((folded & 0xffff) + (folded >> 16)) as u16);
        frame.bytes[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    }
    let count = frames.len() as u64;
    let (hops, notes) = run(&routers.plan(3), &frames);
    let report = expect_conserved(&hops);
    let died: Vec<_> = { report.exceptions.iter() }
        .map(|lost| (lost.node, lost.drop.frames))
        .collect();
    let of = |ttl: u64| (count + 4 - ttl) / 4;
    assert_eq!(died, [(1, of(1)), (2, of(2)), (3, of(3))]);
    let left = notes.left();
    assert_eq!(left.len() as u64, of(4));
    assert!(left.iter().all(|(_, _, _, bytes, _)| bytes[TTL] == 1));
}

#[test]
fn a_link_delays_every_frame_by_the_same_time() {
    let plain = Routers::new(&[]);
    let long = Routers::new(&["chain.delay=50us"]);
    // One at a time, so that nothing but the link can keep a frame.
    let frames = plain.frames("10kpps", "1ms");
    let latencies = |routers: &Routers| {
        let (hops, notes) = run(&routers.plan(3), &frames);
        expect_conserved(&hops);
        let came = notes.came.lock().unwrap().clone();
        let left = notes.left().into_iter();
        let times: BTreeMap<_, _> = left
            .map(|(_, end, _, _, frame)| (frame, end - came[&frame.unwrap()]))
            .collect();
        times
    };
    let [near, far] = [&plain, &long].map(latencies);
    assert!(near.len() > 5 && near.len() == far.len());
    for (frame, near) in near {
        // Contexts are not at their previous positions.
        let extra = far[&frame].abs_diff(near + 2 * 30_000);
        assert!(extra < 600, "frame {frame:?}: {near}, {}", far[&frame]);
    }
}

#[test]
fn frames_in_flight_at_the_end_time_are_counted() {
    let routers = Routers::new(&["chain.delay=40us"]);
    let frames = routers.frames("0.3", "1ms");
    let mut plan = routers.plan(4);
    plan.settings.until = Some(240_000);
    plan.mark = Some(120_000);
    let (hops, _) = run(&plan, &frames);
    let report = hops.stats();
    assert_eq!(report.ending, "reached");
    for hop in hops.nodes() {
        assert_eq!((hop.ending(), hop.now()), (Some(&Ending::Reached), 240_000));
        let mark = hop.mark().unwrap();
        assert_eq!(mark.stats.cycles, 120_000);
        assert!(mark.traffic.sent_frames < hop.traffic().sent_frames);
    }
    let sum = &report.packets;
    assert!(sum.on_links > 0 && sum.unaccounted > 0, "{sum:?}");
    let gone = sum.dropped_media + sum.dropped_microcode + sum.exceptions;
    assert_eq!(
        sum.offered as i64,
        (sum.sent + sum.on_links + gone) as i64 + sum.unaccounted
    );
}

#[test]
fn interruption_ends_all_routers() {
    let routers = Routers::new(&[]);
    let frames = routers.frames("0.3", "1ms");
    let (hops, _) = run_with(&routers.plan(3), &frames, None, true);
    assert!(
        hops.nodes()
            .iter()
            .all(|hop| hop.ending() == Some(&Ending::Interrupted))
    );
    assert_eq!(hops.stats().ending, "interrupted");
}

#[test]
fn routers_are_disturbed_with_different_seeds() {
    let routers = Routers::new(&["disturb.dram=400", "disturb.seed=5"]);
    let frames = routers.frames("0.3", "100us");
    let (hops, _) = run(&routers.plan(3), &frames);
    let report = expect_conserved(&hops);
    let seeds: Vec<_> = { report.nodes.iter() }
        .map(|router| router.disturbances.late.seed)
        .collect();
    assert_eq!((seeds[0], report.disturbances.late.seed), (5, 5));
    assert!(seeds[1] != 5 && seeds[2] != 5 && seeds[1] != seeds[2]);
    // The report shows the disturbances of each router: with its own, the second one alone gives the same.
    let (_, notes) = run(&routers.plan(1), &frames);
    let mut left = notes.left();
    left.sort_by_key(|(start, _, port, ..)| (*start, *port));
    let ps = |cycle: Cycle| u128::from(cycle) * PICO / u128::from(routers.hertz());
    let next: Vec<_> = left
        .into_iter()
        .map(|(start, end, port, bytes, _)| LineFrame {
            start_ps: ps(start),
            end_ps: ps(end),
            port: port.into(),
            bytes,
        })
        .collect();
    for (seed, same) in [(seeds[1], true), (5, false)] {
        let mut second = Routers::new(&["disturb.dram=400"]);
        Arc::make_mut(&mut second.project)
            .boot
            .disturbances
            .late
            .seed = seed;
        let (alone, _) = run(&second.plan(1), &next);
        assert_eq!(
            alone.node(0).counts() == hops.node(1).counts(),
            same,
            "seed {seed}"
        );
    }
}

#[test]
fn empty_and_too_long_chains_are_refused() {
    let routers = Routers::new(&[]);
    for hops in [0, MAX_ROUTERS + 1] {
        let message = Session::new(&routers.plan(hops), Endpoints::default())
            .unwrap_err()
            .to_string();
        assert!(message.contains("no chain of"), "{message}");
    }
}

#[test]
fn invalid_link_delays_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode/forward");
    for (delay, said) in [
        ("2s", "too long"),
        ("1parsec", "not a unit"),
        ("20000000000 cycles", "too long"),
    ] {
        let overrides = Overrides {
            set: vec![format!("chain.delay={delay}").parse().unwrap()],
            ..Overrides::default()
        };
        let message = Project::load(&folder, &overrides, &npsim_protocols::registry())
            .unwrap_err()
            .to_string();
        assert!(message.contains(said), "{message}");
    }
}

/// Ending, counts and state of a chip.
type FinalNode = (Option<Ending>, NodeCounts, Vec<u8>);

/// The final results of a session: endings, counts, and the state of every chip.
fn final_results(mut session: Session, notes: &Notes) -> (Vec<FinalNode>, Report, Vec<Left>) {
    let nodes = session.nodes().iter();
    let seen: Vec<_> = nodes
        .map(|node| {
            let state = node.chip().save().unwrap();
            (node.ending().cloned(), node.counts(), state)
        })
        .collect();
    session.finish().unwrap();
    (seen, session.stats(), notes.left())
}

#[test]
fn steps_and_pauses_change_nothing() {
    let routers = Routers::new(&["chain.delay=700ns"]);
    let frames = routers.frames("0.6", "60us");
    for nodes in [1, 3] {
        let mut plan = routers.plan(nodes);
        // To a cycle at which everything is in flight, and to the end.
        for until in [Some(31_000), None] {
            plan.settings.until = until;
            let (through, notes) = run(&plan, &frames);
            let through = final_results(through, &notes);
            for steps in [&[1, 77, 500][..], &[4_000, 3], &[20_011]] {
                let notes = Notes::default();
                let mut session = Session::new(&plan, ends(&frames, None, &notes)).unwrap();
                let mut steps = steps.iter().cycle();
                while session.step(*steps.next().unwrap()).is_none() {}
                let stepped = final_results(session, &notes);
                for (at, (stepped, through)) in stepped.0.iter().zip(&through.0).enumerate() {
                    assert_eq!(stepped.0, through.0);
                    assert!(stepped.1.traffic == through.1.traffic, "{at}: traffic");
                    assert!(
                        stepped.1.stats == through.1.stats,
                        "{at}: stats {} {}",
                        stepped.1.stats.cycles,
                        through.1.stats.cycles
                    );
                    let first = stepped.2.iter().zip(&through.2).position(|(a, b)| a != b);
                    assert!(
                        stepped.2 == through.2,
                        "{at}: state {first:?} {} {}",
                        stepped.2.len(),
                        through.2.len()
                    );
                }
                assert!(stepped == through, "{nodes} nodes, {until:?}");
            }
            let notes = Notes::default();
            let mut session = Session::new(&plan, ends(&frames, None, &notes)).unwrap();
            let mut unobserved = vec![NoObserver; nodes];
            for pause in (0..).step_by(7_001) {
                let go_on = &mut |_| ControlFlow::Continue(());
                if session.run_to(pause, &mut unobserved, go_on).is_some() {
                    break;
                }
            }
            assert!(
                final_results(session, &notes) == through,
                "{nodes} nodes, {until:?}"
            );
        }
    }
}

#[test]
fn single_node_stops_where_the_step_ends() {
    let routers = Routers::new(&[]);
    let frames = routers.frames("0.6", "60us");
    let notes = Notes::default();
    let plan = routers.plan(1);
    let mut session = Session::new(&plan, ends(&frames, None, &notes)).unwrap();
    for expected in [10, 20, 30] {
        assert_eq!(session.step(10), None);
        assert_eq!((session.now(), session.node(0).now()), (expected, expected));
    }
    let sent = |session: &Session| session.node(0).traffic().sent_frames > 2;
    assert_eq!(session.run_until(100, sent), None);
    assert_eq!(session.stats().ending, "running");
    assert!(session.now() % 100 == 30 && session.stats().packets.sent > 2);
    let ending = session.run_until(1000, |_| false);
    assert_eq!(ending, Some(Ending::Drained));
}

#[test]
fn stalls_apply_to_listed_routers_or_all() {
    let stalled = |option: &str| {
        let mut routers = Routers::new(&[]);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode/forward");
        let overrides = Overrides {
            stalls: vec![option.parse().unwrap()],
            ..Overrides::default()
        };
        routers.project = Project::load(&folder, &overrides, &npsim_protocols::registry())
            .unwrap()
            .into();
        let frames = routers.frames("0.3", "60us");
        let (session, _) = run(&routers.plan(3), &frames);
        let stats = session.stats();
        let nodes = stats.nodes.iter();
        nodes
            .map(|node| node.disturbances.stalls.len())
            .collect::<Vec<_>>()
    };
    assert_eq!(stalled("0.3@10us+5us"), [1, 1, 1]);
    assert_eq!(stalled("2:0.3@10us+5us"), [0, 1, 0]);
    assert_eq!(stalled("1,3:0.3-4@10us+5us"), [2, 0, 2]);
    let mut routers = Routers::new(&[]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode/forward");
    let overrides = Overrides {
        stalls: vec!["4:0.3@10us+5us".parse().unwrap()],
        ..Overrides::default()
    };
    routers.project = Project::load(&folder, &overrides, &npsim_protocols::registry())
        .unwrap()
        .into();
    let problem = Session::new(&routers.plan(3), Endpoints::default()).unwrap_err();
    assert!(
        problem.message.contains("no router 4"),
        "{}",
        problem.message
    );
}
