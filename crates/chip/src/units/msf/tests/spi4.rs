//! The interface of the IXP2800: SPI-4 at the full rate of six ports.

use npsim_isa::msf_csr;

use super::Bench;
use crate::kernel::port_io::Arrival;

/// Cycles of 1.4 GHz that a bit takes at a gigabit, in fifths.
const FIFTHS_A_BIT: u64 = 7;

fn bench(ports: usize, element_size: u16) -> Bench {
    Bench::on("ixp2800-6g", ports, element_size)
}

/// Frames of these sizes back to back on each of `ports` ports, in order of time.
fn offer(bench: &mut Bench, ports: u8, sizes: &[usize]) {
    let mut bit = 0;
    for (frame, &size) in sizes.iter().enumerate() {
        let cycle = |bit: u64| (bit * FIFTHS_A_BIT).div_ceil(5);
        let (start, end) = (cycle(bit), cycle(bit + 8 * (size as u64 + 12)));
        bit += 8 * (size as u64 + 24);
        for port in 0..ports {
            let bytes = (0..size).map(|i| (i + frame) as u8 ^ port << 4).collect();
            bench.lines.arrivals.push_back(Arrival {
                start,
                end,
                port,
                bytes,
                frame: frame as u64 * u64::from(ports) + u64::from(port),
            });
        }
    }
}

/// Sends each mpacket back to its port, as microcode would: data, then control word, elements in
/// ring order.
fn send_back(bench: &mut Bench) {
    bench.enlist();
    bench.enlist();
    let (mut seen, mut element) = (0, 0);
    while bench.step() {
        while seen < bench.received.len() {
            let mpacket = bench.received[seen].clone();
            seen += 1;
            bench.fast_write(msf_csr::RBUF_ELEMENT_DONE, mpacket.status >> 24);
            bench.enlist();
            let words: Vec<u32> = mpacket
                .bytes
                .chunks(4)
                .map(|c| {
                    let mut word = [0; 4];
                    word[..c.len()].copy_from_slice(c);
                    u32::from_be_bytes(word)
                })
                .collect();
            bench
                .msf
                .write_window(0x2000 + 64 * element, &words, mpacket.tag)
                .unwrap();
            let control = (mpacket.bytes.len() as u32) << 24
                | (mpacket.status >> 15 & 1) << 9
                | (mpacket.status >> 14 & 1) << 8
                | mpacket.status & 0xff;
            bench.write(0x1800 + 8 * element, &[control, 0]);
            element = (element + 1) % 128;
        }
    }
}

#[test]
fn six_ports_forward_shortest_frames_at_line_rate() {
    const FRAMES: usize = 400;
    let mut bench = bench(6, 64);
    offer(&mut bench, 6, &[60; FRAMES]);
    let offered: Vec<Arrival> = bench.lines.arrivals.iter().cloned().collect();
    send_back(&mut bench);
    assert_eq!(bench.fault(), "");
    assert_eq!(bench.lines.dropped, []);
    assert_eq!(bench.lines.departed.len(), 6 * FRAMES);
    for (_, _, port, bytes, frame) in &bench.lines.departed {
        let sent = &offered[frame.unwrap() as usize];
        assert_eq!((*port, bytes), (sent.port, &sent.bytes));
    }
    // 672 ns are 940.8 cycles: the last frame leaves soon after it arrives.
    let last = bench.lines.departed.iter().map(|d| d.1).max().unwrap();
    let arrived = offered.last().unwrap().end;
    assert!(
        (arrived..arrived + 2000).contains(&last),
        "{last} after {arrived}"
    );
    // 31 of 33 transfers are data: the six ports need some three tenths of 16 Gb/s.
    let busy = bench.msf.receive.bus_busy() * 100 / arrived;
    assert!((25..35).contains(&busy), "{busy} % of the receive bus");
}

