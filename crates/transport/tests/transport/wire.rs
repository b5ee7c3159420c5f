//! Packets as values and as bytes.

use npsim_protocols::quick_start::QuickStartOption;
use npsim_protocols::{rcp, xcp};
use npsim_transport::wire::{
    Flags, Packet, PacketBody, QuickStartResponse, RcpDatagram, SackBlocks, Segment, TcpOptions,
    Timestamps, WireError, XcpOption, first_difference,
};
use proptest::option::of;
use proptest::prelude::*;

fn any_blocks() -> impl Strategy<Value = SackBlocks> {
    prop::collection::vec(any::<(u32, u32)>(), 0..=4).prop_map(|list| {
        let mut blocks = SackBlocks::default();
        for (first, after) in list {
            assert!(blocks.push(first, after));
        }
        blocks
    })
}

fn any_xcp_option() -> impl Strategy<Value = XcpOption> {
    prop_oneof![
        any::<(u16, u16, u16)>().prop_map(|(window, rtt, feedback)| XcpOption::Forward {
            window,
            rtt,
            feedback
        }),
        any::<u16>().prop_map(|feedback| XcpOption::Reverse { feedback }),
    ]
}

prop_compose! {
    fn any_options()(
        mss in of(any::<u16>()), window_scale in of(0_u8..=14), sack_permitted: bool,
        timestamps in of(any::<(u32, u32)>()), sack in any_blocks(),
        quick_start in of((0_u8..16, any::<u8>(), 0_u32..1 << 30)), xcp in of(any_xcp_option()),
    ) -> TcpOptions {
        TcpOptions {
            mss,
            window_scale,
            sack_permitted,
            timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
            sack,
            quick_start: quick_start.map(|(rate, ttl_difference, nonce)| QuickStartResponse {
                rate, ttl_difference, nonce,
            }),
            xcp,
        }
    }
}

prop_compose! {
    fn any_segment()(
        ports: (u16, u16), numbers: (u32, u32), flags: u8, window: u16, options in any_options(),
        payload in 0_u16..3_000,
    ) -> Segment {
        Segment {
            source_port: ports.0,
            destination_port: ports.1,
            sequence: numbers.0,
            acknowledgement: numbers.1,
            flags: Flags::from_bits(flags),
            window,
            options,
            payload,
        }
    }
}

fn any_xcp_header() -> impl Strategy<Value = xcp::XcpHeader> {
    any::<(u32, u32, i32, i32, bool)>().prop_map(|(x, rtt, reverse, delta, standard)| {
        xcp::XcpHeader {
            protocol: 6,
            length: 20,
            version: 3,
            format: if standard { 1 } else { 2 },
            unused: 0,
            x,
            rtt,
            reverse_feedback: reverse,
            delta_throughput: delta,
        }
    })
}

fn any_body() -> impl Strategy<Value = PacketBody> {
    prop_oneof![
        (of(any_xcp_header()), any_segment())
            .prop_map(|(xcp, segment)| PacketBody::Tcp { xcp, segment }),
        (
            any::<[u8; 10]>(),
            any::<u8>(),
            any::<(u32, u32)>(),
            0_u16..3_000
        )
            .prop_map(|(bytes, kind, (number, stamp), payload)| {
                let mut header = [0; 12];
                header[..10].copy_from_slice(&bytes);
                header[10..].copy_from_slice(&[61, kind]);
                PacketBody::Rcp {
                    header: rcp::RcpHeader::from_bytes(&header).unwrap(),
                    datagram: RcpDatagram {
                        number,
                        stamp,
                        payload,
                    },
                }
            }),
    ]
}

prop_compose! {
    fn any_packet()(
        addresses: (u32, u32), identification: u16, ttl: u8, body in any_body(),
        option in of((0_u8..16, 0_u8..16, any::<u8>(), 0_u32..1 << 30, 0_u8..4)),
    ) -> Packet {
        Packet {
            source: addresses.0.into(),
            destination: addresses.1.into(),
            identification,
            ttl,
            quick_start: option.map(|(function, rate, ttl, nonce, reserved)| QuickStartOption {
                function, rate, ttl, nonce, reserved,
            }),
            body,
        }
    }
}

