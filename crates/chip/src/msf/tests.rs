//! The media interface driven by hand: fake lines, and a fake thread that takes
//! every mpacket.

use std::collections::VecDeque;

use npsim_isa::{CommandOp, msf_csr};
use proptest::prelude::*;

use super::*;
use crate::event::Event;
use crate::fabric::{BusCommand, Slot, TransferKind};
use crate::gpp::boot::PortSetup;
use crate::lines::{Arrival, Departure, MediaDrop};

const GIGABIT: u64 = 1_000_000_000;

#[derive(Default)]
struct FakeLines {
    arrivals: VecDeque<Arrival>,
    departed: Vec<(Cycle, Cycle, u8, Vec<u8>, Option<u64>)>,
    dropped: Vec<(Cycle, u8, Option<u64>, MediaDrop)>,
}

impl Lines for FakeLines {
    fn next_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    fn departed(&mut self, d: Departure<'_>) {
        self.departed.push((d.start, d.end, d.port, d.bytes.to_vec(), d.frame));
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        self.dropped.push((cycle, port, frame, reason));
    }
}

/// An mpacket that reached a thread.
#[derive(Clone, Debug)]
struct Mpacket {
    at: Cycle,
    status: u32,
    bytes: Vec<u8>,
    tag: u64,
}

struct Bench {
    msf: Msf,
    fabric: Fabric,
    lines: FakeLines,
    pull_data: VecDeque<Vec<u32>>,
    received: Vec<Mpacket>,
    read: Vec<Vec<u32>>,
}

impl Bench {
    fn new(ports: usize, element_size: u16) -> Self {
        let profile = Profile::load("ixp2400").unwrap();
        let boot =
            Boot { ports: vec![PortSetup { bits_per_second: GIGABIT }; ports], element_size, ..Boot::default() };
        Self {
            msf: Msf::new(&profile, &boot),
            fabric: Fabric::new(profile),
            lines: FakeLines::default(),
            pull_data: VecDeque::new(),
            received: Vec::new(),
            read: Vec::new(),
        }
    }

    /// Frames of these sizes back to back on a gigabit port.
    fn offer(&mut self, port: u8, sizes: &[usize]) {
        let mut bit = 0_u64;
        for (frame, &size) in sizes.iter().enumerate() {
            let start = (bit * 3).div_ceil(5);
            let end = ((bit + 8 * (size as u64 + 12)) * 3).div_ceil(5);
            bit += 8 * (size as u64 + 24);
            let bytes = (0..size).map(|i| (i + frame) as u8).collect();
            self.lines.arrivals.push_back(Arrival { start, end, port, bytes, frame: frame as u64 });
        }
    }

    fn command(&mut self, op: CommandOp, address: u32, count: u8) {
        let command = BusCommand {
            op,
            me: 1,
            context: 2,
            pc: 7,
            address,
            count,
            transfer_me: 1,
            transfer: 32,
            transfer_kind: TransferKind::S,
            signal_context: 2,
            pull_signals: 0,
            push_signals: 0,
            byte_mask: 0xff,
            immediate: None,
            indirect: None,
        };
        let slot = self.fabric.open(command);
        self.msf.arrive(slot, &mut self.fabric);
    }

    fn fast_write(&mut self, register: u16, data: u32) {
        self.command(CommandOp::MsfFastWr, data << 16 | u32::from(register), 1);
    }

    fn write(&mut self, address: u32, words: &[u32]) {
        self.pull_data.push_back(words.to_vec());
        self.command(CommandOp::MsfWrite, address, words.len() as u8);
    }

    fn enlist(&mut self) {
        // Signal 1, cluster 0, microengine 1, context 2, register 0.
        self.fast_write(msf_csr::RX_THREAD_FREELIST_0, 1 << 12 | 1 << 7 | 2 << 4);
    }

