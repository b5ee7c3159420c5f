//! The programs in C do the same as the tasks: the same captures through the shipped routers with either give the same
//! frames.

use etherparse::{NetSlice, SlicedPacket};
use npsim_protocols::arp::message::{ArpMessage, Operation};
use serde_json::Value;

use crate::arp::pcapng;
use crate::capture::frames;
use crate::harness::{Dir, root};
use crate::probes::{HOST, capture, datagram, from, ping, whole, with_checksum};

/// Routers whose core answers, by a task and by a program.
const ICMP: [(&str, &str); 2] = [
    ("forward/icmp.toml", "forward/icmp-c.toml"),
    ("router/icmp.toml", "router/icmp-c.toml"),
];
/// The same with ARP, by the program for ARP and by the program for everything.
const ARP: [(&str, &str); 4] = [
    ("forward/arp.toml", "forward/arp-c.toml"),
    ("router/arp.toml", "router/arp-c.toml"),
    ("forward/arp.toml", "forward/router-c.toml"),
    ("router/arp.toml", "router/router-c.toml"),
];
/// A host behind port 2.
const FAR: [u8; 4] = [192, 0, 2, 77];

/// No limit for error messages: the program spends its tokens at other times.
const UNLIMITED: [&str; 2] = [
    "[gpp.icmp]\nburst = 100000\n",
    "[gpp.program.import]\nICMP_BURST = 100000\n",
];

/// The frames that left, and the statistics of the run.
struct Run {
    frames: Vec<Vec<u8>>,
    stats: Value,
}

/// Runs a capture through a shipped project that `more` changes.
fn run(project: &str, more: &str, input: (&str, &[u8]), options: &str) -> Run {
    let base = root().join("microcode").join(project);
    let text = format!("extends = \"{}\"\n{more}", base.display());
    let dir = Dir::new().with("own.toml", text).with(input.0, input.1);
    let command = format!(
        "run own.toml --trace {} --out out.pcap --stats out.json -q {options}",
        input.0
    );
    dir.npsim(&command).expect(0, &[]);
    let mut frames = frames(&dir.path("out.pcap"));
    // The standard router stamps forwarded frames with their delay.
    for frame in &mut frames {
        frame[6..8].fill(0);
    }
    Run {
        frames,
        stats: serde_json::from_slice(&dir.read("out.json")).expect("JSON"),
    }
}

/// Whether the core has made a frame: ARP, or ICMP from an address of the router.
fn is_from_core(frame: &[u8]) -> bool {
    let Ok(packet) = SlicedPacket::from_ethernet(frame) else {
        return false;
    };
    match packet.net {
        Some(NetSlice::Arp(_)) => true,
        Some(NetSlice::Ipv4(ip)) => {
            let source = ip.header().source();
            let own = source[..3] == [10, 0, 0] || source[2] < 4 && source[3] < 4;
            own && frame[23] == 1
        }
        _ => false,
    }
}

/// Both runs give the same frames, and the core's frames in the same order. Other frames may leave before or after an
/// answer.
fn assert_same(name: &str, task: &Run, program: &Run) {
    let made = |run: &Run| -> Vec<Vec<u8>> {
        let made = run.frames.iter().filter(|frame| is_from_core(frame));
        made.cloned().collect()
    };
    for (number, (task, program)) in made(task).iter().zip(made(program)).enumerate() {
        assert_eq!(task, &program, "{name}: frame {number} of the core");
    }
    let sorted = |run: &Run| {
        let mut frames = run.frames.clone();
        frames.sort_unstable();
        frames
    };
    assert_eq!(task.frames.len(), program.frames.len(), "{name}");
    assert!(sorted(task) == sorted(program), "{name}");
    for run in [task, program] {
        assert_eq!(run.stats["packets"]["unaccounted"], 0, "{name}");
    }
    for count in ["made", "exceptions"] {
        let count = |run: &Run| run.stats["packets"][count].clone();
        assert_eq!(count(task), count(program), "{name}");
    }
}

fn check_same_answers(routers: &[(&str, &str)], input: (&str, &[u8]), least: usize) {
    for (task, program) in routers {
        let one = run(task, UNLIMITED[0], input, "");
        let other = run(program, UNLIMITED[1], input, "");
        assert_same(program, &one, &other);
        let made = one
            .frames
            .iter()
            .filter(|frame| is_from_core(frame))
            .count();
        assert!(made >= least, "{program}: {made} answers are too few");
    }
}

/// Pseudo-random numbers: 64-bit xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }
}

