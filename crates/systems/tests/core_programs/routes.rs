//! Thousands of route changes, by the program in C and by the task: the resulting tables route every address the same
//! way, and so do packets.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::simulation::{RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_systems::names::value;
use npsim_systems::project::{assembled, load};
use npsim_testkit::microcode::shipped;

const CHANGES: u32 = 10_000;
/// Nanoseconds from one change to the next.
const GAP: u32 = 90_000;
/// Cycles from one frame to the next.
const FRAME_GAP: Cycle = 1_000;
const FRAMES: u64 = 500;
/// Prefix lengths of the routes that change.
const LENGTHS: [u32; 12] = [16, 20, 20, 24, 24, 28, 28, 28, 32, 32, 32, 32];

/// Pseudo-random numbers: 64-bit xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) as u32) % bound
    }

    /// Addresses from a set small enough for repetitions.
    fn address(&mut self) -> u32 {
        let third = self.below(4) * 64;
        0x1400_0000 | self.below(12) << 16 | third << 8 | (self.below(4) * 21)
    }
}

/// The changes as the task reads them from a file, and as the program finds them in memory.
fn changes() -> (String, Vec<u32>) {
    let mut random = Random(0x2400_2800);
    let (mut there, mut text, mut words) = (BTreeSet::new(), String::new(), vec![CHANGES]);
    for number in 0..CHANGES {
        let address = random.address();
        let length = LENGTHS[random.below(12) as usize];
        let prefix = address >> (32 - length) << (32 - length);
        let is_there = there.contains(&(length, prefix));
        let goes = is_there && random.below(3) > 0;
        let (name, code) = match (is_there, goes) {
            (false, _) => ("add", 0),
            (true, false) => ("change", 1),
            (true, true) => ("remove", 2),
        };
        let at = number * GAP;
        write!(text, "{at}ns,{name},{}/{length}", Ipv4Addr::from(prefix)).unwrap();
        words.extend([at, code, prefix, length]);
        if goes {
            there.remove(&(length, prefix));
            text.push('\n');
            words.extend([0; 4]);
        } else {
            there.insert((length, prefix));
            // Some next hops recur.
            let [.., b, c] = (number % 1_000).to_be_bytes();
            let (port, mac) = (number % 1_000 % 3, [2, 0x11, 0, 0, b, c]);
            let shown = mac.map(|byte| format!("{byte:02x}")).join(":");
            writeln!(text, ",{port},{shown}").unwrap();
            let [a0, a1, a2, a3, a4, a5] = mac;
            // The port's own address is 02:00:5e:00:00:port.
            words.extend([
                1500 << 16 | port,
                u32::from_be_bytes([a0, a1, a2, a3]),
                u32::from_be_bytes([a4, a5, 2, 0]),
                0x5e00_0000 | port,
            ]);
        }
    }
    (text, words)
}

/// Frames that come one after the other.
struct Lines {
    to: Vec<u32>,
    first: Cycle,
    next: usize,
    left: Vec<(u8, Vec<u8>)>,
}

impl PortIo for Lines {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let to = *self.to.get(self.next)?;
        let start = self.first + self.next as Cycle * FRAME_GAP;
        let frame = self.next as u64;
        self.next += 1;
        Some(Arrival {
            start,
            end: start + 400,
            port: (frame % 3) as u8,
            bytes: datagram(to),
            frame,
        })
    }

    fn departed(&mut self, departure: Departure<'_>) {
        self.left.push((departure.port, departure.bytes.to_vec()));
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        panic!("{cycle}: port {port} lost frame {frame:?}: {reason:?}");
    }
}

/// A datagram of 60 bytes.
fn datagram(destination: u32) -> Vec<u8> {
    let mut frame = vec![0x02, 0, 0x5e, 0, 0, 0, 0x02, 0, 0x5e, 0x20, 0, 1, 0x08, 0];
    frame.extend([0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 1, 8, 7]);
    frame.extend(destination.to_be_bytes());
    let words = frame[14..34].chunks(2);
    let sum: u32 = words
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame.resize(60, 0);
    frame
}

/// The route of an address in the SRAM table.
fn route_entry(project: &Project, chip: &Chip, address: u32) -> Option<[u32; 4]> {
    let sram = &chip.units().sram;
    let root = value(project, "ROUTE_ROOT");
    let read = |at: u32| sram.read_word(at).expect("memory");
    let mut entry = read(root + (address >> 16) * 4);
    let mut shift = 8;
    while entry >> 31 == 1 {
        let byte = address >> shift & 0xff;
        entry = read(root + (entry & 0x7fff_ffff) + byte * 4);
        shift = 0;
    }
    let hop = value(project, "NEXT_HOPS") + (entry & 0xffff) * 16;
    (entry != 0).then(|| std::array::from_fn(|word| read(hop + 4 * word as u32)))
}

/// Runs a project until the changes are made and frames have passed; returns the results.
fn run(path: &Path, to: &[u32]) -> (Project, Chip, Vec<(u8, Vec<u8>)>) {
    let project = load(path, &Overrides::default());
    let programs = assembled(&project);
    let simulation = Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
    let mut chip = simulation.chip().clone();
    let cycles = |ns: u64| ns * project.capacity.hertz / 1_000_000_000;
    let first = cycles(u64::from(CHANGES * GAP) + 1_000_000);
    let mut lines = Lines {
        to: to.to_vec(),
        first,
        next: 0,
        left: Vec::new(),
    };
    let end = first + FRAMES * FRAME_GAP + 200_000;
    match chip.run(end, &mut lines, &mut NoObserver) {
        Stop::Reached => {}
        stop => panic!("{stop:?}"),
    }
    lines.left.sort_unstable();
    (project, chip, lines.left)
}

#[test]
fn route_changes_in_c_give_the_same_table_as_the_task() {
    let (text, words) = changes();
    let folder = tempfile::tempdir().unwrap();
    let base = shipped().canonicalize().unwrap();
    let base = base.display();
    std::fs::write(folder.path().join("changes.csv"), text).unwrap();
    let task = folder.path().join("task.toml");
    let project =
        format!("extends = \"{base}/forward/arp.toml\"\n[routes]\nchanges = \"changes.csv\"\n");
    std::fs::write(&task, project).unwrap();
    // Enough blocks that changes seldom wait for one that a reader could still be using.
    let program = folder.path().join("program.toml");
    let project = format!(
        "extends = \"{base}/forward/router-c.toml\"\n\
         [[memory]]\nname = \"ROUTE_BLOCKS\"\nsize = 262144\n\
         [[memory]]\nname = \"ROUTE_CHANGES\"\nspace = \"dram\"\nwords = {words:?}\n"
    );
    std::fs::write(&program, project).unwrap();

    let mut random = Random(7);
    let to: Vec<u32> = (0..FRAMES).map(|_| random.address()).collect();
    let (task, tasks_chip, tasks_frames) = run(&task, &to);
    let (program, programs_chip, programs_frames) = run(&program, &to);
    let mut ways = BTreeSet::new();
    for _ in 0..20_000 {
        let address = random.address() ^ random.below(8);
        let expected = route_entry(&task, &tasks_chip, address);
        let shown = Ipv4Addr::from(address);
        assert_eq!(
            route_entry(&program, &programs_chip, address),
            expected,
            "{shown}"
        );
        ways.insert(expected);
    }
    assert!(ways.len() > 50, "{} ways are too few", ways.len());
    assert_eq!(tasks_frames, programs_frames);
    assert!(tasks_frames.len() > 300, "{}", tasks_frames.len());
}
