//! Captures of every supported format, made by hand, are read correctly.

use crate::handmade::*;
use npsim_net::capture::{Capture, CaptureError};

const ORDERS: [Order; 2] = [Order::Big, Order::Little];

fn read(bytes: &[u8]) -> Capture {
    Capture::from_bytes("hand.pcap", bytes).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    Capture::from_bytes("hand.pcap", bytes)
        .unwrap_err()
        .to_string()
}

fn times(capture: &Capture) -> Vec<u64> {
    capture.frames.iter().map(|frame| frame.time_ns).collect()
}

#[test]
fn classic_files_of_both_byte_orders_and_resolutions_are_read() {
    for order in ORDERS {
        for (magic, unit_ns) in [(MICROSECONDS, 1000), (NANOSECONDS, 1)] {
            let mut file = classic_header(order, magic, 1);
            file.extend(classic_record(
                order,
                1_700_000_000,
                123_456,
                60,
                &frame(1, 60),
            ));
            file.extend(classic_record(
                order,
                1_700_000_001,
                123_455,
                1514,
                &frame(2, 90),
            ));
            let capture = read(&file);
            assert_eq!(
                capture.first_timestamp_ns,
                1_700_000_000_000_000_000 + 123_456 * i128::from(unit_ns)
            );
            assert_eq!(times(&capture), [0, 1_000_000_000 - unit_ns]);
            assert_eq!(capture.frames[0].bytes, frame(1, 60));
            assert_eq!(capture.frames[1].bytes, frame(2, 90));
            assert_eq!(capture.frames[1].original_len, 1514);
            assert!(capture.frames[1].is_truncated() && !capture.frames[0].is_truncated());
            assert_eq!(
                (capture.notes.truncated_frames, capture.notes.reordered),
                (1, 0)
            );
            assert_eq!(capture.interfaces, ["interface 0"]);
        }
    }
}

#[test]
fn capture_without_frames_is_valid() {
    assert_eq!(
        read(&classic_header(Order::Little, MICROSECONDS, 1)).frames,
        []
    );
    assert_eq!(read(&section(Order::Big)).frames, []);
}

#[test]
fn frames_longer_than_the_snap_length_in_the_header_are_kept() {
    let mut file = classic_header(Order::Little, MICROSECONDS, 1);
    file[16..20].fill(0);
    file.extend(classic_record(Order::Little, 5, 0, 60, &frame(1, 60)));
    assert_eq!(read(&file).frames[0].bytes.len(), 60);
}

#[test]
fn backward_times_are_clamped_and_counted() {
    let mut file = classic_header(Order::Little, NANOSECONDS, 1);
    for (seconds, fraction) in [
        (10, 500),
        (10, 900),
        (10, 100),
        (9, 0),
        (10, 899),
        (10, 900),
        (11, 0),
    ] {
        file.extend(classic_record(
            Order::Little,
            seconds,
            fraction,
            60,
            &frame(fraction as u8, 60),
        ));
    }
    let capture = read(&file);
    assert_eq!(times(&capture), [0, 400, 400, 400, 400, 400, 999_999_500]);
    assert_eq!(capture.notes.reordered, 3);
    assert_eq!(
        capture.frames[3].bytes,
        frame(0, 60),
        "the order of the file is kept"
    );
}

#[test]
fn pcapng_resolutions_are_exact() {
    for order in ORDERS {
        // Ticks of 1700000000 s and a fraction; nanoseconds after that second.
        let cases: [(Option<u8>, u64, i128); 6] = [
            (None, 1_700_000_000_123_456, 123_456_000),
            (Some(6), 1_700_000_000_123_456, 123_456_000),
            (Some(9), 1_700_000_000_123_456_789, 123_456_789),
            (Some(3), 1_700_000_000_123, 123_000_000),
            (Some(0), 1_700_000_000, 0),
            // The top bit: 2^-20 s. 1 tick of 1048576 is 953.67 ns.
            (Some(0x94), (1_700_000_000 << 20) + 3, 2861),
        ];
        for (resolution, ticks, fraction_ns) in cases {
            let options: Vec<Vec<u8>> = resolution
                .map(|value| option(order, IF_TSRESOL, &[value]))
                .into_iter()
                .collect();
            let file = [
                section(order),
                interface(order, 1, 0, &options),
                enhanced(order, 0, ticks, 61, &frame(7, 61)),
            ]
            .concat();
            let capture = read(&file);
            assert_eq!(
                capture.first_timestamp_ns,
                1_700_000_000_000_000_000 + fraction_ns,
                "{order:?} {resolution:?}"
            );
            assert_eq!(
                capture.frames[0].bytes,
                frame(7, 61),
                "padding is not part of the frame"
            );
        }
    }
}

