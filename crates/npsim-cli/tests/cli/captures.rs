//! Third-party captures as they are, and captures that npsim writes.

use npsim_net::capture::Capture;
use npsim_net::compression::{Compression, Decompressor};
use serde_json::Value;
use std::io::Read as _;

use crate::harness::Dir;

const FORWARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/forward");
const ROUTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/router");

/// A datagram of 60 bytes with its Ethernet header, to a port of the shipped routers.
fn datagram(destination: [u8; 4], number: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0x5e, 0, 0, 0, 2, 0, 0, 0, 0, 9, 8, 0];
    frame.extend([0x45, 0, 0, 46, 0, number, 0, 0, 64, 17, 0, 0]);
    frame.extend([198, 18, 0, 2]);
    frame.extend(destination);
    let words = frame[14..34].chunks(2);
    let sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    // UDP without a checksum.
    frame.extend([0x10, number, 0, 9, 0, 26, 0, 0]);
    frame.resize(60, b'x');
    frame
}

/// A classic pcap of nanoseconds: seconds, nanoseconds, wire length and bytes of each frame.
fn pcap_file(frames: &[(u32, u32, u32, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_3c4d, 0x0004_0002, 0, 0, 65535, 1] {
        bytes.extend(u32::to_le_bytes(word));
    }
    for (seconds, nanoseconds, length, frame) in frames {
        for word in [*seconds, *nanoseconds, frame.len() as u32, *length] {
            bytes.extend(u32::to_le_bytes(word));
        }
        bytes.extend(frame);
    }
    bytes
}

/// Frames at these times, all the same length.
fn pcap_at_times(times: &[(u32, u32)]) -> Vec<u8> {
    let frames = times.iter().enumerate();
    let frames: Vec<_> = frames
        .map(|(number, &(seconds, nanoseconds))| {
            let frame = datagram([10, 1, 0, 9], number as u8);
            (seconds, nanoseconds, 60, frame)
        })
        .collect();
    pcap_file(&frames)
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, &body, &length].concat()
}

/// A pcapng file of interfaces, each with a time resolution and one frame at the given number of
/// ticks.
fn pcapng_file(resolution: u8, ticks: &[u64]) -> Vec<u8> {
    let mut file = block(
        0x0a0d_0d0a,
        &[&[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0][..], &[0xff; 8]].concat(),
    );
    for _ in ticks {
        let options = [9, 0, 1, 0, resolution, 0, 0, 0, 0, 0, 0, 0];
        file.extend(block(
            1,
            &[&[1, 0, 0, 0, 0, 0, 0, 0][..], &options].concat(),
        ));
    }
    for (interface, ticks) in ticks.iter().enumerate() {
        let mut body = Vec::new();
        let words = [
            interface as u32,
            (ticks >> 32) as u32,
            *ticks as u32,
            60,
            60,
        ];
        for word in words {
            body.extend(word.to_le_bytes());
        }
        body.extend(datagram([10, 1, 0, 9], interface as u8));
        file.extend(block(6, &body));
    }
    file
}

fn stats(dir: &Dir, arguments: &str) -> Value {
    let done = dir.npsim(&format!("run {arguments} -q --stats -"));
    serde_json::from_str(&done.expect(0, &[]).out).expect("JSON")
}

#[test]
fn clock_set_back_is_followed_and_reported() {
    let times = [(100, 0), (100, 1000), (50, 0), (50, 1000), (50, 3000)];
    let dir = Dir::new().with("in.pcap", pcap_at_times(&times));
    dir.npsim(&format!("run {FORWARD} --trace in.pcap --out out.pcap"))
        .expect(0, &["set back once, by 50.000 s in all", "in 5   out 5"]);
    let out = Capture::open(&dir.path("out.pcap")).expect("a capture");
    // At the end, the gap is that of the last two frames.
    let last = out.frames[4].time_ns - out.frames[3].time_ns;
    assert!(last.abs_diff(2000) < 1000, "{last}");
    dir.npsim("trace info in.pcap")
        .expect(0, &["a clock was set back once, by 50.000 s in all"]);
}

