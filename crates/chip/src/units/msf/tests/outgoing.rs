//! From TBUF to lines.

use npsim_isa::CommandOp;

use super::super::{DATA_WINDOW, MsfError};
use super::Bench;
use crate::kernel::port_io::{MediaDrop, PacketTag};

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
    bench.write(
        0x1800 + 8 * element,
        &[(bytes.len() as u32 & 0xff) << 24 | flags, 0],
    );
}

const SOP: u32 = 1 << 9;
const EOP: u32 = 1 << 8;

fn flags(sop: bool, eop: bool) -> u32 {
    (u32::from(sop) << 9) | (u32::from(eop) << 8)
}

#[test]
fn mpackets_are_reassembled_into_frames() {
    let mut bench = Bench::new(2, 64);
    let mut element = 0;
    let mut wanted = Vec::new();
    for size in (60..=1514).step_by(13) {
        let frame: Vec<u8> = (0..size).map(|i| (i * 7 + size) as u8).collect();
        let pieces = frame.chunks(64).count();
        for (i, piece) in frame.chunks(64).enumerate() {
            let control = flags(i == 0, i == pieces - 1) | 1;
            send(&mut bench, element, piece, control);
            element = (element + 1) % 128;
        }
        bench.run();
        wanted.push(frame);
    }
    let sent: Vec<_> = bench.lines.departed.iter().map(|d| d.3.clone()).collect();
    assert_eq!(sent, wanted);
    assert!(
        bench
            .lines
            .departed
            .iter()
            .all(|d| d.2 == 1 && d.4.is_none())
    );
    assert_eq!(bench.fault(), "");
    assert!(bench.msf.transmit.is_idle());
}

#[test]
fn packet_tag_follows_the_frame() {
    let mut bench = Bench::new(1, 64);
    let tag = PacketTag::new(77, 5);
    bench.msf.write_window(DATA_WINDOW, &[0; 16], tag).unwrap();
    bench.write(0x1800, &[60 << 24 | SOP | EOP, 0]);
    bench.run();
    assert_eq!(bench.lines.departed[0].4, Some(77));
    assert_eq!(
        bench.msf.write_window(0x1000, &[0], tag),
        Err(MsfError::OutsideWindow(0x1000))
    );
}

#[test]
fn invalid_tbuf_element_blocks_later_elements() {
    let mut bench = Bench::new(1, 64);
    send(&mut bench, 1, &[1; 60], SOP | EOP);
    send(&mut bench, 2, &[2; 60], SOP | EOP);
    bench.run();
    assert!(bench.lines.departed.is_empty());
    // Elements wait, so the transmitter is not idle.
    assert_eq!(bench.msf.read_register(0x60, 0), Some(0));
    send(&mut bench, 0, &[0; 60], SOP | EOP);
    bench.run();
    let order: Vec<u8> = bench.lines.departed.iter().map(|d| d.3[0]).collect();
    assert_eq!(order, [0, 1, 2]);
    assert_eq!(bench.msf.read_register(0x60, 0), Some(1 << 31 | 3));
}

#[test]
fn tx_sequence_wraps_and_counts_skipped_elements() {
    let mut bench = Bench::new(1, 64);
    for i in 0..260_u32 {
        if i % 4 == 3 {
            bench.write(0x1800 + 8 * (i % 128), &[1 << 11, 0]);
        } else {
            send(&mut bench, i % 128, &[i as u8; 60], SOP | EOP);
        }
        bench.run();
    }
    assert_eq!(bench.msf.read_register(0x60, 0), Some(1 << 31 | 4));
    assert_eq!(bench.lines.departed.len(), 195);
    bench.command(CommandOp::MsfRead, 0x60, 1);
    bench.run();
    assert_eq!(bench.read, [[1 << 31 | 4]]);
}

#[test]
fn back_to_back_frames_are_sent_at_line_rate() {
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
    assert_eq!(
        (
            errors.no_sop,
            errors.sop_twice,
            errors.aborted,
            errors.no_such_port
        ),
        (1, 1, 1, 1)
    );
    assert_eq!(bench.lines.departed.len(), 1);
    assert_eq!(bench.lines.departed[0].3, vec![2; 64]);
    let reasons: Vec<_> = bench.lines.dropped.iter().map(|d| d.3).collect();
    assert_eq!(
        reasons,
        [
            MediaDrop::TransmitNoSop,
            MediaDrop::TransmitSopTwice,
            MediaDrop::TransmitAborted,
            MediaDrop::NoSuchPort
        ]
    );
    assert_eq!(bench.msf.ports()[0].sending(), 0);
}

#[test]
fn frame_larger_than_the_transmit_fifo_is_discarded() {
    let mut bench = Bench::new(1, 64);
    for element in 0..70 {
        let control = flags(element == 0, element == 69);
        send(&mut bench, element, &[0; 64], control);
    }
    send(&mut bench, 70, &[5; 60], SOP | EOP);
    bench.run();
    assert_eq!(bench.msf.transmit.errors.too_long, 1);
    assert_eq!(bench.lines.departed.len(), 1);
    assert_eq!(bench.lines.departed[0].3, vec![5; 60]);
}

#[test]
fn full_transmit_fifo_stalls_the_transmit_bus() {
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
