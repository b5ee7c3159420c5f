//! What is measured at a point, as it is typed, with its unit and definition.

mod network;

pub(crate) use network::Varies;

use npsim_net::order::Counter;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{microengines, static_counts as code};

/// What is measured.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// For people; what is measured if left out.
    #[serde(skip_serializing)]
    pub title: Option<String>,
    /// What is measured.
    pub measure: Quantity,
    /// Of delays and latencies: `mean` if left out.
    pub statistic: Option<Statistic>,
    /// Of stamped delays: microengine cycles of one tick; 16 if left out.
    pub tick: Option<u64>,
    /// Of stamped delays: the stamp's first byte in the frame; 6, the Ethernet
    /// source address, if left out.
    pub at: Option<usize>,
    /// Of stamped delays: the stamp's length; 6 if left out.
    pub bytes: Option<usize>,
    /// Of delays and latencies: which frames count; all if left out.
    pub only: Option<Only>,
    /// Of losses: where; everywhere if left out.
    pub place: Option<LossPlace>,
    /// Which microengines: a stage's name, or indices such as `4-7`. Of
    /// utilisation: those that run something if left out. Of counts and ratios:
    /// paths are then below each of these microengines.
    pub me: Option<String>,
    /// Of counts and ratios: paths into the `chip` object of the stats file. Of
    /// code: `instructions` or `references`. Of order: the counter's name.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "one_or_many"
    )]
    pub of: Vec<String>,
    /// Of ratios: the paths of what is divided by.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "one_or_many"
    )]
    pub over: Vec<String>,
    /// Of references in code: to which unit; to all memories if left out.
    pub unit: Option<MemoryUnit>,
    /// Of code: the label with which it begins; the first word if left out.
    pub from: Option<String>,
    /// Of code: the label before which it ends; the last word if left out.
    pub until: Option<String>,
    /// Of counts: what they are divided by; nothing if left out.
    pub per: Option<Per>,
    /// Of order: which flows are observed; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Observed>,
    /// Of bit rates: whether the check sequence counts; it does not if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fcs: Option<bool>,
    /// In networks: names of flows, or of groups of flows, with `*` for any letters; all
    /// flows if left out.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "one_or_many"
    )]
    pub flow: Vec<String>,
    /// In networks: the line, by its link's name, with ` back` behind it for the way from
    /// the link's second end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// In networks, of what is sampled: time from one sample to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// Of settling: how far from its end a value may be, as a share; 0.1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// Of drops: the round-trip time that they are told by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<String>,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Frames that left.
    EgressRate,
    /// Bits of frames that left.
    EgressBitRate,
    /// Frames that came.
    OfferedRate,
    /// Frames that were lost.
    LossRate,
    /// The share of the offered frames that was lost.
    LossShare,
    /// From the last bit in to the last bit out.
    Latency,
    /// What the microcode wrote into the frame.
    StampDelay,
    /// Executing cycles of microengines.
    Utilisation,
    /// Counters of the chip.
    Count,
    /// Counters of the chip over others.
    Ratio,
    /// Instructions or commands in a program, without running it.
    Code,
    /// The share of the packets that a counter of their order counts.
    Order,
    /// In networks: data that was delivered.
    Goodput,
    /// In networks: the part of all delivered data that some flows have.
    Share,
    /// In networks: Jain's index of what flows delivered.
    Jain,
    /// In networks: bytes that wait before a line.
    Queue,
    /// In networks: packets that the queue before a line dropped.
    Drops,
    /// In networks: the coefficient of variation of throughput.
    Cov,
    /// In networks: from a flow's start until all its data was acknowledged.
    Completion,
    /// In networks: how long it takes until something stays what it is.
    Settling,
    /// In networks: congestion windows.
    Window,
    /// In networks: smoothed round-trip times.
    RoundTrip,
}

impl Quantity {
    /// Whether it is the growth of what the chip counts, not seen in frames.
    #[must_use]
    pub(crate) const fn is_counted(self) -> bool {
        matches!(
            self,
            Self::LossRate | Self::LossShare | Self::Utilisation | Self::Count | Self::Ratio
        )
    }
}

