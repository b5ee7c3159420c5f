//! The tasks of congestion control: their memories, groups of ports and
//! parameters.

use std::ops::Range;

use npsim_chip::gpp::Place;
use npsim_chip::gpp::boot::{Space, TaskSetup};
use npsim_chip::gpp::quick_start::{self, QuickStartGroup, QuickStartSetup};
use npsim_chip::gpp::rcp::{self, RcpGroup, RcpSetup};
use npsim_chip::gpp::xcp::{self, ThreadSums, XcpGroup, XcpLayout, XcpSetup};
use npsim_congestion::ParameterError;
use npsim_congestion::quick_start::window::units_of_rate;
use npsim_congestion::rcp::{Parameters as RcpParameters, Rate};
use npsim_congestion::xcp::{Control, Parameters as XcpParameters, time_from_nanoseconds};
use toml::Spanned;

use super::super::file::ProjectFile;
use super::super::slow_path::{
    Decimal, QuickStartSection, RcpSection, Threads, XcpLayoutKind, XcpSection,
};
use super::routing::has_task;
use super::{NamedMemory, Resolver, suggestion};
use crate::quantity::{Time, decimal, parse_rate};

/// Bytes from one port's counters to the next, and where the low half of the bytes
/// that it sent stands.
const PORT_STRIDE: u32 = 32;
const PORT_BYTES_OUT_LOW: u32 = 28;
/// Bytes from one queue's counters to the next.
const QUEUE_STRIDE: u32 = 64;
/// The word for no queues.
const NONE: &str = "none";
/// Threads that a task can read: what 256 microengines would have.
const MOST_THREADS: u64 = 2048;

/// Keys that all three tasks have.
struct Common {
    /// The section, for mistakes that have no key.
    span: Range<usize>,
    /// Of each group the ports.
    groups: Vec<Vec<u16>>,
    /// Of each group the lines' rate in bits per second.
    capacity: Vec<u64>,
}

