//! The shipped forwarder on the shipped captures, against an independent
//! statement of what a router does with each frame.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

use npsim_net::capture::Capture;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What must happen to a frame.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// It leaves by a port, and looks like this.
    Forwarded(usize, Vec<u8>),
    /// Microcode drops it under this counter.
    Dropped(&'static str),
    /// It goes to the slow path for this reason.
    Exception(&'static str),
}

struct Route {
    network: u32,
    length: u32,
    /// Where to, unless the addresses are the router's own.
    hop: Option<Hop>,
}

struct Hop {
    port: usize,
    mac: [u8; 6],
    mtu: usize,
}

struct Router {
    routes: Vec<Route>,
    port_macs: Vec<[u8; 6]>,
}

fn mac(text: &str) -> [u8; 6] {
    let bytes: Vec<u8> = text
        .split(':')
        .map(|b| u8::from_str_radix(b, 16).unwrap())
        .collect();
    bytes.try_into().unwrap()
}

impl Router {
    /// Reads ports and routes from the project file, which is plain TOML.
    fn shipped() -> Self {
        let text = std::fs::read_to_string(root().join("microcode/forward/npsim.toml")).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let port_macs = table["port"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| mac(p["mac"].as_str().unwrap()))
            .collect();
        let routes = table["route"]
            .as_array()
            .unwrap()
            .iter()
            .map(|route| {
                let (address, length) = route["prefix"].as_str().unwrap().split_once('/').unwrap();
                Route {
                    network: address.parse::<Ipv4Addr>().unwrap().into(),
                    length: length.parse().unwrap(),
                    hop: route.get("port").map(|port| Hop {
                        port: port.as_integer().unwrap() as usize,
                        mac: mac(route["mac"].as_str().unwrap()),
                        mtu: route["mtu"].as_integer().unwrap() as usize,
                    }),
                }
            })
            .collect();
        Self { routes, port_macs }
    }

    /// Longest prefix by looking at every route.
    fn route(&self, destination: u32) -> Option<&Route> {
        self.routes
            .iter()
            .filter(|r| r.length == 0 || (destination ^ r.network) >> (32 - r.length) == 0)
            .max_by_key(|r| r.length)
    }

    fn fate(&self, captured: &[u8]) -> Fate {
        let mut frame = captured.to_vec();
        frame.resize(frame.len().max(60), 0);
        if frame[12..14] != [0x08, 0x00] {
            return Fate::Exception("not IPv4");
        }
        if frame[0] & 1 == 1 {
            return Fate::Exception("link-level broadcast or multicast");
        }
        let (version, header_longwords) = (frame[14] >> 4, frame[14] & 15);
        if version != 4 {
            return Fate::Dropped("DROP_VERSION");
        }
        if header_longwords < 5 {
            return Fate::Dropped("DROP_LENGTH");
        }
        if header_longwords > 5 {
            return Fate::Exception("IPv4 options");
        }
        let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
        if total > frame.len() - 14 || total < 20 {
            return Fate::Dropped("DROP_LENGTH");
        }
        if checksum(&frame[14..34]) != 0 {
            return Fate::Dropped("DROP_CHECKSUM");
        }
        let source = u32::from_be_bytes(frame[26..30].try_into().unwrap());
        let destination = u32::from_be_bytes(frame[30..34].try_into().unwrap());
        if matches!(source >> 24, 0 | 127 | 224..) || matches!(destination >> 24, 0 | 127) {
            return Fate::Dropped("DROP_MARTIAN");
        }
        if matches!(destination >> 24, 224..240) || destination == u32::MAX {
            return Fate::Exception("IPv4 multicast or broadcast");
        }
        if destination >> 24 >= 240 {
            return Fate::Dropped("DROP_MARTIAN");
        }
        let Some(route) = self.route(destination) else {
            return Fate::Exception("no route");
        };
        let Some(hop) = &route.hop else {
            return Fate::Exception("for the router itself");
        };
        if frame[22] <= 1 {
            return Fate::Exception("time to live exceeded");
        }
        if total > hop.mtu {
            return Fate::Exception("larger than the next hop's MTU");
        }
        frame[..6].copy_from_slice(&hop.mac);
        frame[6..12].copy_from_slice(&self.port_macs[hop.port]);
        frame[22] -= 1;
        frame[24..26].fill(0);
        let sum = checksum(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        Fate::Forwarded(hop.port, frame)
    }
}

/// RFC 1071 over a whole header: 0 for a header whose checksum is right.
fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

struct Outcome {
    frames: Vec<Vec<u8>>,
    stats: serde_json::Value,
}

fn forward(trace: &Path, arguments: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (out, stats) = (
        folder.path().join("out.pcap"),
        folder.path().join("stats.json"),
    );
    let result = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .args(["run", "microcode/forward", "--trace"])
        .arg(trace)
        .arg("--out")
        .arg(&out)
        .arg("--stats")
        .arg(&stats)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    Outcome {
        frames: Capture::open(&out)
            .unwrap()
            .frames
            .into_iter()
            .map(|f| f.bytes)
            .collect(),
        stats: serde_json::from_slice(&std::fs::read(&stats).unwrap()).unwrap(),
    }
}

/// Drops and exceptions by name, as the stats file tells them.
fn losses(stats: &serde_json::Value) -> BTreeMap<String, u64> {
    let named = |list: &str, key: &str| {
        stats[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let name = row[key].as_str().or(row["reason"].as_str()).unwrap();
                (name.to_owned(), row["frames"].as_u64().unwrap())
            })
            .collect::<Vec<_>>()
    };
    named("drops", "counter")
        .into_iter()
        .chain(named("exceptions", "reason"))
        .filter(|(_, n)| *n > 0)
        .collect()
}

fn expect_forwarded(trace: &str, arguments: &[&str]) {
    let path = root().join("traces").join(trace);
    let router = Router::shipped();
    let fates: Vec<Fate> = Capture::open(&path)
        .unwrap()
        .frames
        .iter()
        .map(|frame| router.fate(&frame.bytes))
        .collect();
    let outcome = forward(&path, arguments);

    let mut expected_losses = BTreeMap::new();
    let mut expected_frames = Vec::new();
    for fate in &fates {
        match fate {
            Fate::Forwarded(_, bytes) => expected_frames.push(bytes.clone()),
            Fate::Dropped(name) | Fate::Exception(name) => {
                *expected_losses.entry((*name).to_owned()).or_insert(0u64) += 1;
            }
        }
    }
    assert!(
        !expected_frames.is_empty(),
        "the trace has something to forward"
    );
    assert_eq!(
        losses(&outcome.stats),
        expected_losses,
        "{trace}: losses by reason"
    );

    // Every forwardable frame once, as it must look.
    let sorted = |frames: &[Vec<u8>]| {
        let mut frames = frames.to_vec();
        frames.sort();
        frames
    };
    assert_eq!(
        outcome.frames.len(),
        expected_frames.len(),
        "{trace}: frames"
    );
    assert!(
        sorted(&outcome.frames) == sorted(&expected_frames),
        "{trace}: contents"
    );
    assert_eq!(outcome.stats["packets"]["unaccounted"], 0, "{trace}");
}

/// Addresses, protocol and ports: what must stay in order.
fn flow(frame: &[u8]) -> Vec<u8> {
    [&frame[23..24], &frame[26..38]].concat()
}

#[test]
fn a_mixed_capture_is_forwarded_frame_for_frame() {
    expect_forwarded("mixed.pcap", &[]);
}

#[test]
fn a_mixed_capture_at_line_rate_is_forwarded_frame_for_frame() {
    expect_forwarded("mixed.pcap", &["--pace", "line"]);
}

#[test]
fn exceptions_and_bad_headers_are_counted_by_reason() {
    expect_forwarded("exceptions.pcap", &[]);
}

#[test]
fn minimum_frames_at_line_rate_are_forwarded() {
    expect_forwarded("minsize.pcap.gz", &["--pace", "line"]);
}

#[test]
fn two_ports_are_forwarded_frame_for_frame() {
    expect_forwarded("two-ports.pcapng", &[]);
    expect_forwarded("two-ports.pcapng", &["--pace", "line"]);
}

#[test]
fn order_within_a_flow_is_kept() {
    let path = root().join("traces/mixed.pcap");
    let router = Router::shipped();
    let mut expected: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for frame in &Capture::open(&path).unwrap().frames {
        if let Fate::Forwarded(_, bytes) = router.fate(&frame.bytes) {
            expected.entry(flow(&bytes)).or_default().push(bytes);
        }
    }
    let mut seen: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for bytes in forward(&path, &["--pace", "line"]).frames {
        seen.entry(flow(&bytes)).or_default().push(bytes);
    }
    assert!(expected.len() > 3, "several flows");
    assert!(seen == expected);
}

/// The oracle itself, on RFC 1071's terms and by breaking a frame.
#[test]
fn the_oracle_tells_good_from_bad() {
    let router = Router::shipped();
    let capture = Capture::open(&root().join("traces/minsize.pcap.gz")).unwrap();
    let good = capture
        .frames
        .iter()
        .find(|f| f.bytes[12..14] == [8, 0])
        .unwrap()
        .bytes
        .clone();
    let Fate::Forwarded(_, out) = router.fate(&good) else {
        panic!("forwardable")
    };
    assert_eq!(out[22], good[22] - 1);
    assert_eq!(checksum(&out[14..34]), 0);
    let mut bad = good.clone();
    bad[24] ^= 1;
    assert_eq!(router.fate(&bad), Fate::Dropped("DROP_CHECKSUM"));
    let mut old = good;
    old[22] = 1;
    let change = checksum(&[&old[14..24], &[0, 0], &old[26..34]].concat());
    old[24..26].copy_from_slice(&change.to_be_bytes());
    assert_eq!(router.fate(&old), Fate::Exception("time to live exceeded"));
}
