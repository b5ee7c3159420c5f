//! Whole chips in networks.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use npsim_engine::ENGINE;
use npsim_net::LineFrame;
use npsim_network::chips::System;
use npsim_network::counters::NetworkCounters;
use npsim_network::{Frame, Network, NoTap, Simulation, Tap};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use npsim_project::assemble::assemble_project;
use npsim_session::links::Tap as LineTap;
use npsim_session::session::{Endpoints, Plan, Session};
use npsim_session::simulation::RunSettings;
use npsim_transport::time::{MICROSECOND, MILLISECOND, Time};

/// Two hosts at the ends of a row of the given number of forwarders. Lines between chips have 1
/// Gb/s and 5 us.
fn row(chips: usize, rest: &str) -> String {
    let mut text = "name = \"row\"\nuntil = \"20ms\"\n".to_owned();
    for (name, address) in [("a", "10.0.0.10"), ("b", "10.1.0.10")] {
        writeln!(text, "[[host]]\nname = \"{name}\"\naddress = \"{address}\"").unwrap();
    }
    for chip in 0..chips {
        let system = "../../microcode/forward";
        writeln!(
            text,
            "[[router]]\nname = \"r{chip}\"\nsystem = \"{system}\""
        )
        .unwrap();
    }
    for link in 0..=chips {
        let from = match link {
            0 => "a".to_owned(),
            link => format!("r{}:1", link - 1),
        };
        let to = if link == chips {
            "b".to_owned()
        } else {
            format!("r{link}:0")
        };
        writeln!(
            text,
            "[[link]]\nname = \"l{link}\"\nbetween = [\"{from}\", \"{to}\"]\nrate = \"1Gbps\"\ndelay = \"5us\""
        )
        .unwrap();
    }
    text + rest
}

const SACK: &str = "[[flow]]\nname = \"up\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"sack\"\npacket = 1000\nhost = { window_limit = 60000 }\n";
const BOTH_WAYS: &str = "[[flow]]\nname = \"down\"\nfrom = \"b\"\nto = \"a\"\ntransport = \"sack\"\nstart = \"1ms\"\nbytes = 300000\nhost = { min_rto = \"1ms\" }\n";