    fn pushed(&mut self, slot: Slot) {
        let flight = self.fabric.flight(slot);
        let (command, data, words) = (flight.command, flight.data, flight.words as usize);
        self.fabric.retire(slot);
        if command.push_signals == 0 {
            self.read.push(data[..words].to_vec());
            return;
        }
        assert_eq!((command.me, command.context, command.push_signals, command.transfer), (1, 2, 2, 32));
        let status = data[0];
        let size = u32::from(self.msf.element_bytes());
        let length = match status >> 16 & 0xff {
            0 => 256,
            n => n as usize,
        };
        let mut words = vec![0; length.div_ceil(4)];
        let mut tag = 0;
        if status & receive::NULL_STATUS == 0 {
            tag = self.msf.rbuf_read(DATA_WINDOW + (status >> 24 & 0x7f) * size, &mut words).unwrap();
        }
        let bytes = words.iter().flat_map(|w| w.to_be_bytes()).take(length).collect();
        self.received.push(Mpacket { at: self.fabric.now, status, bytes, tag });
    }

    fn step(&mut self) -> bool {
        self.msf.refill(&mut self.fabric, &mut self.lines);
        let Some((time, event)) = self.fabric.events.pop() else { return false };
        self.fabric.now = time;
        match event {
            Event::Media(code) => self.msf.event(code, &mut self.fabric, &mut [], &mut self.lines),
            Event::Ready(slot) => self.msf.ready(slot, &mut self.fabric, &mut []),
            Event::Push(slot) => self.pushed(slot),
            Event::Pull(slot) => {
                let words = self.pull_data.pop_front().unwrap();
                self.fabric.flight_mut(slot).data[..words.len()].copy_from_slice(&words);
                self.msf.pulled(slot, &mut self.fabric);
            }
            other => panic!("{other:?}"),
        }
        true
    }

    fn run(&mut self) {
        while self.step() {}
    }

    /// Runs with a thread that frees each element at once and enlists again.
    fn drain(&mut self) {
        self.enlist();
        let mut seen = 0;
        while self.step() {
            if self.received.len() > seen {
                seen = self.received.len();
                let element = self.received[seen - 1].status >> 24;
                self.fast_write(msf_csr::RBUF_ELEMENT_DONE, element);
                self.enlist();
            }
        }
    }

    fn fault(&self) -> String {
        self.fabric.checks.fault().map(|f| f.message.clone()).unwrap_or_default()
    }
}

