//! A look-aside device of your own: a ternary content-addressable memory (TCAM) on an
//! SRAM channel, which microcode fills and asks.
//!
//! ```text
//! cargo run --release --example write_a_device
//! ```
//!
//! A device is three things, all in this file: what it does on the chip ([`Tcam`], a
//! `Device`), what a project says about it ([`TcamSection`] and [`TcamKind`]), and one
//! line that puts it into the registry (in `main`). `npsim.toml` beside this file is
//! a project that has one; `lookup.uc` is its microcode.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use npsim::chip::Cycle;
use npsim::chip::kernel::row::Row;
use npsim::chip::units::sram::device::{Attachment, Device, Handover, Part, Request};
use npsim::files::Disk;
use npsim::project::Overrides;
use npsim::project::keys::Spanned;
use npsim::project::registry::DeviceKind;
use npsim::project::resolve::{Resolver, Window};
use npsim::simulation::Ending;
use npsim::system::{System, Traffic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of the window of addresses behind the channel's memory: entries of 16 bytes
/// (value, mask, result, nothing), and in the upper half places to search.
const WINDOW: u32 = 4096;
/// Byte offset of the places to search: the key is written to the first longword of
/// one, the answer read from the second.
const SEARCH: u32 = 2048;
const ENTRY_WORDS: u32 = 4;
const MOST_ENTRIES: u32 = SEARCH / 4 / ENTRY_WORDS;
const PLACES: u32 = 64;
/// The answer if nothing matches.
const MISS: u32 = u32::MAX;

/// The device. The four derived traits are all that copying, saving and restoring a
/// chip needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tcam {
    attachment: Attachment,
    /// Cycles that a search takes.
    cycles: Cycle,
    entries: Vec<[u32; ENTRY_WORDS as usize]>,
    /// The answer at each place to search, and when it is there.
    answers: Vec<(u32, Cycle)>,
    searches: u64,
    hits: u64,
}

/// What a longword of the window is.
enum Word {
    Entry { entry: usize, word: usize },
    Key(usize),
    Answer(usize),
}

impl Tcam {
    fn new(attachment: Attachment, entries: u32, cycles: Cycle) -> Self {
        Self {
            attachment,
            cycles,
            entries: vec![[0; ENTRY_WORDS as usize]; entries as usize],
            answers: vec![(MISS, 0); PLACES as usize],
            searches: 0,
            hits: 0,
        }
    }

    /// What is at a longword of the window; `None` if nothing is.
    fn word(&self, place: u32) -> Option<Word> {
        if let Some(at) = place.checked_sub(SEARCH / 4) {
            let number = (at / 2) as usize;
            return match at % 2 {
                _ if at / 2 >= PLACES => None,
                0 => Some(Word::Key(number)),
                _ => Some(Word::Answer(number)),
            };
        }
        let (entry, word) = (
            (place / ENTRY_WORDS) as usize,
            (place % ENTRY_WORDS) as usize,
        );
        (entry < self.entries.len()).then_some(Word::Entry { entry, word })
    }

    /// The first entry whose mask is not zero and that matches.
    fn search(&self, key: u32) -> Option<u32> {
        let mut matching = self.entries.iter();
        matching
            .find(|[value, mask, ..]| *mask != 0 && (key ^ value) & mask == 0)
            .map(|entry| entry[2])
    }
}

