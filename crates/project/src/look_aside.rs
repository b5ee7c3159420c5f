//! Look-aside tables: devices beside an SRAM channel that microcode fills and queries.
//!
//! A kind defines its keys and its answers ([`LookAside`]). The window, the names for sources, the order of commands,
//! statistics and saved states are common to all such kinds and are implemented here. A device with another kind of
//! window implements [`Device`] and [`DeviceKind`](crate::registry::DeviceKind).
//!
//! | in the window | name | contents |
//! | --- | --- | --- |
//! | from the start | `NAME` | the table, longwords that microcode, `--dump` and tasks read and write |
//! | from the middle | `NAME_ASK` | [`QUERY_SLOTS`] slots of two longwords: the query to write, and its answer |

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::kernel::row::Row;
use npsim_chip::units::sram::device::{Attachment, Device, Handover, WindowPart, WindowRequest};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::de::DeValue;

use crate::keys::Spanned;
use crate::registry::{ReadSection, RegisteredKind, Registry};
use crate::resolve::{DeviceWindow, Resolver};
use crate::section;
pub use crate::section::KeyMistake;
use crate::toml_errors::KeyError;

/// Number of query slots.
pub const QUERY_SLOTS: u32 = 64;
/// Bytes of the query slots.
const QUERY_SLOTS_BYTES: u32 = 8 * QUERY_SLOTS;
/// Most longwords of a table: half a window of 64 Mbytes.
const MAX_LONGWORDS: u32 = 1 << 23;

/// The answer of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookAsideAnswer {
    /// The longword that microcode reads.
    pub value: u32,
    /// Cycles until it can be read.
    pub cycles: Cycle,
}

/// A kind of look-aside table, with its state besides the table itself.
pub trait LookAside: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Name of its section, `[NAME]` or `[[NAME]]`, and in statistics.
    const NAME: &'static str;
    /// Keys of the section besides `name`, `channel` and `address`; `#[serde(deny_unknown_fields)]` catches misspelt
    /// ones. Their doc comments are the descriptions that editors show.
    type Keys: DeserializeOwned + JsonSchema + Send + Sync;

    /// Returns the name of the kind: [`Self::NAME`], unless kinds are defined only at run time.
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// Creates a device of a project.
    ///
    /// # Errors
    /// Returns an error if the keys describe an impossible device.
    fn new(keys: &Self::Keys) -> Result<Self, KeyMistake>;

    /// Returns the number of longwords of its table, which never changes.
    fn longwords(&self) -> u32;

    /// Answers a query from the table.
    fn answer(&mut self, table: &[u32], question: u32) -> LookAsideAnswer;

    /// Returns its counts, for statistics.
    fn counts(&self) -> Row {
        Row::default()
    }

    /// Returns its part of the run summary, after its name and channel.
    fn summary(&self) -> Option<String> {
        None
    }
}

/// The keys that all kinds have.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WindowKeys {
    /// The name that sources use.
    name: Spanned<String>,
    /// SRAM channel; if not given, 1 if there is one, or else 0.
    channel: Option<Spanned<u8>>,
    /// Byte address of its window in the channel; the first free one if not given.
    address: Option<Spanned<u64>>,
}

const WINDOW_KEYS: [&str; 3] = ["name", "channel", "address"];

impl Registry {
    /// Adds a kind of look-aside table to the registry.
    #[must_use]
    pub fn with_look_aside<L: LookAside>(self) -> Self {
        self.with_look_aside_named(L::NAME, L::new)
    }

    /// Like [`Self::with_look_aside`], for a kind that is defined at run time: `make` makes a device from a section
    /// of this name, and [`LookAside::name`] of each must return `name`.
    #[must_use]
    pub fn with_look_aside_named<L: LookAside>(
        self,
        name: &'static str,
        make: impl Fn(&L::Keys) -> Result<L, KeyMistake> + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::new(make);
        let read = move |value: toml::Spanned<DeValue<'_>>| -> Result<ReadSection<()>, KeyError> {
            let (window, keys) = section::read::<WindowKeys, L::Keys>(value, &WINDOW_KEYS)?;
            let make = Arc::clone(&make);
            Ok(Box::new(move |resolver| match make(keys.get_ref()) {
                Ok(kind) => attach(kind, &window, resolver),
                Err(mistake) => mistake.report(resolver),
            }))
        };
        self.add_device(RegisteredKind {
            name,
            listed: true,
            runs: true,
            schema: section::schema::<WindowKeys, L::Keys>,
            read: Box::new(read),
        })
    }
}

fn attach<L: LookAside>(kind: L, keys: &WindowKeys, resolver: &mut Resolver<'_>) {
    let longwords = kind.longwords();
    if !(1..=MAX_LONGWORDS).contains(&longwords) {
        let message = format!("a table of {longwords} longwords is not possible");
        let help = format!("it can have 1 to {MAX_LONGWORDS}");
        resolver.fail(keys.name.span(), message, "", &help);
        return;
    }
    let half = (4 * longwords).next_power_of_two().max(QUERY_SLOTS_BYTES);
    let attachment = resolver.window(&DeviceWindow {
        kind: kind.name(),
        name: &keys.name,
        channel: keys.channel.as_ref(),
        address: keys.address.as_ref(),
        bytes: 2 * half,
    });
    if let Some(attachment) = attachment {
        let device = Table {
            attachment,
            kind,
            words: vec![0; longwords as usize],
            answers: vec![(0, 0); QUERY_SLOTS as usize],
        };
        resolver.attach(Box::new(device), &keys.name.span());
    }
}