#[test]
fn pcapng_time_offsets_are_added() {
    let order = Order::Big;
    let shifted = |seconds: i64| {
        let options = [option(order, IF_TSOFFSET, &order.u64(seconds as u64))];
        [
            section(order),
            interface(order, 1, 0, &options),
            enhanced(order, 0, 5_000_001, 60, &frame(1, 60)),
        ]
        .concat()
    };
    assert_eq!(read(&shifted(100)).first_timestamp_ns, 105_000_001_000);
    assert_eq!(read(&shifted(-2)).first_timestamp_ns, 3_000_001_000);
    // Before 1970.
    assert_eq!(read(&shifted(-6)).first_timestamp_ns, -999_999_000);
}

#[test]
fn several_interfaces_have_their_own_resolutions() {
    let order = Order::Little;
    let named = |name: &[u8], resolution: u8| {
        interface(
            order,
            1,
            0,
            &[
                option(order, IF_NAME, name),
                option(order, IF_TSRESOL, &[resolution]),
            ],
        )
    };
    let file = [
        section(order),
        named(b"eth0", 6),
        named(b"port-1", 9),
        enhanced(order, 1, 2_000_000_500, 60, &frame(1, 60)),
        enhanced(order, 0, 2_000_001, 60, &frame(2, 60)),
        enhanced(order, 1, 2_000_001_500, 60, &frame(3, 60)),
    ]
    .concat();
    let capture = read(&file);
    assert_eq!(capture.interfaces, ["eth0", "port-1"]);
    assert_eq!(
        capture
            .frames
            .iter()
            .map(|frame| frame.port)
            .collect::<Vec<_>>(),
        [1, 0, 1]
    );
    assert_eq!(times(&capture), [0, 500, 1000]);
}

#[test]
fn named_interfaces_are_matched_across_sections_and_byte_orders() {
    let named = |order, name: &[u8]| interface(order, 1, 0, &[option(order, IF_NAME, name)]);
    let file = [
        section(Order::Little),
        named(Order::Little, b"a"),
        named(Order::Little, b"b"),
        enhanced(Order::Little, 1, 1_000_000, 60, &frame(1, 60)),
        section(Order::Big),
        named(Order::Big, b"b"),
        named(Order::Big, b"c"),
        enhanced(Order::Big, 0, 1_000_001, 60, &frame(2, 60)),
        enhanced(Order::Big, 1, 1_000_002, 60, &frame(3, 60)),
    ]
    .concat();
    let capture = read(&file);
    assert_eq!(capture.interfaces, ["a", "b", "c"]);
    assert_eq!(
        capture
            .frames
            .iter()
            .map(|frame| frame.port)
            .collect::<Vec<_>>(),
        [1, 1, 2]
    );
    assert_eq!(times(&capture), [0, 1000, 2000]);
}

#[test]
fn same_named_interfaces_of_a_section_stay_distinct() {
    let order = Order::Little;
    let twin = interface(order, 1, 0, &[option(order, IF_NAME, b"eth0")]);
    let file = [
        section(order),
        twin.clone(),
        twin,
        enhanced(order, 1, 0, 60, &frame(1, 60)),
    ]
    .concat();
    let capture = read(&file);
    assert_eq!(capture.interfaces, ["eth0", "eth0"]);
    assert_eq!(capture.frames[0].port, 1);
}