/// A memory that a task works on.
struct Memory<'a> {
    key: &'static str,
    name: Option<&'a Spanned<String>>,
    default: &'static str,
}

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
        let sample = self.time(keys.sample.as_ref(), "150ms");
        let grace = self.time(keys.grace.as_ref(), "1ms");
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
                keys.sample.as_ref().map_or(span.clone(), Spanned::span),
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
        let share = match (typed.get_ref(), text.strip_suffix('%')) {
            (_, Some(percent)) => decimal(percent.trim(), 10_000),
            (Decimal::Text(_), None) => match parse_rate(&text) {
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
                Err(_) => decimal(&text, 1_000_000),
            },
            _ => decimal(&text, 1_000_000),
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
                    let place = match error.name {
                        "capacity" => keys.capacity.as_ref().map(Spanned::span),
                        "alpha" => keys.alpha.as_ref().map(Spanned::span),
                        "beta" => keys.beta.as_ref().map(Spanned::span),
                        "gamma" => keys.gamma.as_ref().map(Spanned::span),
                        "initial_interval" => keys.initial_interval.as_ref().map(Spanned::span),
                        "min_interval" => keys.min_interval.as_ref().map(Spanned::span),
                        _ => keys.max_interval.as_ref().map(Spanned::span),
                    };
                    self.out_of_range(place.unwrap_or(common.span.clone()), error);
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
                    let place = match error.name {
                        "capacity" => keys.capacity.as_ref().map(Spanned::span),
                        "eta" => keys.eta.as_ref().map(Spanned::span),
                        "alpha" => keys.alpha.as_ref().map(Spanned::span),
                        "beta" => keys.beta.as_ref().map(Spanned::span),
                        "period" => keys.period.as_ref().map(Spanned::span),
                        "initial_rtt" => keys.initial_rtt.as_ref().map(Spanned::span),
                        _ => keys.initial_rate.as_ref().map(Spanned::span),
                    };
                    self.out_of_range(place.unwrap_or(common.span.clone()), error);
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

    fn out_of_range(&mut self, place: Range<usize>, error: ParameterError) {
        let help = format!("`{}` must be {}", error.name, error.allowed);
        let message = format!("`{}` is out of its range", error.name);
        self.fail(place, message, "", &help);
    }

    /// Groups and capacity: one group of all ports, or the first ports one each.
    fn common(
        &mut self,
        span: Range<usize>,
        groups: Option<&Spanned<u16>>,
        capacity: Option<&Spanned<String>>,
    ) -> Option<Common> {
        let ports = self.boot.ports.len() as u16;
        let count = groups.map_or(1, |it| *it.get_ref());
        if let Some(typed) = groups
            && (count == 0 || count > 1 && count > ports)
        {
            let message = format!("{count} groups of ports are not possible");
            let help = if ports == 0 {
                "the project has no ports; leave `groups` out".to_owned()
            } else {
                format!("use 1 for all ports together, or up to {ports} for one a port")
            };
            self.fail(typed.span(), message, "", &help);
            return None;
        }
        let members: Vec<Vec<u16>> = if count == 1 {
            vec![(0..ports).collect()]
        } else {
            (0..count).map(|port| vec![port]).collect()
        };
        let given = match capacity {
            Some(typed) => Some(self.rate(typed)?),
            None => None,
        };
        let rate_of = |ports: &Vec<u16>| -> u64 {
            let rates = ports
                .iter()
                .map(|port| &self.boot.ports[usize::from(*port)]);
            given.unwrap_or_else(|| rates.map(|port| port.bits_per_second).sum())
        };
        let capacity: Vec<_> = members.iter().map(rate_of).collect();
        if capacity.contains(&0) {
            self.fail(
                span,
                "the task does not know the capacity of the lines",
                "",
                "add `capacity`, or [[port]] sections with their rates",
            );
            return None;
        }
        Some(Common {
            span,
            groups: members,
            capacity,
        })
    }

    fn rate(&mut self, typed: &Spanned<String>) -> Option<u64> {
        match parse_rate(typed.get_ref()) {
            Ok(rate) => Some(rate),
            Err(message) => {
                self.fail(typed.span(), message, "", "");
                None
            }
        }
    }

    /// Cycles, at least 1.
    fn time(&mut self, typed: Option<&Spanned<String>>, default: &str) -> u64 {
        let time = self.typed_time(typed, default);
        let cycles = time.cycles(self.capacity.hertz);
        if cycles == 0
            && let Some(typed) = typed
        {
            self.fail(typed.span(), "a time of nothing is not possible", "", "");
        }
        cycles.max(1)
    }

    fn nanoseconds(&mut self, typed: Option<&Spanned<String>>, default: &str) -> u64 {
        match self.typed_time(typed, default) {
            Time::Picoseconds(ps) => ps / 1000,
            Time::Cycles(cycles) => {
                let hertz = u128::from(self.capacity.hertz.max(1));
                u64::try_from(u128::from(cycles) * 1_000_000_000 / hertz).unwrap_or(u64::MAX)
            }
        }
    }

    fn typed_time(&mut self, typed: Option<&Spanned<String>>, default: &str) -> Time {
        if let Some(typed) = typed {
            match typed.get_ref().parse() {
                Ok(time) => return time,
                Err(message) => {
                    let message: String = message;
                    self.fail(typed.span(), message, "", "");
                }
            }
        }
        default.parse().unwrap_or(Time::Cycles(1))
    }

    /// A fraction in parts per million.
    fn millionths(&mut self, typed: Option<&Spanned<Decimal>>, default: &str) -> u32 {
        let text = typed.map_or_else(|| default.to_owned(), |it| it.get_ref().text());
        let value = decimal(&text, 1_000_000).and_then(|it| u32::try_from(it).ok());
        if let (None, Some(typed)) = (value, typed) {
            self.fail(
                typed.span(),
                format!("`{text}` is not a number with at most six decimals"),
                "",
                "write for example 0.4",
            );
        }
        value.unwrap_or(0)
    }

    /// Where a memory of the project lies that a task works on.
    fn memory_of(
        &mut self,
        span: &Range<usize>,
        wanted: &Memory<'_>,
    ) -> Option<(NamedMemory, String, Range<usize>)> {
        let place = wanted.name.map_or(span.clone(), Spanned::span);
        let name = wanted.name.map_or(wanted.default, |it| it.get_ref());
        let Some(found) = self.memories.get(name).copied() else {
            let known: Vec<String> = self.memories.keys().cloned().collect();
            let help = match wanted.name {
                Some(_) => suggestion(name, known.iter().map(String::as_str), "[[memory]]"),
                None => format!(
                    "add a [[memory]] `{name}`, or give `{}` the name of another",
                    wanted.key
                ),
            };
            self.fail(place, format!("there is no memory `{name}`"), "", &help);
            return None;
        };
        if found.space == Space::Dram {
            self.fail(
                place,
                format!("the task cannot work on `{name}` in DRAM"),
                "",
                "put the memory into scratch or SRAM",
            );
            return None;
        }
        Some((found, name.to_owned(), place))
    }

    /// A memory of at least so many bytes.
    fn task_memory(
        &mut self,
        span: &Range<usize>,
        wanted: &Memory<'_>,
        bytes: u64,
    ) -> Option<Place> {
        let (found, name, place) = self.memory_of(span, wanted)?;
        if found.size < bytes {
            let message = format!("`{name}` is too small for the task");
            let help = format!("it needs {bytes} bytes, and `{name}` has {}", found.size);
            self.fail(place, message, "", &help);
            return None;
        }
        Some(Place {
            space: found.space,
            address: found.address,
        })
    }

    /// A memory with so many bytes a thread, and the threads that use it.
    fn per_thread(
        &mut self,
        span: &Range<usize>,
        wanted: &Memory<'_>,
        typed: Option<&Spanned<Threads>>,
        stride: u64,
    ) -> Option<(Place, Vec<u16>)> {
        let (found, name, place) = self.memory_of(span, wanted)?;
        let room = (found.size / stride).min(MOST_THREADS);
        let threads = match typed.map(|it| (it.get_ref(), it.span())) {
            None => Ok((0..room as u16).collect()),
            Some((Threads::Count(count), _)) => Ok((0..*count).collect::<Vec<u16>>()),
            Some((Threads::List(text), _)) => parse_threads(text),
        };
        let span = typed.map_or(place, Spanned::span);
        let threads = match threads {
            Ok(threads) => threads,
            Err(message) => {
                self.fail(span, message, "", "");
                return None;
            }
        };
        let needed = threads.iter().max().map_or(0, |last| u64::from(*last) + 1);
        if needed == 0 || needed > room {
            let message = format!("`{name}` does not hold these threads");
            let help = format!(
                "a thread has {stride} bytes, from thread 0 on: `{name}` has {} bytes and room for {room} threads",
                found.size
            );
            self.fail(span, message, "", &help);
            return None;
        }
        let place = Place {
            space: found.space,
            address: found.address,
        };
        Some((place, threads))
    }

    /// The counters of each group's queues: queue number port * n + class, where n
    /// is what the memory has room for.
    fn queue_places(
        &mut self,
        span: &Range<usize>,
        typed: Option<&Spanned<String>>,
        groups: &[Vec<u16>],
    ) -> Vec<Vec<Place>> {
        let nothing = vec![Vec::new(); groups.len()];
        if typed.is_some_and(|it| it.get_ref() == NONE) {
            return nothing;
        }
        let wanted = Memory {
            key: "queues",
            name: typed,
            default: "QUEUE_COUNTERS",
        };
        let Some((found, name, place)) = self.memory_of(span, &wanted) else {
            if typed.is_none()
                && let Some(problem) = self.problems.last_mut()
            {
                problem.help = Some(format!(
                    "add a [[memory]] `{}`, give `queues` the name of another, or `queues = \"{NONE}\"` if the length of queues is not to count",
                    wanted.default
                ));
            }
            return nothing;
        };
        let ports = (self.boot.ports.len() as u64).max(1);
        let each = found.size / u64::from(QUEUE_STRIDE) / ports;
        if each == 0 {
            let message = format!("`{name}` has no queue for each port");
            let help = format!(
                "a queue has {QUEUE_STRIDE} bytes, and there are {ports} ports: `{name}` has {} bytes",
                found.size
            );
            self.fail(place, message, "", &help);
            return nothing;
        }
        let first = Place {
            space: found.space,
            address: found.address,
        };
        let of = |port: &u16| {
            let queues = u64::from(*port) * each..(u64::from(*port) + 1) * each;
            queues.map(|queue| first.after(queue as u32 * QUEUE_STRIDE))
        };
        groups
            .iter()
            .map(|ports| ports.iter().flat_map(of).collect())
            .collect()
    }
}

/// `32-55,60`: numbers of threads in rising order.
fn parse_threads(text: &str) -> Result<Vec<u16>, String> {
    let wrong = |part: &str| {
        format!("`{part}` is neither a thread nor a range of threads; write for example `32-55`")
    };
    let mut threads = Vec::new();
    for part in text.split(',') {
        let part = part.trim();
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| digits.trim().parse::<u16>().map_err(|_| wrong(part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last || u64::from(last) >= MOST_THREADS {
            return Err(wrong(part));
        }
        threads.extend(first..=last);
    }
    threads.sort_unstable();
    threads.dedup();
    Ok(threads)
}

#[cfg(test)]
mod tests {
    use super::parse_threads;

    #[test]
    fn threads_are_numbers_and_ranges() {
        assert_eq!(parse_threads("2,0-1, 1"), Ok(vec![0, 1, 2]));
        for wrong in ["", "5-4", "x", "0-", "0-9999", "-1"] {
            assert!(parse_threads(wrong).is_err(), "{wrong}");
        }
    }
}
