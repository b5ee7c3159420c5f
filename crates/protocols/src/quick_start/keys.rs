//! `[gpp.quick-start]`: the task's memories, groups of ports and times.

use npsim_project::keys::{Decimal, Spanned};
use npsim_project::quantity::{decimal, parse_rate};
use npsim_project::registry::{PlannedTask, TaskKind};
use npsim_project::resolve::{Resolver, TaskMemory};
use schemars::JsonSchema;
use serde::Deserialize;

use super::task::{QuickStartGroup, QuickStartSetup, QuickStartTask, STATE_STRIDE};
use super::window::units_of_rate;

/// Bytes from one port's counters to the next, and the offset of the low half of its
/// sent bytes.
const PORT_STRIDE: u32 = 32;
const PORT_BYTES_OUT_LOW: u32 = 28;

/// `[gpp.quick-start]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuickStartSection {
    /// The shared memory; `QS_STATE` if not given.
    pub state: Option<Spanned<String>>,
    /// Number of groups: 1 for all ports together, or up to one per port; 1 if not given.
    pub groups: Option<Spanned<u16>>,
    /// Rate of a group's lines; the sum of its ports' rates if not given.
    pub capacity: Option<Spanned<String>>,
    /// Maximum use, including grants: a rate or a share of the capacity.
    pub threshold: Spanned<Decimal>,
    /// Length of a window; `150ms` if not given.
    pub window: Option<Spanned<String>>,
    /// Time between two samples; the length of a window if not given.
    pub sample: Option<Spanned<String>>,
    /// Number of samples whose maximum is used; 3 if not given.
    pub samples: Option<Spanned<u32>>,
    /// Time until the grants of a window are exact; if not given, `1ms` or a tenth of a window,
    /// whichever is less.
    pub grace: Option<Spanned<String>>,
    /// The memory of the ports' counters; `PORT_COUNTERS` if not given.
    pub counters: Option<Spanned<String>>,
}

/// The kind of task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuickStartKind;

impl TaskKind for QuickStartKind {
    const NAME: &'static str = "quick-start";
    type Keys = QuickStartSection;

    fn resolve(
        &self,
        section: &Spanned<QuickStartSection>,
        resolver: &mut Resolver<'_>,
    ) -> Option<PlannedTask> {
        let before = resolver.mistakes();
        let (span, keys) = (section.span(), section.get_ref());
        let groups_of_ports =
            resolver.port_groups(span.clone(), keys.groups.as_ref(), keys.capacity.as_ref())?;
        let count = groups_of_ports.ports.len() as u64;
        let state = TaskMemory::new("state", keys.state.as_ref(), "QS_STATE");
        let state = resolver.task_memory(&span, &state, count * u64::from(STATE_STRIDE));
        let ports = groups_of_ports
            .ports
            .iter()
            .flatten()
            .max()
            .map_or(0, |it| it + 1);
        let counters = TaskMemory::new("counters", keys.counters.as_ref(), "PORT_COUNTERS");
        let counters = resolver.task_memory(&span, &counters, u64::from(ports) * 32);
        let window = resolver.time(keys.window.as_ref(), "150ms");
        let sample = match &keys.sample {
            Some(typed) => resolver.time(Some(typed), "150ms"),
            None => window,
        };
        if let Some(typed) = keys.sample.as_ref().filter(|_| sample > window) {
            resolver.fail(
                typed.span(),
                "a sample is longer than the window",
                "",
                "windows would end before the traffic is sampled; use at most the time of `window`, or leave `sample` out",
            );
        }
        let grace = match &keys.grace {
            Some(typed) => resolver.time(Some(typed), "1ms"),
            None => resolver.time(None, "1ms").min(window / 10).max(1),
        };
        if grace >= window {
            let place = keys.grace.as_ref().or(keys.window.as_ref());
            resolver.fail(
                place.map_or(span.clone(), Spanned::span),
                "the grace is not shorter than the window",
                "",
                "the exact grants of a window are read before the next one ends",
            );
        }
        let hertz = resolver.capacity().hertz;
        let fastest = resolver
            .boot()
            .ports
            .iter()
            .map(|it| it.bits_per_second)
            .max();
        let bits = u128::from(fastest.unwrap_or(0)) * u128::from(sample) / u128::from(hertz.max(1));
        if bits / 8 > u128::from(u32::MAX) {
            resolver.fail(
                keys.sample
                    .as_ref()
                    .or(keys.window.as_ref())
                    .map_or(span.clone(), Spanned::span),
                "a port can send more than 4 GB between two samples",
                "",
                "the core derives bytes from the low half of a counter; use a shorter `sample`",
            );
        }
        let samples = keys.samples.as_ref().map_or(3, |it| *it.get_ref());
        if !(1..=1000).contains(&samples) {
            let place = keys.samples.as_ref().map_or(span.clone(), Spanned::span);
            let message = format!("{samples} samples are not possible");
            resolver.fail(place, message, "", "use 1 to 1000");
        }
        let mut groups = Vec::new();
        for (ports, bits) in groups_of_ports.ports.iter().zip(&groups_of_ports.capacity) {
            let capacity = units_of_rate(*bits);
            groups.push(QuickStartGroup {
                capacity,
                threshold: threshold(resolver, &keys.threshold, capacity)?,
                counters: counters.map_or_else(Vec::new, |place| {
                    let of = |port: &u16| u32::from(*port) * PORT_STRIDE + PORT_BYTES_OUT_LOW;
                    ports.iter().map(|port| place.after(of(port))).collect()
                }),
            });
        }
        (resolver.mistakes() == before).then_some(())?;
        let setup = QuickStartSetup {
            state: state?,
            groups,
            window,
            grace,
            sample,
            samples,
        };
        Some(PlannedTask {
            text: setup.plan(hertz),
            task: Box::new(QuickStartTask::new(setup)),
        })
    }
}

/// Parses a rate or a share of the capacity, in units of 40 kbit/s.
fn threshold(resolver: &mut Resolver<'_>, typed: &Spanned<Decimal>, capacity: i64) -> Option<i64> {
    const SHARE: &str =
        "write a rate such as \"1Gbps\", or a share of the capacity such as 0.9 or \"90%\"";
    let text = typed.get_ref().text();
    // `1` is all of the capacity, even in quotes, and not one bit per second.
    let plain = decimal(&text, 1_000_000);
    let share = match (typed.get_ref(), text.strip_suffix('%')) {
        (_, Some(percent)) => decimal(percent.trim(), 10_000),
        (Decimal::Text(_), None) if plain.is_none() => match parse_rate(&text) {
            Ok(rate) => {
                let units = units_of_rate(rate);
                if units > capacity {
                    resolver.fail(
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
        let message = format!("`{text}` is not a threshold");
        resolver.fail(typed.span(), message, "", SHARE);
        return None;
    };
    Some((i128::from(capacity) * i128::from(share) / 1_000_000) as i64)
}
