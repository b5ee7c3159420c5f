//! `[gpp.xcp]`: the task's memories, groups of ports and parameters.

use std::ops::Range;

use npsim_project::keys::{Decimal, Spanned, Threads};
use npsim_project::registry::{PlannedTask, TaskKind};
use npsim_project::resolve::{Resolver, TaskMemory};
use schemars::JsonSchema;
use serde::Deserialize;

use super::task::{STATE_STRIDE, XcpGroup, XcpLayout, XcpSetup, XcpTask};
use super::{ControlTimer, Sums, XcpSettings, time_from_nanoseconds};
use crate::keys::{group_laws, places};
use crate::thread_counters::{ThreadCounters, ThreadRecord};

/// `[gpp.xcp]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct XcpSection {
    /// The shared memory; `XCP_STATE` if not given.
    pub state: Option<Spanned<String>>,
    /// How the pools are shared, `locked` or `split`; `locked` if not given.
    pub layout: Option<Spanned<XcpLayoutKind>>,
    /// Whether the core takes the lock; `true` if not given.
    pub lock: Option<Spanned<bool>>,
    /// The memory of the sums per thread; the shared memory if not given.
    pub sums: Option<Spanned<String>>,
    /// The threads that have sums; as many as the memory holds if not given.
    pub threads: Option<Spanned<Threads>>,
    /// Number of groups: 1 for all ports together, or up to one per port; 1 if not given.
    pub groups: Option<Spanned<u16>>,
    /// Rate of a group's lines; the sum of its ports' rates if not given.
    pub capacity: Option<Spanned<String>>,
    /// The first interval; `50ms` if not given.
    pub initial_interval: Option<Spanned<String>>,
    /// The shortest interval; `10ms` if not given.
    pub min_interval: Option<Spanned<String>>,
    /// The longest round-trip time used; `1s` if not given.
    pub max_interval: Option<Spanned<String>>,
    /// Gain for spare capacity; 0.4 if not given.
    pub alpha: Option<Spanned<Decimal>>,
    /// Gain for the standing queue; 0.226 if not given.
    pub beta: Option<Spanned<Decimal>>,
    /// Share of the traffic that is shuffled; 0.1 if not given.
    pub gamma: Option<Spanned<Decimal>>,
    /// The shortest time between two samples of the queue; `2ms` if not given.
    pub allowed_queue: Option<Spanned<String>>,
    /// The memory of the queues' counters; `QUEUE_COUNTERS` if not given, `none` to ignore queues.
    pub queues: Option<Spanned<String>>,
}

/// How the pools of XCP are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum XcpLayoutKind {
    /// In one place, under a lock.
    Locked,
    /// In two banks, without a lock.
    Split,
}

/// The kind of task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct XcpKind;

impl TaskKind for XcpKind {
    const NAME: &'static str = "xcp";
    type Keys = XcpSection;

    fn resolve(
        &self,
        section: &Spanned<XcpSection>,
        resolver: &mut Resolver<'_>,
    ) -> Option<PlannedTask> {
        let before = resolver.mistakes();
        let (span, keys) = (section.span(), section.get_ref());
        let ports =
            resolver.port_groups(span.clone(), keys.groups.as_ref(), keys.capacity.as_ref())?;
        let count = ports.ports.len() as u64;
        let state = TaskMemory::new("state", keys.state.as_ref(), "XCP_STATE");
        let state = resolver.task_memory(&span, &state, count * u64::from(STATE_STRIDE));
        check_registers(resolver, keys, &span);
        let split = keys.layout.as_ref().map(|it| (*it.get_ref(), it.span()));
        let layout = match split {
            Some((XcpLayoutKind::Split, place)) => {
                if keys.sums.is_none() {
                    resolver.fail(
                        place,
                        "the layout `split` has no room for sums",
                        "",
                        "give `sums`, the memory in which each thread keeps its own",
                    );
                }
                if let Some(lock) = keys.lock.as_ref().filter(|it| *it.get_ref()) {
                    resolver.fail(
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
            let memory = TaskMemory::new("sums", Some(name), "");
            let stride = u64::from(Sums::STRIDE) * count;
            let (place, threads) =
                resolver.per_thread(&span, &memory, keys.threads.as_ref(), stride)?;
            Some(ThreadCounters { place, threads })
        });
        if let (None, Some(threads)) = (&keys.sums, &keys.threads) {
            resolver.fail(
                threads.span(),
                "`threads` is given, but no `sums` per thread",
                "",
                "give `sums`, or remove `threads`",
            );
        }
        let time = |it: &mut Resolver<'_>, key, default| {
            time_from_nanoseconds(it.nanoseconds(Option::as_ref(key), default))
        };
        let first = XcpSettings {
            capacity: 1,
            alpha: resolver.millionths(keys.alpha.as_ref(), "0.4"),
            beta: resolver.millionths(keys.beta.as_ref(), "0.226"),
            gamma: resolver.millionths(keys.gamma.as_ref(), "0.1"),
            initial_interval: time(resolver, &keys.initial_interval, "50ms"),
            min_interval: time(resolver, &keys.min_interval, "10ms"),
            max_interval: time(resolver, &keys.max_interval, "1s"),
            allowed_queue: time(resolver, &keys.allowed_queue, "2ms"),
        };
        let law = |capacity| ControlTimer::new(XcpSettings { capacity, ..first });
        let places = places!(
            keys: capacity, alpha, beta, gamma, initial_interval, min_interval, max_interval,
            allowed_queue
        );
        let queues = keys.queues.as_ref();
        let groups = group_laws(resolver, before, &ports, queues, law, &places, &span)?;
        let setup = XcpSetup {
            state: state?,
            layout,
            sums,
            groups: groups
                .map(|(control, queues)| XcpGroup { control, queues })
                .collect(),
        };
        Some(PlannedTask {
            text: setup.plan(),
            task: Box::new(XcpTask::new(setup)),
        })
    }
}

/// Checks that a coprocessor's registers are used for the pools only, since it
/// has none for a lock or sums.
fn check_registers(resolver: &mut Resolver<'_>, keys: &XcpSection, span: &Range<usize>) {
    let name = keys.state.as_ref().map_or("XCP_STATE", |it| it.get_ref());
    let mut devices = resolver.boot().devices.iter();
    if !devices.any(|device| device.registers(name).is_some()) {
        return;
    }
    let unlocked = keys.lock.as_ref().is_some_and(|it| !it.get_ref());
    let locked = keys
        .layout
        .as_ref()
        .is_none_or(|it| *it.get_ref() == XcpLayoutKind::Locked);
    if !unlocked || !locked || keys.sums.is_none() {
        let place = keys.state.as_ref().map_or(span.clone(), Spanned::span);
        resolver.fail(
            place,
            format!("the coprocessor has no lock, no banks and no sums in `{name}`"),
            "",
            "give `lock = false` and `sums`, the memory in which each thread keeps its own; leave `layout` out",
        );
    }
}
