//! Segments are sent in the same order as in ns-2 when the packets of a list are lost: see
//! `golden/README.md`.

use npsim_transport::{FullAck, HostParameters, Scheme, Supply};

use crate::rig::{Line, Rig, arrives, host};

/// Segment numbers of ns-2.
fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect()
}

/// The segments that our sender sends on ns-2's path when the data packets at these positions, counted from 1, are
/// lost.
fn ours(sack: bool, lost: &[u64]) -> Vec<u64> {
    let host = HostParameters {
        sack,
        full_ack: FullAck::Threshold,
        ..host()
    };
    let mut rig = Rig::new(host, Scheme::Reno, Supply::Bytes(200_000));
    rig.forward.line = Some(Line::new(12_500_000, 10_000));
    rig.backward.line = Some(Line::new(12_500_000, 10_000));
    let lost = lost.to_vec();
    let mut place = 0;
    rig.forward.fate = Box::new(move |_, packet| {
        place += u64::from(packet.segment().unwrap().payload > 0);
        let dropped = packet.segment().unwrap().payload > 0 && lost.contains(&place);
        if dropped { vec![] } else { arrives() }
    });
    rig.open();
    rig.run();
    rig.assert_done(200_000);
    rig.numbers()
}

/// The numbers of ns-2 that are left out: after a timeout, it answers the first two duplicate ACKs by limited transmit
/// of data sent before; RFC 3042 allows only new data.
fn without(mut numbers: Vec<u64>, from: usize, extra: &[u64]) -> Vec<u64> {
    assert_eq!(numbers[from..from + extra.len()], *extra);
    numbers.drain(from..from + extra.len());
    numbers
}

fn compare(ours: &[u64], theirs: &[u64]) {
    let differs = ours.iter().zip(theirs).position(|(a, b)| a != b);
    assert_eq!(differs, None, "\nours   {ours:?}\ntheirs {theirs:?}");
    assert_eq!(
        ours.len(),
        theirs.len(),
        "\nours   {ours:?}\ntheirs {theirs:?}"
    );
}

macro_rules! golden {
    ($($name:ident $file:literal $sack:literal $lost:expr;)*) => {$(
        #[test]
        fn $name() {
            let theirs = numbers(include_str!(concat!("golden/", $file, ".txt")));
            compare(&ours($sack, &$lost), &theirs);
        }
    )*};
}

golden! {
    new_reno_repairs_one_loss "newreno-one" false [21];
    new_reno_repairs_a_burst "newreno-burst" false [40, 41, 42, 43, 44, 45, 46, 47];
    new_reno_repairs_spaced_losses "newreno-spaced" false [120, 150];
    sack_repairs_one_loss "sack1-one" true [21];
    sack_repairs_three_losses "sack1-three" true [19, 23, 27];
    sack_loses_a_repair "sack1-repair" true [21, 44];
    sack_repairs_a_burst "sack1-burst" true [40, 41, 42, 43, 44, 45, 46, 47];
}

#[test]
fn new_reno_repairs_three_losses_until_its_timer_expires() {
    let theirs = numbers(include_str!("golden/newreno-three.txt"));
    let theirs = without(theirs, 62, &[27, 28]);
    compare(&ours(false, &[19, 23, 27]), &theirs);
}

#[test]
fn new_reno_recovers_from_a_lost_retransmission() {
    let theirs = numbers(include_str!("golden/newreno-repair.txt"));
    let theirs = without(theirs, 56, &[21, 22]);
    compare(&ours(false, &[21, 44]), &theirs);
}

/// Ours ends with the rescue retransmission of RFC 6675, which ns-2's SACK does not have.
#[test]
fn sack_recovers_from_spaced_losses() {
    let theirs = numbers(include_str!("golden/sack1-spaced.txt"));
    let ours = ours(true, &[120, 150]);
    let (rescue, others) = ours.split_last().unwrap();
    assert_eq!(*rescue, 199);
    compare(others, &theirs);
}
