//! Packets through the microcode of a protocol on one context of a chip.

use std::fmt::Write as _;
use std::path::Path;

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim_chip::gpp::boot::{MemoryImage, Space};

use npsim_systems::names::value;
use npsim_systems::project::{assembled, load};
use npsim_systems::quiet::run_to_end;
use npsim_testkit::microcode::{Edit, changed};

/// Longwords of state that the driver sets and reads: 32 of shared state, 16 of a context's own
/// counters, and a microengine's own state.
pub const STATE: usize = 56;
/// The first longword of a context's own counters.
pub const COUNTS: usize = 32;
/// The first longword of a microengine's own state.
pub const OWN: usize = 48;
/// The shared state.
pub type State = [u32; STATE];
/// Where a frame's IPv4 header begins.
pub const HEADER: usize = 14;

/// The name of the coprocessor.
const COPROCESSOR: &str = "FEEDBACK";

/// A limit in cycles that neither a packet nor the start ever reaches.
const CYCLE_LIMIT: u64 = 20_000;
const LATEST: u64 = 100_000;

const RECORD: usize = 384;
const SHARED: usize = 32;
const BUFFER: usize = 256;
const FRAME: usize = RECORD - BUFFER;

/// Ports of the driver's packets.
pub const PORTS: u32 = 2;

/// Longwords of [`State`]: the first, a multiple of eight, and how many, at most
/// eight.
pub type Part = (usize, usize);

/// A memory that has longwords of [`State`].
#[derive(Clone, Copy)]
pub struct Memory {
    /// The name in the project. The name of a coprocessor begins with `FEEDBACK`.
    pub name: &'static str,
    /// `scratch`, or `sram1`.
    pub space: &'static str,
    pub parts: &'static [Part],
}

/// A protocol as a project chooses it.
#[derive(Clone, Copy)]
pub struct Variant {
    pub name: &'static str,
    /// Defines of the processing microengines.
    pub defines: &'static [&'static str],
    /// Where its shared state is; it can be set.
    pub state: Memory,
    /// Where its contexts write their counters.
    pub counts: Option<Memory>,
    /// A text in a file of `microcode` and its replacement.
    pub edit: Option<Edit>,
}

/// A frame to be processed.
#[derive(Clone)]
pub struct Packet {
    /// The frame as far as its headers go: at most 128 bytes.
    pub frame: Vec<u8>,
    /// The length on the line.
    pub length: u32,
    /// The port by which it leaves.
    pub port: u32,
    /// The shared state before it, if it differs from the state after the previous packet.
    pub state: Option<State>,
}

/// The outcome of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Forwarded,
    /// Given to the slow path for this reason.
    Exception(u32),
    Dropped,
}

/// A frame afterwards.
pub struct Processed {
    pub verdict: Verdict,
    pub frame: Vec<u8>,
    pub state: State,
}

/// The project of a variant, in a folder with a copy of the microcode.
fn project(variant: &Variant, packets: usize, folder: &Path) -> Project {
    changed(&folder.join("microcode"), variant.edit.as_slice());
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/congestion/models/driver.uc");
    std::fs::write(folder.join("places.uc"), places(variant)).unwrap();
    let mut text = format!(
        "name = \"driver\"\ninclude = [\".\", \"microcode/lib\", \"microcode/router\", \"microcode/router/processing\"]\n\
         [chip]\nboard = \"ixp2400-plain\"\n[[me]]\nid = \"0\"\nsource = '{}'\n\
         [[memory]]\nname = \"PACKETS\"\nspace = \"dram\"\nsize = {}\nalign = 256\n",
        driver.display(),
        packets * RECORD,
    );
    for _ in 0..PORTS {
        text += "[[port]]\nrate = \"1Gbps\"\n";
    }
    for memory in variant.memories() {
        if memory.name.starts_with(COPROCESSOR) {
            writeln!(text, "[coprocessor]\nname = \"{COPROCESSOR}\"\nchannel = 1").unwrap();
        } else {
            writeln!(
                text,
                "[[memory]]\nname = \"{}\"\nspace = \"{}\"\nsize = 128\nalign = 128",
                memory.name, memory.space
            )
            .unwrap();
        }
    }
    let mut defines = vec![
        ("PACKET_COUNT".to_string(), packets.to_string()),
        ("RANDOM_WORD".to_string(), "0xdeadbeef".to_string()),
    ];
    for define in variant.defines {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        defines.push((name.to_string(), value.to_string()));
    }
    let path = folder.join("npsim.toml");
    std::fs::write(&path, text).unwrap();
    let overrides = Overrides {
        defines,
        ..Overrides::default()
    };
    load(&path, &overrides)
}

/// The macros `state_set` and `state_get` of a variant.
fn places(variant: &Variant) -> String {
    let mut set = String::from("#macro state_set()\n");
    let mut get = String::from("#macro state_get()\n");
    for (memory, first) in variant.memories().zip([0, COUNTS]) {
        let space = memory.space.trim_end_matches(char::is_numeric);
        for (part, count) in memory.parts {
            let at = SHARED + 4 * part;
            let operands = format!(
                "({space}, ({} + {}), {count}, {at})",
                memory.name,
                4 * (part - first)
            );
            if first == 0 {
                writeln!(set, "    state_to{operands}").unwrap();
            }
            writeln!(get, "    state_from{operands}").unwrap();
        }
    }
    if variant.defines.contains(&"XCP_SHARES") {
        writeln!(get, "    state_local(XCP_SHARE, {})", SHARED + 4 * OWN).unwrap();
    }
    format!("{set}#endm\n{get}#endm\n")
}