#[test]
fn same_named_interfaces_keep_their_ports_across_sections() {
    let order = Order::Little;
    let named = |name: &[u8]| interface(order, 1, 0, &[option(order, IF_NAME, name)]);
    let [a, b] = [named(b"a"), named(b"b")];
    // In the second section, the third `a` is new; in the third, the first `a` is the first again.
    let sections = [
        [section(order), a.clone(), b.clone(), a.clone()],
        [section(order), a.clone(), a.clone(), a.clone()],
        [section(order), b.clone(), a.clone(), b.clone()],
    ];
    let packets = (0..3).map(|at| enhanced(order, at, 0, 60, &frame(1, 60)));
    let packets: Vec<u8> = packets.flatten().collect();
    let file: Vec<u8> = { sections.iter() }
        .flat_map(|section| [section.concat(), packets.clone()].concat())
        .collect();
    let capture = read(&file);
    assert_eq!(capture.interfaces, ["a", "b", "a", "a", "b"]);
    let ports: Vec<u32> = capture.frames.iter().map(|frame| frame.port).collect();
    assert_eq!(ports, [0, 1, 2, 0, 2, 3, 1, 0, 4]);
}

#[test]
fn a_section_may_describe_many_interfaces() {
    let order = Order::Little;
    let many = 50_000;
    let file = [
        section(order),
        interface(order, 1, 0, &[]).repeat(many),
        enhanced(order, many as u32 - 1, 0, 60, &frame(1, 60)),
    ]
    .concat();
    let capture = read(&file);
    assert_eq!(capture.interfaces.len(), many);
    assert_eq!(capture.frames[0].port, many as u32 - 1);
}

#[test]
fn simple_packets_take_the_time_of_the_previous_frame() {
    let order = Order::Big;
    let file = [
        section(order),
        interface(order, 1, 64, &[]),
        simple(order, 60, &frame(1, 60)),
        enhanced(order, 0, 3_000_000, 60, &frame(2, 60)),
        enhanced(order, 0, 3_000_007, 60, &frame(3, 60)),
        simple(order, 100, &frame(4, 64)),
    ]
    .concat();
    let capture = read(&file);
    assert_eq!(times(&capture), [0, 0, 7000, 7000]);
    assert_eq!(capture.first_timestamp_ns, 3_000_000_000);
    assert_eq!(
        capture.frames[3].bytes,
        frame(4, 64),
        "the snap length says how much there is"
    );
    assert_eq!(capture.notes.truncated_frames, 1);
}

#[test]
fn old_packet_blocks_are_read() {
    let order = Order::Little;
    let mut body = [
        order.u16(0),
        order.u16(9),
        order.u32(0),
        order.u32(77),
        order.u32(61),
        order.u32(61),
    ]
    .concat();
    body.extend(frame(5, 61));
    body.resize(84, 0);
    let file = [
        section(order),
        interface(order, 1, 0, &[]),
        block(order, 2, &body),
    ]
    .concat();
    let capture = read(&file);
    assert_eq!(capture.first_timestamp_ns, 77_000);
    assert_eq!(capture.frames[0].bytes, frame(5, 61));
}

#[test]
fn irrelevant_blocks_are_skipped_even_if_damaged() {
    let order = Order::Little;
    let file = [
        section(order),
        block(order, 4, &[0xff; 8]),
        interface(order, 1, 0, &[]),
        block(order, 0x1234, &[1; 16]),
        enhanced(order, 0, 1, 60, &frame(1, 60)),
        block(order, 5, &[0; 12]),
    ]
    .concat();
    assert_eq!(read(&file).frames.len(), 1);
}

