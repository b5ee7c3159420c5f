//! The headers of a frame, field by field.

use std::fmt::Display;

use etherparse::{LaxLinkExtSlice, LaxNetSlice, LaxSlicedPacket, LinkSlice, TransportSlice};
use serde::Serialize;

/// A header of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    name: &'static str,
    fields: Vec<(&'static str, String)>,
}

impl Layer {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            fields: Vec::new(),
        }
    }

    fn with(mut self, name: &'static str, value: impl Display) -> Self {
        self.fields.push((name, value.to_string()));
        self
    }

    fn field(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|it| it.0 == name);
        found.map_or("", |it| it.1.as_str())
    }
}

fn mac(bytes: [u8; 6]) -> String {
    let bytes = bytes.map(|byte| format!("{byte:02x}"));
    bytes.join(":")
}

/// The recognized headers, from the outside in, up to the first that cannot be parsed.
pub fn layers(frame: &[u8]) -> Vec<Layer> {
    let Ok(packet) = LaxSlicedPacket::from_ethernet(frame) else {
        return Vec::new();
    };
    let mut layers = Vec::new();
    if let Some(LinkSlice::Ethernet2(link)) = &packet.link {
        let kind = format!("{:#06x}", link.ether_type().0);
        let link = Layer::new("Ethernet")
            .with("destination", mac(link.destination()))
            .with("source", mac(link.source()))
            .with("type", kind);
        layers.push(link);
    }
    for extension in &packet.link_exts {
        if let LaxLinkExtSlice::Vlan(tag) = extension {
            let tag = Layer::new("VLAN")
                .with("id", tag.vlan_identifier().value())
                .with("priority", tag.priority_code_point().value());
            layers.push(tag);
        }
    }
    layers.extend(packet.net.as_ref().map(network));
    layers.extend(packet.transport.as_ref().map(transport));
    layers
}

fn network(net: &LaxNetSlice<'_>) -> Layer {
    match net {
        LaxNetSlice::Ipv4(packet) => {
            let header = packet.header();
            let flags = match (header.dont_fragment(), header.more_fragments()) {
                (true, _) => "do not fragment",
                (_, true) => "more fragments",
                _ => "none",
            };
            Layer::new("IPv4")
                .with("source", header.source_addr())
                .with("destination", header.destination_addr())
                .with("time to live", header.ttl())
                .with("protocol", header.protocol().0)
                .with("length", header.total_len())
                .with("DSCP", header.dcp().value())
                .with("ECN", header.ecn().value())
                .with(
                    "identification",
                    format!("{:#06x}", header.identification()),
                )
                .with("flags", flags)
                .with(
                    "fragment offset",
                    u32::from(header.fragments_offset().value()) * 8,
                )
                .with("options", format!("{} bytes", header.options().len()))
                .with("checksum", format!("{:#06x}", header.header_checksum()))
        }
        LaxNetSlice::Ipv6(packet) => {
            let header = packet.header();
            Layer::new("IPv6")
                .with("source", header.source_addr())
                .with("destination", header.destination_addr())
                .with("hop limit", header.hop_limit())
                .with("next header", header.next_header().0)
                .with("payload length", header.payload_length())
                .with("traffic class", format!("{:#04x}", header.traffic_class()))
                .with(
                    "flow label",
                    format!("{:#07x}", header.flow_label().value()),
                )
        }
        LaxNetSlice::Arp(packet) => {
            let layer = Layer::new("ARP");
            let Ok(arp) = packet.to_packet().try_eth_ipv4() else {
                return layer.with("form", "not of IPv4 over Ethernet");
            };
            let operation = match arp.operation.0 {
                1 => "request".to_owned(),
                2 => "reply".to_owned(),
                other => other.to_string(),
            };
            layer
                .with("operation", operation)
                .with("sender", arp.sender_ipv4_addr())
                .with("sender's address", mac(arp.sender_mac))
                .with("target", arp.target_ipv4_addr())
                .with("target's address", mac(arp.target_mac))
        }
    }
}

