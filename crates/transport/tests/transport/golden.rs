//! The same segments in the same order as ns-2, where packets of a list are lost: `golden/README.md`.

use npsim_transport::{FullAck, HostParameters, Scheme, Supply};

use crate::rig::{Line, Rig, arrives, host};

/// Segment numbers of ns-2.
fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// What our sender sends on ns-2's path when the data packets at these places, counted from 1 on, are
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

macro_rules! golden {
    ($($name:ident $file:literal $sack:literal $lost:expr;)*) => {$(
        #[test]
        fn $name() {
            let theirs = numbers(include_str!(concat!("golden/", $file, ".txt")));
            let ours = ours($sack, &$lost);
            let differs = ours.iter().zip(&theirs).position(|(a, b)| a != b);
            assert_eq!(differs, None, "\nours   {ours:?}\ntheirs {theirs:?}");
            assert_eq!(ours.len(), theirs.len());
        }
    )*};
}

golden! {
    new_reno_repairs_one_loss "newreno-one" false [21];
    new_reno_repairs_three_losses "newreno-three" false [19, 23, 27];
    new_reno_loses_a_repair "newreno-repair" false [21, 44];
    new_reno_repairs_a_burst "newreno-burst" false [40, 41, 42, 43, 44, 45, 46, 47];
    new_reno_repairs_losses_apart "newreno-spaced" false [120, 150];
    sack_repairs_one_loss "sack1-one" true [21];
    sack_repairs_three_losses "sack1-three" true [19, 23, 27];
    sack_loses_a_repair "sack1-repair" true [21, 44];
    sack_repairs_a_burst "sack1-burst" true [40, 41, 42, 43, 44, 45, 46, 47];
    sack_repairs_losses_apart "sack1-spaced" true [120, 150];
}
