//! `[gpp.arp]`: the ring that frames leave by, the reason codes that concern ARP, and the
//! timing of requests.

use npsim_project::keys::Spanned;
use npsim_project::registry::{PlannedTask, TaskKind};
use npsim_project::resolve::Resolver;
use schemars::JsonSchema;
use serde::Deserialize;

use super::task::{Arp, ArpEntry, ArpPort, ArpSetup};
use crate::keys::port_addresses;

/// Default time from one request to the next.
const RETRY: &str = "1s";
/// Default number of requests after which a next hop counts as silent.
const TRIES: u32 = 3;

/// `[gpp.arp]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArpSection {
    /// The ring from which a microengine takes the core's packets.
    pub ring: Spanned<String>,
    /// The microcode's reason code for frames that are not IPv4.
    pub arp_reason: Spanned<u8>,
    /// The reason code for packets to the router itself; needed for next hops given by address.
    pub local_reason: Option<Spanned<u8>>,
    /// Time between two requests for a next hop; `1s` if not given.
    pub retry: Option<Spanned<String>>,
    /// Number of requests after which a next hop is considered unreachable; 3 if not given.
    pub tries: Option<Spanned<u32>>,
}

/// The kind of task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArpKind;

impl TaskKind for ArpKind {
    const NAME: &'static str = "arp";
    const LISTED: bool = false;
    type Keys = ArpSection;

    fn resolve(
        &self,
        section: &Spanned<ArpSection>,
        resolver: &mut Resolver<'_>,
    ) -> Option<PlannedTask> {
        let before = resolver.mistakes();
        let (span, keys) = (section.span(), section.get_ref());
        let sender = resolver.sender(&keys.ring);
        let table = resolver.table_place(span.clone());
        resolver.require_exceptions("arp", span.clone(), before);
        let arp_reason = resolver.reason(&keys.arp_reason);
        let local_reason = { keys.local_reason.as_ref() }.map(|typed| resolver.reason(typed));
        let macs = resolver.macs().to_vec();
        let addresses = port_addresses(resolver, &span, "for which the router could answer");
        let ports: Vec<ArpPort> = { addresses.iter().zip(macs) }
            .map(|(addresses, mac)| ArpPort {
                mac,
                addresses: addresses.iter().map(|own| own.address).collect(),
            })
            .collect();
        let entries: Vec<ArpEntry> = { resolver.gateways().iter() }
            .map(|gateway| ArpEntry {
                index: resolver.next_hop_index(gateway.next_hop().words()),
                neighbour: (gateway.port, gateway.address),
                mtu: gateway.mtu,
            })
            .collect();
        if !entries.is_empty() && local_reason.is_none() {
            resolver.fail(
                span,
                "packets to next hops that are not known yet would end at the core",
                "",
                "add `local_reason`: the fast path hands them over as if they were for the router itself",
            );
        }
        let tries = keys.tries.as_ref().map_or(TRIES, |it| *it.get_ref());
        if let Some(typed) = keys.tries.as_ref().filter(|_| tries == 0) {
            resolver.fail(typed.span(), "at least one request is needed", "", "");
        }
        let retry = resolver.time(keys.retry.as_ref(), RETRY);
        (resolver.mistakes() == before).then_some(())?;
        let setup = ArpSetup {
            sender: sender?,
            arp_reason,
            local_reason,
            ports,
            entries,
            table: table?,
            retry,
            tries,
        };
        let task = Arp::new(setup);
        Some(PlannedTask {
            text: task.plan(),
            task: Box::new(task),
        })
    }
}
