//! From lines to threads.

use std::collections::VecDeque;

use npsim_isa::msf_csr;
use proptest::prelude::*;

use super::super::port::Port;
use super::Bench;
use crate::Cycle;
use crate::kernel::port_io::{Arrival, MediaDrop};

#[test]
fn frames_of_every_size_are_split_into_mpackets() {
    for element_size in [64, 128, 256] {
        let mut bench = Bench::new(1, element_size);
        let sizes: Vec<usize> = (60..=1514)
            .step_by(if element_size == 64 { 1 } else { 7 })
            .collect();
        bench.offer(0, &sizes);
        bench.drain();
        assert_eq!(bench.lines.dropped, []);
        let mut mpackets = bench.received.iter();
        for (frame, &size) in sizes.iter().enumerate() {
            let mut bytes = Vec::new();
            let cuts = size.div_ceil(element_size as usize);
            for cut in 0..cuts {
                let mpacket = mpackets.next().unwrap();
                assert_eq!(mpacket.status >> 15 & 1 == 1, cut == 0, "SOP of {size}");
                assert_eq!(
                    mpacket.status >> 14 & 1 == 1,
                    cut == cuts - 1,
                    "EOP of {size}"
                );
                assert_eq!(mpacket.status & 0x1f, 0);
                assert_eq!(mpacket.tag.frame(), (cut == 0).then_some(frame as u64));
                bytes.extend_from_slice(&mpacket.bytes);
            }
            let want: Vec<u8> = (0..size).map(|i| (i + frame) as u8).collect();
            assert_eq!(bytes, want);
        }
        assert!(mpackets.next().is_none());
        assert_eq!(bench.msf.leaks(), []);
        assert_eq!(bench.fault(), "");
    }
}

#[test]
fn shortest_frames_arrive_every_672_nanoseconds() {
    let mut bench = Bench::new(1, 64);
    bench.offer(0, &[60; 101]);
    bench.drain();
    let closed = bench.received.iter().map(|m| m.at).collect::<Vec<_>>();
    let ends = closed[100] - closed[0];
    // 100 frames at 403.2 cycles; the edges of the 104 MHz bus add a little.
    assert!((40_320 - 6..=40_320 + 6).contains(&ends), "{ends}");
    // First bit to signal: 345.6 for the frame, 17 bus clocks, 30 for the autopush.
    let first = closed[0];
    assert!(
        (346 + 98 + 30..=346 + 98 + 30 + 8).contains(&first),
        "{first}"
    );
}

#[test]
fn receive_bus_serves_ports_round_robin() {
    let mut bench = Bench::new(3, 64);
    for port in 0..3 {
        let bytes = vec![port; 640];
        let arrival = Arrival {
            start: 0,
            end: 10,
            port,
            bytes,
            frame: u64::from(port),
        };
        bench.lines.arrivals.push_back(arrival);
    }
    bench.drain();
    let ports: Vec<u32> = bench.received.iter().map(|m| m.status & 0x1f).collect();
    assert_eq!(ports.len(), 30);
    assert_eq!(ports[3..6].iter().sum::<u32>(), 3, "{ports:?}");
    assert!(ports.windows(2).all(|p| p[0] != p[1]), "{ports:?}");
    // 30 mpackets of 18 clocks at 75/13 cycles.
    assert!(
        (3115..3130).contains(&bench.msf.receive.bus_busy()),
        "{}",
        bench.msf.receive.bus_busy()
    );
}

#[test]
fn receive_fifo_drops_report_their_reason() {
    // On a port faster than the bus, the first frame of 5,000 bytes passes through the empty FIFO
    // of 4,096; frames that arrive meanwhile find no room, though RBUF has some.
    let mut bench = Bench::new(1, 64);
    for (frame, length) in [5000, 5000, 640].into_iter().enumerate() {
        let start = frame as Cycle * 10;
        bench.lines.arrivals.push_back(Arrival {
            start,
            end: start + 5,
            port: 0,
            bytes: vec![0; length],
            frame: frame as u64,
        });
    }
    bench.drain();
    let reasons: Vec<MediaDrop> = bench.lines.dropped.iter().map(|d| d.3).collect();
    assert_eq!(
        reasons,
        [MediaDrop::ReceiveTooLong, MediaDrop::ReceiveBusBehind]
    );
}

