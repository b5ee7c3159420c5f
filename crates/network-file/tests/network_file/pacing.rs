//! Hosts without pacing, through a chip that paces them, compared with hosts that pace by a timer
//! ring.

use std::ops::ControlFlow;
use std::path::Path;

use npsim_network::topology::Transport;
use npsim_network::{Frame, Network, Simulation, Tap};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_project::assemble::assemble_project;
use npsim_transport::pacing::TimerClock;
use npsim_transport::rcp::RcpParameters;
use npsim_transport::time::{MICROSECOND, MILLISECOND, Time};

const BYTES: u64 = 100_000;
/// 1000 bytes at 8 Mb/s.
const GAP: Time = MILLISECOND;
/// Packets of 960 bytes of payload.
const PACKETS: usize = 105;
/// A slot of the wheel, 64 steps of 16 cycles at 600 MHz, rounded up.
const SLOT: Time = 1_706_667;
/// The path from the wheel to the line differs by less than this between packets of equal length: the transmit stage
/// rests for up to 0.9 us.
const JITTER: Time = MICROSECOND;
/// A packet takes less than this through the chip, apart from the wait until it is due.
const PASSAGE: Time = 25 * MICROSECOND;

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/networks/paced-chip.toml")
}

fn parsed(text: &str) -> NetworkFile {
    NetworkFile::parse(&path().display().to_string(), text)
        .unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

/// When full packets of each flow begin to leave the router.
struct Departures {
    line: usize,
    of: Vec<Vec<Time>>,
}

impl Tap for Departures {
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        if line == self.line && frame.bytes == 1_000 {
            let flow = frame.flow.expect("a packet of a flow");
            self.of[flow as usize].push(now);
        }
    }
}

/// Runs to the end; returns the departures and the duration of each flow.
fn ran(file: &NetworkFile) -> (Vec<Vec<Time>>, Vec<Time>) {
    let systems = systems(file, &npsim_protocols::registry(), &assemble_project);
    let systems = systems.unwrap_or_else(|problems| panic!("{problems}"));
    let packet_simulation = Simulation::new(file.topology.clone()).expect("a network");
    let mut network = Network::new(packet_simulation, systems).expect("chips");
    let mut links = file.topology.links.iter();
    let link = links.position(|link| link.name == "bottleneck");
    let mut seen = Departures {
        line: 2 * link.expect("a link"),
        of: vec![Vec::new(); file.topology.flows.len()],
    };
    network
        .run_to(file.until, &mut seen, &|| ControlFlow::Continue(()))
        .expect("no fault");
    let counters = network.packet_simulation().counters();
    let took = counters.flows.iter().map(|flow| {
        assert_eq!(flow.gone.packets, 0, "nothing is lost");
        flow.sender.completed_at.expect("it is done") - flow.start
    });
    (seen.of, took.collect())
}

/// Hosts of the same network that pace by a clock at the same rate, and a router that only signals the rate to them.
fn with_ring(clock: TimerClock) -> NetworkFile {
    let text = std::fs::read_to_string(path()).expect("a file");
    let begin = text.find("[[router]]").expect("a router");
    let end = text.find("[[link]]").expect("a link");
    // A constant rate: 8 Mb/s of 1 Gb/s.
    let model = "[[router]]\nname = \"r1\"\nmodel = \"rcp\"\n\
                 rcp = { alpha = 0.0, beta = 0.0, initial_rate = 0.008 }\n\n";
    let text = (text[..begin].to_owned() + model + &text[end..])
        .replace("r1:0", "r1")
        .replace("r1:1", "r1")
        .replace("\"sack\"", "\"rcp\"");
    let mut file = parsed(&text);
    for flow in &mut file.topology.flows {
        flow.transport = Transport::Rcp {
            host: RcpParameters {
                payload: 960,
                clock,
                ..RcpParameters::default()
            },
            bytes: Some(BYTES),
        };
    }
    file
}

/// All but the first packet of a flow have waited until they were due: the distance between two is
/// a gap, and none is later than its due time by more than `late`.
fn assert_paced(departures: &[Vec<Time>], late: Time) {
    for (flow, times) in departures.iter().enumerate() {
        // The last one is shorter and sooner in TBUF.
        assert_eq!(times.len(), PACKETS - 1, "flow {flow}");
        for (number, at) in times.iter().enumerate() {
            let due = times[0] + number as Time * GAP;
            assert!(
                at.abs_diff(due) <= late,
                "flow {flow}, packet {number}: {at}, due {due}"
            );
        }
        for pair in times.windows(2) {
            let spacing = pair[1] - pair[0];
            assert!(spacing.abs_diff(GAP) <= late, "flow {flow}: {spacing}");
        }
    }
}

#[test]
fn timing_wheel_on_chip_paces_like_host_timer_ring() {
    let text = std::fs::read_to_string(path()).expect("a file");
    let (departures, took) = ran(&parsed(&text));
    assert_paced(&departures, SLOT + JITTER);
    for (clock, tick) in [
        (
            TimerClock::Ring {
                tick: SLOT,
                ahead: 0,
            },
            SLOT,
        ),
        (TimerClock::SDK, 2_560_000),
    ] {
        let (departures, ring) = ran(&with_ring(clock));
        // The wheel's error is no more than a bucket of the ring, apart from the path to the line.
        assert_paced(&departures, tick);
        for (flow, (chip, host)) in took.iter().zip(&ring).enumerate() {
            println!("flow {flow}: {chip} ps through the chip, {host} ps by {clock:?}");
            // A handshake, one packet per gap, and the last answer, which make four passes through the chip. For the
            // chip, the answer to the SYN's answer is a packet of the flow, which also takes a gap.
            let off = (chip - GAP).abs_diff(*host);
            assert!(
                off <= 4 * PASSAGE + 2 * tick,
                "flow {flow}: {chip} and {host}"
            );
            let least = (PACKETS as Time - 1) * GAP + 4 * MILLISECOND;
            assert!((least..least + GAP).contains(host), "flow {flow}: {host}");
        }
    }
}
