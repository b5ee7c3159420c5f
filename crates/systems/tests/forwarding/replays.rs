//! Runs that are fed frame by frame while they run, and their recordings: the departures are the
//! same, and so is the routing table, on both cores.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use npsim::engine::ENGINE;
use npsim::links::{LinkFrame, Links, Tap};
use npsim::node::Node;
use npsim::project::{Overrides, Project};
use npsim::reference::REFERENCE;
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::CoreKind;
use npsim_chip::gpp::routes::Routes;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::{Arrival, Departure};
use npsim_net::egress::CapturePort;
use npsim_net::pace::{Pace, PortAssignment, PortLine, Replay, line_end_ps, line_free_ps};
use npsim_net::recording::{RecordingHead, RecordingWriter, picoseconds, survey};
use npsim_systems::project::{assembled, load};
use npsim_testkit::microcode::shipped;
use proptest::prelude::*;

const BLOCKS: u32 = 6;
const SECOND_PS: u128 = 1_000_000_000_000;
/// Silence after the last frame, in which all remaining frames leave.
const REST: Cycle = 900_000;

/// A frame that left: first and last bit, port, bytes.
type SentFrame = (Cycle, Cycle, u8, Vec<u8>);

fn project() -> Project {
    let overrides = Overrides {
        route_blocks: Some(BLOCKS),
        ..Overrides::default()
    };
    load(&shipped().join("forward/arp.toml"), &overrides)
}

fn cycles(ps: u128, hertz: u64) -> Cycle {
    (ps * u128::from(hertz)).div_ceil(SECOND_PS) as Cycle
}

/// The words of the routing table as they stand in memory.
fn table(project: &Project, chip: &Chip) -> Vec<Option<u32>> {
    let setup = project.boot.task::<Routes>().unwrap().setup();
    let longwords = 0x1_0000 + 256 * setup.changes.as_ref().unwrap().blocks;
    let word = |at: u32| {
        chip.units()
            .sram
            .read_word(u32::from(setup.channel) << 30 | at)
    };
    let trie = (0..longwords).map(|at| word(setup.root + 4 * at));
    let hops = (0..64).map(|at| word(setup.next_hops + 4 * at));
    trie.chain(hops).collect()
}

/// An external input.
#[derive(Clone, Debug)]
enum Input {
    Frame(u8, Vec<u8>),
    Command(&'static str),
}

const COMMANDS: [&str; 7] = [
    "route remove 10.2.0.0/16",
    "route add 10.2.0.0/16 port=1 mac=02:00:00:00:09:01",
    "route change 192.0.2.0/24 port=0 mac=02:00:00:00:09:02 mtu=900",
    "route change 10.1.0.0/16 port=2 next_hop=192.0.2.2",
    "route add 10.2.7.0/24 port=0 mac=02:00:00:00:09:03",
    "route remove 10.2.7.0/24",
    "route add 10.1.9.128/25 discard",
];

fn host(port: u8) -> [u8; 4] {
    [[10, 1, 0, 2], [10, 2, 0, 2], [192, 0, 2, 2]][usize::from(port)]
}

fn router(port: u8) -> [u8; 4] {
    [[10, 1, 0, 1], [10, 2, 0, 1], [192, 0, 2, 1]][usize::from(port)]
}

/// An ARP request for the router's address, from which the router learns the host's.
fn arp_request(port: u8) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    let mac = [2, 0, 0, 0, 7, port];
    frame.extend(mac);
    frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend(mac);
    frame.extend(host(port));
    frame.extend([0; 6]);
    frame.extend(router(port));
    frame.resize(60, 0);
    frame
}

/// A datagram of the given number of bytes, or a ping if it is for the router.
fn datagram(port: u8, to: [u8; 4], length: usize, ttl: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0x5e, 0, 0, port, 2, 0, 0, 0, 7, port, 8, 0];
    let ping = to == router(port);
    let bytes = (length - 14) as u16;
    frame.extend([0x45, 0]);
    frame.extend(bytes.to_be_bytes());
    frame.extend([0, 7, 0, 0, ttl, if ping { 1 } else { 17 }, 0, 0]);
    frame.extend(host(port));
    frame.extend(to);
    let header = frame[14..34].chunks(2);
    let sum: u32 = header
        .map(|it| u32::from(it[0]) << 8 | u32::from(it[1]))
        .sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    if ping {
        // An echo request with a correct checksum: all other words are 0.
        frame.extend([8, 0, 0xf7, 0xff]);
    }
    frame.resize(length, 0);
    frame
}

fn any_input() -> impl Strategy<Value = Input> {
    let frame = (0_u8..3, 0_u8..3, any::<u8>(), 60_usize..700, 0_u8..8);
    let frame = frame.prop_map(|(port, to, low, length, kind)| match kind {
        0 => Input::Frame(port, arp_request(port)),
        1 => Input::Frame(port, datagram(port, router(port), length, 64)),
        2 => Input::Frame(port, datagram(port, host(to), length, 1)),
        3 => Input::Frame(port, datagram(port, [10, 2, 7, low], length, 64)),
        4 => Input::Frame(port, datagram(port, [10, 1, 9, low], length, 64)),
        _ => Input::Frame(port, datagram(port, host(to), length, 64)),
    });
    prop_oneof![8 => frame, 1 => prop::sample::select(&COMMANDS[..]).prop_map(Input::Command)]
}