#[test]
fn more_interfaces_than_ports_are_reported() {
    let dir = Dir::new().with("in.pcapng", pcapng_file(6, &[0, 1, 2, 3, 4]));
    let run = format!("run {FORWARD} --trace in.pcapng");
    dir.npsim(&run).expect(
        0,
        &[
            "5 interfaces and the project 3 ports",
            "`interface 3` at port 0, `interface 4` at port 1",
        ],
    );
    let done = dir.npsim(&format!("{run} --ports round-robin"));
    assert!(!done.expect(0, &[]).err.contains("interfaces"));
}

#[test]
fn unrepresentable_capture_times_are_refused_before_the_run() {
    // The year 2500, in seconds.
    let dir = Dir::new().with("in.pcapng", pcapng_file(0, &[16_725_225_600]));
    let run = format!("run {FORWARD} --trace in.pcapng");
    dir.npsim(&run).expect(0, &["out 1"]);
    dir.npsim(&format!("{run} --out o.pcap"))
        .expect(1, &["2500-01-01", "from 1970 to 2106", "end in .pcapng"]);
    dir.npsim(&format!("{run} --out o.pcapng")).expect(0, &[]);
    let out = Capture::open(&dir.path("o.pcapng")).expect("a capture");
    assert_eq!(out.first_timestamp_ns / 1_000_000_000, 16_725_225_600);
    // Later than any format can represent.
    let late = Dir::new().with("in.pcapng", pcapng_file(0, &[20_000_000_000]));
    let run = format!("run {FORWARD} --trace in.pcapng");
    late.npsim(&format!("{run} --out o.pcapng"))
        .expect(1, &["2603-10-11", "from 1970 to 2554"]);
    late.npsim(&run).expect(0, &["out 1"]);
    assert_eq!(late.files(), ["in.pcapng"]);
}

#[test]
fn pad_restores_truncated_frames_to_full_length() {
    let whole = datagram([10, 1, 0, 9], 1);
    let mut long = whole.clone();
    long[16..18].copy_from_slice(&1486_u16.to_be_bytes());
    long[38..40].copy_from_slice(&1466_u16.to_be_bytes());
    // A wrong UDP checksum, which can be corrected.
    long[40..42].copy_from_slice(&[0x12, 0x34]);
    long[24..26].copy_from_slice(&[0, 0]);
    let words = long[14..34].chunks(2);
    let sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    long[24..26].copy_from_slice(&sum.to_be_bytes());
    let file = pcap_file(&[(1, 0, 1500, long), (2, 0, 60, whole)]);
    let dir = Dir::new().with("in.pcap", file);
    let run = format!("run {FORWARD} --trace in.pcap");
    dir.npsim(&run).expect(
        0,
        &["1 were captured only in part and played as short", "out 1"],
    );
    for (option, wrong) in [("--pad", 1), ("--pad=zeros", 1), ("--pad=checksums", 0)] {
        dir.npsim(&format!("{run} {option} --out o.pcap"))
            .expect(0, &["1 were captured only in part and filled up", "out 2"]);
        let out = Capture::open(&dir.path("o.pcap")).expect("a capture");
        assert_eq!(out.frames[0].bytes.len(), 1500);
        assert!(out.frames[0].bytes[60..].iter().all(|byte| *byte == 0));
        let info = dir.npsim("trace info --format json o.pcap").expect(0, &[]);
        let info: Value = serde_json::from_str(&info.out).expect("JSON");
        assert_eq!(info[0]["oddities"]["bad_payload_checksums"], wrong);
    }
    dir.npsim(&format!("{run} --pad=ones"))
        .expect(2, &["`zeros`", "`checksums`"]);
    dir.npsim(&format!("run {FORWARD} --load 0.1 --pad"))
        .expect(2, &["--pad", "--load"]);
}

