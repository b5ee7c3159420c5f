//! `[gpp.icmp]`: the ring that messages leave by, the reason codes that are answered,
//! and the rate limit.

use npsim_project::keys::Spanned;
use npsim_project::registry::{PlannedTask, TaskKind};
use npsim_project::resolve::{PortAddress, Resolver};
use schemars::JsonSchema;
use serde::Deserialize;

use super::rules::RouterInterface;
use super::task::{Icmp, IcmpSetup, ReasonCodes};
use crate::keys::port_addresses;

/// Default limit: error messages per second, and the burst.
const RATE: u32 = 1000;
const BURST: u32 = 50;
/// Default time to live.
const TTL: u8 = 64;

/// `[gpp.icmp]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IcmpSection {
    /// The ring from which a microengine takes the core's packets.
    pub ring: Spanned<String>,
    /// The microcode's reason code for packets whose time to live has expired.
    pub ttl_reason: Option<Spanned<u8>>,
    /// The microcode's reason code for packets to the router itself.
    pub local_reason: Option<Spanned<u8>>,
    /// The microcode's reason code for packets without a route.
    pub no_route_reason: Option<Spanned<u8>>,
    /// The microcode's reason code for packets that are larger than the next hop's MTU.
    pub too_big_reason: Option<Spanned<u8>>,
    /// Maximum number of error messages per second; 1000 if not given.
    pub rate: Option<Spanned<u32>>,
    /// Maximum number of error messages at once; 50 if not given.
    pub burst: Option<Spanned<u32>>,
    /// Time to live of the messages; 64 if not given.
    pub ttl: Option<Spanned<u8>>,
}

/// The kind of task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IcmpKind;

impl TaskKind for IcmpKind {
    const NAME: &'static str = "icmp";
    const LISTED: bool = false;
    type Keys = IcmpSection;

    fn resolve(
        &self,
        section: &Spanned<IcmpSection>,
        resolver: &mut Resolver<'_>,
    ) -> Option<PlannedTask> {
        let before = resolver.mistakes();
        let (span, keys) = (section.span(), section.get_ref());
        let sender = resolver.sender(&keys.ring);
        let table = resolver.table_place(span.clone());
        let mut reason = |typed: &Option<Spanned<u8>>| Some(resolver.reason(typed.as_ref()?));
        let reasons = ReasonCodes {
            ttl: reason(&keys.ttl_reason),
            local: reason(&keys.local_reason),
            no_route: reason(&keys.no_route_reason),
            too_big: reason(&keys.too_big_reason),
        };
        if reasons == ReasonCodes::default() {
            resolver.fail(
                span.clone(),
                "the icmp task answers nothing",
                "",
                "give the reason numbers by which the microcode hands over packets to answer: `ttl_reason`, `local_reason`, `no_route_reason`, `too_big_reason`",
            );
        }
        resolver.require_exceptions("icmp", span.clone(), before);
        let network = |own: &PortAddress| RouterInterface {
            address: own.address,
            length: own.length,
        };
        let addresses = port_addresses(resolver, &span, "from which messages could be sent");
        let ports = { addresses.iter() }
            .map(|own| own.iter().map(network).collect())
            .collect();
        let mut positive = |typed: &Option<Spanned<u32>>, otherwise| {
            if let Some(typed) = typed.as_ref().filter(|it| *it.get_ref() == 0) {
                resolver.fail(typed.span(), "at least 1 is needed", "", "");
            }
            typed.as_ref().map_or(otherwise, |it| *it.get_ref()).max(1)
        };
        let (rate, burst) = (positive(&keys.rate, RATE), positive(&keys.burst, BURST));
        let ttl = keys.ttl.as_ref().map_or(TTL, |it| *it.get_ref());
        if let Some(typed) = keys.ttl.as_ref().filter(|_| ttl == 0) {
            resolver.fail(typed.span(), "a time to live of 0 leads nowhere", "", "");
        }
        (resolver.mistakes() == before).then_some(())?;
        let interval = resolver.capacity().hertz / u64::from(rate);
        let setup = IcmpSetup {
            sender: sender?,
            reasons,
            ports,
            table: table?,
            ttl,
            interval,
            burst,
        };
        Some(PlannedTask {
            text: format!(
                "answers by ring {}, at most {rate} error messages a second, {burst} at once",
                setup.sender.ring
            ),
            task: Box::new(Icmp::new(setup)),
        })
    }
}
