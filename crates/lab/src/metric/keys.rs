//! The keys of a metric in a study; each measure takes its own.

use npsim_net::order::Counter;
use serde::{Deserialize, Deserializer};

use super::network::{
    DropsPer, FlowNames, LossShare, SampleInterval, SettlingQuantity, Utilisation, Variation,
};
use super::{
    ByteFilter, CountedCode, CounterGrowth, CounterRatio, Delay, DelayStamp, LossPlace, Measure,
    MemoryUnit, Metric, ObservedFlows, Per, SenderState, StaticCount, Statistic,
};
use crate::microengines;

/// The permitted distance of a settled value from its end, if `within` is left out.
const WITHIN: f64 = 0.1;
/// Maximum length of a stamp in bytes.
const MAX_STAMP_BYTES: usize = 8;

/// The values of `measure`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Quantity {
    EgressRate,
    EgressBitRate,
    OfferedRate,
    LossRate,
    LossShare,
    Latency,
    StampDelay,
    Utilisation,
    Count,
    Ratio,
    Code,
    Order,
    Goodput,
    Share,
    Jain,
    Queue,
    Drops,
    Cov,
    Completion,
    Settling,
    Window,
    RoundTrip,
}

/// The union of the keys of all measures. A measure takes its own out; any key left over does
/// not belong to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    title: Option<String>,
    measure: Quantity,
    statistic: Option<Statistic>,
    tick: Option<u64>,
    at: Option<usize>,
    bytes: Option<usize>,
    only: Option<ByteFilter>,
    place: Option<LossPlace>,
    me: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    of: Vec<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    over: Vec<String>,
    unit: Option<MemoryUnit>,
    from: Option<String>,
    until: Option<String>,
    per: Option<Per>,
    flows: Option<ObservedFlows>,
    fcs: Option<bool>,
    #[serde(default, deserialize_with = "one_or_many")]
    flow: Vec<String>,
    link: Option<String>,
    delta: Option<String>,
    within: Option<f64>,
    rtt: Option<String>,
}

/// Reads a text or a list of texts.
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

impl TryFrom<Keys> for Metric {
    type Error = String;

    fn try_from(mut keys: Keys) -> Result<Self, String> {
        let title = keys.title.take();
        let measure = keys.measure()?;
        match keys.unused_key() {
            Some(key) => Err(format!("`{key}` does not apply to this measure")),
            None => Ok(Self { title, measure }),
        }
    }
}

impl Keys {
    /// Builds the measure, taking out its keys.
    fn measure(&mut self) -> Result<Measure, String> {
        Ok(match self.measure {
            Quantity::EgressRate => Measure::EgressRate,
            Quantity::EgressBitRate => Measure::EgressBitRate {
                fcs: self.fcs.take().unwrap_or_default(),
            },
            Quantity::OfferedRate => Measure::OfferedRate,
            Quantity::LossRate => Measure::LossRate {
                place: self.place.take(),
            },
            Quantity::LossShare => Measure::LossShare(self.loss_share()),
            Quantity::Latency => Measure::Latency(self.delay()),
            Quantity::StampDelay => Measure::StampDelay {
                delay: self.delay(),
                stamp: self.stamp()?,
            },
            Quantity::Utilisation => Measure::Utilisation(match self.link.take() {
                Some(link) => Utilisation::Link(link),
                None => self
                    .microengines()?
                    .map_or(Utilisation::Running, Utilisation::Microengines),
            }),
            Quantity::Count => Measure::Count(self.count()?),
            Quantity::Ratio => Measure::Ratio(self.ratio()?),
            Quantity::Code => Measure::Code(self.code()?),
            Quantity::Order => Measure::Order {
                counter: self.counter()?,
                flows: self.flows.take().unwrap_or_default(),
            },
            Quantity::Goodput => Measure::Goodput {
                flows: self.flow_names(),
                statistic: self.statistic.take(),
            },
            Quantity::Share => Measure::Share {
                flows: self.flow_names(),
            },
            Quantity::Jain => Measure::Jain {
                flows: self.flow_names(),
            },
            Quantity::Queue => Measure::Queue {
                link: self.link()?,
                longest: self.longest()?,
            },
            Quantity::Drops => Measure::Drops {
                link: self.link()?,
                per: self.drops_per()?,
            },
            Quantity::Cov => Measure::Cov {
                flows: self.flow_names(),
                delta: self.required_delta()?,
                of: self.variation()?,
            },
            Quantity::Completion => Measure::Completion {
                flows: self.flow_names(),
                statistic: self.statistic.take().unwrap_or_default(),
            },
            Quantity::Settling => Measure::Settling {
                delta: self.required_delta()?,
                of: self.settles()?,
                within: self.within()?,
            },
            Quantity::Window => Measure::Window(self.flow_state()?),
            Quantity::RoundTrip => Measure::RoundTrip(self.flow_state()?),
        })
    }