/// Flows whose order is observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Observed {
    /// All of them.
    #[default]
    All,
    /// The first one, and those that take its place one after the other.
    One,
}

/// Units that commands go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryUnit {
    /// The scratchpad.
    Scratch,
    /// SRAM channels.
    Sram,
    /// DRAM channels.
    Dram,
    /// The hash unit.
    Hash,
    /// The media interface.
    Msf,
    /// The CSR proxy.
    Cap,
}

impl MemoryUnit {
    const fn name(self) -> &'static str {
        match self {
            Self::Scratch => "scratch",
            Self::Sram => "SRAM",
            Self::Dram => "DRAM",
            Self::Hash => "hash unit",
            Self::Msf => "media interface",
            Self::Cap => "CSR proxy",
        }
    }
}

/// A text or a list of texts.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text or a list of texts")]
    enum Texts {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Texts::deserialize(deserializer)? {
        Texts::One(text) => vec![text],
        Texts::Many(texts) => texts,
    })
}

/// One number for many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// Arithmetic mean.
    #[default]
    Mean,
    /// Smallest.
    Min,
    /// Median by nearest rank.
    P50,
    /// 90th percentile by nearest rank.
    P90,
    /// 99th percentile by nearest rank.
    P99,
    /// Largest.
    Max,
}

impl Statistic {
    /// The number for `values`, in their unit; `None` for no values.
    #[must_use]
    pub fn of(self, values: &[u64]) -> Option<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let rank = |percent: usize| {
            let at = (sorted.len() * percent).div_ceil(100).max(1) - 1;
            sorted[at] as f64
        };
        Some(match self {
            Self::Mean => {
                let sum: u128 = sorted.iter().map(|&v| u128::from(v)).sum();
                sum as f64 / sorted.len() as f64
            }
            Self::Min => first as f64,
            Self::P50 => rank(50),
            Self::P90 => rank(90),
            Self::P99 => rank(99),
            Self::Max => last as f64,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Min => "least",
            Self::P50 => "median",
            Self::P90 => "90th percentile of the",
            Self::P99 => "99th percentile of the",
            Self::Max => "largest",
        }
    }
}

/// Frames whose byte has, or has not, a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Only {
    /// The byte, from 0.
    pub byte: usize,
    /// It has this value.
    pub is: Option<u8>,
    /// It has another value than this.
    pub not: Option<u8>,
}

impl Only {
    /// Whether a frame is meant.
    #[must_use]
    pub fn means(&self, frame: &[u8]) -> bool {
        frame.get(self.byte).is_some_and(|&byte| {
            self.is.is_none_or(|is| byte == is) && self.not.is_none_or(|not| byte != not)
        })
    }
}

/// Where frames are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossPlace {
    /// At the ports and the media interface.
    Media,
    /// By counters of the microcode with `drop = true`.
    Microcode,
}

/// What counts are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// Frames that left.
    Packet,
    /// Microengine cycles.
    Cycle,
    /// Seconds.
    Second,
}

impl Metric {
    /// What it is called.
    #[must_use]
    pub fn shown(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        if let Some(shown) = self.network_shown() {
            return shown;
        }
        match self.measure {
            Quantity::EgressRate => "egress rate".into(),
            Quantity::EgressBitRate => "egress bit rate".into(),
            Quantity::Order => self.counter().map_or("order", Counter::shown).into(),
            Quantity::OfferedRate => "offered rate".into(),
            Quantity::LossRate => "loss".into(),
            Quantity::LossShare => "share lost".into(),
            Quantity::Latency => "latency".into(),
            Quantity::StampDelay => "internal delay".into(),
            Quantity::Utilisation => "utilisation".into(),
            Quantity::Count => self.of.join(" + "),
            Quantity::Ratio => format!("{} / {}", self.of.join(" + "), self.over.join(" + ")),
            Quantity::Code => self.code_shown(),
            _ => String::new(),
        }
    }

    /// `SRAM references of processing`.
    fn code_shown(&self) -> String {
        let unit = self.unit.map_or("memory", MemoryUnit::name);
        let me = self.me.as_deref().unwrap_or_default();
        match self.of.first().map(String::as_str) {
            Some("references") => format!("{unit} references of {me}"),
            _ => format!("instructions of {me}"),
        }
    }

