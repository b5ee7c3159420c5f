//! What is measured in networks of hosts: which keys it has, its unit and definition.

use npsim_project::quantity::Time;

use super::{Metric, Per, Quantity, Statistic};

/// How far from its end a settled value may be, if it is not said.
const WITHIN: f64 = 0.1;
/// What settling can be asked of.
const SETTLES: [&str; 4] = ["goodput", "queue", "utilisation", "window"];

/// Over what throughput varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Varies {
    /// That of each flow.
    Flow,
    /// That of all chosen flows together.
    Sum,
}

impl Quantity {
    /// Whether it can be measured in networks and nowhere else.
    #[must_use]
    pub(crate) const fn is_of_networks(self) -> bool {
        matches!(
            self,
            Self::Goodput
                | Self::Share
                | Self::Jain
                | Self::Queue
                | Self::Drops
                | Self::Cov
                | Self::Completion
                | Self::Settling
                | Self::Window
                | Self::RoundTrip
        )
    }

    /// Whether it is about one line.
    const fn is_of_lines(self) -> bool {
        matches!(self, Self::Queue | Self::Drops)
    }
}

impl Metric {
    /// Whether a network can have it.
    #[must_use]
    pub(crate) fn fits_networks(&self) -> bool {
        match self.measure {
            Quantity::Utilisation => self.link.is_some(),
            Quantity::LossShare => self.place.is_none(),
            Quantity::Count => self.me.is_none() && self.per.is_none_or(|per| per == Per::Second),
            measure => measure.is_of_networks(),
        }
    }

    /// Whether a chip can have it.
    #[must_use]
    pub(crate) fn fits_chips(&self) -> bool {
        !self.measure.is_of_networks() && self.link.is_none() && self.flow.is_empty()
    }

    /// Time from one sample to the next, picoseconds, where it is sampled.
    #[must_use]
    pub(crate) fn delta(&self) -> Option<u64> {
        picoseconds(self.delta.as_ref()?)
    }

    /// The round-trip time that drops are told by, picoseconds.
    #[must_use]
    pub(crate) fn rtt(&self) -> Option<u64> {
        picoseconds(self.rtt.as_ref()?)
    }

    /// Of settling: how far from its end the value may be.
    #[must_use]
    pub(crate) fn within(&self) -> f64 {
        self.within.unwrap_or(WITHIN)
    }

    /// Of a coefficient of variation: over what.
    #[must_use]
    pub(crate) fn varies(&self) -> Varies {
        if self.of == ["sum"] {
            Varies::Sum
        } else {
            Varies::Flow
        }
    }

    /// Of settling: what settles.
    #[must_use]
    pub(crate) fn settles(&self) -> &str {
        self.of.first().map_or("", String::as_str)
    }

    fn flows_shown(&self) -> String {
        if self.flow.is_empty() {
            "all flows".to_owned()
        } else {
            self.flow.join(", ")
        }
    }

    fn line_shown(&self) -> &str {
        self.link.as_deref().unwrap_or_default()
    }

    pub(super) fn network_shown(&self) -> Option<String> {
        let of = |what: &str| Some(format!("{what} of {}", self.flows_shown()));
        let at = |what: &str| Some(format!("{what} at {}", self.line_shown()));
        match self.measure {
            Quantity::Utilisation if self.link.is_some() => at("utilisation"),
            Quantity::LossShare if self.link.is_some() => at("share lost"),
            Quantity::LossShare if !self.flow.is_empty() => of("share lost"),
            Quantity::Goodput => of("goodput"),
            Quantity::Share => of("share"),
            Quantity::Jain => of("Jain's index"),
            Quantity::Queue if self.statistic == Some(Statistic::Max) => at("longest queue"),
            Quantity::Queue => at("queue"),
            Quantity::Drops => at("drops"),
            Quantity::Cov => of("COV"),
            Quantity::Completion => of("completion time"),
            Quantity::Settling => Some(format!("settling time of the {}", self.settles())),
            Quantity::Window => of("window"),
            Quantity::RoundTrip => of("round-trip time"),
            _ => None,
        }
    }