proptest! {
    #[test]
    fn packet_round_trips_through_bytes(packet in any_packet(), padding in 0_usize..20) {
        let bytes = packet.to_bytes();
        let options = packet.segment().map_or(0, |segment| segment.options.length());
        if options > 40 {
            prop_assert_eq!(bytes, Err(WireError::OptionsTooLong { needed: options }));
            return Ok(());
        }
        let mut bytes = bytes.unwrap();
        prop_assert_eq!(bytes.len(), packet.length());
        bytes.resize(bytes.len() + padding, 0);
        let (read, payload) = Packet::from_bytes(&bytes).unwrap();
        prop_assert_eq!(read, packet);
        let first = match packet.body {
            PacketBody::Tcp { segment, .. } => segment.sequence,
            PacketBody::Rcp { datagram, .. } => datagram.number,
        };
        prop_assert_eq!(first_difference(first, payload), None);
    }

    #[test]
    fn arbitrary_bytes_parse_or_give_an_error(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        if let Err(error) = Packet::from_bytes(&bytes) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn bit_flip_in_a_tcp_packet_is_detected(
        segment in any_segment(), at in any::<prop::sample::Index>(), bit in 0_u8..8,
    ) {
        prop_assume!(segment.options.length() <= 40);
        let packet = Packet {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            identification: 1,
            ttl: 64,
            quick_start: None,
            body: PacketBody::Tcp { xcp: None, segment },
        };
        let mut bytes = packet.to_bytes().unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(Packet::from_bytes(&bytes).is_err());
    }
}

/// A TCP packet with these options, as bytes; the checksum counts.
fn with_options(options: &[u8]) -> Vec<u8> {
    use npsim_protocols::checksum;
    assert_eq!(options.len() % 4, 0);
    let length = 40 + options.len();
    let mut bytes = vec![
        0x45,
        0,
        0,
        length as u8,
        0,
        1,
        0x40,
        0,
        64,
        6,
        0,
        0,
        10,
        0,
        0,
        1,
        10,
        0,
        0,
        2,
    ];
    let sum = checksum::of_ipv4(&bytes);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend([4, 0, 19, 137, 0, 0, 0, 1, 0, 0, 0, 0]);
    bytes.extend([
        (20 + options.len()) as u8 / 4 * 16,
        2,
        0xff,
        0xff,
        0,
        0,
        0,
        0,
    ]);
    bytes.extend(options);
    let pseudo = [
        10,
        0,
        0,
        1,
        10,
        0,
        0,
        2,
        0,
        6,
        0,
        (20 + options.len()) as u8,
    ];
    let sum = u32::from(checksum::sum(&pseudo)) + u32::from(checksum::sum(&bytes[20..]));
    let sum = !checksum::fold(sum);
    bytes[36..38].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[test]
fn malformed_tcp_options_are_reported_by_kind() {
    let what = "the TCP header";
    let overrun = |kind| WireError::OptionOverrun { what, kind };
    let wrong = |kind, length| WireError::OptionLength { what, kind, length };
    for (options, error) in [
        (&[1, 1, 1, 2][..], overrun(2)),
        (&[2, 0, 0, 0], overrun(2)),
        (&[2, 1, 0, 0], overrun(2)),
        (&[8, 10, 0, 0], overrun(8)),
        (&[2, 3, 0, 0], wrong(2, 3)),
        (&[3, 2, 1, 1], wrong(3, 2)),
        (&[4, 3, 1, 1], wrong(4, 3)),
        (&[5, 2, 1, 1], wrong(5, 2)),
        (&[5, 6, 0, 0, 0, 0, 1, 1], wrong(5, 6)),
        (&[8, 4, 0, 0], wrong(8, 4)),
        (&[27, 4, 0, 0], wrong(27, 4)),
        (&[253, 6, 0, 0, 0, 0, 1, 1], wrong(253, 6)),
        (
            &[2, 4, 5, 180, 2, 4, 5, 180],
            WireError::DuplicateOption { what, kind: 2 },
        ),
    ] {
        let bytes = with_options(options);
        assert_eq!(
            Packet::from_bytes(&bytes).unwrap_err(),
            error,
            "{options:?}"
        );
    }
    // An unknown option is skipped, and so is everything after the end of options.
    let (packet, _) = Packet::from_bytes(&with_options(&[30, 4, 9, 9, 2, 4, 5, 180])).unwrap();
    assert_eq!(packet.segment().unwrap().options.mss, Some(1_460));
    let (packet, _) = Packet::from_bytes(&with_options(&[0, 2, 0, 0])).unwrap();
    assert_eq!(packet.segment().unwrap().options, TcpOptions::default());
    // RFC 7323: a shift above 14 is 14.
    let (packet, _) = Packet::from_bytes(&with_options(&[3, 3, 20, 0])).unwrap();
    assert_eq!(packet.segment().unwrap().options.window_scale, Some(14));
}

#[test]
fn syn_matches_the_expected_bytes() {
    let mut out = Vec::new();
    let mut rig = crate::rig::Rig::new(
        crate::rig::host(),
        npsim_transport::Scheme::Reno,
        npsim_transport::Supply::Endless,
    );
    rig.sender.open(0, &mut out);
    let bytes = out[0].to_bytes().unwrap();
    assert_eq!(bytes[..4], [0x45, 0, 0, 52]);
    assert_eq!(bytes[20..24], [4, 0, 19, 137], "ports 1024 and 5001");
    assert_eq!(bytes[32..34], [0x80, 0x02], "8 longwords, SYN");
    assert_eq!(bytes[40..], [2, 4, 3, 232, 1, 3, 3, 5, 1, 1, 4, 2]);
}
