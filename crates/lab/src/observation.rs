//! The data of a run's window, and the metrics computed from it.

use npsim_chip::Cycle;
use npsim_inspect::stats::Stats;
use npsim_net::ethernet::{FCS_BYTES, MIN_FRAME_BYTES};
use serde_json::Value;

use crate::counters::growth;
use crate::metric::{
    ByteFilter, CounterGrowth, CounterRatio, Delay, DelayStamp, LossPlace, LossShare, Measure,
    Metric, Per, Utilisation,
};
use crate::microengines;
use crate::ordering::Ordering;

/// A frame that left within the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepartedFrame {
    /// Cycles from the last bit in to the last bit out; `None` if the frame was created
    /// inside.
    pub latency: Option<Cycle>,
    /// The first bytes of the frame.
    pub head: [u8; DepartedFrame::HEAD],
    /// The length in bytes, without the frame check sequence.
    pub length: u32,
}

impl DepartedFrame {
    /// Number of bytes kept: all of a minimum-size frame.
    pub const HEAD: usize = 60;

    /// Records a frame.
    #[must_use]
    pub fn new(bytes: &[u8], latency: Option<Cycle>) -> Self {
        let mut head = [0; Self::HEAD];
        let kept = bytes.len().min(Self::HEAD);
        head[..kept].copy_from_slice(&bytes[..kept]);
        Self {
            latency,
            head,
            length: bytes.len() as u32,
        }
    }

    fn counts(&self, only: Option<ByteFilter>) -> bool {
        only.is_none_or(|only| only.accepts(self.bytes()))
    }

    fn bytes(&self) -> &[u8] {
        &self.head[..Self::HEAD.min(self.length as usize)]
    }
}

/// Losses up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossCounts {
    /// Frames lost at the media interface.
    pub media: u64,
    /// Frames counted by the microcode's drop counters.
    pub microcode: u64,
}

/// All data that metrics are computed from.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// Length of the window in cycles.
    pub cycles: Cycle,
    /// Microengine clock in hertz.
    pub hertz: u64,
    /// Frames whose first bit arrived within the window.
    pub offered: u64,
    /// Frames whose last bit left within the window, in order.
    pub left: Vec<DepartedFrame>,
    /// The order in which frames left.
    pub ordering: Ordering,
    /// Losses at the beginning of the window.
    pub lost_before: LossCounts,
    /// Losses at the end of the window.
    pub lost_after: LossCounts,
    /// The chip's counts at the beginning of the window.
    pub before: Value,
    /// The chip's counts at the end of the window.
    pub after: Value,
    /// Named stages, with their microengines.
    pub stages: Vec<(String, Vec<u8>)>,
}

/// The losses that the microcode counted.
#[must_use]
pub fn microcode_losses(stats: &Stats) -> u64 {
    let drops = stats.counters.iter().filter(|counter| counter.drop);
    drops.map(|counter| counter.value).sum()
}

impl Observation {
    /// Computes a metric's value, or returns why there is none.
    ///
    /// # Errors
    /// Returns a description of the problem if there was nothing to measure.
    pub fn value(&self, metric: &Metric) -> Result<f64, String> {
        match &metric.measure {
            Measure::EgressRate => self.mega_per_second(self.left.len() as u64),
            Measure::OfferedRate => self.mega_per_second(self.offered),
            Measure::EgressBitRate { fcs } => {
                let of = |frame: &DepartedFrame| {
                    let length = u64::from(frame.length);
                    if *fcs {
                        length.max(MIN_FRAME_BYTES) + FCS_BYTES
                    } else {
                        length
                    }
                };
                let bits: u64 = self.left.iter().map(|frame| of(frame) * 8).sum();
                // Megabits per second to Gb/s.
                self.mega_per_second(bits).map(|mega| mega / 1000.0)
            }
            Measure::LossRate { place } => self.mega_per_second(self.lost(*place)),
            Measure::LossShare(LossShare::Everywhere) => self.lost_share(None),
            Measure::LossShare(LossShare::At(place)) => self.lost_share(Some(*place)),
            Measure::Latency(delay) => self.latency(*delay),
            Measure::StampDelay { delay, stamp } => self.stamps(*delay, *stamp),
            Measure::Order { counter, flows } => self.ordering.share(*counter, *flows),
            Measure::Utilisation(Utilisation::Running) => self.utilisation(None),
            Measure::Utilisation(Utilisation::Microengines(me)) => self.utilisation(Some(me)),
            Measure::Count(count) => self.count(count),
            Measure::Ratio(ratio) => self.ratio(ratio),
            Measure::Code(_) => Err("it is counted in programs, not in runs".into()),
            _ => Err("a chip has no such quantity".into()),
        }
    }

    fn lost_share(&self, place: Option<LossPlace>) -> Result<f64, String> {
        if self.offered == 0 {
            return Err("no frame came in the window".into());
        }
        Ok(self.lost(place) as f64 * 100.0 / self.offered as f64)
    }

