//! Predictions of an inspection come true: the cause and time of a context's wake-up, the order in
//! which commands are served, and the command that holds a register.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::ContextPhase;
use npsim_chip::kernel::observer::NoObserver;
use npsim_image::TransferDirection;
use npsim_inspect::{BufferHolder, CommandLocation, ContextStatus, Inspect, Memory, SignalOrigin};
use npsim_isa::{CommandOp, Operand, csr};

use crate::systems::System;

/// Microengine, context and signal.
type Awaited = (u8, u8, u8);

/// Signals that sleeping contexts wait for, each with the cycles at which it is certain to arrive.
fn expected(look: &Inspect<'_>) -> BTreeMap<Awaited, Vec<Cycle>> {
    let mut all = BTreeMap::new();
    for me in look.microengines() {
        for context in 0..8 {
            let Some(ContextStatus::Asleep(asleep)) = look.why(me.index(), context) else {
                continue;
            };
            assert!(!asleep.missing.is_empty(), "asleep for nothing");
            for missing in &asleep.missing {
                assert!(
                    missing.may_arrive(),
                    "cycle {}: {:?}",
                    look.now(),
                    look.why_text(me.index(), context, &ContextStatus::Asleep(asleep.clone()))
                );
                let due = missing.sources.iter().filter_map(|source| match *source {
                    SignalOrigin::OnTheWay { due, .. } | SignalOrigin::Timer { due } => Some(due),
                    SignalOrigin::Command(slot) => {
                        let flight = look.flight(slot).unwrap();
                        if !flight.raises(me.index(), context, missing.signal) {
                            // The command sends the signal when it is served.
                            return match flight.location {
                                CommandLocation::Served { until, .. }
                                | CommandLocation::Data { until } => Some(until),
                                _ => None,
                            };
                        }
                        let pulls = flight.command.pull_signals >> missing.signal & 1 == 1;
                        match flight.location {
                            CommandLocation::Result { until } if !pulls => Some(until),
                            CommandLocation::Data { until } if pulls => Some(until),
                            CommandLocation::Queue { data, .. } if pulls => data,
                            _ => None,
                        }
                    }
                    _ => None,
                });
                all.insert((me.index(), context, missing.signal), due.collect());
            }
        }
    }
    all
}

/// Whether a context has been waiting for a signal since a cycle and still does.
fn still_waits(chip: &Chip, (me, context, signal): Awaited) -> bool {
    let it = chip.microengines()[usize::from(me)].context(context);
    it.phase == ContextPhase::Sleeping && (it.wakeup & !it.signals) >> signal & 1 == 1
}

/// A command: its slot, its cycle of issue, whether it goes to SRAM, and its address.
type Key = (u32, Cycle, bool, u32);

/// Whether a command must be served after one that precedes it.
fn never_passes(command: &Key, other: &Key) -> bool {
    !command.2 || command.3 == other.3
}

/// Commands that wait in a queue, with those before them.
fn queued(look: &Inspect<'_>) -> BTreeMap<Key, Vec<Key>> {
    let key = |slot| {
        let flight = look.flight(slot).unwrap();
        let sram = flight.target.name().starts_with("sram");
        let reads = flight.command.op == CommandOp::SramRead;
        // Two reads do not depend on each other.
        let address = flight.command.address + u32::from(reads) * slot.0;
        (slot.0, flight.issued, sram, address)
    };
    let waiting = look
        .flights()
        .iter()
        .filter_map(|flight| match &flight.location {
            CommandLocation::Queue { before, .. } => {
                let before = before.iter().map(|slot| key(*slot)).collect();
                Some((key(flight.slot), before))
            }
            _ => None,
        });
    waiting.collect()
}