/// Runs a chip that is fed while it runs, and records its inputs.
fn run_live(
    path: &Path,
    coming: &[(Input, Cycle, Cycle)],
    core: CoreKind,
) -> (Vec<SentFrame>, Vec<Option<u32>>) {
    let project = project();
    let hertz = project.capacity.hertz;
    let ports = &project.boot.ports;
    let recorded = |cycle| u64::try_from(picoseconds(cycle, hertz)).unwrap();
    let mut writer = RecordingWriter::create(
        path,
        &RecordingHead {
            hertz,
            start_seconds: 1_796_000_000,
            ports: { ports.iter().enumerate() }
                .map(|(number, port)| CapturePort::port(number, port.bits_per_second))
                .collect(),
            target: "forward/arp.toml".to_owned(),
            seed: Some(5),
            route_blocks: BLOCKS,
        },
    )
    .unwrap();
    let settings = RunSettings {
        seed: Some(5),
        ..RunSettings::new(core)
    };
    let answer = vec![Cycle::MAX; ports.len()];
    let mut node = Node::networked(&project, &assembled(&project), settings, answer).unwrap();
    let mut free = vec![0; ports.len()];
    let mut left = Vec::new();
    let mut run = |node: &mut Node, until| {
        node.run_open(until, &mut NoObserver, &mut |_| {
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!((node.ending(), node.handled()), (None, until));
        let departures = node.take_departures().into_iter();
        left.extend(departures.map(|it: LinkFrame| (it.start, it.end, it.port, it.bytes)));
    };
    for (what, wait, lead) in coming {
        let now = node.handled() + wait;
        run(&mut node, now);
        match what {
            Input::Command(command) => {
                let at = now + lead;
                let change = project.route_change(command, at).unwrap();
                if node.append_route_change(change).is_ok() {
                    writer.control(recorded(at), command).unwrap();
                }
            }
            Input::Frame(port, bytes) => {
                let line = usize::from(*port);
                let start = now.max(free[line]) + lead % 700;
                let (rate, start_ps) = (ports[line].bits_per_second, picoseconds(start, hertz));
                free[line] = cycles(line_free_ps(start_ps, bytes.len(), rate), hertz);
                writer
                    .frame(u32::from(*port), recorded(start), bytes)
                    .unwrap();
                node.put(LinkFrame {
                    start,
                    end: cycles(line_end_ps(start_ps, bytes.len(), rate), hertz),
                    port: *port,
                    bytes: bytes.clone(),
                    origin: None,
                });
            }
        }
    }
    let end = node.handled() + REST;
    run(&mut node, end);
    writer.end(recorded(end)).unwrap();
    left.sort();
    let table = table(&project, node.chip());
    (left, table)
}

/// Departures, as seen by a tap.
#[derive(Clone, Default)]
struct DepartureTap(Arc<Mutex<Vec<SentFrame>>>);

impl Tap for DepartureTap {
    fn arriving(&mut self, _: &Arrival) {}

    fn departed(&mut self, it: &Departure<'_>) {
        let left = (it.start, it.end, it.port, it.bytes.to_vec());
        self.0.lock().unwrap().push(left);
    }
}

fn run_replay(path: &Path, core: CoreKind) -> (Vec<SentFrame>, Vec<Option<u32>>) {
    let recording = survey(path).unwrap();
    let mut project = project();
    let hertz = project.capacity.hertz;
    let commands = recording.commands.iter();
    let changes: Vec<_> = commands
        .map(|it| project.route_change(&it.text, it.cycle(hertz)).unwrap())
        .collect();
    project.plan_route_changes(&changes).unwrap();
    let lines: Vec<_> = { project.boot.ports.iter() }
        .map(|port| PortLine {
            bits_per_second: port.bits_per_second,
        })
        .collect();
    let replay = Replay::open(path, &lines, PortAssignment::ByInterface, Pace::Recorded).unwrap();
    let exit = DepartureTap::default();
    let frames = Box::new(replay.frames().unwrap());
    let mut links = Links::streaming(frames, 0, hertz, None).with_tap(exit.clone());
    let settings = RunSettings {
        seed: recording.head.seed,
        until: recording.end(),
        open: true,
        ..RunSettings::new(core)
    };
    let mut simulation = Simulation::new(&project, &assembled(&project), settings).unwrap();
    let ending = simulation.run(&mut links, &mut |_, _| {});
    assert_eq!(ending, Ending::Reached);
    let mut left = std::mem::take(&mut *exit.0.lock().unwrap());
    left.sort();
    (left, table(&project, simulation.chip()))
}

fn check(coming: &[(Input, Cycle, Cycle)]) -> (usize, PathBuf, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.pcapng");
    let (left, table) = run_live(&path, coming, ENGINE);
    for core in [ENGINE, REFERENCE] {
        let (again, table_again) = run_replay(&path, core);
        assert_eq!(again, left, "{}", core.name);
        assert!(table_again == table, "{}: the table differs", core.name);
    }
    (left.len(), path, folder)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn replayed_recordings_match_the_live_run(
        coming in prop::collection::vec((any_input(), 0_u64..12_000, prop_oneof![Just(0), 0_u64..60_000]), 20..60),
    ) {
        check(&coming);
    }
}

#[test]
fn replay_repeats_core_answers_and_route_changes() {
    let frame = |port, bytes| (Input::Frame(port, bytes), 30_000, 3);
    let mut coming: Vec<_> = (0..3).map(|port| frame(port, arp_request(port))).collect();
    let across = || frame(0, datagram(0, [10, 2, 0, 2], 300, 64));
    coming.extend([across(), frame(0, datagram(0, router(0), 98, 64))]);
    coming.push((Input::Command("route remove 10.2.0.0/16"), 40_000, 0));
    coming.push(across());
    coming.push((Input::Command(COMMANDS[1]), 90_000, 20_000));
    coming.push((across().0, 200_000, 0));
    let (left, ..) = check(&coming);
    // Three ARP answers and the answer to the ping; one datagram before, by the default route, and one after.
    assert_eq!(left, 7);
}
