//! The tasks of congestion control: their memories, groups of ports and
//! parameters.

use std::ops::Range;

use npsim_chip::gpp::boot::TaskSetup;
use npsim_chip::gpp::quick_start::{self, QuickStartGroup, QuickStartSetup};
use npsim_chip::gpp::rcp::{self, RcpGroup, RcpSetup};
use npsim_chip::gpp::xcp::{self, ThreadSums, XcpGroup, XcpLayout, XcpSetup};
use npsim_congestion::ParameterError;
use npsim_congestion::quick_start::window::units_of_rate;
use npsim_congestion::rcp::{Parameters as RcpParameters, Rate};
use npsim_congestion::xcp::{Control, Parameters as XcpParameters, time_from_nanoseconds};
use toml::Spanned;

use super::super::file::ProjectFile;
use super::super::slow_path::{Decimal, QuickStartSection, RcpSection, XcpLayoutKind, XcpSection};
use super::Resolver;
use super::routing::has_task;
use super::task_keys::Memory;
use crate::quantity::{decimal, parse_rate};

/// Bytes from one port's counters to the next, and where the low half of the bytes
/// that it sent stands.
const PORT_STRIDE: u32 = 32;
const PORT_BYTES_OUT_LOW: u32 = 28;

impl Resolver<'_> {
    pub(super) fn slow_path(&mut self, file: &ProjectFile) {
        let gpp = &file.gpp;
        if let Some(section) = self.section(file, "quick-start", gpp.quick_start.as_ref())
            && let Some(setup) = self.quick_start(section)
        {
            self.boot.tasks.push(TaskSetup::QuickStart(setup));
        }
        if let Some(section) = self.section(file, "xcp", gpp.xcp.as_ref())
            && let Some(setup) = self.xcp(section)
        {
            self.boot.tasks.push(TaskSetup::Xcp(setup));
        }
        if let Some(section) = self.section(file, "rcp", gpp.rcp.as_ref())
            && let Some(setup) = self.rcp(section)
        {
            self.boot.tasks.push(TaskSetup::Rcp(setup));
        }
    }

    /// A task's section, if the task runs and has one.
    fn section<'s, T>(
        &mut self,
        file: &ProjectFile,
        task: &str,
        section: Option<&'s Spanned<T>>,
    ) -> Option<&'s Spanned<T>> {
        let runs = has_task(file, task);
        match section {
            Some(section) if !runs => self.fail(
                section.span(),
                format!("[gpp.{task}] is given, but the task does not run"),
                "",
                &format!("add \"{task}\" to `tasks` in [gpp]"),
            ),
            None if runs => {
                let named = file.gpp.tasks.iter().find(|it| it.get_ref() == task);
                let span = named.map_or(0..0, Spanned::span);
                self.fail(
                    span,
                    format!("the {task} task has no section"),
                    "",
                    &format!("add [gpp.{task}]; it may be empty where every key has a default"),
                );
            }
            _ => return section,
        }
        None
    }

    fn quick_start(&mut self, section: &Spanned<QuickStartSection>) -> Option<QuickStartSetup> {
        let before = self.problems.len();
        let (span, keys) = (section.span(), section.get_ref());
        let common = self.common(span.clone(), keys.groups.as_ref(), keys.capacity.as_ref())?;
        let count = common.groups.len() as u64;
        let state = Memory {
            key: "state",
            name: keys.state.as_ref(),
            default: "QS_STATE",
        };
        let state = self.task_memory(&span, &state, count * u64::from(quick_start::STATE_STRIDE));
        let ports = common.groups.iter().flatten().max().map_or(0, |it| it + 1);
        let counters = Memory {
            key: "counters",
            name: keys.counters.as_ref(),
            default: "PORT_COUNTERS",
        };
        let counters = self.task_memory(&span, &counters, u64::from(ports) * 32);
        let window = self.time(keys.window.as_ref(), "150ms");
        let sample = match &keys.sample {
            Some(typed) => self.time(Some(typed), "150ms"),
            None => window,
        };
        if let Some(typed) = keys.sample.as_ref().filter(|_| sample > window) {
            self.fail(
                typed.span(),
                "a sample is longer than the window",
                "",
                "windows would end before anything is known of the traffic; use at most the time of `window`, or leave `sample` out",
            );
        }
        let grace = match &keys.grace {
            Some(typed) => self.time(Some(typed), "1ms"),
            None => self.time(None, "1ms").min(window / 10).max(1),
        };
        if grace >= window {
            let place = keys.grace.as_ref().or(keys.window.as_ref());
            self.fail(
                place.map_or(span.clone(), Spanned::span),
                "the grace is not shorter than the window",
                "",
                "the grants of a window are read for good before the next one ends",
            );
        }
        let hertz = self.capacity.hertz;
        let fastest = self.boot.ports.iter().map(|it| it.bits_per_second).max();
        let bits = u128::from(fastest.unwrap_or(0)) * u128::from(sample) / u128::from(hertz.max(1));
        if bits / 8 > u128::from(u32::MAX) {
            self.fail(
                keys.sample
                    .as_ref()
                    .or(keys.window.as_ref())
                    .map_or(span.clone(), Spanned::span),
                "a port can send more than 4 GB between two samples",
                "",
                "the core tells bytes from the low half of a counter; use a shorter `sample`",
            );
        }
        let samples = keys.samples.as_ref().map_or(3, |it| *it.get_ref());
        if !(1..=1000).contains(&samples) {
            let place = keys.samples.as_ref().map_or(span.clone(), Spanned::span);
            let message = format!("the largest of {samples} samples cannot count");
            self.fail(place, message, "", "use 1 to 1000");
        }
        let mut groups = Vec::new();
        for (ports, bits) in common.groups.iter().zip(&common.capacity) {
            let capacity = units_of_rate(*bits);
            groups.push(QuickStartGroup {
                capacity,
                threshold: self.threshold(&keys.threshold, capacity)?,
                counters: counters.map_or_else(Vec::new, |place| {
                    let of = |port: &u16| u32::from(*port) * PORT_STRIDE + PORT_BYTES_OUT_LOW;
                    ports.iter().map(|port| place.after(of(port))).collect()
                }),
            });
        }
        (self.problems.len() == before).then_some(())?;
        Some(QuickStartSetup {
            state: state?,
            groups,
            window,
            grace,
            sample,
            samples,
        })
    }

    /// A rate, or a share of the capacity, in units of 40 kbit/s.
    fn threshold(&mut self, typed: &Spanned<Decimal>, capacity: i64) -> Option<i64> {
        const SHARE: &str =
            "write a rate such as \"1Gbps\", or a share of the capacity such as 0.9 or \"90%\"";
        let text = typed.get_ref().text();
        // `1` is all of the capacity, in quotes too, and not one bit per second.
        let plain = decimal(&text, 1_000_000);
        let share = match (typed.get_ref(), text.strip_suffix('%')) {
            (_, Some(percent)) => decimal(percent.trim(), 10_000),
            (Decimal::Text(_), None) if plain.is_none() => match parse_rate(&text) {
                Ok(rate) => {
                    let units = units_of_rate(rate);
                    if units > capacity {
                        self.fail(
                            typed.span(),
                            format!("the threshold of {text} is above the capacity"),
                            "",
                            SHARE,
                        );
                        return None;
                    }
                    return Some(units);
                }
                Err(_) => None,
            },
            _ => plain,
        };
        let Some(share) = share.filter(|share| (1..=1_000_000).contains(share)) else {
            let message = format!("`{text}` is no threshold");
            self.fail(typed.span(), message, "", SHARE);
            return None;
        };
        Some((i128::from(capacity) * i128::from(share) / 1_000_000) as i64)
    }

    fn xcp(&mut self, section: &Spanned<XcpSection>) -> Option<XcpSetup> {
        let before = self.problems.len();
        let (span, keys) = (section.span(), section.get_ref());
        let common = self.common(span.clone(), keys.groups.as_ref(), keys.capacity.as_ref())?;
        let count = common.groups.len() as u64;
        let state = Memory {
            key: "state",
            name: keys.state.as_ref(),
            default: "XCP_STATE",
        };
        let state = self.task_memory(&span, &state, count * u64::from(xcp::STATE_STRIDE));
        self.xcp_registers(keys, &span);
        let split = keys.layout.as_ref().map(|it| (*it.get_ref(), it.span()));
        let layout = match split {
            Some((XcpLayoutKind::Split, place)) => {
                if keys.sums.is_none() {
                    self.fail(
                        place,
                        "the layout `split` has no room for sums",
                        "",
                        "give `sums`, the memory in which each thread keeps its own",
                    );
                }
                if let Some(lock) = keys.lock.as_ref().filter(|it| *it.get_ref()) {
                    self.fail(
                        lock.span(),
                        "the layout `split` has no lock",
                        "",
                        "remove `lock`, or use the layout `locked`",
                    );
                }
                XcpLayout::Split
            }
            _ => XcpLayout::Locked {
                lock: keys.lock.as_ref().is_none_or(|it| *it.get_ref()),
            },
        };
        let sums = keys.sums.as_ref().and_then(|name| {
            let memory = Memory {
                key: "sums",
                name: Some(name),
                default: "",
            };
            let stride = u64::from(xcp::SUMS_STRIDE) * count;
            let (place, threads) =
                self.per_thread(&span, &memory, keys.threads.as_ref(), stride)?;
            Some(ThreadSums { place, threads })
        });
        if let (None, Some(threads)) = (&keys.sums, &keys.threads) {
            self.fail(
                threads.span(),
                "`threads` is given, but no `sums` per thread",
                "",
                "give `sums`, or remove `threads`",
            );
        }
        let time = |it: &mut Self, key, default| {
            time_from_nanoseconds(it.nanoseconds(Option::as_ref(key), default))
        };
        let first = XcpParameters {
            capacity: 1,
            alpha: self.millionths(keys.alpha.as_ref(), "0.4"),
            beta: self.millionths(keys.beta.as_ref(), "0.226"),
            gamma: self.millionths(keys.gamma.as_ref(), "0.1"),
            initial_interval: time(self, &keys.initial_interval, "50ms"),
            min_interval: time(self, &keys.min_interval, "10ms"),
            max_interval: time(self, &keys.max_interval, "1s"),
            allowed_queue: time(self, &keys.allowed_queue, "2ms"),
        };
        let queues = self.queue_places(&span, keys.queues.as_ref(), &common.groups);
        (self.problems.len() == before).then_some(())?;
        let mut groups = Vec::new();
        for (bits, queues) in common.capacity.iter().zip(queues) {
            let capacity = bits / 8;
            let parameters = XcpParameters { capacity, ..first };
            match Control::new(parameters) {
                Ok(control) => groups.push(XcpGroup { control, queues }),
                Err(error) => {
                    let places = [
                        ("capacity", keys.capacity.as_ref().map(Spanned::span)),
                        ("alpha", keys.alpha.as_ref().map(Spanned::span)),
                        ("beta", keys.beta.as_ref().map(Spanned::span)),
                        ("gamma", keys.gamma.as_ref().map(Spanned::span)),
                        (
                            "initial_interval",
                            keys.initial_interval.as_ref().map(Spanned::span),
                        ),
                        (
                            "min_interval",
                            keys.min_interval.as_ref().map(Spanned::span),
                        ),
                        (
                            "max_interval",
                            keys.max_interval.as_ref().map(Spanned::span),
                        ),
                        (
                            "allowed_queue",
                            keys.allowed_queue.as_ref().map(Spanned::span),
                        ),
                    ];
                    self.out_of_range(&places, &common.span, error);
                    return None;
                }
            }
        }
        Some(XcpSetup {
            state: state?,
            layout,
            sums,
            groups,
        })
    }

    /// A coprocessor has registers for the pools, and nothing for a lock or sums.
    fn xcp_registers(&mut self, keys: &XcpSection, span: &Range<usize>) {
        let name = keys.state.as_ref().map_or("XCP_STATE", |it| it.get_ref());
        let setup = self.boot.coprocessor.as_ref();
        if setup.is_none_or(|setup| setup.registers(name).is_none()) {
            return;
        }
        let unlocked = keys.lock.as_ref().is_some_and(|it| !it.get_ref());
        let locked = keys
            .layout
            .as_ref()
            .is_none_or(|it| *it.get_ref() == XcpLayoutKind::Locked);
        if !unlocked || !locked || keys.sums.is_none() {
            let place = keys.state.as_ref().map_or(span.clone(), Spanned::span);
            self.fail(
                place,
                format!("the coprocessor has no lock, no banks and no sums in `{name}`"),
                "",
                "give `lock = false` and `sums`, the memory in which each thread keeps its own; leave `layout` out",
            );
        }
    }

    fn rcp(&mut self, section: &Spanned<RcpSection>) -> Option<RcpSetup> {
        let before = self.problems.len();
        let (span, keys) = (section.span(), section.get_ref());
        let common = self.common(span.clone(), keys.groups.as_ref(), keys.capacity.as_ref())?;
        let count = common.groups.len() as u64;
        let rate = Memory {
            key: "rate",
            name: keys.rate.as_ref(),
            default: "RCP_RATE",
        };
        let rate = self.task_memory(&span, &rate, count * 4);
        let counters = Memory {
            key: "counters",
            name: keys.counters.as_ref(),
            default: "RCP_COUNTERS",
        };
        let stride = u64::from(rcp::COUNTERS_STRIDE) * count;
        let counters = self.per_thread(&span, &counters, keys.threads.as_ref(), stride);
        let eta = self.millionths(keys.eta.as_ref(), "1");
        let (alpha, beta) = (
            self.millionths(keys.alpha.as_ref(), "0.4"),
            self.millionths(keys.beta.as_ref(), "0.4"),
        );
        let period = self.nanoseconds(keys.period.as_ref(), "10ms");
        let initial_rtt = self.nanoseconds(keys.initial_rtt.as_ref(), "200ms");
        let initial_rate = keys.initial_rate.as_ref().and_then(|it| self.rate(it));
        let queues = self.queue_places(&span, keys.queues.as_ref(), &common.groups);
        (self.problems.len() == before).then_some(())?;
        let mut groups = Vec::new();
        for (bits, queues) in common.capacity.iter().zip(queues) {
            let capacity = bits / 8;
            let first = initial_rate.map_or(capacity / 20, |bits| bits / 8);
            let parameters = RcpParameters {
                capacity,
                target: (u128::from(capacity) * u128::from(eta) / 1_000_000) as u64,
                alpha,
                beta,
                period,
                initial_rate: u32::try_from(first).unwrap_or(u32::MAX),
                initial_rtt,
            };
            match Rate::new(parameters) {
                Ok(rate) => groups.push(RcpGroup { rate, queues }),
                Err(error) => {
                    let places = [
                        ("capacity", keys.capacity.as_ref().map(Spanned::span)),
                        ("eta", keys.eta.as_ref().map(Spanned::span)),
                        ("alpha", keys.alpha.as_ref().map(Spanned::span)),
                        ("beta", keys.beta.as_ref().map(Spanned::span)),
                        ("period", keys.period.as_ref().map(Spanned::span)),
                        (
                            "initial_rate",
                            keys.initial_rate.as_ref().map(Spanned::span),
                        ),
                        ("initial_rtt", keys.initial_rtt.as_ref().map(Spanned::span)),
                    ];
                    self.out_of_range(&places, &common.span, error);
                    return None;
                }
            }
        }
        let (counters, threads) = counters?;
        Some(RcpSetup {
            rate: rate?,
            counters,
            threads,
            groups,
        })
    }

    /// A law refuses a parameter: the mistake is where its key stands, or, if it
    /// was left out, in the section.
    fn out_of_range(
        &mut self,
        places: &[(&str, Option<Range<usize>>)],
        section: &Range<usize>,
        error: ParameterError,
    ) {
        let typed = places.iter().find(|(name, _)| *name == error.name);
        let place = typed.and_then(|(_, place)| place.clone());
        let help = format!("`{}` must be {}", error.name, error.allowed);
        let message = format!("`{}` is out of its range", error.name);
        self.fail(place.unwrap_or_else(|| section.clone()), message, "", &help);
    }
}