/// The conditions at every cycle.
fn holds(look: &Inspect<'_>) -> usize {
    let chip = look.chip();
    let mut owned = 0;
    for me in look.microengines() {
        for context in 0..8 {
            let it = me.context(context);
            assert_eq!(
                me.csr(csr::ACTIVE_CTX_SIG_EVENTS, context),
                Some(u32::from(it.signals))
            );
            for number in 0..me.registers_per_context() {
                for register in [Operand::STransfer(number), Operand::DTransfer(number)] {
                    for side in [TransferDirection::Read, TransferDirection::Write] {
                        let seen = me.register(register, side, context).unwrap();
                        let Some(owner) = seen.owner.filter(|it| it.op.is_some()) else {
                            continue;
                        };
                        let flight = look.flight_of(me.index(), &owner);
                        let waits = look.freelists().any(|it| {
                            let first = it.waiter.absolute_register();
                            (it.waiter.me, first) == (me.index(), owner.first)
                        });
                        if owner.is_on_freelist() {
                            assert!(flight.is_some() || waits, "nothing fills {owner:?}");
                        } else {
                            let flight = flight.unwrap_or_else(|| {
                                panic!("cycle {}: nothing fills {owner:?}", look.now())
                            });
                            assert_eq!(Some(flight.command.op), owner.op);
                        }
                        assert!(owner.issued <= look.now());
                        owned += 1;
                    }
                }
            }
        }
    }
    for ring in look.rings() {
        let own = chip.units().scratch.ring(ring.number);
        assert_eq!(ring.words.len() as u32, own.count());
        if let Some(first) = ring.words.first() {
            let room = ring.address..ring.address + 4 * ring.size;
            let mut words = room.step_by(4).map(|at| look.word(Memory::Scratch, at));
            assert!(words.any(|word| word == Some(*first)));
        }
    }
    let free = look.rbuf().filter(|it| it.holder == BufferHolder::Pool);
    assert_eq!(free.count(), chip.units().msf.receive.rbuf.free());
    let valid = look.tbuf().filter(|it| it.valid_since.is_some());
    assert_eq!(valid.count(), chip.units().msf.transmit.tbuf.valid());
    assert_eq!(look.freelists().count(), chip.units().msf.receive.waiters());
    owned
}

#[test]
fn inspector_predictions_are_correct() {
    let (mut woken, mut left, mut owned) = (0, 0, 0);
    for (name, rate) in [
        ("forward", "1.0"),
        ("router", "0.9"),
        ("ordering/its.toml", "0.9"),
    ] {
        let system = System::new(name, &[], rate, "100us");
        let mut session = system.session();
        assert_eq!(session.step(20_000), None);
        for round in 0..300 {
            // Saving takes most of the time.
            let save = || session.node(0).chip().save().unwrap();
            let before = (round % 50 == 0).then(save);
            let look = Inspect::new(session.node(0).chip());
            let (expected, queues) = (expected(&look), queued(&look));
            owned += holds(&look);
            drop(look);
            let chip = session.node(0).chip();
            if let Some(before) = before {
                let after = chip.save().unwrap();
                assert!(after == before, "a look has changed the chip");
            }
            let now = chip.now();
            assert_eq!(session.step(1), None);
            let chip = session.node(0).chip();
            for (awaited, due) in expected {
                if still_waits(chip, awaited) {
                    assert!(
                        !due.contains(&now),
                        "{name}, cycle {now}: {awaited:?} did not come"
                    );
                } else {
                    assert!(
                        due.contains(&now),
                        "{name}, cycle {now}: {awaited:?} came unseen: {due:?}"
                    );
                    woken += 1;
                }
            }
            let queues_now = queued(&Inspect::new(chip));
            for (command, before) in &queues {
                if queues_now.contains_key(command) {
                    continue;
                }
                left += 1;
                for other in before.iter().filter(|other| never_passes(command, other)) {
                    assert!(
                        !queues_now.contains_key(other),
                        "{name}, cycle {now}: {command:?} was served before {other:?}"
                    );
                }
            }
        }
    }
    assert!(woken > 50 && owned > 500, "{woken} {left} {owned}");
    assert!(left > 10, "{left} commands waited");
}

/// A chip that polls has its last event before most pauses.
#[test]
fn inspection_is_as_of_the_pause() {
    let system = System::new("forward", &[], "0.01", "100us");
    let mut session = system.session();
    let mut behind = 0;
    let go_on = &mut |_| ControlFlow::Continue(());
    for pause in (1..400).map(|step| 37 * step) {
        assert_eq!(session.run_to(pause, &mut [NoObserver], go_on), None);
        let chip = session.node(0).chip();
        let look = Inspect::new(chip);
        // A microengine may have run ahead as long as nothing else happens.
        let now = pause.max(chip.now());
        assert_eq!(look.now(), now);
        behind += usize::from(chip.now() < pause);
        for me in look.microengines() {
            let clock = me.csr(csr::TIMESTAMP_LOW, 0);
            assert_eq!(clock, Some((now / 16) as u32), "at {now}");
        }
    }
    assert!(behind > 100, "{behind} pauses behind the last event");
}