pub fn file(text: &str) -> NetworkFile {
    // Paths of systems are relative to the file.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/networks/test.toml");
    NetworkFile::parse(&path.display().to_string(), text)
        .unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

fn ready(file: &NetworkFile) -> (Simulation, Vec<System>) {
    let systems = systems(file, &npsim_protocols::registry(), &assemble_project);
    let systems = systems.unwrap_or_else(|problems| panic!("{problems}"));
    let packet_simulation = Simulation::new(file.topology.clone()).expect("a network");
    (packet_simulation, systems)
}

pub fn never_interrupt() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Runs to the end of the file in steps and returns all results as JSON.
fn results(file: &NetworkFile, threads: usize, step: Time) -> String {
    let (packet_simulation, systems) = ready(file);
    let mut network = Network::new(packet_simulation, systems)
        .expect("chips")
        .with_threads(threads);
    let begin = network.packet_simulation().counters();
    while network.packet_simulation().now() < file.until {
        let next = (network.packet_simulation().now() + step).min(file.until);
        network
            .run_to(next, &mut NoTap, &never_interrupt)
            .expect("no fault");
    }
    network.end(&mut NoTap, &never_interrupt).expect("no fault");
    let results = Results::of(file, &network, &begin);
    serde_json::to_string(&results).expect("JSON")
}

fn counters(text: &str) -> NetworkCounters {
    let file = file(text);
    ran(&file).packet_simulation().counters()
}

/// A network that has run to the end of its file.
fn ran(file: &NetworkFile) -> Network {
    let (packet_simulation, systems) = ready(file);
    let mut network = Network::new(packet_simulation, systems).expect("chips");
    network
        .run_to(file.until, &mut NoTap, &never_interrupt)
        .expect("no fault");
    network
}

#[test]
fn results_do_not_depend_on_threads_or_steps() {
    let file = file(&row(3, &format!("{SACK}{BOTH_WAYS}")));
    let one = results(&file, 1, file.until);
    assert!(one.contains("\"routers\":[{\"name\":\"r0\""));
    for (threads, step) in [
        (2, file.until),
        (8, file.until),
        // A step that is not a whole number of cycles.
        (1, 777_777_777),
        (2, 31 * MICROSECOND + 1),
    ] {
        assert!(
            results(&file, threads, step) == one,
            "{threads} threads, steps of {step} ps"
        );
    }
}

/// A chip, and a model in its place with the same latency.
#[test]
fn chip_matches_fifo_model_of_the_same_latency() {
    let chip = counters(&row(1, SACK));
    let delivered = |counters: &NetworkCounters| counters.flows[0].delivered as f64;
    // The window limits the flow, so its rate is one window per round-trip time: that of the links,
    // and of the chip both ways. The model has a setting for Ethernet's bytes.
    let model = |latency: Time| {
        let text = row(1, SACK)
            .replace(
                "system = \"../../microcode/forward\"",
                &format!("model = \"fifo\"\ndelay = \"{latency}ps\""),
            )
            .replace("r0:", "r0")
            .replace("r00", "r0")
            .replace("r01", "r0")
            .replace("delay = \"5us\"\n", "delay = \"5us\"\noverhead = 38\n");
        counters(&text)
    };
    // Measured by the chip itself, from last bit in to last bit out, minus the time on the outgoing
    // line.
    let file = file(&row(1, SACK));
    let begin = ready(&file).0.counters();
    let network = ran(&file);
    let node = Results::of(&file, &network, &begin).routers.remove(0).node;
    let mean = node.latency.expect("packets").mean_ns * 1_000;
    let bytes = (node.packets.sent_bytes / node.packets.sent + 12) * 8_000;
    let model = model(mean - bytes);
    let off = delivered(&chip) / delivered(&model) - 1.0;
    assert!(off.abs() < 0.005, "{off}: {chip:?} {model:?}");
    assert!(delivered(&chip) > 1e6);
}

/// When the frames of a line begin to be sent.
#[derive(Default)]
struct Begins(usize, Vec<Time>);

impl Tap for Begins {
    fn sent(&mut self, now: Time, line: usize, _: &Frame) {
        if line == self.0 {
            self.1.push(now);
        }
    }
}

/// Both ends of a row.
struct Pair<'a>(&'a mut Begins, &'a mut Begins);
impl Tap for Pair<'_> {
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        self.0.sent(now, line, frame);
        self.1.sent(now, line, frame);
    }
}

/// When frames begin to leave a chain, in cycles.
#[derive(Clone, Default)]
struct Starts(Arc<Mutex<Vec<u64>>>);
impl LineTap for Starts {
    fn departed(&mut self, departure: &npsim_chip::kernel::port_io::Departure<'_>) {
        self.0.lock().unwrap().push(departure.start);
    }
}

/// The effect of a chain of chips on frames that arrive at the same times.
#[test]
fn row_of_chips_matches_a_chain_of_nodes() {
    const UDP: &str = "[[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\nrate = \"700Mbps\"\npacket = 400\nuntil = \"2ms\"\n";
    let file = file(&row(3, UDP));
    let (packet_simulation, systems) = ready(&file);
    let project = systems[0].project.clone();
    let programs = systems[0].programs.clone();
    let mac = project.macs[0];
    let mut network = Network::new(packet_simulation, systems).expect("chips");
    // Link 0 is the way in, link 3 the way out.
    let (mut sent, mut left) = (Begins(0, Vec::new()), Begins(6, Vec::new()));
    network
        .run_to(
            4 * MILLISECOND,
            &mut Pair(&mut sent, &mut left),
            &never_interrupt,
        )
        .expect("no fault");
    assert!(sent.1.len() > 300);

    // Traffic into a chain in which frames that leave by port 1 arrive at port 1 of the next chip.
    let bits = (400 + 26) * 8;
    let frames: Vec<_> = { sent.1.iter().enumerate() }
        .map(|(number, at)| {
            let start_ps = u128::from(at + 5 * MICROSECOND);
            let mut bytes = [&mac[..], &[2, 0, 0, 0, 0, 9, 8, 0]].concat();
            bytes.extend(udp(number as u64));
            LineFrame {
                start_ps,
                end_ps: start_ps + bits * 1_000,
                port: 0,
                bytes,
            }
        })
        .collect();
    let mut project = project;
    project.link_delay = npsim_project::quantity::Time::Picoseconds(5 * MICROSECOND);
    let settings = RunSettings {
        drain: Some(600_000),
        ..RunSettings::new(ENGINE)
    };
    let plan = Plan {
        nodes: 3,
        ..Plan::one(project, programs, settings)
    };
    let starts = Starts::default();
    let ends = Endpoints {
        frames: Some(Box::new(frames.into_iter().map(Ok))),
        exit: Some(Box::new(starts.clone())),
        ..Endpoints::default()
    };
    let mut session = Session::new(&plan, ends).expect("a chain");
    session.run(&mut |_| ControlFlow::Continue(()));
    let hertz = u128::from(session.project().capacity.hertz);
    let chain = starts.0.lock().unwrap();
    let chain: Vec<_> = { chain.iter() }
        .map(|start| (u128::from(*start) * 1_000_000_000_000 / hertz) as Time)
        .collect();
    assert_eq!(left.1.len(), sent.1.len(), "nothing is lost");
    assert_eq!(left.1, chain);
}