#[test]
fn pcapng_output_has_an_interface_per_port() {
    let dir = Dir::new().with("in.pcapng", pcapng_file(6, &[0, 1, 2]));
    let run = format!("run {FORWARD} --trace in.pcapng -q");
    dir.npsim(&format!("{run} --out o.pcapng")).expect(0, &[]);
    let out = Capture::open(&dir.path("o.pcapng")).expect("a capture");
    assert_eq!(out.interfaces, ["port0", "port1", "port2"]);
    assert!(out.frames.iter().all(|frame| frame.port == 0));
    assert_eq!(out.frames.len(), 3);
    // The speed of a line, as the format encodes it.
    let bytes = dir.read("o.pcapng");
    let speed = [&[8, 0, 8, 0][..], &1_000_000_000_u64.to_le_bytes()].concat();
    assert_eq!(bytes.windows(12).filter(|it| *it == speed).count(), 3);
    // The frames equal those of a classic capture.
    dir.npsim(&format!("{run} --out o.pcap")).expect(0, &[]);
    let plain = Capture::open(&dir.path("o.pcap")).expect("a capture");
    let bytes_of = |capture: &Capture| -> Vec<_> {
        let frames = capture.frames.iter();
        frames.map(|it| (it.time_ns, it.bytes.clone())).collect()
    };
    assert_eq!(bytes_of(&plain), bytes_of(&out));

    dir.npsim(&format!("{run} --out c.pcapng --comments"))
        .expect(0, &[]);
    let text = String::from_utf8_lossy(&dir.read("c.pcapng")).into_owned();
    for packet in 0..3 {
        assert!(text.contains(&format!("packet {packet}, ")), "{packet}");
    }
    dir.npsim(&format!("{run} --out c.pcap --comments"))
        .expect(1, &["no place for comments", ".pcapng"]);
    dir.npsim(&format!("{run} --comments"))
        .expect(2, &["--out"]);
}

#[test]
fn file_extension_determines_compression() {
    let dir = Dir::new().with("in.pcap", pcap_at_times(&[(1, 0), (1, 9000)]));
    let run = format!("run {FORWARD} --trace in.pcap -q");
    let all = "--stats s.json --packets p.csv --timeline t.json --flame f.svg --profile=p.json --out o.pcap";
    dir.npsim(&format!("{run} {all}")).expect(0, &[]);
    for (ending, compression) in [("gz", Compression::Gzip), ("zst", Compression::Zstd)] {
        let mut options = String::new();
        for option in all.split(' ') {
            options += option;
            if option.contains('.') {
                options += ".";
                options += ending;
            }
            options += " ";
        }
        dir.npsim(&format!("{run} {options}")).expect(0, &[]);
        for name in ["s.json", "p.csv", "t.json", "f.svg", "p.json", "o.pcap"] {
            let bytes = dir.read(&format!("{name}.{ending}"));
            assert_eq!(Compression::of_data(&bytes), Some(compression), "{name}");
            let mut read = Vec::new();
            Decompressor::new(compression, Box::new(std::io::Cursor::new(bytes)))
                .read_to_end(&mut read)
                .expect("data");
            assert!(read == dir.read(name), "{name}.{ending}");
        }
    }
    let before = dir.files();
    for (option, phrase) in [
        ("--out x.json", "--out writes a capture"),
        ("--out x.pcap.xz", "--out cannot be compressed as `.xz`"),
        ("--stats x.csv", "--stats writes JSON"),
        ("--stats x.json.bz2", "name end in `.gz` or `.zst`"),
        ("--packets x.json", "--packets writes CSV"),
        ("--timeline x.pcapng.gz", "--timeline writes JSON"),
        ("--flame x.png", "--flame writes a flame graph"),
        ("--checkpoint x.ckpt.gz", "not compressed as `.gz`"),
        ("--checkpoint x.ckpt --out x.pcap.gz", "compressed data"),
    ] {
        dir.npsim(&format!("{run} {option}")).expect(1, &[phrase]);
    }
    dir.npsim("trace gen --load 0.1 -o x.csv")
        .expect(1, &["--out writes a capture", "`x.pcap`"]);
    dir.npsim(&format!("asm {FORWARD} -o x.npi.lz4"))
        .expect(1, &["cannot be compressed as `.lz4`"]);
    assert_eq!(dir.files(), before, "nothing is left behind");
}