    fn latency(&self, delay: Delay) -> Result<f64, String> {
        let frames = self.left.iter().filter(|frame| frame.counts(delay.only));
        let cycles: Vec<u64> = frames.filter_map(|frame| frame.latency).collect();
        let cycles = { delay.statistic.of(&cycles) }
            .ok_or("no frame that could be traced left in the window")?;
        Ok(self.microseconds(cycles))
    }

    fn count(&self, count: &CounterGrowth) -> Result<f64, String> {
        let sent = self.left.len() as f64;
        let sum = self.growth(count.me.as_deref(), &count.of)?;
        match count.per {
            None => Ok(sum),
            Some(Per::Packet) if self.left.is_empty() => Err("no frame left in the window".into()),
            Some(Per::Packet) => Ok(sum / sent),
            Some(Per::Cycle) => self.nonzero_cycles().map(|cycles| sum / cycles),
            Some(Per::Second) => self
                .nonzero_cycles()
                .map(|cycles| sum * self.hertz as f64 / cycles),
        }
    }

    fn ratio(&self, ratio: &CounterRatio) -> Result<f64, String> {
        let me = ratio.me.as_deref();
        let under = self.growth(me, &ratio.over)?;
        if under == 0.0 {
            return Err(format!("{} did not grow", ratio.over.join(" + ")));
        }
        Ok(self.growth(me, &ratio.of)? / under)
    }

    /// The total growth of the counts at these paths, below these microengines if given.
    fn growth(&self, me: Option<&str>, paths: &[String]) -> Result<f64, String> {
        let mut sum = 0.0;
        for path in paths {
            let Some(me) = me else {
                sum += growth(&self.before, &self.after, path)?;
                continue;
            };
            for index in microengines::named(me, &self.stages)? {
                let path = format!("microengines.{index}.{path}");
                sum += growth(&self.before, &self.after, &path)?;
            }
        }
        Ok(sum)
    }

    fn nonzero_cycles(&self) -> Result<f64, String> {
        if self.cycles == 0 {
            return Err("the run ended before the window began".into());
        }
        Ok(self.cycles as f64)
    }

    fn mega_per_second(&self, count: u64) -> Result<f64, String> {
        let cycles = self.nonzero_cycles()?;
        Ok(count as f64 * self.hertz as f64 / cycles / 1e6)
    }

    fn microseconds(&self, cycles: f64) -> f64 {
        cycles * 1e6 / self.hertz as f64
    }

    fn lost(&self, place: Option<LossPlace>) -> u64 {
        let media = self.lost_after.media - self.lost_before.media;
        let microcode = self
            .lost_after
            .microcode
            .saturating_sub(self.lost_before.microcode);
        match place {
            None => media + microcode,
            Some(LossPlace::Media) => media,
            Some(LossPlace::Microcode) => microcode,
        }
    }

    /// Delays from stamps. A stamp cannot exceed the time simulated so far; larger values
    /// are not stamps.
    fn stamps(&self, delay: Delay, stamp: DelayStamp) -> Result<f64, String> {
        let (at, length) = (stamp.at, stamp.bytes);
        let longest = u128::from(self.run_cycles());
        let mut cycles = Vec::new();
        let mut others = 0_u64;
        for frame in self.left.iter().filter(|frame| frame.counts(delay.only)) {
            let Some(bytes) = frame.bytes().get(at..at + length) else {
                others += 1;
                continue;
            };
            let ticks = bytes
                .iter()
                .fold(0_u64, |sum, &b| (sum << 8) | u64::from(b));
            match u128::from(ticks) * u128::from(stamp.tick) {
                delay if delay <= longest => cycles.push(delay as u64),
                _ => others += 1,
            }
        }
        if others > 0 {
            return Err(format!(
                "{others} of {} frames carry no delay in bytes {at} to {}; does the microcode write it there?",
                others + cycles.len() as u64,
                at + length - 1
            ));
        }
        let value = delay.statistic.of(&cycles);
        let cycles = value.ok_or("no such frame left in the window")?;
        Ok(self.microseconds(cycles))
    }

    /// Cycles from the start of the run to the window's end.
    fn run_cycles(&self) -> Cycle {
        self.after["cycles"].as_u64().unwrap_or(self.cycles)
    }

