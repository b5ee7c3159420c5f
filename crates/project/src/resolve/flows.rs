//! The flow table: 5-tuples hashed to buckets as by the hash unit.

use npsim_chip::gpp::boot::{MemoryImage, Space as BootSpace};
use npsim_chip::units::hash::{Hash, HashWidth, hash};

use super::super::file::{FlowSection, ProjectFile};
use super::super::text::parse_prefix;
use super::{Resolver, hex};

/// Flows per bucket.
const BUCKET_FLOWS: usize = 2;
/// Longwords per flow.
const FLOW_LONGWORDS: usize = 4;
/// Bit of a flow's last longword that marks the entry as valid.
const VALID: u32 = 1 << 31;
/// Bit of the same longword that marks a flow's opposite direction.
const REVERSE: u32 = 1 << 30;
/// Position of a flow's number in the same longword, and its largest value.
const NUMBER_SHIFT: u32 = 16;
const LAST_NUMBER: usize = 0x3fff;

impl Resolver<'_> {
    /// Returns the class of each flow in the flow table, by number from 1 on.
    #[must_use]
    pub fn flow_classes(&self) -> &[u8] {
        &self.flow_classes
    }

    /// Builds the table and allocates its memory.
    pub(super) fn flows(&mut self, file: &ProjectFile) {
        let Some(section) = &file.flows else {
            if let Some(flow) = file.flow.first() {
                self.fail(
                    flow.source.span(),
                    "flows are given, but there is no table for them",
                    "",
                    "add a [flows] section",
                );
            }
            return;
        };
        let (span, section) = (section.span(), section.get_ref());
        let channel = match &section.channel {
            Some(channel) => match self.channel(channel) {
                Some(channel) => channel,
                None => return,
            },
            None => u8::from(self.sram.len() > 1),
        };
        let buckets = section.buckets.as_ref().map_or(256, |b| *b.get_ref());
        if let Some(typed) = &section.buckets
            && (!buckets.is_power_of_two() || buckets > 65536)
        {
            self.fail(
                typed.span(),
                format!("a flow table cannot have {buckets} buckets"),
                "",
                "use a power of two up to 65536",
            );
            return;
        }
        let mut words = vec![0; buckets as usize * BUCKET_FLOWS * FLOW_LONGWORDS];
        for flow in &file.flow {
            self.flow(flow, buckets, &mut words);
        }
        if self.flow_classes.len() > LAST_NUMBER {
            self.fail(
                span,
                format!("{} flows are too many", self.flow_classes.len()),
                "",
                &format!("a flow's number has 14 bits: give at most {LAST_NUMBER}"),
            );
            return;
        }
        let bytes = words.len() as u64 * 4;
        let space = &mut self.sram[usize::from(channel)];
        let align = (BUCKET_FLOWS * FLOW_LONGWORDS * 4) as u64;
        match space.place("the flows", 0, bytes, align) {
            Ok(address) => {
                let owner = "the flows";
                self.define(
                    "FLOW_TABLE".into(),
                    hex(u32::from(channel) << 30 | address as u32),
                    owner,
                    span.clone(),
                );
                self.define("FLOW_BUCKETS".into(), buckets, owner, span.clone());
                let count = self.flow_classes.len();
                self.define("FLOW_COUNT".into(), count, owner, span);
                self.boot.memory.push(MemoryImage {
                    space: BootSpace::Sram(channel),
                    address: address as u32,
                    words,
                });
            }
            Err(reason) => {
                let name = space.name.clone();
                self.no_place(span, "the flow table", bytes, &name, &reason);
            }
        }
    }

    /// Numbers flows and adds them to their buckets.
    fn flow(&mut self, flow: &FlowSection, buckets: u32, words: &mut [u32]) {
        let mut address = |text: &crate::keys::Spanned<String>| {
            let address =
                parse_prefix(&format!("{}/32", text.get_ref())).map(|(address, _)| address);
            if address.is_none() {
                self.fail(
                    text.span(),
                    format!("`{}` is not an IPv4 address", text.get_ref()),
                    "",
                    "write for example `10.0.0.1`",
                );
            }
            address
        };
        let (Some(source), Some(destination)) = (address(&flow.source), address(&flow.destination))
        else {
            return;
        };
        let count = flow.count.as_ref().map_or(1, |count| *count.get_ref());
        let first = u32::from(flow.source_port);
        if count == 0 || count > 0x1_0000 - first {
            let place = flow.count.as_ref().map_or(0..0, crate::keys::Spanned::span);
            self.fail(
                place,
                format!("{count} flows from source port {first} are not possible"),
                "",
                "give at least 1 flow; source ports end at 65535",
            );
            return;
        }
        let destination_port = u32::from(flow.destination_port);
        for port in first..first + count {
            self.flow_classes.push(flow.class);
            let number = self.flow_classes.len() as u32;
            let mark = VALID | number << NUMBER_SHIFT | u32::from(flow.class) << 8;
            let there = [source, destination, port << 16 | destination_port, mark];
            let back = [
                destination,
                source,
                destination_port << 16 | port,
                mark | REVERSE,
            ];
            let done = self.enter(flow, there, buckets, words)
                && (!flow.reverse || self.enter(flow, back, buckets, words));
            if !done {
                return;
            }
        }
    }

    /// Adds an entry, still without its protocol, to its bucket. Returns false on an error.
    fn enter(
        &mut self,
        flow: &FlowSection,
        [source, destination, ports, mark]: [u32; FLOW_LONGWORDS],
        buckets: u32,
        words: &mut [u32],
    ) -> bool {
        let protocol = u32::from(flow.protocol);
        let at = bucket([source, destination, ports, protocol], buckets);
        let start = at * BUCKET_FLOWS * FLOW_LONGWORDS;
        let bucket = &mut words[start..start + BUCKET_FLOWS * FLOW_LONGWORDS];
        let entry = [source, destination, ports, mark | protocol];
        let twice = bucket
            .chunks(FLOW_LONGWORDS)
            .any(|old| old[..3] == entry[..3] && old[3] & (VALID | 0xff) == VALID | protocol);
        if twice {
            self.fail(flow.source.span(), "this flow is given twice", "", "");
            return false;
        }
        let free = bucket.chunks_mut(FLOW_LONGWORDS).find(|old| old[3] == 0);
        let Some(free) = free else {
            self.fail(
                flow.source.span(),
                "this flow's bucket is full",
                "",
                "give [flows] more `buckets`",
            );
            return false;
        };
        free.copy_from_slice(&entry);
        true
    }
}

/// Returns the bucket that microcode finds with `hash_128` of the key.
fn bucket(key: [u32; 4], buckets: u32) -> usize {
    let operand = key
        .iter()
        .rev()
        .fold(0, |value, &word| value << 32 | u128::from(word));
    let multiplier = Hash::DEFAULT_MULTIPLIERS[HashWidth::Bits128 as usize];
    let result = hash(HashWidth::Bits128, operand, multiplier);
    (result as u32 & (buckets - 1)) as usize
}