#[test]
fn spi4_frames_of_many_lengths_are_split_for_all_element_sizes() {
    for element_size in [64, 128, 256] {
        let mut bench = bench(2, element_size);
        let sizes: Vec<usize> = (60..=1514).step_by(31).collect();
        offer(&mut bench, 2, &sizes);
        bench.drain();
        assert_eq!(bench.fault(), "");
        let unit = u32::from(element_size / 64);
        for port in 0..2 {
            let mut mpackets = bench.received.iter().filter(|m| m.status & 0xff == port);
            for &size in &sizes {
                let cuts = size.div_ceil(element_size as usize);
                let bytes: usize = (0..cuts)
                    .map(|cut| {
                        let mpacket = mpackets.next().unwrap();
                        let bit = |n: u32| mpacket.status >> n & 1;
                        assert_eq!(bit(31), 0, "RPROT");
                        assert!((mpacket.status >> 24).is_multiple_of(unit));
                        assert_eq!(
                            (bit(15), bit(14)),
                            (u32::from(cut == 0), u32::from(cut == cuts - 1))
                        );
                        assert_eq!(bit(8), 1, "type");
                        mpacket.bytes.len()
                    })
                    .sum();
                assert_eq!(bytes, size);
            }
        }
        assert_eq!(bench.msf.leaks(), []);
    }
}

#[test]
fn spi4_element_numbers_are_64_byte_offsets() {
    let mut bench = bench(1, 256);
    bench.fast_write(msf_csr::RBUF_ELEMENT_DONE, 3);
    while bench.step() {}
    assert!(
        bench
            .fault()
            .contains("element 3 does not exist, the last is 124"),
        "{}",
        bench.fault()
    );
    let mut bench = self::bench(1, 256);
    bench.write(0x1800 + 8, &[16 << 24 | 0x300, 0]);
    while bench.step() {}
    assert!(
        bench
            .fault()
            .contains("TBUF element 1 does not exist, the last is 124"),
        "{}",
        bench.fault()
    );
    let mut bench = self::bench(1, 256);
    bench.write(0x1800, &[16 << 24 | 0x300, 0]);
    bench.write(0x1800 + 32, &[16 << 24 | 0x300, 0]);
    while bench.step() {}
    assert_eq!(bench.fault(), "");
    assert_eq!(bench.lines.departed.len(), 2);
}

#[test]
fn microcode_can_read_port_fifo_status() {
    let mut bench = bench(6, 64);
    // Port 0 gets more than its line can carry at once.
    for element in 0..60 {
        let flags = u32::from(element % 20 == 0) << 9 | u32::from(element % 20 == 19) << 8;
        bench.write(0x1800 + 8 * element, &[64 << 24 | flags, 0]);
    }
    let mut seen = Vec::new();
    while bench.step() {
        let now = bench.fabric.now;
        let status = bench.msf.read_register(0x1400, now).unwrap();
        if seen.last() != Some(&status) {
            seen.push(status);
        }
        let all = bench.msf.read_register(0x380, now).unwrap();
        assert_eq!(all & 3, status);
        assert_eq!(all & 0xffc, 0, "the others starve");
        assert_eq!(bench.msf.read_register(0x1404, now), Some(0));
    }
    assert_eq!(seen, [0, 1, 2, 1, 0]);
    assert_eq!(bench.lines.departed.len(), 3);
    assert_eq!(bench.fault(), "");
}

#[test]
fn media_registers_exist_only_on_their_bus_type() {
    let read = |board: &str, register: u32| {
        let bench = Bench::on(board, 3, 64);
        bench.msf.read_register(register, 0)
    };
    // TX_CALENDAR_LENGTH and TX_CALENDAR_2 are filled by the loader.
    assert_eq!(read("ixp2800-6g", 0x70), Some(3));
    assert_eq!(read("ixp2800-6g", 0x1008), Some(2));
    assert_eq!(read("enp-2611", 0x1008), None);
    assert_eq!(read("ixp2800-6g", 0x80), None);
    assert_eq!(read("enp-2611", 0x80), Some(0));
    let mut bench = bench(1, 64);
    bench.fast_write(msf_csr::TX_MULTIPLE_PORT_STATUS_0, 1);
    while bench.step() {}
    assert!(bench.fault().contains("is read only"));
}