#[test]
fn frames_of_every_size_are_cut_and_joined_again() {
    for element_size in [64, 128, 256] {
        let mut bench = Bench::new(1, element_size);
        let sizes: Vec<usize> = (60..=1514).step_by(if element_size == 64 { 1 } else { 7 }).collect();
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
                assert_eq!(mpacket.status >> 14 & 1 == 1, cut == cuts - 1, "EOP of {size}");
                assert_eq!(mpacket.status & 0x1f, 0);
                assert_eq!(mpacket.tag, if cut == 0 { frame as u64 + 1 } else { 0 });
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
fn shortest_frames_come_every_672_nanoseconds() {
    let mut bench = Bench::new(1, 64);
    bench.offer(0, &[60; 101]);
    bench.drain();
    let closed = bench.received.iter().map(|m| m.at).collect::<Vec<_>>();
    let ends = closed[100] - closed[0];
    // 100 frames at 403.2 cycles; the edges of the 104 MHz bus add a little.
    assert!((40_320 - 6..=40_320 + 6).contains(&ends), "{ends}");
    // First bit to signal: 345.6 for the frame, 17 bus clocks, 30 for the autopush.
    let first = closed[0];
    assert!((346 + 98 + 30..=346 + 98 + 30 + 8).contains(&first), "{first}");
}

#[test]
fn the_receive_bus_is_shared_in_turns() {
    let mut bench = Bench::new(3, 64);
    for port in 0..3 {
        let bytes = vec![port; 640];
        let arrival = Arrival { start: 0, end: 10, port, bytes, frame: u64::from(port) };
        bench.lines.arrivals.push_back(arrival);
    }
    bench.drain();
    let ports: Vec<u32> = bench.received.iter().map(|m| m.status & 0x1f).collect();
    assert_eq!(ports.len(), 30);
    assert_eq!(ports[3..6].iter().sum::<u32>(), 3, "{ports:?}");
    assert!(ports.windows(2).all(|p| p[0] != p[1]), "{ports:?}");
    // 30 mpackets of 18 clocks at 75/13 cycles.
    assert!((3115..3130).contains(&bench.msf.receive.bus_busy), "{}", bench.msf.receive.bus_busy);
}

#[test]
fn without_free_elements_the_fifo_fills_and_whole_frames_are_lost() {
    let mut bench = Bench::new(1, 64);
    bench.offer(0, &[60; 300]);
    bench.run();
    let counts = bench.msf.ports()[0].counts;
    // 128 elements less number 0 and the three of the erratum; then 68 frames
    // of 60 bytes fit in 4096 bytes.
    assert_eq!(counts.received_frames, 300);
    assert_eq!(counts.delivered_frames, 124);
    assert_eq!(bench.msf.ports()[0].incoming.len(), 68);
    assert_eq!(counts.overflow_frames, 108);
    assert_eq!(bench.lines.dropped.len(), 108);
    assert!(bench.lines.dropped.iter().all(|d| d.3 == MediaDrop::ReceiveFifoFull));
    assert_eq!(bench.lines.dropped[0].2, Some(192));
    assert_eq!(bench.msf.receive.rbuf.lowest, 0);
    // A thread comes at last: what is in RBUF and FIFO reaches it in order.
    bench.drain();
    assert_eq!(bench.received.len(), 192);
    let tags: Vec<u64> = bench.received.iter().map(|m| m.tag).collect();
    assert_eq!(tags, (1..=192).collect::<Vec<u64>>());
}

#[test]
fn the_reference_driver_skips_element_0_and_the_erratum() {
    let mut bench = Bench::new(1, 64);
    bench.offer(0, &[60; 124]);
    bench.drain();
    let elements: Vec<u32> = bench.received.iter().map(|m| m.status >> 24).collect();
    assert_eq!(elements[..10], [1, 2, 3, 4, 5, 6, 7, 8, 10, 11]);
    assert!([0, 9, 18, 27].iter().all(|e| !elements.contains(e)));
}

#[test]
fn a_frame_for_a_port_that_is_not_there_is_lost_by_name() {
    let mut bench = Bench::new(1, 64);
    bench.offer(3, &[60]);
    bench.run();
    assert_eq!(bench.lines.dropped, [(0, 3, Some(0), MediaDrop::NoSuchPort)]);
}

#[test]
fn an_element_freed_twice_is_found() {
    let mut bench = Bench::new(1, 64);
    bench.offer(0, &[60]);
    bench.enlist();
    bench.run();
    let leak = bench.msf.leaks()[0];
    assert_eq!((leak.element, leak.frame, leak.me, leak.context), (1, 0, 1, 2));
    bench.fast_write(msf_csr::RBUF_ELEMENT_DONE, 1);
    bench.run();
    assert_eq!((bench.fault(), bench.msf.leaks()), (String::new(), vec![]));
    bench.fast_write(msf_csr::RBUF_ELEMENT_DONE, 1);
    bench.run();
    let fault = bench.fabric.checks.fault().unwrap();
    assert_eq!(fault.check, Some(crate::check::Check::RbufDoubleFree));
    assert_eq!((fault.me, fault.context, fault.pc), (Some(1), Some(2), Some(7)));
}

#[test]
fn impossible_elements_and_registers_are_named() {
    let mut bench = Bench::new(1, 128);
    bench.fast_write(msf_csr::RBUF_ELEMENT_DONE, 64);
    bench.run();
    assert!(bench.fault().contains("element 64 does not exist, the last is 63"), "{}", bench.fault());
    let mut bench = Bench::new(1, 64);
    bench.fast_write(0x3c, 1);
    bench.run();
    assert!(bench.fault().contains("0x003c"), "{}", bench.fault());
    let mut bench = Bench::new(1, 64);
    bench.write(0x1800, &[64 << 24]);
    bench.run();
    assert!(bench.fault().contains("two longwords"), "{}", bench.fault());
}

#[test]
fn a_freelist_times_out_with_a_null_status() {
    let mut bench = Bench::new(1, 64);
    bench.fast_write(msf_csr::RX_THREAD_FREELIST_TIMEOUT_0, 500);
    bench.run();
    bench.enlist();
    bench.run();
    assert_eq!(bench.received.len(), 1);
    assert_eq!(bench.received[0].status, 1 << 9);
    // Two writes in effect after 25 less the way to the unit, 1000 cycles, 30 for the push.
    assert!((1030..1080).contains(&bench.received[0].at), "{}", bench.received[0].at);
    assert_eq!(bench.msf.receive.null_pushes, 1);
    // With data in time there is none.
    bench.enlist();
    let start = bench.fabric.now;
    bench.lines.arrivals.push_back(Arrival { start, end: start + 346, port: 0, bytes: vec![0; 60], frame: 0 });
    bench.run();
    assert_eq!(bench.msf.receive.null_pushes, 1);
    assert_eq!(bench.received[1].status, 0x013c_c000);
}

#[test]
fn fast_writes_act_after_their_latency() {
    let mut bench = Bench::new(1, 64);
    bench.enlist();
    let lead = bench.msf.parameters.fast_write_lead;
    assert_eq!(lead, 25 - bench.fabric.profile.issue_to_inlet());
    assert_eq!(bench.fabric.events.next_time(), lead);
    assert!(!bench.msf.is_waiting(1, 2));
    bench.step();
    assert!(bench.msf.is_waiting(1, 2));
}

/// Writes one mpacket to an element and makes it valid.
fn send(bench: &mut Bench, element: u32, bytes: &[u8], flags: u32) {
    for (i, chunk) in bytes.chunks(32).enumerate() {
        let words: Vec<u32> = chunk
            .chunks(4)
            .map(|b| {
                let mut word = [0; 4];
                word[..b.len()].copy_from_slice(b);
                u32::from_be_bytes(word)
            })
            .collect();
        bench.write(DATA_WINDOW + element * 64 + 32 * i as u32, &words);
    }
    bench.write(0x1800 + 8 * element, &[(bytes.len() as u32 & 0xff) << 24 | flags, 0]);
}

const SOP: u32 = 1 << 9;
const EOP: u32 = 1 << 8;

#[test]
fn mpackets_become_frames_again() {
    let mut bench = Bench::new(2, 64);
    let mut element = 0;
    let mut wanted = Vec::new();
    for size in (60..=1514).step_by(13) {
        let frame: Vec<u8> = (0..size).map(|i| (i * 7 + size) as u8).collect();
        let pieces = frame.chunks(64).count();
        for (i, piece) in frame.chunks(64).enumerate() {
            let flags = u32::from(i == 0) * SOP | u32::from(i == pieces - 1) * EOP | 1;
            send(&mut bench, element, piece, flags);
            element = (element + 1) % 128;
        }
        bench.run();
        wanted.push(frame);
    }
    let sent: Vec<_> = bench.lines.departed.iter().map(|d| d.3.clone()).collect();
    assert_eq!(sent, wanted);
    assert!(bench.lines.departed.iter().all(|d| d.2 == 1 && d.4.is_none()));
    assert_eq!(bench.fault(), "");
    assert!(bench.msf.transmit.is_idle());
}

#[test]
fn a_tag_follows_the_frame() {
    let mut bench = Bench::new(1, 64);
    bench.msf.tbuf_write(DATA_WINDOW, &[0; 16], 78).unwrap();
    bench.write(0x1800, &[60 << 24 | SOP | EOP, 0]);
    bench.run();
    assert_eq!(bench.lines.departed[0].4, Some(77));
    assert_eq!(bench.msf.tbuf_write(0x1000, &[0], 0), Err(MsfError::OutsideWindow(0x1000)));
}

#[test]
fn an_invalid_element_blocks_those_behind_it() {
    let mut bench = Bench::new(1, 64);
    send(&mut bench, 1, &[1; 60], SOP | EOP);
    send(&mut bench, 2, &[2; 60], SOP | EOP);
    bench.run();
    assert!(bench.lines.departed.is_empty());
    assert_eq!(bench.msf.read_register(0x60), Some(1 << 31));
    send(&mut bench, 0, &[0; 60], SOP | EOP);
    bench.run();
    let order: Vec<u8> = bench.lines.departed.iter().map(|d| d.3[0]).collect();
    assert_eq!(order, [0, 1, 2]);
    assert_eq!(bench.msf.read_register(0x60), Some(1 << 31 | 3));
}

#[test]
fn the_sequence_register_wraps_and_skipping_counts() {
    let mut bench = Bench::new(1, 64);
    for i in 0..260_u32 {
        if i % 4 == 3 {
            bench.write(0x1800 + 8 * (i % 128), &[1 << 11, 0]);
        } else {
            send(&mut bench, i % 128, &[i as u8; 60], SOP | EOP);
        }
        bench.run();
    }
    assert_eq!(bench.msf.read_register(0x60), Some(1 << 31 | 260 & 0xff));
    assert_eq!(bench.lines.departed.len(), 195);
    bench.command(CommandOp::MsfRead, 0x60, 1);
    bench.run();
    assert_eq!(bench.read, [[1 << 31 | 4]]);
}

#[test]
fn back_to_back_frames_fill_the_line() {
    let mut bench = Bench::new(1, 64);
    for element in 0..101 {
        send(&mut bench, element, &[element as u8; 60], SOP | EOP);
    }
    bench.run();
    let departed = &bench.lines.departed;
    assert_eq!(departed.len(), 101);
    assert_eq!(departed[100].0 - departed[0].0, 40_320);
    assert!(bench.msf.ports()[0].counts.transmit_fifo_peak <= 4096);
}

#[test]
fn transmit_errors_are_counted_by_reason() {
    let mut bench = Bench::new(1, 64);
    send(&mut bench, 0, &[0; 64], 0); // no SOP
    send(&mut bench, 1, &[0; 64], EOP); // its rest
    send(&mut bench, 2, &[1; 64], SOP); // cut off
    send(&mut bench, 3, &[2; 64], SOP | EOP);
    send(&mut bench, 4, &[3; 64], SOP | EOP | 1 << 10); // aborted
    send(&mut bench, 5, &[4; 64], SOP | EOP | 9); // no port 9
    bench.run();
    let errors = bench.msf.transmit.errors;
    assert_eq!((errors.no_sop, errors.sop_twice, errors.aborted, errors.no_such_port), (1, 1, 1, 1));
    assert_eq!(bench.lines.departed.len(), 1);
    assert_eq!(bench.lines.departed[0].3, vec![2; 64]);
    assert_eq!(bench.lines.dropped.len(), 4);
    assert_eq!(bench.msf.ports()[0].sending(), 0);
}

#[test]
fn a_frame_larger_than_the_fifo_is_thrown_away() {
    let mut bench = Bench::new(1, 64);
    for element in 0..70 {
        let flags = u32::from(element == 0) * SOP | u32::from(element == 69) * EOP;
        send(&mut bench, element, &[0; 64], flags);
    }
    send(&mut bench, 70, &[5; 60], SOP | EOP);
    bench.run();
    assert_eq!(bench.msf.transmit.errors.too_long, 1);
    assert_eq!(bench.lines.departed.len(), 1);
    assert_eq!(bench.lines.departed[0].3, vec![5; 60]);
}

#[test]
fn a_full_transmit_fifo_holds_the_bus_back() {
    let mut bench = Bench::new(1, 256);
    for element in 0..24_u32 {
        bench.write(0x1800 + 8 * element, &[SOP | EOP, 0]);
    }
    bench.run();
    assert_eq!(bench.lines.departed.len(), 24);
    assert!(bench.lines.departed.iter().all(|d| d.3.len() == 256));
    let peak = bench.msf.ports()[0].counts.transmit_fifo_peak;
    assert!(peak > 3800 && peak <= 4096, "{peak}");
    let starts: Vec<_> = bench.lines.departed.iter().map(|d| d.0).collect();
    // 280 bytes each at 4.8 cycles: 1344.
    assert!(starts.windows(2).all(|s| s[1] - s[0] == 1344), "{starts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_frame_is_lost_unseen(
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
        // Elements are freed late: each waits its delay before it goes back.
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
                + port_sum(|p| p.incoming.len() as u64);
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