#[test]
fn without_free_rbuf_elements_the_fifo_overflows_in_whole_frames() {
    let mut bench = Bench::new(1, 64);
    bench.offer(0, &[60; 300]);
    bench.run();
    let counts = bench.msf.ports()[0].counts;
    // 128 elements less number 0 and the three of the erratum; then 68 frames
    // of 60 bytes fit in 4096 bytes.
    assert_eq!(counts.received_frames, 300);
    assert_eq!(counts.delivered_frames, 124);
    assert_eq!(bench.msf.ports()[0].incoming().len(), 68);
    assert_eq!(counts.overflow_frames, 108);
    assert_eq!(bench.lines.dropped.len(), 108);
    assert!(
        bench
            .lines
            .dropped
            .iter()
            .all(|d| d.3 == MediaDrop::ReceiveFifoFull)
    );
    assert_eq!(bench.lines.dropped[0].2, Some(192));
    assert_eq!(bench.msf.receive.rbuf.lowest, 0);
    // At last a thread enlists: the contents of RBUF and FIFO reach it in order.
    bench.drain();
    assert_eq!(bench.received.len(), 192);
    let frames = bench.received.iter().filter_map(|m| m.tag.frame());
    assert!(frames.eq(0..192));
}

#[test]
fn reserved_and_erratum_rbuf_elements_are_skipped() {
    let mut bench = Bench::new(1, 64);
    bench.offer(0, &[60; 124]);
    bench.drain();
    let elements: Vec<u32> = bench.received.iter().map(|m| m.status >> 24).collect();
    assert_eq!(elements[..10], [1, 2, 3, 4, 5, 6, 7, 8, 10, 11]);
    assert!([0, 9, 18, 27].iter().all(|e| !elements.contains(e)));
}

#[test]
fn frame_for_a_missing_port_is_dropped_as_no_such_port() {
    let mut bench = Bench::new(1, 64);
    bench.offer(3, &[60]);
    bench.run();
    assert_eq!(
        bench.lines.dropped,
        [(0, 3, Some(0), MediaDrop::NoSuchPort)]
    );
}

#[test]
fn rbuf_leaks_and_double_frees_are_detected() {
    let mut bench = Bench::new(1, 64);
    bench.offer(0, &[60]);
    bench.enlist();
    bench.run();
    let leak = bench.msf.leaks()[0];
    assert_eq!(
        (leak.element, leak.frame, leak.me, leak.context),
        (1, 0, 1, 2)
    );
    let mut drained = bench.fabric.clone();
    bench.msf.raise_leaks(&mut drained);
    let fault = drained.checks.fault().unwrap();
    assert_eq!(
        (fault.check, fault.me, fault.context),
        (
            Some(crate::kernel::check::Check::RbufLeak),
            Some(1),
            Some(2)
        )
    );
    assert!(
        fault.notes[0].contains("element 1") && fault.notes[0].contains("frame 0"),
        "{:?}",
        fault.notes
    );
    bench.fast_write(msf_csr::RBUF_ELEMENT_DONE, 1);
    bench.run();
    assert_eq!((bench.fault(), bench.msf.leaks()), (String::new(), vec![]));
    assert_eq!(bench.msf.counters.queue_peak, 1);
    bench.msf.raise_leaks(&mut bench.fabric);
    assert_eq!(bench.fault(), "");
    bench.fast_write(msf_csr::RBUF_ELEMENT_DONE, 1);
    bench.run();
    let fault = bench.fabric.checks.fault().unwrap();
    assert_eq!(
        fault.check,
        Some(crate::kernel::check::Check::RbufDoubleFree)
    );
    assert_eq!(
        (fault.me, fault.context, fault.pc),
        (Some(1), Some(2), Some(7))
    );
}

#[test]
fn invalid_msf_elements_and_registers_are_named_in_the_fault() {
    let mut bench = Bench::new(1, 128);
    bench.fast_write(msf_csr::RBUF_ELEMENT_DONE, 64);
    bench.run();
    assert!(
        bench
            .fault()
            .contains("element 64 does not exist, the last is 63"),
        "{}",
        bench.fault()
    );
    let mut bench = Bench::new(1, 64);
    bench.fast_write(0x3c, 1);
    bench.run();
    assert!(bench.fault().contains("0x003c"), "{}", bench.fault());
    let mut bench = Bench::new(1, 64);
    bench.write(u32::MAX, &[1, 2, 3]);
    bench.run();
    assert!(bench.fault().contains("0xfffffffc"), "{}", bench.fault());
    let mut bench = Bench::new(1, 64);
    bench.write(0x1800, &[64 << 24]);
    bench.run();
    assert!(bench.fault().contains("two longwords"), "{}", bench.fault());
}