    /// Its unit.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match (self.measure, self.per) {
            (Quantity::EgressRate | Quantity::OfferedRate | Quantity::LossRate, _) => "Mpps",
            (Quantity::EgressBitRate, _) => "Gb/s",
            (Quantity::LossShare | Quantity::Utilisation | Quantity::Order, _) => "%",
            (Quantity::Latency | Quantity::StampDelay, _) => "us",
            (Quantity::Count, Some(Per::Packet)) => "per packet",
            (Quantity::Count, Some(Per::Cycle)) => "per cycle",
            (Quantity::Count, Some(Per::Second)) => "per second",
            (Quantity::Count, None) | (Quantity::Ratio | Quantity::Code, _) => "",
            _ => self.network_unit(),
        }
    }

    /// What exactly is measured, in one sentence.
    #[must_use]
    pub fn definition(&self) -> String {
        if let Some(definition) = self.network_definition() {
            return definition;
        }
        let statistic = self.statistic.unwrap_or_default().name();
        let place = match self.place {
            None => "",
            Some(LossPlace::Media) => " at the media interface",
            Some(LossPlace::Microcode) => " by counters of the microcode",
        };
        let only = self.only.map_or_else(String::new, |only| {
            let is = only.is.map(|is| format!("is {is:#04x}"));
            let not = only.not.map(|not| format!("is not {not:#04x}"));
            let tests: Vec<_> = is.into_iter().chain(not).collect();
            format!(" whose byte {} {}", only.byte, tests.join(" and "))
        });
        match self.measure {
            Quantity::EgressRate => {
                "frames whose last bit left in the window, over the window".into()
            }
            Quantity::EgressBitRate => {
                let without = if self.whole_frames() {
                    "preamble and gap"
                } else {
                    "preamble, gap and check sequence"
                };
                format!(
                    "bits of frames whose last bit left in the window, without {without}, over the window"
                )
            }
            Quantity::Order => {
                let counter = self.counter().map_or("nothing", Counter::name);
                let of = match self.flows.unwrap_or_default() {
                    Observed::All => "",
                    Observed::One => " of the first flow and of those that take its place",
                };
                format!(
                    "{counter} among the packets{of} that left in the window, as a share of them; all that left before are compared with"
                )
            }
            Quantity::OfferedRate => {
                "frames whose first bit came in the window, over the window".into()
            }
            Quantity::LossRate => format!("frames lost{place} in the window, over the window"),
            Quantity::LossShare => {
                format!("frames lost{place} in the window, as a share of those that came in it")
            }
            Quantity::Latency => format!(
                "{statistic} time from the last bit in to the last bit out, of frames{only} that left in the window"
            ),
            Quantity::StampDelay => format!(
                "{statistic} delay that the microcode wrote to bytes {} to {} of the frame, in ticks of {} microengine cycles, of frames{only} that left in the window",
                self.stamp().0,
                self.stamp().0 + self.stamp().1 - 1,
                self.ticks(),
            ),
            Quantity::Utilisation => {
                let which = self.me.as_ref().map_or_else(
                    || "the microengines that run something".to_owned(),
                    |me| format!("microengines {me}"),
                );
                format!("cycles in which {which} executed instructions, as a share of the window")
            }
            Quantity::Count => {
                format!(
                    "growth of {}{} in the window",
                    self.of.join(" + "),
                    self.of_me()
                )
            }
            Quantity::Ratio => format!(
                "growth of {} over growth of {}{} in the window",
                self.of.join(" + "),
                self.over.join(" + "),
                self.of_me()
            ),
            Quantity::Code => {
                let from = self.from.as_ref().map(|label| format!(" from {label}"));
                let until = self.until.as_ref().map(|label| format!(" until {label}"));
                format!(
                    "{}{}{}, counted in the assembled program",
                    self.code_shown(),
                    from.unwrap_or_default(),
                    until.unwrap_or_default()
                )
            }
            _ => String::new(),
        }
    }

    fn of_me(&self) -> String {
        let me = self.me.as_ref();
        me.map_or_else(String::new, |me| format!(" of microengines {me}"))
    }

    /// The counter of order that is meant.
    #[must_use]
    pub fn counter(&self) -> Option<Counter> {
        match self.of.as_slice() {
            [one] => one.parse().ok(),
            _ => None,
        }
    }

    /// Whether bit rates count the check sequence.
    #[must_use]
    pub(crate) fn whole_frames(&self) -> bool {
        self.fcs.unwrap_or_default()
    }

    /// First byte and length of the stamp.
    #[must_use]
    pub fn stamp(&self) -> (usize, usize) {
        (self.at.unwrap_or(6), self.bytes.unwrap_or(6))
    }

    /// Microengine cycles of a tick of the stamp: the chip's time stamp counts
    /// every 16 of them.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.tick.unwrap_or(16)
    }

    /// What is contradictory or lacking in it, if anything.
    #[must_use]
    pub fn mistake(&self) -> Option<String> {
        let delay = matches!(self.measure, Quantity::Latency | Quantity::StampDelay);
        let stamp = self.measure == Quantity::StampDelay;
        let loss = matches!(self.measure, Quantity::LossRate | Quantity::LossShare);
        let count = self.measure == Quantity::Count;
        let ratio = self.measure == Quantity::Ratio;
        let code = self.measure == Quantity::Code;
        let order = self.measure == Quantity::Order;
        let references = code && self.of == ["references"];
        if let Some(mistake) = self.network_mistake() {
            return Some(mistake);
        }
        let network = self.measure.is_of_networks();
        let fits = [
            ("statistic", self.statistic.is_none() || delay || network),
            ("only", self.only.is_none() || delay),
            ("tick", self.tick.is_none() || stamp),
            ("at", self.at.is_none() || stamp),
            ("bytes", self.bytes.is_none() || stamp),
            ("place", self.place.is_none() || loss),
            (
                "me",
                self.me.is_none()
                    || count
                    || ratio
                    || code
                    || self.measure == Quantity::Utilisation,
            ),
            (
                "of",
                self.of.is_empty() || count || ratio || code || order || network,
            ),
            ("flows", self.flows.is_none() || order),
            (
                "fcs",
                self.fcs.is_none() || self.measure == Quantity::EgressBitRate,
            ),
            ("over", self.over.is_empty() || ratio),
            ("per", self.per.is_none() || count || network),
            ("unit", self.unit.is_none() || references),
            ("from", self.from.is_none() || code),
            ("until", self.until.is_none() || code),
        ];
        if let Some((key, _)) = fits.iter().find(|(_, fits)| !fits) {
            return Some(format!("`{key}` says nothing about this measure"));
        }
        if ratio && (self.of.is_empty() || self.over.is_empty()) {
            return Some(
                "`of` and `over` must say what is divided, such as [\"locks.L.held_cycles\"] and [\"locks.L.acquired\"]".into(),
            );
        }
        let known = |of: &[String]| matches!(of, [one] if code::COUNTED.contains(&one.as_str()));
        if code && !known(&self.of) {
            return Some("`of` is \"instructions\" or \"references\"".into());
        }
        if order && self.counter().is_none() {
            let names = Counter::ALL.map(|counter| format!("\"{counter}\""));
            return Some(format!("`of` is one of {}", names.join(", ")));
        }
        if code && self.me.is_none() {
            return Some("`me` must say whose code it is: a stage's name, or an index".into());
        }
        if count && self.of.is_empty() {
            return Some(
                "`of` must say what is counted, such as [\"units.sram*.commands.*.count\"]".into(),
            );
        }
        if let Some(me) = &self.me {
            return microengines::mistake(me);
        }
        if self.tick == Some(0) {
            return Some("a tick has at least one cycle".into());
        }
        if stamp && !(1..=8).contains(&self.stamp().1) {
            return Some("a stamp has 1 to 8 bytes".into());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Metric, Only, Statistic};

    fn metric(text: &str) -> Metric {
        toml::from_str(text).expect(text)
    }

    #[test]
    fn statistics_are_nearest_rank() {
        let values: Vec<u64> = (1..=200).rev().collect();
        assert_eq!(Statistic::Mean.of(&values), Some(100.5));
        assert_eq!(Statistic::P50.of(&values), Some(100.0));
        assert_eq!(Statistic::P99.of(&values), Some(198.0));
        assert_eq!(Statistic::Max.of(&values), Some(200.0));
        assert_eq!(Statistic::Min.of(&[7]), Some(7.0));
        assert_eq!(Statistic::Mean.of(&[]), None);
    }

    #[test]
    fn keys_that_say_nothing_are_mistakes() {
        for (text, expected) in [
            (
                "measure = \"egress-rate\"\nstatistic = \"p99\"",
                "`statistic`",
            ),
            ("measure = \"latency\"\ntick = 16", "`tick`"),
            ("measure = \"count\"", "`of` must say"),
            ("measure = \"latency\"\nper = \"packet\"", "`per`"),
            (
                "measure = \"utilisation\"\nme = \"4-\"",
                "neither an index nor a range",
            ),
            (
                "measure = \"ratio\"\nof = \"a\"",
                "`of` and `over` must say",
            ),
            ("measure = \"count\"\nof = \"a\"\nover = \"b\"", "`over`"),
            ("measure = \"code\"\nof = \"words\"\nme = \"a\"", "`of` is"),
            ("measure = \"code\"\nof = \"instructions\"", "`me` must say"),
            (
                "measure = \"code\"\nof = \"instructions\"\nme = \"a\"\nunit = \"sram\"",
                "`unit`",
            ),
            ("measure = \"order\"", "`of` is one of \"duplicate-acks\""),
            ("measure = \"order\"\nof = \"early\"", "`of` is one of"),
            (
                "measure = \"order\"\nof = [\"reordered\", \"late-by-three\"]",
                "`of` is one of",
            ),
            ("measure = \"latency\"\nflows = \"one\"", "`flows`"),
            ("measure = \"egress-rate\"\nfcs = true", "`fcs`"),
            ("measure = \"stamp-delay\"\ntick = 0", "at least one cycle"),
            ("measure = \"stamp-delay\"\nbytes = 9", "1 to 8 bytes"),
        ] {
            let mistake = metric(text).mistake().expect(text);
            assert!(mistake.contains(expected), "{text}: {mistake}");
        }
        for good in [
            "measure = \"stamp-delay\"\nstatistic = \"p99\"\nonly = { byte = 14, is = 0x45 }",
            "measure = \"loss-rate\"\nplace = \"media\"",
            "measure = \"order\"\nof = \"late-by-three\"\nflows = \"one\"",
            "measure = \"egress-bit-rate\"\nfcs = true",
            "measure = \"count\"\nof = [\"gpp.polls\"]\nper = \"second\"",
            "measure = \"ratio\"\nof = \"a\"\nover = [\"b\", \"c\"]\nme = \"work\"",
            "measure = \"code\"\nof = \"references\"\nunit = \"dram\"\nme = \"work\"\nfrom = \"a#\"",
        ] {
            assert_eq!(metric(good).mistake(), None, "{good}");
        }
    }

    #[test]
    fn frames_are_told_by_a_byte() {
        let frame = [0, 0x45];
        let only = |is, not| Only { byte: 1, is, not };
        assert!(only(Some(0x45), None).means(&frame));
        assert!(!only(None, Some(0x45)).means(&frame));
        assert!(only(None, Some(0x46)).means(&frame));
        assert!(
            !only(None, Some(0x46)).means(&frame[..1]),
            "the byte is not there"
        );
    }

    #[test]
    fn definitions_name_what_is_measured() {
        let text = metric("measure = \"stamp-delay\"\nonly = { byte = 14, not = 69 }").definition();
        assert!(
            text.contains("bytes 6 to 11") && text.contains("whose byte 14 is not 0x45"),
            "{text}"
        );
        let text = "measure = \"order\"\nof = \"late-by-three\"\nflows = \"one\"";
        let text = metric(text).definition();
        assert!(
            text.contains("late-by-three among the packets of the first flow"),
            "{text}"
        );
        for (fcs, expected) in [
            ("", "without preamble, gap and check sequence"),
            ("fcs = true", "without preamble and gap, over"),
        ] {
            let text = metric(&format!("measure = \"egress-bit-rate\"\n{fcs}")).definition();
            assert!(text.contains(expected), "{text}");
        }
    }
}