    /// Returns a key that was given but not taken.
    fn unused_key(&self) -> Option<&'static str> {
        let given = [
            ("statistic", self.statistic.is_some()),
            ("tick", self.tick.is_some()),
            ("at", self.at.is_some()),
            ("bytes", self.bytes.is_some()),
            ("only", self.only.is_some()),
            ("place", self.place.is_some()),
            ("me", self.me.is_some()),
            ("of", !self.of.is_empty()),
            ("over", !self.over.is_empty()),
            ("unit", self.unit.is_some()),
            ("from", self.from.is_some()),
            ("until", self.until.is_some()),
            ("per", self.per.is_some()),
            ("flows", self.flows.is_some()),
            ("fcs", self.fcs.is_some()),
            ("flow", !self.flow.is_empty()),
            ("link", self.link.is_some()),
            ("delta", self.delta.is_some()),
            ("within", self.within.is_some()),
            ("rtt", self.rtt.is_some()),
        ];
        given.iter().find_map(|(key, given)| given.then_some(*key))
    }

    fn delay(&mut self) -> Delay {
        Delay {
            statistic: self.statistic.take().unwrap_or_default(),
            only: self.only.take(),
        }
    }

    fn stamp(&mut self) -> Result<DelayStamp, String> {
        let usual = DelayStamp::default();
        let stamp = DelayStamp {
            at: self.at.take().unwrap_or(usual.at),
            bytes: self.bytes.take().unwrap_or(usual.bytes),
            tick: self.tick.take().unwrap_or(usual.tick),
        };
        if stamp.tick == 0 {
            return Err("a tick has at least one cycle".into());
        }
        if !(1..=MAX_STAMP_BYTES).contains(&stamp.bytes) {
            return Err(format!("a stamp has 1 to {MAX_STAMP_BYTES} bytes"));
        }
        Ok(stamp)
    }

    fn loss_share(&mut self) -> LossShare {
        if let Some(link) = self.link.take() {
            LossShare::Link(link)
        } else if let Some(place) = self.place.take() {
            LossShare::At(place)
        } else if self.flow.is_empty() {
            LossShare::Everywhere
        } else {
            LossShare::Flows(self.flow_names())
        }
    }

    /// Takes the microengines, given by a stage's name or by indices.
    fn microengines(&mut self) -> Result<Option<String>, String> {
        let me = self.me.take();
        me.as_deref().map(microengines::check).transpose()?;
        Ok(me)
    }

    fn count(&mut self) -> Result<CounterGrowth, String> {
        if self.of.is_empty() {
            return Err(
                "`of` must say what is counted, such as [\"units.sram*.commands.*.count\"]".into(),
            );
        }
        Ok(CounterGrowth {
            of: std::mem::take(&mut self.of),
            me: self.microengines()?,
            per: self.per.take(),
        })
    }

    fn ratio(&mut self) -> Result<CounterRatio, String> {
        if self.of.is_empty() || self.over.is_empty() {
            return Err(
                "`of` and `over` must say what is divided, such as [\"locks.L.held_cycles\"] and [\"locks.L.acquired\"]".into(),
            );
        }
        Ok(CounterRatio {
            of: std::mem::take(&mut self.of),
            over: std::mem::take(&mut self.over),
            me: self.microengines()?,
        })
    }

    fn code(&mut self) -> Result<StaticCount, String> {
        let of = match self.word().as_deref() {
            Some("instructions") => CountedCode::Instructions,
            Some("references") => CountedCode::References(self.unit.take()),
            _ => return Err("`of` is \"instructions\" or \"references\"".into()),
        };
        let Some(me) = self.microengines()? else {
            return Err("`me` must say whose code it is: a stage's name, or an index".into());
        };
        Ok(StaticCount {
            of,
            me,
            from: self.from.take(),
            until: self.until.take(),
        })
    }

    /// Takes the only word of `of`.
    fn word(&mut self) -> Option<String> {
        let mut of = std::mem::take(&mut self.of);
        of.pop().filter(|_| of.is_empty())
    }

    fn counter(&mut self) -> Result<Counter, String> {
        let counter = self.word().and_then(|word| word.parse().ok());
        counter.ok_or_else(|| one_of(&Counter::ALL))
    }

    fn flow_names(&mut self) -> FlowNames {
        FlowNames(std::mem::take(&mut self.flow))
    }

    fn link(&mut self) -> Result<String, String> {
        self.link
            .take()
            .ok_or_else(|| "`link` must say at which link".into())
    }

    fn longest(&mut self) -> Result<bool, String> {
        match self.statistic.take() {
            None | Some(Statistic::Mean) => Ok(false),
            Some(Statistic::Max) => Ok(true),
            Some(_) => Err("of a queue `statistic` is \"mean\" or \"max\"".into()),
        }
    }

    fn drops_per(&mut self) -> Result<DropsPer, String> {
        let rtt = interval("rtt", self.rtt.take())?;
        match (self.per.take(), rtt) {
            (None, None) => Ok(DropsPer::Window),
            (Some(Per::Second), None) => Ok(DropsPer::Second),
            (None, Some(rtt)) => Ok(DropsPer::RoundTrip(rtt)),
            _ => Err("drops are given `per` second, or by `rtt`, or as they are".into()),
        }
    }

    fn required_delta(&mut self) -> Result<SampleInterval, String> {
        interval("delta", self.delta.take())?.ok_or_else(|| {
            "`delta` must say how long what is compared lasts, such as \"100ms\"".into()
        })
    }

    fn variation(&mut self) -> Result<Variation, String> {
        if self.of.is_empty() {
            return Ok(Variation::Flow);
        }
        match self.word().as_deref() {
            Some("flow") => Ok(Variation::Flow),
            Some("sum") => Ok(Variation::Sum),
            _ => Err("`of` is \"flow\" or \"sum\"".into()),
        }
    }

    fn settles(&mut self) -> Result<SettlingQuantity, String> {
        Ok(match self.word().as_deref() {
            Some("goodput") => SettlingQuantity::Goodput(self.flow_names()),
            Some("window") => SettlingQuantity::Window(self.flow_names()),
            Some("queue") => SettlingQuantity::Queue(self.link()?),
            Some("utilisation") => SettlingQuantity::Utilisation(self.link()?),
            _ => return Err(one_of(&["goodput", "queue", "utilisation", "window"])),
        })
    }

    fn within(&mut self) -> Result<f64, String> {
        let within = self.within.take().unwrap_or(WITHIN);
        if within > 0.0 && within < 1.0 {
            Ok(within)
        } else {
            Err("`within` is a share between 0 and 1".into())
        }
    }

    fn flow_state(&mut self) -> Result<SenderState, String> {
        Ok(SenderState {
            flows: self.flow_names(),
            statistic: self.statistic.take().unwrap_or_default(),
            delta: interval("delta", self.delta.take())?,
        })
    }
}