#[test]
fn a_frame_check_sequence_is_removed() {
    // Classic: 2 units of 16 bits, and the corresponding flag.
    let mut file = classic_header(Order::Little, MICROSECONDS, 0x2400_0001);
    file.extend(classic_record(Order::Little, 1, 0, 64, &frame(1, 64)));
    file.extend(classic_record(Order::Little, 1, 0, 1518, &frame(2, 100)));
    file.extend(classic_record(Order::Little, 1, 0, 1518, &frame(3, 1516)));
    let capture = read(&file);
    let lengths: Vec<(usize, u32)> = capture
        .frames
        .iter()
        .map(|frame| (frame.bytes.len(), frame.original_len))
        .collect();
    assert_eq!(lengths, [(60, 60), (100, 1514), (1514, 1514)]);
    assert_eq!(capture.notes.truncated_frames, 1);

    for length in [4, 32] {
        let order = Order::Big;
        let options = [option(order, IF_FCSLEN, &[length])];
        let file = [
            section(order),
            interface(order, 1, 0, &options),
            enhanced(order, 0, 1, 64, &frame(1, 64)),
        ]
        .concat();
        assert_eq!(read(&file).frames[0].bytes, frame(1, 60));
    }
}

#[test]
fn other_link_types_are_refused_with_advice() {
    for (link, name, advice) in [
        (113, "LINUX_SLL (113)", "\"any\" device"),
        (276, "LINUX_SLL2 (276)", "`--link` frames"),
        (127, "IEEE802_11_RADIOTAP (127)", "monitor mode"),
        (0, "NULL (0)", "loopback"),
        (101, "RAW (101)", "`--link` frames"),
        (12, "RAW (12, as BSD writes it)", "`--link` frames"),
        (14, "RAW (14, as BSD writes it)", "`--link` frames"),
        (9, "PPP (9)", "`--link` frames"),
        (65_000, "65000 (without a name)", "capture again"),
    ] {
        let message = refused(&classic_header(Order::Little, MICROSECONDS, link));
        assert!(
            message.contains(name) && message.contains(advice) && message.contains("hand.pcap"),
            "{message}"
        );
    }
    let order = Order::Little;
    let wireless = interface(order, 105, 0, &[option(order, IF_NAME, b"wlan0")]);
    let wired = interface(order, 1, 0, &[]);
    let unused = [
        section(order),
        wireless,
        wired,
        enhanced(order, 1, 1, 60, &frame(1, 60)),
    ]
    .concat();
    assert_eq!(
        read(&unused).frames.len(),
        1,
        "an interface without frames does no harm"
    );
    let used = [unused, enhanced(order, 0, 1, 60, &frame(1, 60))].concat();
    assert!(refused(&used).contains("interface `wlan0`"));
}

/// As in every common capture reader.
#[test]
fn fractions_of_a_second_or_more_are_carried_over() {
    let order = Order::Big;
    for (magic, fraction) in [(MICROSECONDS, 1_250_000), (NANOSECONDS, 1_250_000_000)] {
        let mut file = classic_header(order, magic, 1);
        file.extend(classic_record(order, 1, 0, 60, &frame(1, 60)));
        file.extend(classic_record(order, 1, fraction, 60, &frame(2, 60)));
        let capture = read(&file);
        assert_eq!(capture.frames[1].time_ns, 1_250_000_000);
    }
}