/// Probes of every kind, and the same probes with some bytes changed.
fn hostile(count: usize) -> Vec<Vec<u8>> {
    let mut random = Random(0x00c0_ffee);
    let mut options = ping([10, 1, 0, 1], 7, &[3; 40]);
    options.splice(34..34, [1; 8]);
    options[14] = 0x47;
    options[17] += 8;
    let options = with_checksum(options);
    let mut longest = datagram(FAR, 1, 5);
    longest.splice(34..34, [1; 40]);
    longest[14] = 0x4f;
    longest[17] += 40;
    let seeds = [
        ping([10, 1, 0, 1], 1, &[7; 20]),
        ping([10, 1, 0, 1], 2, &[7; 21]),
        ping([10, 2, 0, 1], 3, &[9; 1472]),
        ping([10, 1, 0, 1], 4, &[]),
        options,
        with_checksum(longest),
        datagram(FAR, 1, 6),
        datagram([10, 1, 0, 1], 64, 7),
        datagram([203, 0, 113, 1], 1, 8),
        whole(FAR, 600, 9),
        from(HOST, [10, 1, 0, 1], 64, 10, &[1; 300]),
        from([10, 1, 255, 255], FAR, 1, 11, &[1; 3]),
    ];
    let changed = |number: usize| {
        let mut frame = seeds[number % seeds.len()].clone();
        if number >= seeds.len() {
            for _ in 0..random.below(4) {
                let at = random.below(frame.len().min(50));
                frame[at] ^= 1 << random.below(8);
            }
            if random.below(3) > 0 && frame.len() > 14 + usize::from(frame[14] & 0xf) * 4 {
                frame = with_checksum(frame);
            }
        }
        frame
    };
    (0..count).map(changed).collect()
}

#[test]
fn tutorial_traceroute_is_the_same_in_c() {
    let ports = r#"
        [[port]]
        rate = "1Gbps"
        address = ["10.1.1.1/16", "10.1.2.1/16", "10.1.3.1/16"]
        [[port]]
        rate = "1Gbps"
        address = ["10.2.1.1/16", "10.2.2.1/16", "10.2.3.1/16"]
        [[port]]
        rate = "1Gbps"
        address = ["192.0.2.1/24", "192.0.2.2/24", "192.0.2.3/24"]
    "#;
    let probes: Vec<_> = (0..12)
        .map(|n| datagram(FAR, 1 + n / 3, 40_000 + u16::from(n)))
        .collect();
    let probes = capture(&probes, 50);
    for (task, program) in ICMP {
        let input = ("in.pcap", &probes[..]);
        let one = run(task, ports, input, "--hops 3");
        let other = run(program, ports, input, "--hops 3");
        assert_eq!(one.frames.len(), 12, "{program}");
        assert_same(program, &one, &other);
    }
}

#[test]
fn hostile_packets_get_the_same_answers_in_c() {
    let probes = capture(&hostile(300), 60);
    check_same_answers(&ICMP, ("in.pcap", &probes), 60);
}

#[test]
fn recorded_exceptions_get_the_same_answers_in_c() {
    let bytes = std::fs::read(root().join("traces/exceptions.pcap")).expect("a capture");
    check_same_answers(&ICMP, ("in.pcap", &bytes), 3);
    check_same_answers(&ARP, ("in.pcap", &bytes), 3);
}

/// Next hops are requested, answer, move, or stay silent; other stations send requests and false
/// answers.
#[test]
fn arp_is_the_same_in_c() {
    let station = [2, 0, 0, 0, 0, 0x55];
    for (task, program) in ARP {
        let forward = task.starts_with("forward");
        let (far, hop, own) = if forward {
            ([192, 0, 2, 77], [192, 0, 2, 2], [192, 0, 2, 1])
        } else {
            ([10, 2, 9, 77], [10, 2, 0, 2], [10, 2, 0, 1])
        };
        let message = |operation, mac, sender: [u8; 4], target: [u8; 4]| {
            ArpMessage {
                operation,
                sender: (mac, sender.into()),
                target: ([2, 0, 0x5e, 0, 0, 2], target.into()),
            }
            .to_frame()
        };
        let (request, reply) = (Operation::Request, Operation::Reply);
        let moved = [2, 0, 0, 0, 0, 0x66];
        let sent = [
            // Two packets wait and the later one is kept; then the next hop answers.
            (10, 0, datagram(far, 64, 1)),
            (60, 0, datagram(far, 64, 2)),
            (200, 2, message(reply, station, hop, own)),
            (300, 0, datagram(far, 64, 3)),
            // A request to the router.
            (400, 2, message(request, station, hop, own)),
            (500, 2, message(request, station, [10, 2, 7, 7], own)),
            (600, 2, message(request, station, hop, [10, 9, 9, 9])),
            // The next hop moves, and a group address claims to be one.
            (700, 2, message(reply, moved, hop, own)),
            (800, 2, message(reply, [3, 0, 0, 0, 0, 1], hop, own)),
            (900, 0, datagram(far, 64, 4)),
            (1000, 0, datagram(far, 1, 5)),
            // A next hop on the default route is silent: three requests, then an error message.
            (1100, 0, datagram([203, 0, 113, 7], 64, 6)),
            (1200, 0, datagram([203, 0, 113, 8], 1, 7)),
            (6000, 0, datagram(far, 64, 8)),
        ];
        let capture = pcapng(&sent);
        let input = ("in.pcapng", &capture[..]);
        let retry = [
            "[gpp.arp]\nretry = \"1ms\"\n",
            "[gpp.program.import]\nARP_RETRY = 1\n",
        ];
        let one = run(task, retry[0], input, "--until 8ms");
        let other = run(program, retry[1], input, "--until 8ms");
        assert!(one.frames.len() > 8, "{}", one.frames.len());
        assert_same(program, &one, &other);
    }
}