    pub(super) fn network_unit(&self) -> &'static str {
        match self.measure {
            Quantity::Goodput => "Mb/s",
            Quantity::Share => "%",
            Quantity::Queue | Quantity::Window => "KB",
            Quantity::Drops if self.rtt.is_some() => "packets/RTT",
            Quantity::Drops if self.per.is_some() => "packets/s",
            Quantity::Drops => "packets",
            Quantity::Completion | Quantity::Settling => "s",
            Quantity::RoundTrip => "ms",
            _ => "",
        }
    }

    pub(super) fn network_definition(&self) -> Option<String> {
        let (flows, line) = (self.flows_shown(), self.line_shown());
        let statistic = self.statistic.unwrap_or_default().name();
        let delta = self.delta.as_deref().unwrap_or_default();
        let each = match self.statistic {
            None => String::new(),
            Some(statistic) => format!("{} over flows of the ", statistic.name()),
        };
        Some(match self.measure {
            Quantity::Utilisation if self.link.is_some() => {
                format!("time in which {line} sent, as a share of the window")
            }
            Quantity::LossShare if self.link.is_some() => format!(
                "packets that the queue before {line} dropped or the line lost in the window, as a share of those that came to it"
            ),
            Quantity::LossShare if !self.flow.is_empty() => format!(
                "packets of {flows}, both ways, that queues dropped or lines lost in the window, as a share of those sent in it"
            ),
            Quantity::Goodput => format!(
                "{each}data that was delivered to the receivers of {flows} in the window, without gaps, over the window"
            ),
            Quantity::Share => format!(
                "data of {flows} that was delivered in the window, as a share of that of all flows"
            ),
            Quantity::Jain => {
                format!("Jain's index of the data that each of {flows} delivered in the window")
            }
            Quantity::Queue if self.statistic == Some(Statistic::Max) => {
                format!("most bytes that waited before {line} at once in the window")
            }
            Quantity::Queue => format!(
                "bytes that wait before {line}, without the packet on it, averaged over the time of the window"
            ),
            Quantity::Drops => {
                let by = match (&self.rtt, self.per) {
                    (Some(rtt), _) => format!(", by round-trip times of {rtt}"),
                    (None, Some(_)) => ", over the window".to_owned(),
                    (None, None) => String::new(),
                };
                format!("packets that the queue before {line} dropped in the window{by}")
            }
            Quantity::Cov => {
                let of = match self.varies() {
                    Varies::Flow => format!("each of {flows}, averaged over them"),
                    Varies::Sum => format!("{flows} together"),
                };
                format!(
                    "standard deviation over mean of the bytes that reach the receivers in every {delta} of the window, of {of}"
                )
            }
            Quantity::Completion => format!(
                "{statistic} time from the start of each of {flows} until all its data was acknowledged"
            ),
            Quantity::Settling => format!(
                "time from the begin of the window after which the {} in every {delta} stays within {:.0} % of its mean over the last quarter of the window",
                self.settles(),
                self.within() * 100.0
            ),
            Quantity::Window if self.delta.is_some() => format!(
                "{statistic} congestion window of {flows}, looked at every {delta} of the window, payload"
            ),
            Quantity::Window => {
                format!("{statistic} congestion window of {flows} at the window's end, payload")
            }
            Quantity::RoundTrip if self.delta.is_some() => format!(
                "{statistic} smoothed round-trip time at the senders of {flows}, looked at every {delta} of the window"
            ),
            Quantity::RoundTrip => format!(
                "{statistic} smoothed round-trip time at the senders of {flows} at the window's end"
            ),
            _ => return None,
        })
    }

    /// What is contradictory or lacking of a quantity of networks, if anything; keys that all
    /// quantities share are looked at elsewhere.
    pub(super) fn network_mistake(&self) -> Option<String> {
        use Quantity::{
            Completion, Cov, Drops, Goodput, LossShare, Queue, RoundTrip, Settling, Utilisation,
            Window,
        };
        let measure = self.measure;
        let network = measure.is_of_networks();
        let settles_line = measure == Settling && matches!(self.settles(), "queue" | "utilisation");
        let has_link =
            measure.is_of_lines() || matches!(measure, Utilisation | LossShare) || settles_line;
        let sampled = matches!(measure, Cov | Settling | Window | RoundTrip);
        let fits = [
            ("link", self.link.is_none() || has_link),
            (
                "flow",
                self.flow.is_empty()
                    || measure == LossShare
                    || network && !measure.is_of_lines() && !settles_line,
            ),
            ("delta", self.delta.is_none() || sampled),
            ("within", self.within.is_none() || measure == Settling),
            ("rtt", self.rtt.is_none() || measure == Drops),
            (
                "statistic",
                !network
                    || self.statistic.is_none()
                    || matches!(measure, Goodput | Queue | Completion | Window | RoundTrip),
            ),
            (
                "of",
                !network || self.of.is_empty() || matches!(measure, Cov | Settling),
            ),
            ("per", !network || self.per.is_none() || measure == Drops),
            ("me", self.me.is_none() || self.link.is_none()),
            ("place", self.place.is_none() || self.link.is_none()),
            (
                "flow",
                self.flow.is_empty() || measure != LossShare || self.link.is_none(),
            ),
        ];
        if let Some((key, _)) = fits.iter().find(|(_, fits)| !fits) {
            return Some(format!("`{key}` says nothing about this measure"));
        }
        if self.link.is_none() && (measure.is_of_lines() || settles_line) {
            return Some("`link` must say at which link".into());
        }
        if measure == Queue
            && !matches!(
                self.statistic,
                None | Some(Statistic::Mean | Statistic::Max)
            )
        {
            return Some("of a queue `statistic` is \"mean\" or \"max\"".into());
        }
        if measure == Drops {
            let both = self.per.is_some() && self.rtt.is_some();
            if both || self.per.is_some_and(|per| per != Per::Second) {
                return Some("drops are told `per` second, or by `rtt`, or as they are".into());
            }
        }
        if matches!(measure, Cov | Settling) && self.delta.is_none() {
            return Some(
                "`delta` must say how long what is compared lasts, such as \"100ms\"".into(),
            );
        }
        if measure == Cov && !self.of.is_empty() && self.of != ["flow"] && self.of != ["sum"] {
            return Some("`of` is \"flow\" or \"sum\"".into());
        }
        if measure == Settling
            && !matches!(self.of.as_slice(), [one] if SETTLES.contains(&one.as_str()))
        {
            let known = SETTLES.map(|name| format!("\"{name}\""));
            return Some(format!("`of` is one of {}", known.join(", ")));
        }
        if self
            .within
            .is_some_and(|within| !(within > 0.0 && within < 1.0))
        {
            return Some("`within` is a share between 0 and 1".into());
        }
        let times = [("delta", &self.delta), ("rtt", &self.rtt)];
        times.iter().find_map(|(key, text)| {
            let text = text.as_ref()?;
            match picoseconds(text) {
                Some(_) => None,
                None => Some(format!(
                    "`{key}` is a time such as \"100ms\", not \"{text}\""
                )),
            }
        })
    }
}

/// A time that is not 0, in picoseconds.
fn picoseconds(text: &str) -> Option<u64> {
    match text.parse() {
        Ok(Time::Picoseconds(time)) if time > 0 => Some(time),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::metric::Metric;

    fn metric(text: &str) -> Metric {
        toml::from_str(text).expect(text)
    }

    #[test]
    fn keys_that_are_missing_or_say_nothing_are_mistakes() {
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
            let mistake = metric(text).mistake().expect(text);
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
            assert_eq!(metric(good).mistake(), None, "{good}");
            assert!(metric(good).fits_networks(), "{good}");
        }
    }
}