#[test]
fn damaged_records_are_reported_with_frame_and_position() {
    let order = Order::Little;
    let mut good = classic_header(order, MICROSECONDS, 1);
    good.extend(classic_record(order, 1, 0, 60, &frame(1, 60)));
    let cases = [(
        [
            order.u32(1),
            order.u32(0),
            order.u32(300_000),
            order.u32(300_000),
        ]
        .concat(),
        "a frame of 300000 bytes",
    )];
    for (record, reason) in cases {
        let error = Capture::from_bytes("hand.pcap", &[good.clone(), record].concat()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert!(
            matches!(
                error,
                CaptureError::Malformed {
                    frame: 2,
                    offset: 100,
                    ..
                }
            ),
            "{error}"
        );
    }

    let start = [section(order), interface(order, 1, 0, &[])].concat();
    let mut mismatched = enhanced(order, 0, 1, 60, &frame(1, 60));
    let last = mismatched.len() - 4;
    mismatched[last] ^= 4;
    for (record, reason) in [
        (mismatched, "don't match"),
        (enhanced(order, 3, 1, 60, &frame(1, 60)), "interface"),
        (block(order, 6, &[0; 8]), "hand.pcap"),
        (
            [order.u32(6), order.u32(0x7fff_fff0), order.u32(0)].concat(),
            "a block of about",
        ),
        (block(order, 1, &[0; 4]), "shorter than its fields"),
    ] {
        let error =
            Capture::from_bytes("hand.pcap", &[start.clone(), record].concat()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert!(
            matches!(
                error,
                CaptureError::Malformed {
                    frame: 1,
                    offset: 48,
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn resolutions_finer_than_a_nanosecond_are_truncated() {
    for order in ORDERS {
        for (resolution, per_second) in [(12, 1e12), (10, 1e10), (0x9e, 2f64.powi(30))] {
            let options = [option(order, IF_TSRESOL, &[resolution])];
            let second = per_second as u64;
            let file = [
                section(order),
                interface(order, 1, 0, &options),
                enhanced(order, 0, 1000 * second, 60, &frame(1, 60)),
                enhanced(order, 0, 1000 * second + second / 2 + 1, 60, &frame(2, 60)),
            ]
            .concat();
            let capture = read(&file);
            assert_eq!(capture.first_timestamp_ns, 1_000_000_000_000);
            assert_eq!(times(&capture), [0, 500_000_000], "{resolution}");
        }
    }
}

#[test]
fn malformed_options_are_noted_and_ignored() {
    let order = Order::Little;
    // A resolution of two bytes is ignored: these are microseconds.
    let odd = [
        option(order, 1, b"caf\xe9"),
        option(order, IF_TSRESOL, &[9, 0]),
        option(order, IF_TSOFFSET, &[1; 3]),
        option(order, 4, &[10, 0, 0, 1, 255]),
        option(order, 6, &[2; 5]),
        option(order, IF_NAME, b"caf\xe9"),
    ];
    let with_options = |options: &[u8]| {
        let mut body = Vec::new();
        for field in [0, 0, 7, 60, 60] {
            body.extend(order.u32(field));
        }
        body.extend(frame(1, 60));
        body.extend(options);
        block(order, 6, &body)
    };
    let runs_over = [order.u16(1), order.u16(400)].concat();
    let file = [
        section(order),
        interface(order, 1, 0, &odd),
        with_options(&option(order, 1, b"caf\xe9")),
        with_options(&option(order, 2, &[1; 3])),
        with_options(&runs_over),
        with_options(&[]),
    ]
    .concat();
    let capture = read(&file);
    assert_eq!(capture.frames.len(), 4);
    assert!(capture.frames.iter().all(|it| it.bytes == frame(1, 60)));
    assert_eq!(capture.first_timestamp_ns, 7_000);
    assert_eq!(capture.interfaces, ["caf\u{fffd}"]);
    // Two texts and four lengths at the interface, a text, a length and a list at packets.
    assert_eq!(capture.notes.odd_options, 9);
    // A section header may also have such a comment.
    let commented = [
        order.u32(0x1a2b_3c4d),
        order.u16(1),
        order.u16(0),
        order.u64(u64::MAX),
        option(order, 1, b"\xff\xfe"),
    ]
    .concat();
    let plain = [
        block(order, 0x0a0d_0d0a, &commented),
        interface(order, 1, 0, &[]),
        enhanced(order, 0, 1, 60, &frame(1, 60)),
    ]
    .concat();
    assert_eq!(read(&plain).frames.len(), 1);
}

#[test]
fn per_packet_fcs_length_overrides_the_interface() {
    for order in ORDERS {
        let packet = |fcs: u32, length: usize| {
            let mut body = Vec::new();
            for field in [0, 0, 1, length as u32, length as u32] {
                body.extend(order.u32(field));
            }
            body.extend(frame(3, length));
            body.extend(option(order, 2, &order.u32(fcs << 5 | 1)));
            block(order, 6, &body)
        };
        let file = [
            section(order),
            interface(order, 1, 0, &[option(order, IF_FCSLEN, &[4])]),
            packet(0, 64),
            packet(4, 64),
            packet(2, 64),
        ]
        .concat();
        let lengths: Vec<_> = read(&file).frames.iter().map(|it| it.bytes.len()).collect();
        assert_eq!(lengths, [60, 60, 62]);
        // Such a length makes an invalid length of the interface harmless.
        let senseless = [
            section(order),
            interface(order, 1, 0, &[option(order, IF_FCSLEN, &[7])]),
            packet(4, 64),
        ]
        .concat();
        assert_eq!(read(&senseless).frames[0].bytes, frame(3, 60));
    }
}

#[test]
fn overlong_frames_are_cut_to_the_wire_length() {
    let order = Order::Little;
    let mut classic = classic_header(order, MICROSECONDS, 1);
    classic.extend(classic_record(order, 1, 0, 54, &frame(1, 60)));
    // Some programs leave the length out.
    classic.extend(classic_record(order, 1, 0, 0, &frame(2, 61)));
    let next = [
        section(order),
        interface(order, 1, 0, &[]),
        enhanced(order, 0, 1, 54, &frame(1, 60)),
        enhanced(order, 0, 1, 0, &frame(2, 61)),
    ]
    .concat();
    for file in [classic, next] {
        let capture = read(&file);
        assert_eq!(capture.frames[0].bytes, frame(1, 54));
        assert_eq!(capture.frames[1].bytes, frame(2, 61));
        assert_eq!(capture.frames[1].original_len, 61);
        assert_eq!(capture.notes.overlong_frames, 2);
        assert_eq!(capture.notes.truncated_frames, 0);
    }
}

#[test]
fn files_other_than_captures_are_recognised() {
    for (bytes, hint) in [
        (&b""[..], "empty"),
        (&b"hello, this is a text file\n"[..], "text"),
        (&b"\xfd7zXZ\0..."[..], "xz"),
        (&b"snoop\0\0\0..."[..], "snoop"),
        (&b"\x7fELF\x02\x01\x01\0"[..], "7f 45 4c 46"),
    ] {
        let message = refused(bytes);
        assert!(
            message.contains(hint) && message.contains("hand.pcap"),
            "{message}"
        );
    }
    let missing = Capture::open(std::path::Path::new("/nonexistent/x.pcap")).unwrap_err();
    assert!(
        matches!(missing, CaptureError::Io { .. })
            && missing.to_string().contains("/nonexistent/x.pcap")
    );
}

#[test]
fn drop_counts_in_a_capture_are_noted() {
    for order in ORDERS {
        let with_drops = |drops: &[u8]| {
            let mut body = Vec::new();
            for field in [0, 0, 7, 60, 60] {
                body.extend(order.u32(field));
            }
            body.extend(frame(1, 60));
            body.extend(option(order, 4, drops));
            block(order, 6, &body)
        };
        let old = |drops: u16| {
            let mut body = [order.u16(0), order.u16(drops)].concat();
            for field in [0, 7, 60, 60] {
                body.extend(order.u32(field));
            }
            body.extend(frame(1, 60));
            block(order, 2, &body)
        };
        let file = [
            section(order),
            interface(order, 1, 0, &[]),
            with_drops(&order.u64(40)),
            with_drops(&[1; 3]),
            old(2),
            // The number is not known.
            old(u16::MAX),
        ]
        .concat();
        let capture = read(&file);
        assert_eq!(capture.frames.len(), 4);
        assert_eq!(capture.notes.lost_before, 42);
        assert_eq!(capture.notes.odd_options, 1);
    }
}

#[test]
fn file_shorter_than_any_header_is_reported() {
    for (bytes, said) in [
        (&b"\n"[..], "it has only 1 byte;"),
        (b"\x0a\x0d\x0d", "it has only 3 bytes;"),
        (b"\xd4\xc3\xb2", "it has only 3 bytes;"),
        (b"\x1f", "it has only 1 byte;"),
    ] {
        let error = refused(bytes);
        assert!(error.contains(said), "{error}");
    }
}
