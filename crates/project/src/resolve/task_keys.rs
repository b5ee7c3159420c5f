//! Keys that sections of tasks have in common: groups of ports, times and fractions, memories,
//! threads and queues.

use std::ops::Range;

use npsim_chip::gpp::LongwordAddress;
use npsim_chip::gpp::boot::Space;

use super::{NamedMemory, Resolver, suggestion};
use crate::keys::Spanned;
use crate::keys::{Decimal, Threads};
use crate::quantity::{Time, decimal, parse_rate};

/// Distance from one queue's counters to the next, in bytes.
const QUEUE_STRIDE: u32 = 64;
/// Keyword for no queues.
const NONE: &str = "none";
/// Most threads that a task can read: those of 256 microengines.
const MAX_THREADS: u64 = 2048;

/// Ports in groups.
#[derive(Clone, Debug)]
pub struct PortGroups {
    /// The ports of each group.
    pub ports: Vec<Vec<u16>>,
    /// Capacity of each group in bits per second, by default the sum of its line rates.
    pub capacity: Vec<u64>,
}

/// A memory of the project that a task uses.
#[derive(Clone, Copy, Debug)]
pub struct TaskMemory<'a> {
    /// The key that names it.
    key: &'static str,
    /// The value of that key.
    name: Option<&'a Spanned<String>>,
    /// The memory's name if the key is not given.
    default: &'static str,
}

impl<'a> TaskMemory<'a> {
    /// Creates a reference to the memory named at `key`, or to `default` if the key is not given.
    #[must_use]
    pub fn new(
        key: &'static str,
        name: Option<&'a Spanned<String>>,
        default: &'static str,
    ) -> Self {
        Self { key, name, default }
    }
}

impl Resolver<'_> {
    /// Returns the port groups with their capacities: one group of all ports, or one group for each
    /// of the first ports. `span` is the section, for errors that belong to no key.
    pub fn port_groups(
        &mut self,
        span: Range<usize>,
        groups: Option<&Spanned<u16>>,
        capacity: Option<&Spanned<String>>,
    ) -> Option<PortGroups> {
        let ports = self.boot.ports.len() as u16;
        let count = groups.map_or(1, |it| *it.get_ref());
        if let Some(typed) = groups
            && (count == 0 || count > 1 && count > ports)
        {
            let message = format!("{count} groups of ports are not possible");
            let help = if ports == 0 {
                "the project has no ports; leave `groups` out".to_owned()
            } else {
                format!("use 1 for all ports together, or up to {ports} for one per port")
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
        Some(PortGroups {
            ports: members,
            capacity,
        })
    }

    /// Parses a rate in bits per second.
    pub fn rate(&mut self, typed: &Spanned<String>) -> Option<u64> {
        match parse_rate(typed.get_ref()) {
            Ok(rate) => Some(rate),
            Err(message) => {
                self.fail(typed.span(), message, "", "");
                None
            }
        }
    }

    /// Returns a time in microengine cycles, at least 1.
    pub fn time(&mut self, typed: Option<&Spanned<String>>, default: &str) -> u64 {
        let time = self.typed_time(typed, default);
        let cycles = time.cycles(self.capacity.hertz);
        if cycles == 0
            && let Some(typed) = typed
        {
            self.fail(typed.span(), "a time of 0 is not possible", "", "");
        }
        cycles.max(1)
    }

    /// Returns a time in nanoseconds.
    pub fn nanoseconds(&mut self, typed: Option<&Spanned<String>>, default: &str) -> u64 {
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

    /// Returns a fraction in parts per million.
    pub fn millionths(&mut self, typed: Option<&Spanned<Decimal>>, default: &str) -> u32 {
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

    /// Looks up a memory of the project that a task uses.
    fn memory_of(
        &mut self,
        span: &Range<usize>,
        wanted: &TaskMemory<'_>,
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

    /// Returns the address of a memory of at least `bytes` bytes.
    pub fn task_memory(
        &mut self,
        span: &Range<usize>,
        wanted: &TaskMemory<'_>,
        bytes: u64,
    ) -> Option<LongwordAddress> {
        let (found, name, place) = self.memory_of(span, wanted)?;
        if found.size < bytes {
            let message = format!("`{name}` is too small for the task");
            let help = format!("it needs {bytes} bytes, and `{name}` has {}", found.size);
            self.fail(place, message, "", &help);
            return None;
        }
        Some(LongwordAddress {
            space: found.space,
            address: found.address,
        })
    }

    /// Returns a memory with `stride` bytes per thread, and the threads that use it.
    pub fn per_thread(
        &mut self,
        span: &Range<usize>,
        wanted: &TaskMemory<'_>,
        typed: Option<&Spanned<Threads>>,
        stride: u64,
    ) -> Option<(LongwordAddress, Vec<u16>)> {
        let (found, name, place) = self.memory_of(span, wanted)?;
        let room = (found.size / stride).min(MAX_THREADS);
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
        let place = LongwordAddress {
            space: found.space,
            address: found.address,
        };
        Some((place, threads))
    }

    /// Returns the counters of each group's queues: queue number port * n + class, where n is the
    /// number that fits in the memory.
    pub fn queue_locations(
        &mut self,
        span: &Range<usize>,
        typed: Option<&Spanned<String>>,
        groups: &[Vec<u16>],
    ) -> Vec<Vec<LongwordAddress>> {
        let nothing = vec![Vec::new(); groups.len()];
        if typed.is_some_and(|it| it.get_ref() == NONE) {
            return nothing;
        }
        let wanted = TaskMemory::new("queues", typed, "QUEUE_COUNTERS");
        let Some((found, name, place)) = self.memory_of(span, &wanted) else {
            if typed.is_none()
                && let Some(problem) = self.problems.last_mut()
            {
                problem.help = Some(format!(
                    "add a [[memory]] `{}`, give `queues` the name of another, or `queues = \"{NONE}\"` to ignore the length of queues",
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
        let first = LongwordAddress {
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

/// Parses `32-55,60`: thread numbers in ascending order.
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
        if first > last || u64::from(last) >= MAX_THREADS {
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
    fn thread_lists_accept_numbers_and_ranges() {
        assert_eq!(parse_threads("2,0-1, 1"), Ok(vec![0, 1, 2]));
        for wrong in ["", "5-4", "x", "0-", "0-9999", "-1"] {
            assert!(parse_threads(wrong).is_err(), "{wrong}");
        }
    }
}
