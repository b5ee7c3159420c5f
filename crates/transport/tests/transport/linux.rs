//! Recorded exchanges of two real Linux TCPs, replayed to our endpoints: see `linux/README.md`.

use std::collections::VecDeque;
use std::path::Path;

use npsim_net::capture::{CaptureReader, LinkTypes};
use npsim_transport::time::{MILLISECOND, Time};
use npsim_transport::wire::{Flags, Packet, PacketBody, SackBlocks, Segment};
use npsim_transport::{
    ConnectionPhase, HostParameters, Receiver, ReceiverParameters, ReceiverPhase, Scheme, Sender,
    SenderParameters, Supply,
};

use crate::rig::ends;

const MSS: u16 = 256;
/// From an answer to the sender.
const DELAY: Time = 20 * MILLISECOND;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// At the sender, before the line that loses packets.
    Sent,
    /// At the receiver.
    Came,
    /// The receiver's.
    Answer,
}

/// A recorded packet.
#[derive(Clone, Copy)]
struct Record {
    at: Time,
    place: Place,
    packet: Packet,
}

impl Record {
    fn segment(&self) -> &Segment {
        self.packet.segment().expect("all are TCP")
    }
}

fn records(name: &str, file: &[u8]) -> Vec<Record> {
    let input = Box::new(std::io::Cursor::new(file.to_vec()));
    CaptureReader::new(Path::new(name), input, LinkTypes::Framed)
        .unwrap()
        .map(|frame| {
            let frame = frame.unwrap();
            let (packet, _) = Packet::from_bytes(&frame.bytes[14..]).unwrap();
            let place = match (packet.segment().unwrap().source_port, packet.ttl) {
                (1024, 64) => Place::Sent,
                (1024, 63) => Place::Came,
                (5001, 64) => Place::Answer,
                other => panic!("who sent {other:?}?"),
            };
            Record {
                at: frame.time_ns * 1000,
                place,
                packet,
            }
        })
        .collect()
}

fn initial(records: &[Record], place: Place) -> u32 {
    let syn = |record: &&Record| record.place == place && record.segment().flags.has(Flags::SYN);
    records.iter().find(syn).unwrap().segment().sequence
}

/// `packet` with all numbers of one direction shifted: the initial sequence numbers differ here.
fn moved(mut packet: Packet, sequence: u32, acknowledgement: u32) -> Packet {
    let PacketBody::Tcp { segment, .. } = &mut packet.body else {
        unreachable!()
    };
    segment.sequence = segment.sequence.wrapping_add(sequence);
    segment.acknowledgement = segment.acknowledgement.wrapping_add(acknowledgement);
    let mut sack = SackBlocks::default();
    for &(first, after) in segment.options.sack.as_slice() {
        let moved = |edge: u32| edge.wrapping_add(acknowledgement);
        assert!(sack.push(moved(first), moved(after)));
    }
    segment.options.sack = sack;
    packet
}

fn host(sack: bool) -> HostParameters {
    HostParameters {
        mss: MSS,
        initial_window: 10,
        receive_buffer: 65_536,
        sack,
        sack_blocks: 4,
        ..HostParameters::default()
    }
}

/// Our receiver gets the same segments as Linux's, and answers each one; Linux delays some of its ACKs, so its answers
/// are a subsequence of ours. Returns the number of answers compared.
fn receive(records: &[Record], sack: bool) -> usize {
    let mut receiver = Receiver::new(&ReceiverParameters {
        host: host(sack),
        ends: ends().reversed(),
        reads_at_once: true,
        xcp_option: None,
        seed: 2,
    });
    let theirs = initial(records, Place::Answer);
    let mut ours = None;
    let mut said = VecDeque::new();
    let mut compared = 0;
    for record in records {
        match record.place {
            Place::Sent => {}
            Place::Came => {
                let mut out = Vec::new();
                let shift = ours.map_or(0, |ours: u32| ours.wrapping_sub(theirs));
                receiver.receive(record.at, &moved(record.packet, 0, shift), &mut out);
                for packet in out {
                    let segment = *packet.segment().unwrap();
                    if segment.flags.has(Flags::SYN) {
                        ours = Some(segment.sequence);
                    }
                    said.push_back(segment);
                }
            }
            Place::Answer => {
                let answer = record.segment();
                let same = |ours: &Segment| {
                    ours.acknowledgement == answer.acknowledgement
                        && ours.options.sack.as_slice() == answer.options.sack.as_slice()
                };
                while said.front().is_some_and(|ours| !same(ours)) {
                    said.pop_front();
                }
                assert!(!said.is_empty(), "ours never says {answer:?}");
                compared += 1;
            }
        }
    }
    let bytes: u64 = u64::from(MSS) * segments(records);
    assert_eq!(receiver.counters().received, bytes);
    assert_eq!(receiver.phase(), ReceiverPhase::Closed);
    compared
}

