//! `[gpp.srp]`: the records of flows, and the pacing of their classes.

use npsim_project::keys::Spanned;
use npsim_project::registry::{PlannedTask, TaskKind};
use npsim_project::resolve::{Resolver, TaskMemory};
use schemars::JsonSchema;
use serde::Deserialize;

use super::record::RECORD_BYTES;
use super::task::{PacedBy, SrpClass, SrpSetup, SrpTask};
use crate::round_trip::RtoParameters;
use crate::time::Time;

/// The rate of a class with computed rates.
const COMPUTED: &str = "srp";
/// Default size of a packet in bytes of IP, and the allowed range.
const PACKET: u16 = 1500;
const PACKETS: std::ops::RangeInclusive<u16> = 41..=9216;
/// Default number of segments in the first round-trip time.
const FIRST: u8 = 3;

/// `[gpp.srp]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SrpSection {
    /// The memory of the flows' records; `FLOW_RECORDS` if not given.
    pub records: Option<Spanned<String>>,
    /// Polling period of each flow; `1ms` if not given.
    pub period: Option<Spanned<String>>,
    /// The minimum timeout; `200ms` if not given.
    pub min_timeout: Option<Spanned<String>>,
    /// Pacing of classes of flows.
    #[serde(default)]
    pub class: Vec<Spanned<ClassSection>>,
}

/// `[[gpp.srp.class]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassSection {
    /// The class of `[[flow]]`.
    pub class: Spanned<u8>,
    /// Rate of each flow in bits of IP per second, or `srp` for a computed one.
    pub rate: Spanned<String>,
    /// Size of a packet in bytes of IP; 1500 if not given.
    pub packet: Option<Spanned<u16>>,
    /// The maximum computed rate; no limit if not given.
    pub most: Option<Spanned<String>>,
    /// Segments in the first round-trip time; 3 if not given.
    pub first: Option<Spanned<u8>>,
}

/// The kind of task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SrpKind;

impl TaskKind for SrpKind {
    const NAME: &'static str = "srp";
    type Keys = SrpSection;

    fn resolve(
        &self,
        section: &Spanned<SrpSection>,
        resolver: &mut Resolver<'_>,
    ) -> Option<PlannedTask> {
        let before = resolver.mistakes();
        let (span, keys) = (section.span(), section.get_ref());
        let flows = resolver.flow_classes().to_vec();
        let records = TaskMemory::new("records", keys.records.as_ref(), "FLOW_RECORDS");
        let bytes = (flows.len() as u64 + 1) * u64::from(RECORD_BYTES);
        let records = resolver.task_memory(&span, &records, bytes);
        let period = resolver.time(keys.period.as_ref(), "1ms");
        let floor = resolver.nanoseconds(keys.min_timeout.as_ref(), "200ms");
        let mut classes: Vec<SrpClass> = Vec::new();
        for class in &keys.class {
            if let Some(class) = resolve_class(class.get_ref(), &classes, &flows, resolver) {
                classes.push(class);
            }
        }
        let records = records.filter(|_| resolver.mistakes() == before)?;
        let setup = SrpSetup {
            records,
            flows,
            classes,
            period,
            rto: RtoParameters {
                floor: Time::from(floor) * 1_000,
                ..RtoParameters::LINUX
            },
        };
        Some(PlannedTask {
            text: setup.plan(),
            task: Box::new(SrpTask::new(setup)),
        })
    }
}

fn resolve_class(
    keys: &ClassSection,
    others: &[SrpClass],
    flows: &[u8],
    resolver: &mut Resolver<'_>,
) -> Option<SrpClass> {
    let class = *keys.class.get_ref();
    if others.iter().any(|other| other.class == class) {
        let message = format!("class {class} is given twice");
        resolver.fail(keys.class.span(), message, "", "");
        return None;
    }
    if !flows.contains(&class) {
        let message = format!("no flow has class {class}");
        let help = "give a [[flow]] this `class`";
        resolver.fail(keys.class.span(), message, "", help);
        return None;
    }
    let packet = keys.packet.as_ref().map_or(PACKET, |it| *it.get_ref());
    if let Some(typed) = &keys.packet
        && !PACKETS.contains(&packet)
    {
        let message = format!("a packet cannot have {packet} bytes of IP");
        resolver.fail(typed.span(), message, "", "use 41 to 9216");
        return None;
    }
    let pace = if keys.rate.get_ref() == COMPUTED {
        let most = match &keys.most {
            Some(typed) => Some(bytes_per_second(typed, resolver)?),
            None => None,
        };
        let first = keys.first.as_ref().map_or(FIRST, |it| *it.get_ref());
        if let Some(typed) = &keys.first
            && !(1..=10).contains(&first)
        {
            let message = format!("{first} segments are not possible in the first round-trip time");
            resolver.fail(typed.span(), message, "", "use 1 to 10");
            return None;
        }
        PacedBy::Srp {
            first: first.into(),
            most,
        }
    } else {
        let most = keys.most.as_ref().map(|it| ("most", it.span()));
        let first = keys.first.as_ref().map(|it| ("first", it.span()));
        if let Some((name, span)) = most.or(first) {
            let message = format!("`{name}` applies only to rates that are computed");
            resolver.fail(span, message, "", "leave it out, or say `rate = \"srp\"`");
            return None;
        }
        PacedBy::Fixed(bytes_per_second(&keys.rate, resolver)?)
    };
    Some(SrpClass {
        class,
        packet: packet.into(),
        pace,
    })
}

/// Reads a rate of at least one byte per second.
fn bytes_per_second(typed: &Spanned<String>, resolver: &mut Resolver<'_>) -> Option<u64> {
    let rate = resolver.rate(typed)? / 8;
    if rate == 0 {
        resolver.fail(typed.span(), "a rate of 0 is not possible", "", "");
        return None;
    }
    Some(rate)
}