fn transport(transport: &TransportSlice<'_>) -> Layer {
    match transport {
        TransportSlice::Udp(it) => Layer::new("UDP")
            .with("source port", it.source_port())
            .with("destination port", it.destination_port())
            .with("length", it.length())
            .with("checksum", format!("{:#06x}", it.checksum())),
        TransportSlice::Tcp(it) => {
            let flags = [
                (it.cwr(), "CWR"),
                (it.ece(), "ECE"),
                (it.urg(), "URG"),
                (it.ack(), "ACK"),
                (it.psh(), "PSH"),
                (it.rst(), "RST"),
                (it.syn(), "SYN"),
                (it.fin(), "FIN"),
            ];
            let flags = flags.into_iter().filter(|it| it.0).map(|it| it.1);
            Layer::new("TCP")
                .with("source port", it.source_port())
                .with("destination port", it.destination_port())
                .with("sequence number", it.sequence_number())
                .with("acknowledgement number", it.acknowledgment_number())
                .with("flags", flags.collect::<Vec<_>>().join(" "))
                .with("window", it.window_size())
                .with("options", format!("{} bytes", it.options().len()))
                .with("checksum", format!("{:#06x}", it.checksum()))
        }
        TransportSlice::Icmpv4(it) => icmp("ICMP", it.type_u8(), it.code_u8(), it.checksum()),
        TransportSlice::Icmpv6(it) => icmp("ICMPv6", it.type_u8(), it.code_u8(), it.checksum()),
        TransportSlice::Igmp(it) => icmp("IGMP", it.type_u8(), 0, it.checksum()),
    }
}

fn icmp(name: &'static str, kind: u8, code: u8, checksum: u16) -> Layer {
    Layer::new(name)
        .with("type", kind)
        .with("code", code)
        .with("checksum", format!("{checksum:#06x}"))
}

/// Summarises a frame in one line.
pub fn summary(layers: &[Layer]) -> String {
    let net = layers
        .iter()
        .find(|it| ["IPv4", "IPv6", "ARP"].contains(&it.name));
    let Some(net) = net else {
        let link = layers.first();
        return link.map_or_else(
            || "no Ethernet header".to_owned(),
            |it| {
                format!(
                    "Ethernet {} > {}, type {}",
                    it.field("source"),
                    it.field("destination"),
                    it.field("type")
                )
            },
        );
    };
    if net.name == "ARP" {
        let (sender, target) = (net.field("sender"), net.field("target"));
        return format!("ARP {} {sender} > {target}", net.field("operation"));
    }
    let (source, destination) = (net.field("source"), net.field("destination"));
    let above = layers.last().filter(|it| it.name != net.name);
    let above = match above {
        None => format!(
            "protocol {}{}",
            net.field("protocol"),
            net.field("next header")
        ),
        Some(it) if it.field("source port").is_empty() => {
            format!(
                "{} type {} code {}",
                it.name,
                it.field("type"),
                it.field("code")
            )
        }
        Some(it) => {
            let (from, to) = (it.field("source port"), it.field("destination port"));
            format!("{} {from} > {to} {}", it.name, it.field("flags"))
        }
    };
    format!("{} {source} > {destination} {}", net.name, above.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{layers, summary};

    #[test]
    fn frame_is_summarised_in_one_line() {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        frame.extend([
            0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 1, 0, 2,
        ]);
        frame.extend([4, 0, 0, 80, 0, 8, 0, 0]);
        let found = layers(&frame);
        assert_eq!(summary(&found), "IPv4 10.0.0.1 > 10.1.0.2 UDP 1024 > 80");
        assert_eq!(found[1].field("time to live"), "64");
        // A truncated frame shows what it contains.
        let cut = layers(&frame[..20]);
        assert!(
            summary(&cut).starts_with("Ethernet 02:00:00:00:00:02 > "),
            "{cut:?}"
        );
        assert_eq!(summary(&layers(&[1, 2])), "no Ethernet header");
    }
}