impl Device for Tcam {
    fn kind(&self) -> &'static str {
        TcamKind::NAME
    }

    fn attachment(&self) -> &Attachment {
        &self.attachment
    }

    /// Names for microcode: that of the device, and that with `_SEARCH`. The entries
    /// are registers, which `--dump` and slow-path tasks reach as well.
    fn parts(&self) -> Vec<Part> {
        let bytes = self.entries.len() as u32 * ENTRY_WORDS * 4;
        let (entries, search) = (("", 0, Some(bytes)), ("_SEARCH", SEARCH, None));
        [entries, search]
            .map(|(suffix, offset, registers)| Part {
                suffix,
                offset,
                registers,
            })
            .into()
    }

    /// Is the command possible? If it is, which longwords does it concern? A read of an
    /// answer must not pass the write of its key, so both concern both.
    fn check(&self, request: Request) -> Result<Range<u32>, String> {
        let places = request.places();
        match (self.word(request.place), request.writes, request.count) {
            (Some(Word::Entry { .. }), ..) => {
                let last = self.word(places.end - 1);
                match last {
                    Some(Word::Entry { .. }) => Ok(places),
                    _ => Err(format!("there are {} entries", self.entries.len())),
                }
            }
            (Some(Word::Key(_)), true, 1) => Ok(places.start..places.start + 2),
            (Some(Word::Answer(_)), false, 1) => Ok(places.start - 1..places.start + 1),
            _ => Err("a key is one longword written, an answer one longword read".to_owned()),
        }
    }

    /// An answer cannot be read before it is known: the command waits in the channel.
    fn free_at(&self, request: Request) -> Cycle {
        match self.word(request.place) {
            Some(Word::Answer(number)) => self.answers[number].1,
            _ => 0,
        }
    }

    fn serve(
        &mut self,
        request: Request,
        handover: Handover,
        data: &mut [u32],
    ) -> Result<Cycle, String> {
        for (place, word) in request.places().zip(data) {
            match self.word(place) {
                Some(Word::Entry { entry, word: at }) if request.writes => {
                    let own = &mut self.entries[entry][at];
                    *own = handover.written(*own, *word);
                }
                Some(Word::Entry { entry, word: at }) => *word = self.entries[entry][at],
                Some(Word::Key(number)) => {
                    let found = self.search(*word);
                    self.searches += 1;
                    self.hits += u64::from(found.is_some());
                    self.answers[number] = (found.unwrap_or(MISS), handover.now + self.cycles);
                }
                Some(Word::Answer(number)) => *word = self.answers[number].0,
                None => return Err("nothing is there".to_owned()),
            }
        }
        Ok(handover.now)
    }

    fn register(&self, place: u32) -> Option<u32> {
        match self.word(place)? {
            Word::Entry { entry, word } => Some(self.entries[entry][word]),
            _ => None,
        }
    }

    fn set_register(&mut self, place: u32, value: u32) -> bool {
        let Some(Word::Entry { entry, word }) = self.word(place) else {
            return false;
        };
        self.entries[entry][word] = value;
        true
    }

    fn part_at(&self, place: u32) -> &'static str {
        if place < SEARCH / 4 {
            "the entries"
        } else {
            "the places to search"
        }
    }

    fn help(&self) -> &'static str {
        "write a key to NAME_SEARCH + 8 * n and read its answer from NAME_SEARCH + 8 * n + 4"
    }

    /// `tcam` of the statistics.
    fn counts(&self, _cycles: Cycle) -> Row {
        Row::default()
            .with("searches", self.searches)
            .with("hits", self.hits)
    }

    /// A line of the summary.
    fn summary(&self, _cycles: Cycle) -> Vec<String> {
        let (own, misses) = (&self.attachment, self.searches - self.hits);
        vec![format!(
            "{} on sram{}: {} searches, {misses} misses",
            own.name, own.channel, self.searches
        )]
    }

    /// Whether a saved state is one of this device.
    fn is_like(&self, saved: &Self) -> bool {
        self.attachment == saved.attachment
            && (self.cycles, self.entries.len(), self.answers.len())
                == (saved.cycles, saved.entries.len(), saved.answers.len())
    }
}

/// `[tcam]`, or `[[tcam]]` for several. `Spanned` keeps where a key stands, so that
/// mistakes can be shown there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TcamSection {
    /// The name that sources use.
    name: Spanned<String>,
    /// SRAM channel.
    channel: Option<Spanned<u8>>,
    /// Byte address of its window in the channel; the first that is free if not given.
    address: Option<Spanned<u64>>,
    /// How many entries it has.
    entries: Spanned<u32>,
    /// Cycles that a search takes; 12 if not given.
    cycles: Option<Cycle>,
}

struct TcamKind;

impl DeviceKind for TcamKind {
    const NAME: &'static str = "tcam";
    type Keys = TcamSection;

    fn resolve(&self, section: &Spanned<TcamSection>, resolver: &mut Resolver<'_>) {
        let keys = section.get_ref();
        let entries = *keys.entries.get_ref();
        if !(1..=MOST_ENTRIES).contains(&entries) {
            resolver.fail(
                keys.entries.span(),
                format!("a TCAM of {entries} entries is not possible"),
                "",
                &format!("use 1 to {MOST_ENTRIES}"),
            );
            return;
        }
        let attachment = resolver.window(&Window {
            kind: Self::NAME,
            name: &keys.name,
            channel: keys.channel.as_ref(),
            address: keys.address.as_ref(),
            bytes: WINDOW,
        });
        if let Some(attachment) = attachment {
            let tcam = Tcam::new(attachment, entries, keys.cycles.unwrap_or(12));
            resolver.attach(Box::new(tcam), &keys.name.span());
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The one line: what npsim brings, and the new kind.
    let registry = npsim::registry().with_device(TcamKind);

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/write_a_device");
    let system = System::load_with(&Disk, folder, &Overrides::default(), &registry)?;
    let mut run = system.start(Traffic::None)?;
    assert_eq!(run.finish()?, &Ending::NoEvents);

    // What the microcode kept: the longer prefix, the shorter one, a miss.
    let address = system.define("ANSWERS").ok_or("no ANSWERS")?;
    let scratch = &run.chip().units().scratch;
    let answers = [0, 4, 8].map(|offset| scratch.read(address + offset));
    assert_eq!(answers, [Some(7), Some(3), Some(MISS)]);

    let stats = &run.report().nodes[0].chip;
    let tcam = stats.devices.of(TcamKind::NAME).ok_or("no TCAM")?;
    assert_eq!(tcam.counts.get("searches"), Some(3));
    assert_eq!(tcam.counts.get("hits"), Some(2));
    println!("{}", tcam.summary.join("\n"));
    println!("ended at cycle {}", stats.cycles);
    Ok(())
}
