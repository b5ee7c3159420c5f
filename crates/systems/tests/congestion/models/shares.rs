//! XCP with shares of the pools for each microengine: `feedback_shares.uc`.
//!
//! With one context, its microengine's share, which the driver notes, and the pool together are the
//! residue. The verdict, every byte from the IPv4 header on (so every Delta) and the sums are
//! exact. Exactly Delta leaves the pools; the part that leaves each pool is exact unless a request
//! below the packet's feedback meets a share that does not cover its positive part: then the rest
//! of that part is neither taken nor charged to the negative pool.
//!
//! The phase is read before every packet here, not only after some time.

use npsim_protocols::xcp::{Factor, FeedbackPools, SECOND, XcpHeader};

use super::driver::{HEADER, OWN, Packet, STATE, State, Variant, Verdict, before, process};
use super::packets;
use super::xcp::{BANKS, Limits, Part, THREAD_SUMS, part, traffic};
use super::xcp_layout::{BANK_RESIDUES, Layout, PHASE};
use npsim_testkit::microcode::Edit;

const PACKETS: u32 = 50_000;
const LAYOUT: Layout = Layout::Banks;

const SHARES: Variant = Variant {
    name: "XCP with shares",
    defines: &["XCP", "XCP_SHARES"],
    state: BANKS,
    counts: Some(THREAD_SUMS),
    edit: Some(Edit {
        file: "xcp/feedback_shares.uc",
        from: "#define XCP_AGE_LOG 10",
        to: "#define XCP_AGE_LOG 0",
    }),
};

/// Shares of 2^30 and more are not enlarged, unlike in the model.
const LIMITS: Limits = Limits {
    residues: (1 << 29) - 1,
    delta: -(1 << 20),
};

/// The microengine's state for the bank that it saw last.
#[derive(Clone, Copy, Default)]
struct Seen {
    bank: Option<usize>,
    cp: Factor,
    cn: Factor,
}

/// Packets such that every bank is seen: a microengine mistakes a bank that it meets again for the
/// one that it saw last.
fn packets() -> Vec<Packet> {
    let mut packets = traffic(13, PACKETS, LAYOUT, LIMITS);
    let mut seen = None;
    let mut phase = 0;
    for packet in &mut packets {
        packet.state = packet.state.filter(|state| seen != Some(state[PHASE]));
        phase = packet.state.map_or(phase, |state| state[PHASE]);
        let mut bytes = packet.frame[HEADER..].to_vec();
        if packets::plain(&mut bytes).is_none() && part(&bytes) == Part::Whole {
            seen = Some(phase);
        }
    }
    packets
}

/// Residues of a bank: its pools and, if it is of this bank, the share.
fn residues(state: &State, bank: usize, of: Option<usize>) -> [u32; 2] {
    [0, 1].map(|pool| {
        let share = if of == Some(bank) {
            state[OWN + pool]
        } else {
            0
        };
        state[BANK_RESIDUES + 2 * bank + pool].wrapping_add(share)
    })
}

#[test]
fn xcp_with_shares_matches_the_model() {
    let packets = packets();
    let processed = process(&SHARES, &packets);
    let mut state = [0; STATE];
    let mut seen = Seen::default();
    let (mut exchanged, mut exact) = (0, 0);
    for (number, (packet, got)) in packets.iter().zip(processed).enumerate() {
        state = SHARES.known(&before(packet, &state));
        let mut bytes = packet.frame[HEADER..].to_vec();
        let verdict = packets::plain(&mut bytes).unwrap_or(Verdict::Forwarded);
        assert_eq!(got.verdict, verdict, "packet {number}");
        let part = match verdict {
            Verdict::Forwarded => part(&bytes),
            _ => Part::None,
        };
        let size = packets::total(&bytes);
        let header = XcpHeader::from_bytes(&bytes[20..]).filter(|_| part == Part::Whole);
        let mut sums = LAYOUT.sums(&state, 0);
        if part != Part::None {
            sums.arrive(size, header.as_ref(), SECOND);
        }
        assert_eq!(LAYOUT.sums(&got.state, 0), sums, "packet {number}");
        let Some(header) = header else {
            assert_eq!(got.frame[HEADER..], bytes, "packet {number}");
            let mut same = state;
            LAYOUT.put_sums(&mut same, 0, &sums);
            assert_eq!(got.state[..OWN + 2], same[..OWN + 2], "packet {number}");
            state = got.state;
            continue;
        };

        let bank = state[PHASE] as usize;
        let old = 1 - bank;
        if seen.bank != Some(bank) {
            // The share is returned to its own bank.
            let left = residues(&state, old, seen.bank);
            assert_eq!(residues(&got.state, old, None), left, "packet {number}");
            let FeedbackPools { cp, cn, .. } = LAYOUT.pools(&state, 0);
            seen = Seen {
                bank: Some(bank),
                cp,
                cn,
            };
            state[OWN..OWN + 2].fill(0);
        }
        let [residue_pos, residue_neg] = residues(&state, bank, seen.bank);
        let mut pools = FeedbackPools {
            residue_pos,
            residue_neg,
            cp: seen.cp,
            cn: seen.cn,
        };
        let feedback = pools.process(&mut bytes[20..], size).unwrap();
        assert_eq!(got.frame[HEADER..], bytes, "packet {number}: {header:?}");

        let [left_pos, left_neg] = residues(&got.state, bank, seen.bank);
        let taken_pos = i64::from(residue_pos) - i64::from(left_pos);
        let taken_neg = i64::from(residue_neg) - i64::from(left_neg);
        assert_eq!(
            taken_pos - taken_neg,
            i64::from(feedback.delta),
            "packet {number}"
        );
        assert!(taken_neg <= i64::from(feedback.negative), "packet {number}");
        let is_truncated = header.delta_throughput > feedback.feedback;
        let covers = seen.cp.times(header.x) <= u64::from(state[OWN]);
        if is_truncated || covers {
            let left = [left_pos, left_neg];
            assert_eq!(
                left,
                [pools.residue_pos, pools.residue_neg],
                "packet {number}"
            );
            exact += 1;
        }
        exchanged += 1;
        if left_pos == 0 {
            seen.cp = Factor::ZERO;
        }
        if left_neg == 0 {
            seen.cn = Factor::ZERO;
        }
        state = got.state;
    }
    assert!(
        exchanged > PACKETS / 3 && exact > exchanged / 2,
        "{exact} of {exchanged}"
    );
}