#[test]
fn freelist_timeout_pushes_a_null_status() {
    let mut bench = Bench::new(1, 64);
    bench.fast_write(msf_csr::RX_THREAD_FREELIST_TIMEOUT_0, 500);
    bench.run();
    bench.enlist();
    bench.run();
    assert_eq!(bench.received.len(), 1);
    assert_eq!(bench.received[0].status, 1 << 9);
    // Two writes in effect after 25 less the way to the unit, 1000 cycles, 30 for the push.
    assert!(
        (1030..1080).contains(&bench.received[0].at),
        "{}",
        bench.received[0].at
    );
    assert_eq!(bench.msf.receive.null_pushes, 1);
    // With data in time, there is no null status.
    bench.enlist();
    let start = bench.fabric.now;
    bench.lines.arrivals.push_back(Arrival {
        start,
        end: start + 346,
        port: 0,
        bytes: vec![0; 60],
        frame: 0,
    });
    bench.run();
    assert_eq!(bench.msf.receive.null_pushes, 1);
    assert_eq!(bench.received[1].status, 0x013c_c000);
}

#[test]
fn fast_writes_take_effect_after_their_latency() {
    let mut bench = Bench::new(1, 64);
    bench.enlist();
    let lead = bench.msf.parameters.fast_write_lead;
    assert_eq!(lead, 25 - bench.fabric.profile.issue_to_inlet());
    assert_eq!(bench.fabric.events.next_time(), lead);
    assert!(!bench.msf.is_waiting(1, 2));
    bench.step();
    assert!(bench.msf.is_waiting(1, 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_frame_is_delivered_or_counted_as_dropped(
        sizes in prop::collection::vec(60_usize..1515, 1..60),
        delays in prop::collection::vec(0_u64..30_000, 16),
        ports in 1_u8..4,
    ) {
        let mut bench = Bench::new(ports as usize, 64);
        let mut now = 0;
        for (i, &size) in sizes.iter().enumerate() {
            // One after the other, so that each port sees a legal line.
            let end = now + (8 * (size as u64 + 12) * 3).div_ceil(5);
            let bytes = vec![i as u8; size];
            bench.lines.arrivals.push_back(Arrival { start: now, end, port: i as u8 % ports, bytes, frame: i as u64 });
            now = end + 58;
        }
        // Elements are freed late: each is returned after its delay.
        let mut held: VecDeque<(Cycle, u32)> = VecDeque::new();
        bench.enlist();
        let mut seen = 0;
        loop {
            let progressed = bench.step();
            if bench.received.len() > seen {
                let element = bench.received[seen].status >> 24;
                held.push_back((bench.fabric.now + delays[seen % delays.len()], element));
                seen += 1;
                bench.enlist();
            }
            let due = held.front().is_some_and(|h| h.0 <= bench.fabric.now || !progressed);
            if due && let Some((_, element)) = held.pop_front() {
                bench.fast_write(msf_csr::RBUF_ELEMENT_DONE, element);
            } else if !progressed {
                break;
            }
            let port_sum = |f: fn(&Port) -> u64| bench.msf.ports().iter().map(f).sum::<u64>();
            let offered = port_sum(|p| p.counts.received_frames);
            let accounted = port_sum(|p| p.counts.delivered_frames + p.counts.overflow_frames)
                + port_sum(|p| p.incoming().len() as u64);
            prop_assert_eq!(offered, accounted);
        }
        let ends = bench.received.iter().filter(|m| m.status >> 14 & 1 == 1).count();
        prop_assert_eq!(ends + bench.lines.dropped.len(), sizes.len());
        prop_assert_eq!(bench.msf.leaks().len(), 0);
        prop_assert_eq!(bench.msf.receive.rbuf.free(), 124);
        prop_assert!(bench.msf.is_idle());
        let peak = bench.msf.ports().iter().map(|p| p.counts.receive_fifo_peak).max();
        prop_assert!(peak <= Some(4096));
        prop_assert_eq!(bench.fault(), "");
    }
}