fn number(segment: &Segment, initial: u32) -> u64 {
    u64::from(segment.sequence.wrapping_sub(initial).wrapping_sub(1)) / u64::from(MSS)
}

fn data(records: &[Record]) -> Vec<u64> {
    let initial = initial(records, Place::Sent);
    let sent = records
        .iter()
        .filter(|record| record.place == Place::Sent && record.segment().payload > 0);
    sent.map(|record| number(record.segment(), initial))
        .collect()
}

fn segments(records: &[Record]) -> u64 {
    data(records).into_iter().max().unwrap() + 1
}

/// The retransmissions, in order.
fn repeated(numbers: &[u64]) -> Vec<u64> {
    let mut seen = std::collections::HashSet::new();
    let again = |number: &&u64| !seen.insert(**number);
    numbers.iter().filter(again).copied().collect()
}

/// Our sender gets the same answers as Linux's. Returns the numbers of the segments that it sent.
fn send(records: &[Record], sack: bool) -> Vec<u64> {
    let mut sender = Sender::new(&SenderParameters {
        host: host(sack),
        scheme: Scheme::Reno,
        ends: ends(),
        supply: Supply::Bytes(segments(records) * u64::from(MSS)),
        seed: 1,
    });
    let theirs = initial(records, Place::Sent);
    let start = records[0].at;
    let mut out = Vec::new();
    sender.open(start, &mut out);
    let ours = out[0].segment().unwrap().sequence;
    let mut sent = Vec::new();
    let mut note = |out: &mut Vec<Packet>| {
        for packet in out.drain(..) {
            let segment = packet.segment().unwrap();
            if segment.payload > 0 {
                sent.push(number(segment, ours));
            }
        }
    };
    for record in records.iter().filter(|it| it.place == Place::Answer) {
        let at = record.at + DELAY;
        while let Some(wake) = sender.wake_at().filter(|&wake| wake <= at) {
            sender.wake(wake, &mut out);
            note(&mut out);
        }
        let answer = moved(record.packet, 0, ours.wrapping_sub(theirs));
        sender.receive(at, &answer, &mut out);
        note(&mut out);
    }
    assert!(matches!(
        sender.view().phase,
        ConnectionPhase::TimeWait | ConnectionPhase::Closed
    ));
    sent
}

macro_rules! recorded {
    ($($name:ident $file:literal $sack:literal $compared:literal;)*) => {$(
        #[test]
        fn $name() {
            let records = records($file, include_bytes!(concat!("linux/", $file, ".pcap.gz")));
            let compared = receive(&records, $sack);
            assert!(compared >= $compared, "{compared} answers");
            let theirs = repeated(&data(&records));
            let ours = repeated(&send(&records, $sack));
            assert_eq!(ours, theirs);
        }
    )*};
}

recorded! {
    a_transfer_without_losses "clean" true 60;
    one_loss_with_sack "sack-one" true 60;
    three_losses_with_sack "sack-three" true 60;
    a_burst_of_losses_with_sack "sack-burst" true 60;
    lost_retransmission_with_sack "sack-repair" true 60;
    tail_loss_with_sack "sack-tail" true 30;
    one_loss_without_sack "newreno-one" false 60;
    three_losses_without_sack "newreno-three" false 60;
}