    fn utilisation(&self, me: Option<&str>) -> Result<f64, String> {
        let cycles = self.nonzero_cycles()?;
        let list = self.after["microengines"].as_array();
        let running: Vec<usize> = match me {
            Some(me) => microengines::named(me, &self.stages)?
                .into_iter()
                .map(usize::from)
                .collect(),
            None => list
                .into_iter()
                .flatten()
                .enumerate()
                .filter(|(_, me)| me["instructions"].as_u64() > Some(0))
                .map(|(index, _)| index)
                .collect(),
        };
        if running.is_empty() {
            return Err("no microengine ran anything".into());
        }
        let mut sum = 0.0;
        for me in &running {
            let path = format!("microengines.{me}.executing");
            sum += growth(&self.before, &self.after, &path)?;
        }
        Ok(sum * 100.0 / cycles / running.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::{DepartedFrame, LossCounts, Observation, Ordering};
    use crate::metric::Metric;
    use serde_json::json;

    fn metric(text: &str) -> Metric {
        toml::from_str(text).expect(text)
    }

    fn frame(stamp: u8, version: u8, latency: Option<u64>) -> DepartedFrame {
        let mut bytes = [0; 60];
        bytes[11] = stamp;
        bytes[14] = version;
        DepartedFrame::new(&bytes, latency)
    }

    fn observation() -> Observation {
        Observation {
            cycles: 6000,
            hertz: 600_000_000,
            offered: 50,
            ordering: Ordering::default(),
            left: vec![
                frame(10, 0x45, Some(600)),
                frame(20, 0x46, Some(1200)),
                frame(30, 0x45, None),
                frame(40, 0x45, Some(1800)),
            ],
            lost_before: LossCounts {
                media: 2,
                microcode: 1,
            },
            lost_after: LossCounts {
                media: 4,
                microcode: 4,
            },
            before: json!({"cycles": 1000, "microengines": [
                {"executing": 100, "instructions": 1}, {"executing": 0, "instructions": 0}],
                "units": [{"name": "sram0", "commands": [{"operation": "read", "count": 3}]}]}),
            after: json!({"cycles": 7000, "microengines": [
                {"executing": 1600, "instructions": 9}, {"executing": 0, "instructions": 0}],
                "units": [{"name": "sram0", "commands": [{"operation": "read", "count": 13}]}]}),
            stages: vec![("work".into(), vec![0])],
        }
    }

    #[test]
    fn rates_are_over_the_window() {
        let o = observation();
        for (text, expected) in [
            ("measure = \"egress-rate\"", 0.4),
            ("measure = \"offered-rate\"", 5.0),
            ("measure = \"egress-bit-rate\"", 0.192),
            ("measure = \"egress-bit-rate\"\nfcs = true", 0.2048),
            ("measure = \"loss-rate\"", 0.5),
            ("measure = \"loss-rate\"\nplace = \"media\"", 0.2),
            ("measure = \"loss-share\"\nplace = \"microcode\"", 6.0),
            ("measure = \"latency\"", 2.0),
            ("measure = \"latency\"\nstatistic = \"max\"", 3.0),
            (
                "measure = \"stamp-delay\"\nstatistic = \"max\"",
                40.0 * 16.0 / 600.0,
            ),
            (
                "measure = \"stamp-delay\"\nonly = { byte = 14, not = 0x45 }",
                20.0 * 16.0 / 600.0,
            ),
            ("measure = \"utilisation\"", 25.0),
            ("measure = \"utilisation\"\nme = \"0-1\"", 12.5),
            ("measure = \"utilisation\"\nme = \"work\"", 25.0),
            (
                "measure = \"ratio\"\nof = \"executing\"\nover = \"instructions\"\nme = \"work\"",
                187.5,
            ),
            (
                "measure = \"ratio\"\nof = \"cycles\"\nover = \"units.sram0.commands.read.count\"",
                600.0,
            ),
            (
                "measure = \"count\"\nof = [\"units.sram0.commands.*.count\"]\nper = \"packet\"",
                2.5,
            ),
            (
                "measure = \"count\"\nof = [\"units.*.commands.read.count\"]\nper = \"second\"",
                1e6,
            ),
        ] {
            let value = o.value(&metric(text)).expect(text);
            assert!((value - expected).abs() < 1e-9, "{text}: {value}");
        }
    }

    #[test]
    fn ratio_over_zero_is_an_error() {
        let o = observation();
        let why = |text: &str| o.value(&metric(text)).unwrap_err();
        let text = "measure = \"ratio\"\nof = \"cycles\"\nover = \"microengines.1.executing\"";
        assert!(why(text).contains("did not grow"));
        let text = "measure = \"ratio\"\nof = \"executing\"\nover = \"idle\"\nme = \"other\"";
        assert!(why(text).contains("no stage `other`"));
    }

    #[test]
    fn frames_without_a_stamp_are_reported() {
        let mut o = observation();
        o.left.push(DepartedFrame::new(&[2; 60], None));
        let why = o.value(&metric("measure = \"stamp-delay\"")).unwrap_err();
        assert!(why.starts_with("1 of 5 frames carry no delay"), "{why}");
        o.left.clear();
        assert!(o.value(&metric("measure = \"stamp-delay\"")).is_err());
        assert!(o.value(&metric("measure = \"latency\"")).is_err());
        assert_eq!(o.value(&metric("measure = \"egress-rate\"")), Ok(0.0));
        o.cycles = 0;
        assert!(o.value(&metric("measure = \"egress-rate\"")).is_err());
    }
}