/// The datagrams of such a flow as transmitted on a line.
fn udp(number: u64) -> Vec<u8> {
    let mut packet = vec![0; 400];
    packet[..4].copy_from_slice(&[0x45, 0, 1, 144]);
    packet[4..6].copy_from_slice(&(number as u16).to_be_bytes());
    packet[8..10].copy_from_slice(&[64, 17]);
    packet[12..20].copy_from_slice(&[10, 0, 0, 10, 10, 1, 0, 10]);
    let sum: u32 = packet[..20]
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// A chip without arrivals costs next to nothing, alone and among others.
#[test]
fn idle_chips_are_skipped() {
    let quiet =
        "[[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"sack\"\nstart = \"5ms\"\nbytes = 2000\n";
    // With near neighbours, no run is as long as a search for recurring time.
    for (chips, delay) in [
        (1, "100us"),
        (3, "100us"),
        (1, "5us"),
        (3, "5us"),
        (3, "1us"),
    ] {
        // Contexts of this router poll for work all the time.
        let text = row(chips, quiet)
            .replace("microcode/forward", "microcode/router")
            .replace("delay = \"5us\"", &format!("delay = \"{delay}\""));
        let file = file(&text);
        let mut network = ran(&file);
        network.end(&mut NoTap, &never_interrupt).expect("no fault");
        let (skipped, all) = network.skipped();
        assert_eq!(all, chips as u64 * 12_000_000, "20 ms at 600 MHz");
        let share = skipped as f64 / all as f64;
        assert!(share > 0.85, "{chips} chips, {delay}: {share}");
        assert_eq!(
            network.packet_simulation().counters().flows[0].delivered,
            2_000
        );
    }
}

/// Every frame is accounted for: delivered to its host, lost, or in flight.
#[test]
fn chip_drops_are_counted() {
    // 1 Gb/s into 100 Mb/s.
    let text = row(1, "[[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\nrate = \"400Mbps\"\npacket = 1000\nuntil = \"10ms\"\n")
        .replace("microcode/forward", "microcode/router")
        .replace("name = \"l1\"\nbetween = [\"r0:1\", \"b\"]\nrate = \"1Gbps\"", "name = \"l1\"\nbetween = [\"r0:1\", \"b\"]\nrate = \"100Mbps\"")
        .replace("until = \"20ms\"\n[[host]]", "until = \"40ms\"\n[[host]]");
    let file = file(&text);
    let begin = ready(&file).0.counters();
    let mut network = ran(&file);
    network.end(&mut NoTap, &never_interrupt).expect("no fault");
    let results = Results::of(&file, &network, &begin);
    let counters = network.packet_simulation().counters();
    let flow = &counters.flows[0];
    let node = &results.routers[0].node;
    assert!(node.packets.dropped_microcode > 100, "{:?}", node.packets);
    // Drops after the last packet that left are not counted for the flow.
    let unknown = flow.sent.packets - flow.arrived.packets - flow.gone.packets;
    assert_eq!(flow.gone.packets + unknown, node.packets.dropped_microcode);
    assert!(unknown < 20, "{unknown}");
    let out = &results.lines[2];
    assert_eq!((out.link.as_str(), out.from.as_str()), ("l1", "r0"));
    assert_eq!(out.drops, flow.gone.packets);
    // The queue is full most of the time: 112 packets at most on average, and 128 KB.
    assert!(
        out.mean_queue_bytes > 20_000.0 && out.longest_queue_bytes < 140_000,
        "{out:?}"
    );
}

fn mistake(text: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/networks/test.toml");
    let parsed = NetworkFile::parse(&path.display().to_string(), text);
    match parsed {
        Err(problem) => problem.to_string(),
        Ok(file) => match systems(&file, &npsim_protocols::registry(), &assemble_project) {
            Err(problems) => problems.to_string(),
            Ok(_) => panic!("no mistake found in:\n{text}"),
        },
    }
}

#[test]
fn errors_about_chips_have_a_location() {
    let good = row(2, SACK);
    let with = |from: &str, to: &str| {
        let text = good.replacen(from, to, 1);
        assert!(text != good, "{from}");
        mistake(&text)
    };
    for (from, to, expected) in [
        ("delay = \"5us\"", "delay = \"0s\"", "takes at least 1us"),
        ("delay = \"5us\"", "delay = \"900ns\"", "takes at least 1us"),
        ("\"r1:0\"", "\"r1:7\"", "there is no port 7"),
        ("\"r1:0\"", "\"r1:x\"", "`x` is not a port number"),
        ("\"r1:0\"", "\"r0:0\"", "port 0 of `r0` already has a link"),
        (
            "\"r1:0\"",
            "\"r1\"",
            "`r1` has ports, and the link has to name one",
        ),
        ("\"a\", \"r0:0\"", "\"a:1\", \"r0:0\"", "it has no ports"),
        ("microcode/forward", "microcode/forwrad", "cannot read"),
        (
            "system = \"../../microcode/forward\"",
            "system = \"../../microcode/forward\"\nmodel = \"fifo\"",
            "a model or a system, not both",
        ),
        (
            "system = \"../../microcode/forward\"",
            "system = \"../../microcode/forward\"\ndelay = \"1us\"",
            "a router with a system has no `delay`",
        ),
        (
            "system = \"../../microcode/forward\"",
            "system = \"../../microcode/forward\"\nset = { port.0.rat = \"1Gbps\" }",
            "cannot be set",
        ),
        (
            "system = \"../../microcode/forward\"",
            "system = \"../../microcode/forward\"\nscaled = { \"gpp.exceptions.period\" = \"soon\" }",
            "such as",
        ),
        (
            "delay = \"5us\"",
            "delay = \"5us\"\nqueue_back = { limit = \"9 packets\" }",
            "is given for a line that leaves a chip",
        ),
        (
            "delay = \"5us\"",
            "delay = \"5us\"\noverhead = 0",
            "leave `overhead` out",
        ),
    ] {
        let problem = with(from, to);
        assert!(problem.contains(expected), "{to}: {problem}");
        assert!(
            problem.contains("test.toml") || problem.contains("npsim.toml"),
            "it has a place: {problem}"
        );
    }
    let fast = good.replace("microcode/forward", "microcode/router");
    let problem = mistake(&fast.replacen("rate = \"1Gbps\"", "rate = \"2Gbps\"", 1));
    assert!(
        problem.contains("port 0 of the board") && problem.contains("the project of `r0`"),
        "{problem}"
    );
}

#[test]
fn assembly_errors_are_reported() {
    // The source alone lacks the definitions of the router's project.
    let other = "../router/processing/processing.uc";
    let system = "system = \"../../microcode/forward\"";
    let problem = mistake(&row(1, SACK).replace(
        system,
        &format!("{system}\nset = {{ me.forward.source = \"{other}\" }}"),
    ));
    assert!(
        problem.contains("the microcode of `r0` does not assemble")
            && problem.contains("processing.uc")
            && problem.contains("test.toml:")
            // Styles would be shown as text.
            && !problem.contains('\u{1b}'),
        "{problem}"
    );
}

#[test]
fn networks_and_snapshots_are_send() {
    fn assert_send<T: Send + 'static>() {}
    assert_send::<npsim_network::Network>();
    assert_send::<npsim_network::Snapshot>();
}