#[test]
fn directed_broadcasts_of_own_networks_are_not_forwarded() {
    let broadcasts = [
        [10, 1, 255, 255],
        [10, 1, 0, 0],
        [10, 2, 255, 255],
        [10, 2, 0, 0],
    ];
    for project in [FORWARD, ROUTER] {
        let frames = broadcasts.iter().enumerate();
        let mut frames: Vec<_> = frames
            .map(|(number, it)| (1, 9000 * number as u32, 60, datagram(*it, number as u8)))
            .collect();
        // Their neighbouring addresses are ordinary hosts.
        for (number, host) in [[10, 1, 255, 254], [10, 2, 0, 9]].into_iter().enumerate() {
            frames.push((2, 9000 * number as u32, 60, datagram(host, number as u8)));
        }
        let dir = Dir::new().with("in.pcap", pcap_file(&frames));
        let run = format!("{project} --trace in.pcap");
        let counts = stats(&dir, &run);
        let packets = &counts["nodes"][0]["packets"];
        assert_eq!(packets["sent"], 2, "{project}");
        assert_eq!(packets["exceptions"], 4, "{project}");
        let forwarded = stats(
            &dir,
            &format!("{run} --set routes.directed_broadcasts=true"),
        );
        let packets = &forwarded["nodes"][0]["packets"];
        assert_eq!(packets["sent"], 6, "{project}");
    }
}

#[test]
fn idle_gaps_of_any_length_are_skipped() {
    let day = 24 * 3600;
    let dir = Dir::new().with(
        "in.pcap",
        pcap_at_times(&[(1, 0), (1 + 300 * day, 0), (1 + 900 * day, 5)]),
    );
    // Simulated cycle by cycle, this would take years.
    for project in [FORWARD, ROUTER] {
        dir.npsim(&format!("run {project} --trace in.pcap --out out.pcap"))
            .expect(0, &["in 3   out 3"]);
        let out = Capture::open(&dir.path("out.pcap")).expect("a capture");
        let times: Vec<_> = out
            .frames
            .iter()
            .map(|it| (it.time_ns + 500_000_000) / 1_000_000_000)
            .collect();
        assert_eq!(times, [0, 300 * u64::from(day), 900 * u64::from(day)]);
    }
}

#[test]
fn zero_length_run_has_zero_rates() {
    let dir = Dir::new();
    for until in ["0", "1"] {
        let counts = stats(&dir, &format!("{FORWARD} --load 0.5 --until {until}"));
        let rates = &counts["nodes"][0]["rates"];
        let told = rates["offered_nanoseconds"].as_u64();
        assert!(told <= Some(2), "{rates}");
        if until == "0" {
            assert_eq!(rates["offered_bits_per_second"], 0);
        }
    }
}

#[test]
fn each_port_has_at_least_one_flow() {
    let dir = Dir::new();
    dir.npsim(&format!("run {FORWARD} --load 0.1 --flows 1 --time 10us"))
        .expect(0, &["3 flows", "there are 3 flows, not 1"]);
    let done = dir.npsim(&format!("run {FORWARD} --load 0.1 --flows 3 --time 10us"));
    assert!(!done.expect(0, &["3 flows"]).err.contains("flows, not"));
    dir.npsim("trace gen --load 0.1 --flows 1 --port-count 2 --time 10us -o a.pcapng")
        .expect(0, &["2 flows"]);
}