/// A look-aside table beside a channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "L: LookAside")]
struct Table<L> {
    attachment: Attachment,
    kind: L,
    words: Vec<u32>,
    /// The answer in each query slot, and the cycle from which it can be read.
    answers: Vec<(u32, Cycle)>,
}

/// The meaning of a longword of the window.
enum TableWord {
    Table(usize),
    Question(usize),
    Answer(usize),
}

impl<L: LookAside> Table<L> {
    /// Returns the index of the first longword after the table's half of the window.
    fn middle(&self) -> u32 {
        self.attachment.bytes / 8
    }

    /// Returns the meaning of a longword of the window; `None` if it has none.
    fn word(&self, place: u32) -> Option<TableWord> {
        let Some(at) = place.checked_sub(self.middle()) else {
            let place = place as usize;
            return (place < self.words.len()).then_some(TableWord::Table(place));
        };
        let number = (at / 2) as usize;
        match at % 2 {
            _ if at / 2 >= QUERY_SLOTS => None,
            0 => Some(TableWord::Question(number)),
            _ => Some(TableWord::Answer(number)),
        }
    }
}

impl<L: LookAside> Device for Table<L> {
    fn kind(&self) -> &'static str {
        self.kind.name()
    }

    fn attachment(&self) -> &Attachment {
        &self.attachment
    }

    fn parts(&self) -> Vec<WindowPart> {
        let bytes = 4 * self.words.len() as u32;
        let parts = [("", 0, Some(bytes)), ("_ASK", 4 * self.middle(), None)];
        let parts = parts.map(|(suffix, offset, registers)| WindowPart {
            suffix,
            offset,
            registers,
        });
        parts.into()
    }

    /// A read of an answer must not pass the write of its query, so both claim both longwords.
    fn check(&self, request: WindowRequest) -> Result<Range<u32>, String> {
        let places = request.places();
        match (self.word(request.place), request.writes, request.count) {
            (Some(TableWord::Table(_)), ..) if places.end as usize <= self.words.len() => {
                Ok(places)
            }
            (Some(TableWord::Question(_)), true, 1) => Ok(places.start..places.start + 2),
            (Some(TableWord::Answer(_)), false, 1) => Ok(places.start - 1..places.start + 1),
            (Some(TableWord::Table(_)) | None, ..) => {
                Err(format!("its table has {} longwords", self.words.len()))
            }
            _ => Err(
                "a question is a write of one longword, an answer a read of one longword"
                    .to_owned(),
            ),
        }
    }

    /// An answer cannot be read before it is ready: until then the command waits in the channel.
    fn free_at(&self, request: WindowRequest) -> Cycle {
        match self.word(request.place) {
            Some(TableWord::Answer(number)) => self.answers[number].1,
            _ => 0,
        }
    }

    fn serve(
        &mut self,
        request: WindowRequest,
        handover: Handover,
        data: &mut [u32],
    ) -> Result<Cycle, String> {
        for (place, word) in request.places().zip(data) {
            match self.word(place) {
                Some(TableWord::Table(at)) if request.writes => {
                    self.words[at] = handover.written(self.words[at], *word);
                }
                Some(TableWord::Table(at)) => *word = self.words[at],
                Some(TableWord::Question(number)) => {
                    let answer = self.kind.answer(&self.words, *word);
                    self.answers[number] = (answer.value, handover.now + answer.cycles);
                }
                Some(TableWord::Answer(number)) => *word = self.answers[number].0,
                None => return Err("nothing is there".to_owned()),
            }
        }
        Ok(handover.now)
    }

    fn register(&self, place: u32) -> Option<u32> {
        self.words.get(place as usize).copied()
    }

    fn set_register(&mut self, place: u32, value: u32) -> bool {
        let word = self.words.get_mut(place as usize);
        word.map(|word| *word = value).is_some()
    }

    fn part_at(&self, place: u32) -> &'static str {
        if place < self.middle() {
            "the table"
        } else {
            "the places to ask at"
        }
    }

    fn help(&self) -> &'static str {
        "write a question to NAME_ASK + 8 * n and read its answer from NAME_ASK + 8 * n + 4"
    }

    fn counts(&self, _cycles: Cycle) -> Row {
        self.kind.counts()
    }

    fn summary(&self, _cycles: Cycle) -> Vec<String> {
        let own = &self.attachment;
        let text = self.kind.summary().into_iter();
        text.map(|text| format!("{} on sram{}: {text}", own.name, own.channel))
            .collect()
    }

    fn is_compatible_with(&self, saved: &Self) -> bool {
        (&self.attachment, self.words.len(), self.answers.len())
            == (&saved.attachment, saved.words.len(), saved.answers.len())
    }
}
