//! `[gpp.rcp]`: the task's memories, groups of ports and parameters.

use npsim_project::keys::{Decimal, Spanned, Threads};
use npsim_project::registry::{PlannedTask, TaskKind};
use npsim_project::resolve::{Resolver, TaskMemory};
use schemars::JsonSchema;
use serde::Deserialize;

use super::task::{RcpGroup, RcpSetup, RcpTask};
use super::{Counters, LinkRate, RcpSettings};
use crate::keys::{group_laws, places};
use crate::thread_counters::{ThreadCounters, ThreadRecord};

/// `[gpp.rcp]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RcpSection {
    /// The memory in which the rate is published; `RCP_RATE` if not given.
    pub rate: Option<Spanned<String>>,
    /// The memory of the threads' counters; `RCP_COUNTERS` if not given.
    pub counters: Option<Spanned<String>>,
    /// The threads that have counters; as many as the memory holds if not given.
    pub threads: Option<Spanned<Threads>>,
    /// Number of groups: 1 for all ports together, or up to one per port; 1 if not given.
    pub groups: Option<Spanned<u16>>,
    /// Rate of a group's lines; the sum of its ports' rates if not given.
    pub capacity: Option<Spanned<String>>,
    /// Time between two updates; `10ms` if not given.
    pub period: Option<Spanned<String>>,
    /// Gain for spare capacity; 0.4 if not given.
    pub alpha: Option<Spanned<Decimal>>,
    /// Gain for the queue; 0.4 if not given.
    pub beta: Option<Spanned<Decimal>>,
    /// Target share of the capacity; 1 if not given.
    pub eta: Option<Spanned<Decimal>>,
    /// Rate before the first update; 5 % of the capacity if not given.
    pub initial_rate: Option<Spanned<String>>,
    /// Round-trip time assumed until a packet carries one; `200ms` if not given.
    pub initial_rtt: Option<Spanned<String>>,
    /// The memory of the queues' counters; `QUEUE_COUNTERS` if not given, `none` to ignore queues.
    pub queues: Option<Spanned<String>>,
}

/// The kind of task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RcpKind;

impl TaskKind for RcpKind {
    const NAME: &'static str = "rcp";
    type Keys = RcpSection;

    fn resolve(
        &self,
        section: &Spanned<RcpSection>,
        resolver: &mut Resolver<'_>,
    ) -> Option<PlannedTask> {
        let before = resolver.mistakes();
        let (span, keys) = (section.span(), section.get_ref());
        let ports =
            resolver.port_groups(span.clone(), keys.groups.as_ref(), keys.capacity.as_ref())?;
        let count = ports.ports.len() as u64;
        let rate = TaskMemory::new("rate", keys.rate.as_ref(), "RCP_RATE");
        let rate = resolver.task_memory(&span, &rate, count * 4);
        let counters = TaskMemory::new("counters", keys.counters.as_ref(), "RCP_COUNTERS");
        let stride = u64::from(Counters::STRIDE) * count;
        let counters = resolver.per_thread(&span, &counters, keys.threads.as_ref(), stride);
        let eta = resolver.millionths(keys.eta.as_ref(), "1");
        let (alpha, beta) = (
            resolver.millionths(keys.alpha.as_ref(), "0.4"),
            resolver.millionths(keys.beta.as_ref(), "0.4"),
        );
        let period = resolver.nanoseconds(keys.period.as_ref(), "10ms");
        let initial_rtt = resolver.nanoseconds(keys.initial_rtt.as_ref(), "200ms");
        let initial_rate = keys.initial_rate.as_ref().and_then(|it| resolver.rate(it));
        let law = |capacity: u64| {
            let first = initial_rate.map_or(capacity / 20, |bits| bits / 8);
            LinkRate::new(RcpSettings {
                capacity,
                target: (u128::from(capacity) * u128::from(eta) / 1_000_000) as u64,
                alpha,
                beta,
                period,
                initial_rate: u32::try_from(first).unwrap_or(u32::MAX),
                initial_rtt,
            })
        };
        let places = places!(keys: capacity, eta, alpha, beta, period, initial_rate, initial_rtt);
        let queues = keys.queues.as_ref();
        let groups = group_laws(resolver, before, &ports, queues, law, &places, &span)?;
        let (place, threads) = counters?;
        let setup = RcpSetup {
            rate: rate?,
            counters: ThreadCounters { place, threads },
            groups: groups
                .map(|(rate, queues)| RcpGroup { rate, queues })
                .collect(),
        };
        Some(PlannedTask {
            text: setup.plan(),
            task: Box::new(RcpTask::new(setup)),
        })
    }
}
