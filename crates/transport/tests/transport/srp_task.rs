//! The task of a pacing network processor against the controller of a host: the same rates, bit for bit, from the same
//! acknowledgements and losses.

use npsim_chip::gpp::LongwordAddress;
use npsim_chip::gpp::boot::{BootPlan, Space};
use npsim_protocols::round_trip::RoundTrip;
use npsim_protocols::srp::gap;
use npsim_protocols::srp::task::{PacedBy, SrpClass, SrpSetup, SrpTask};
use npsim_testkit::slow_path::{load, plan};
use npsim_transport::control::{ControlInputs, Controller, SendLimit, SrpControl, SrpParameters};
use npsim_transport::{HostParameters, RtoParameters};
use proptest::prelude::*;

const RECORDS: LongwordAddress = LongwordAddress {
    space: Space::Sram(1),
    address: 0x4000,
};
/// Cycles at 600 MHz between two updates of the only flow: 100 us.
const PERIOD: u64 = 60_000;
const PACKET: u64 = 1500;

/// The events between two updates.
#[derive(Debug, Clone, Copy)]
struct Between {
    bytes: u32,
    losses: u32,
    rtt: Option<u32>,
    packets: u32,
}

fn between() -> impl Strategy<Value = Between> {
    let bytes = prop_oneof![2 => Just(0), 3 => 1_u32..30_000];
    let losses = prop_oneof![9 => Just(0), 1 => 1_u32..3];
    let rtt = prop_oneof![3 => Just(None), 1 => (500_u32..100_000).prop_map(Some)];
    (bytes, losses, rtt, 0_u32..4).prop_map(|(bytes, losses, rtt, packets)| Between {
        bytes,
        losses,
        rtt,
        packets,
    })
}

fn moment(now: u64, round_trip: &RoundTrip) -> ControlInputs {
    ControlInputs {
        now,
        mss: PACKET - 40,
        packet: PACKET,
        acknowledged: 0,
        highest: 0,
        flight: 0,
        srtt: round_trip.smoothed(),
        latest_rtt: None,
        timeout: round_trip.timeout(),
        limit: SendLimit::Window,
        recovering: false,
        allowed: u64::MAX,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn srp_task_and_host_controller_compute_the_same_rates(
        steps in prop::collection::vec(between(), 1..120),
        most in prop_oneof![Just(None), (100_000_u64..50_000_000).prop_map(Some)],
    ) {
        let rto = RtoParameters { floor: 1_000_000_000, ..RtoParameters::LINUX };
        let task = SrpTask::new(SrpSetup {
            records: RECORDS,
            flows: vec![4],
            classes: vec![SrpClass { class: 4, packet: PACKET, pace: PacedBy::Srp { first: 3, most } }],
            period: PERIOD,
            rto,
        });
        let boot = BootPlan { tasks: vec![Box::new(task)], ..plan() };
        let mut bench = load(&boot).unwrap();
        let record = RECORDS.after(64);

        let mut controller = SrpControl::new(&HostParameters::default(), SrpParameters { most });
        let mut round_trip = RoundTrip::new(rto);
        let mut opened = false;
        let (mut packets, mut rtts) = (0_u32, 0);
        let mut progress = (0, 0);
        for (place, step) in (1..).zip(steps) {
            bench.run_until(place * PERIOD - 1);
            packets += step.packets;
            bench.set(record, 2, packets);
            bench.add(record, 6, step.bytes as i32);
            bench.add(record, 7, step.losses as i32);
            if let Some(rtt) = step.rtt {
                rtts += 1;
                bench.set(record, 8, rtt);
                bench.set(record, 9, rtts);
            }
            bench.run_until(place * PERIOD + PERIOD / 2);

            // The host: 600 MHz are 5/3 ns a cycle, 80/3 ns a step.
            let now = place * PERIOD * 5_000 / 3;
            if let Some(rtt) = step.rtt {
                round_trip.sample(u64::from(rtt) * 80_000 / 3);
            }
            if step.bytes > 0 {
                progress = (now, packets);
            }
            if round_trip.smoothed().is_none() {
                continue;
            }
            let it = moment(now, &round_trip);
            if opened {
                if step.bytes > 0 {
                    controller.acknowledged(&it, step.bytes.into());
                    controller.arrived(&it, step.bytes.into());
                }
                if step.losses > 0 {
                    controller.lost(&it);
                }
                if packets != progress.1 && now - progress.0 >= it.timeout {
                    progress = (now, packets);
                    controller.timed_out(&it, false);
                    round_trip.back_off();
                }
            } else {
                opened = true;
                progress = (now, packets);
                controller.opened(&it, false);
            }
            let rate = controller.rate().unwrap();
            let flow = bench.gpp.task::<SrpTask>().unwrap().flows().next().unwrap();
            prop_assert_eq!(flow.law.rate(), rate, "look {}", place);
            prop_assert_eq!(bench.word(record, 3), gap(PACKET, rate, 600));
        }
    }
}
