//! Titles, units and exact definitions of metrics.

use super::network::{DropsPer, LossShare, Utilisation, Variation};
use super::{
    ByteFilter, CountedCode, Delay, LossPlace, Measure, MemoryUnit, Metric, ObservedFlows, Per,
    SenderState, StaticCount,
};

impl Metric {
    /// The title.
    #[must_use]
    pub fn shown(&self) -> String {
        self.title.clone().unwrap_or_else(|| self.measure.shown())
    }

    /// The unit; empty if it has none.
    #[must_use]
    pub const fn unit(&self) -> &'static str {
        self.measure.unit()
    }

    /// The exact definition, in one sentence.
    #[must_use]
    pub fn definition(&self) -> String {
        self.measure.definition()
    }
}

impl Measure {
    fn shown(&self) -> String {
        match self {
            Self::EgressRate => "egress rate".into(),
            Self::EgressBitRate { .. } => "egress bit rate".into(),
            Self::OfferedRate => "offered rate".into(),
            Self::LossRate { .. } => "loss".into(),
            Self::LossShare(LossShare::Everywhere | LossShare::At(_)) => "share lost".into(),
            Self::LossShare(LossShare::Link(link)) => format!("share lost at {link}"),
            Self::LossShare(LossShare::Flows(flows)) => format!("share lost of {flows}"),
            Self::Latency(_) => "latency".into(),
            Self::StampDelay { .. } => "internal delay".into(),
            Self::Utilisation(Utilisation::Link(link)) => format!("utilisation at {link}"),
            Self::Utilisation(_) => "utilisation".into(),
            Self::Count(count) => count.of.join(" + "),
            Self::Ratio(ratio) => format!("{} / {}", ratio.of.join(" + "), ratio.over.join(" + ")),
            Self::Code(count) => count.shown(),
            Self::Order { counter, .. } => counter.shown().into(),
            Self::Goodput { flows, .. } => format!("goodput of {flows}"),
            Self::Share { flows } => format!("share of {flows}"),
            Self::Jain { flows } => format!("Jain's index of {flows}"),
            Self::Queue {
                link,
                longest: true,
            } => format!("longest queue at {link}"),
            Self::Queue { link, .. } => format!("queue at {link}"),
            Self::Drops { link, .. } => format!("drops at {link}"),
            Self::Cov { flows, .. } => format!("COV of {flows}"),
            Self::Completion { flows, .. } => format!("completion time of {flows}"),
            Self::Settling { of, .. } => format!("settling time of the {}", of.name()),
            Self::Window(SenderState { flows, .. }) => format!("window of {flows}"),
            Self::RoundTrip(SenderState { flows, .. }) => format!("round-trip time of {flows}"),
        }
    }

    const fn unit(&self) -> &'static str {
        match self {
            Self::EgressRate | Self::OfferedRate | Self::LossRate { .. } => "Mpps",
            Self::EgressBitRate { .. } => "Gb/s",
            Self::LossShare(_) | Self::Utilisation(_) | Self::Order { .. } | Self::Share { .. } => {
                "%"
            }
            Self::Latency(_) | Self::StampDelay { .. } => "us",
            Self::Count(count) => match count.per {
                Some(Per::Packet) => "per packet",
                Some(Per::Cycle) => "per cycle",
                Some(Per::Second) => "per second",
                None => "",
            },
            Self::Ratio(_) | Self::Code(_) | Self::Jain { .. } | Self::Cov { .. } => "",
            Self::Goodput { .. } => "Mb/s",
            Self::Queue { .. } | Self::Window(_) => "KB",
            Self::Drops { per, .. } => match per {
                DropsPer::RoundTrip(_) => "packets/RTT",
                DropsPer::Second => "packets/s",
                DropsPer::Window => "packets",
            },
            Self::Completion { .. } | Self::Settling { .. } => "s",
            Self::RoundTrip(_) => "ms",
        }
    }

    fn definition(&self) -> String {
        match self {
            Self::EgressRate => "frames whose last bit left in the window, over the window".into(),
            Self::EgressBitRate { fcs } => {
                let without = if *fcs {
                    "preamble and gap"
                } else {
                    "preamble, gap and check sequence"
                };
                format!(
                    "bits of frames whose last bit left in the window, without {without}, over the window"
                )
            }
            Self::OfferedRate => {
                "frames whose first bit came in the window, over the window".into()
            }
            Self::LossRate { place } => {
                let at = place.map_or("", LossPlace::phrase);
                format!("frames lost{at} in the window, over the window")
            }
            Self::LossShare(of) => of.definition(),
            Self::Latency(delay) => format!(
                "{} time from the last bit in to the last bit out, of frames{} that left in the window",
                delay.statistic.name(),
                delay.frames()
            ),
            Self::StampDelay { delay, stamp } => format!(
                "{} delay that the microcode wrote to bytes {} to {} of the frame, in ticks of {} microengine cycles, of frames{} that left in the window",
                delay.statistic.name(),
                stamp.at,
                stamp.at + stamp.bytes - 1,
                stamp.tick,
                delay.frames()
            ),
            Self::Utilisation(of) => of.definition(),
            Self::Count(count) => format!(
                "growth of {}{} in the window",
                count.of.join(" + "),
                of_microengines(count.me.as_deref())
            ),
            Self::Ratio(ratio) => format!(
                "growth of {} over growth of {}{} in the window",
                ratio.of.join(" + "),
                ratio.over.join(" + "),
                of_microengines(ratio.me.as_deref())
            ),
            Self::Code(count) => count.definition(),
            Self::Order { counter, flows } => {
                let of = match flows {
                    ObservedFlows::All => "",
                    ObservedFlows::One => " of the first flow and of those that take its place",
                };
                format!(
                    "{} among the packets{of} that left in the window, as a share of them; all that left before are compared with",
                    counter.name()
                )
            }
            _ => self.network_definition(),
        }
    }

    /// The definitions of metrics that only networks have.
    fn network_definition(&self) -> String {
        match self {
            Self::Goodput { flows, statistic } => {
                let each = statistic.map_or_else(String::new, |statistic| {
                    format!("{} over flows of the ", statistic.name())
                });
                format!(
                    "{each}data that was delivered to the receivers of {flows} in the window, without gaps, over the window"
                )
            }
            Self::Share { flows } => format!(
                "data of {flows} that was delivered in the window, as a share of that of all flows"
            ),
            Self::Jain { flows } => {
                format!("Jain's index of the data that each of {flows} delivered in the window")
            }
            Self::Queue {
                link,
                longest: true,
            } => format!("most bytes that waited before {link} at once in the window"),
            Self::Queue { link, .. } => format!(
                "bytes that wait before {link}, without the packet on it, averaged over the time of the window"
            ),
            Self::Drops { link, per } => {
                let by = match per {
                    DropsPer::RoundTrip(rtt) => format!(", by round-trip times of {rtt}"),
                    DropsPer::Second => ", over the window".to_owned(),
                    DropsPer::Window => String::new(),
                };
                format!("packets that the queue before {link} dropped in the window{by}")
            }
            Self::Cov { flows, of, delta } => {
                let of = match of {
                    Variation::Flow => format!("each of {flows}, averaged over them"),
                    Variation::Sum => format!("{flows} together"),
                };
                format!(
                    "standard deviation over mean of the bytes that reach the receivers in every {delta} of the window, of {of}"
                )
            }
            Self::Completion { flows, statistic } => format!(
                "{} time from the start of each of {flows} until all its data was acknowledged",
                statistic.name()
            ),
            Self::Settling { of, delta, within } => format!(
                "time from the begin of the window after which the {} in every {delta} stays within {:.0} % of its mean over the last quarter of the window",
                of.name(),
                within * 100.0
            ),
            Self::Window(state) => {
                let sampling_phrase = state.sampling_phrase();
                let statistic = state.statistic.name();
                format!(
                    "{statistic} congestion window of {}{sampling_phrase}, payload",
                    state.flows
                )
            }
            Self::RoundTrip(state) => format!(
                "{} smoothed round-trip time at the senders of {}{}",
                state.statistic.name(),
                state.flows,
                state.sampling_phrase()
            ),
            _ => String::new(),
        }
    }
}