impl Variant {
    fn memories(&self) -> impl Iterator<Item = Memory> {
        std::iter::once(self.state).chain(self.counts)
    }

    /// The longwords of `state` that exist; 0 in place of others.
    pub fn known(&self, state: &State) -> State {
        let mut known = [0; STATE];
        let parts = self.memories().flat_map(|memory| memory.parts);
        for &(first, count) in parts {
            known[first..first + count].copy_from_slice(&state[first..first + count]);
        }
        if self.defines.contains(&"XCP_SHARES") {
            known[OWN..OWN + 2].copy_from_slice(&state[OWN..OWN + 2]);
        }
        known
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes
        .chunks(4)
        .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
}

fn record(packet: &Packet) -> impl Iterator<Item = u32> {
    let set = u32::from(packet.state.is_some());
    let mut record = vec![packet.length, set, packet.port];
    record.resize(SHARED / 4, 0);
    record.extend(packet.state.unwrap_or([0; STATE]));
    record.resize(BUFFER / 4, 0);
    let mut frame = packet.frame.clone();
    frame.resize(FRAME, 0);
    record.extend(words(&frame));
    record.into_iter()
}

/// Processes all packets, in order.
pub fn process(variant: &Variant, packets: &[Packet]) -> Vec<Processed> {
    let folder = tempfile::tempdir().unwrap();
    let mut project = project(variant, packets.len(), folder.path());
    let programs = assembled(&project);
    let address = value(&project, "PACKETS");
    project.boot.memory.push(MemoryImage {
        space: Space::Dram,
        address,
        words: packets.iter().flat_map(record).collect(),
    });
    let settings = RunSettings {
        until: Some(LATEST + CYCLE_LIMIT * packets.len() as u64),
        ..RunSettings::new(ENGINE)
    };
    let mut simulation = Simulation::new(&project, &programs, settings).unwrap();
    let ending = run_to_end(&project, &mut simulation);
    assert_eq!(ending, Ending::NoEvents, "{}", variant.name);
    let dram = &simulation.chip().units().dram;
    let bytes = dram.read_bytes(address, packets.len() * RECORD).unwrap();
    packets
        .iter()
        .zip(bytes.chunks(RECORD))
        .map(|(packet, record)| {
            let state: Vec<u32> = words(&record[SHARED..SHARED + 4 * STATE]).collect();
            Processed {
                verdict: match words(&record[..4]).next().unwrap() {
                    0 => Verdict::Forwarded,
                    reason @ 1..=0xff => Verdict::Exception(reason),
                    _ => Verdict::Dropped,
                },
                frame: record[BUFFER..BUFFER + packet.frame.len()].to_vec(),
                state: variant.known(&state.try_into().unwrap()),
            }
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// A reference model's result for a frame: its outcome, and its bytes from
/// the IPv4 header on and the state afterwards. It leaves by a port.
pub type Model<'a> = dyn FnMut(&mut [u8], &mut State, u32) -> Verdict + 'a;

/// The state before a packet: as set, except for the contexts' own counters.
pub fn before(packet: &Packet, kept: &State) -> State {
    let mut state = *kept;
    if let Some(set) = packet.state {
        state[..COUNTS].copy_from_slice(&set[..COUNTS]);
    }
    state
}

/// The first packet, if any, for which the microcode differs from the model, with everything needed
/// to reproduce it.
pub fn compare(variant: &Variant, packets: &[Packet], model: &mut Model) -> Result<(), String> {
    let processed = process(variant, packets);
    let mut state = [0; STATE];
    for (number, (packet, got)) in packets.iter().zip(processed).enumerate() {
        let before = variant.known(&before(packet, &state));
        state = before;
        let mut header = packet.frame[HEADER..].to_vec();
        let verdict = model(&mut header, &mut state, packet.port);
        let seen = &got.frame[HEADER..];
        if (got.verdict, seen, got.state) != (verdict, &header[..], state) {
            return Err(format!(
                "{}, packet {number}, port {}\n  state    {before:x?}\n  header   {}\n\
                 expected {verdict:?}\n  state    {state:x?}\n  header   {}\n\
                 got      {:?}\n  state    {:x?}\n  header   {}",
                variant.name,
                packet.port,
                hex(&packet.frame[HEADER..]),
                hex(&header),
                got.verdict,
                got.state,
                hex(seen),
            ));
        }
    }
    Ok(())
}

/// Microcode with this mistake differs from the model.
pub fn expect_detected(variant: &Variant, edit: Edit, packets: &[Packet], model: &mut Model) {
    let mistaken = Variant {
        edit: Some(edit),
        ..*variant
    };
    assert!(
        compare(&mistaken, packets, model).is_err(),
        "{edit:?} is not noticed"
    );
}