/// The message `` `of` is one of "a", "b" ``.
fn one_of(words: &[impl std::fmt::Display]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("`of` is one of {}", words.join(", "))
}

/// Reads a time that is not 0.
fn interval(key: &str, text: Option<String>) -> Result<Option<SampleInterval>, String> {
    let Some(text) = text else {
        return Ok(None);
    };
    let interval = SampleInterval::parse(&text);
    let wrong = || format!("`{key}` is a time such as \"100ms\", not \"{text}\"");
    interval.ok_or_else(wrong).map(Some)
}

#[cfg(test)]
mod tests {
    use crate::metric::Metric;

    fn mistake(text: &str) -> Option<String> {
        let metric: Result<Metric, _> = toml::from_str(text);
        metric.err().map(|error| error.message().to_owned())
    }

    #[test]
    fn keys_of_other_measures_are_refused() {
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
            let mistake = mistake(text).expect(text);
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
            assert_eq!(mistake(good), None, "{good}");
        }
    }

    #[test]
    fn missing_or_foreign_network_keys_are_refused() {
        for (text, expected) in [
            ("measure = \"queue\"", "`link` must say"),
            ("measure = \"drops\"\nflow = \"a\"\nlink = \"b\"", "`flow`"),
            ("measure = \"goodput\"\nlink = \"b\"", "`link`"),
            ("measure = \"latency\"\nlink = \"b\"", "`link`"),
            ("measure = \"jain\"\nstatistic = \"max\"", "`statistic`"),
            ("measure = \"share\"\ndelta = \"1s\"", "`delta`"),
            (
                "measure = \"queue\"\nlink = \"b\"\nstatistic = \"p50\"",
                "\"mean\" or \"max\"",
            ),
            (
                "measure = \"drops\"\nlink = \"b\"\nper = \"packet\"",
                "`per` second",
            ),
            (
                "measure = \"drops\"\nlink = \"b\"\nper = \"second\"\nrtt = \"1s\"",
                "`per` second",
            ),
            ("measure = \"cov\"", "`delta` must say"),
            ("measure = \"cov\"\ndelta = \"0s\"", "a time such as"),
            ("measure = \"cov\"\ndelta = \"10\"", "a time such as"),
            (
                "measure = \"cov\"\ndelta = \"1s\"\nof = \"all\"",
                "\"flow\" or \"sum\"",
            ),
            ("measure = \"settling\"\ndelta = \"1s\"", "`of` is one of"),
            (
                "measure = \"settling\"\nof = \"queue\"\ndelta = \"1s\"",
                "`link` must say",
            ),
            (
                "measure = \"settling\"\nof = \"window\"\ndelta = \"1s\"\nwithin = 1.5",
                "between 0 and 1",
            ),
            (
                "measure = \"utilisation\"\nlink = \"b\"\nme = \"0\"",
                "`me`",
            ),
            ("measure = \"goodput\"\ntick = 1", "`tick`"),
        ] {
            let mistake = mistake(text).expect(text);
            assert!(mistake.contains(expected), "{text}: {mistake}");
        }
        for good in [
            "measure = \"goodput\"\nflow = [\"a\", \"b*\"]\nstatistic = \"min\"",
            "measure = \"queue\"\nlink = \"b\"\nstatistic = \"max\"",
            "measure = \"drops\"\nlink = \"b\"\nrtt = \"500ms\"",
            "measure = \"utilisation\"\nlink = \"b back\"",
            "measure = \"cov\"\ndelta = \"100ms\"\nof = \"sum\"",
            "measure = \"settling\"\nof = \"utilisation\"\nlink = \"b\"\ndelta = \"1s\"",
            "measure = \"window\"\ndelta = \"10ms\"\nstatistic = \"min\"",
            "measure = \"count\"\nof = \"flows.*.timeouts\"",
        ] {
            assert_eq!(mistake(good), None, "{good}");
            let metric: Metric = toml::from_str(good).expect(good);
            assert!(metric.fits_networks(), "{good}");
        }
    }
}