impl SenderState {
    fn sampling_phrase(&self) -> String {
        self.delta.as_ref().map_or_else(
            || " at the window's end".to_owned(),
            |delta| format!(", looked at every {delta} of the window"),
        )
    }
}

impl Delay {
    /// The phrase that qualifies the word "frames"; empty if all count.
    fn frames(&self) -> String {
        self.only.map_or_else(String::new, ByteFilter::phrase)
    }
}

impl ByteFilter {
    fn phrase(self) -> String {
        let is = self.is.map(|is| format!("is {is:#04x}"));
        let not = self.not.map(|not| format!("is not {not:#04x}"));
        let tests: Vec<_> = is.into_iter().chain(not).collect();
        format!(" whose byte {} {}", self.byte, tests.join(" and "))
    }
}

impl LossPlace {
    const fn phrase(self) -> &'static str {
        match self {
            Self::Media => " at the media interface",
            Self::Microcode => " by counters of the microcode",
        }
    }
}

impl LossShare {
    fn definition(&self) -> String {
        match self {
            Self::Everywhere => {
                "frames lost in the window, as a share of those that came in it".into()
            }
            Self::At(place) => format!(
                "frames lost{} in the window, as a share of those that came in it",
                place.phrase()
            ),
            Self::Link(link) => format!(
                "packets that the queue before {link} dropped or the line lost in the window, as a share of those that came to it"
            ),
            Self::Flows(flows) => format!(
                "packets of {flows}, both ways, that queues dropped or lines lost in the window, as a share of those sent in it"
            ),
        }
    }
}

impl Utilisation {
    fn definition(&self) -> String {
        let which = match self {
            Self::Running => "the microengines that run something".to_owned(),
            Self::Microengines(me) => format!("microengines {me}"),
            Self::Link(link) => {
                return format!("time in which {link} sent, as a share of the window");
            }
        };
        format!("cycles in which {which} executed instructions, as a share of the window")
    }
}

impl StaticCount {
    /// The title, such as `SRAM references of processing`.
    fn shown(&self) -> String {
        match self.of {
            CountedCode::Instructions => format!("instructions of {}", self.me),
            CountedCode::References(unit) => {
                let unit = unit.map_or("memory", MemoryUnit::name);
                format!("{unit} references of {}", self.me)
            }
        }
    }

    fn definition(&self) -> String {
        let from = self.from.as_ref().map(|label| format!(" from {label}"));
        let until = self.until.as_ref().map(|label| format!(" until {label}"));
        format!(
            "{}{}{}, counted in the assembled program",
            self.shown(),
            from.unwrap_or_default(),
            until.unwrap_or_default()
        )
    }
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

fn of_microengines(me: Option<&str>) -> String {
    me.map_or_else(String::new, |me| format!(" of microengines {me}"))
}

#[cfg(test)]
mod tests {
    use crate::metric::Metric;

    fn metric(text: &str) -> Metric {
        toml::from_str(text).expect(text)
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
