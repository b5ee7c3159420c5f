//! The whole chip with small programs: how runs end, and that running in steps equals running
//! through.

use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, ChipError, Stop};
use npsim_chip::core::Program;
use npsim_chip::gpp::boot::{BootPlan, RingSetup, RingStatus};
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::observer::{NoObserver, Observer};
use npsim_chip::kernel::port_io::NoTraffic;
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_engine::ENGINE;
use npsim_image::Image;
use npsim_inspect::liveness::explain_deadlock;
use npsim_inspect::stats::Stats;
use npsim_inspect::{ContextStatus, Inspect, SignalOrigin};
use npsim_isa::{
    Bank, Command, CommandOp, Completion, Condition, CtxArb, ImmedShift, Instruction, Operand,
    TransferRegister, csr, encode,
};
use npsim_profile::Profile;

fn profile() -> Profile {
    Profile::load("ixp2400").unwrap()
}

fn program(instructions: &[Instruction]) -> Program {
    let words = instructions
        .iter()
        .map(|i| encode(i).unwrap_or_else(|e| panic!("{i}: {e}")))
        .collect();
    Program::new(&Image::from_words("test", words), &profile()).unwrap()
}

fn chip(programs: &[(u8, &[Instruction])]) -> Chip {
    let programs = programs
        .iter()
        .map(|(me, instructions)| (*me, program(instructions)))
        .collect();
    Chip::new(ENGINE, profile(), &BootPlan::default(), programs).unwrap()
}

fn run(chip: &mut Chip, until: Cycle) -> Stop {
    chip.run(until, &mut NoTraffic, &mut NoObserver)
}

const KILL: Instruction = Instruction::CtxArb(CtxArb {
    mask: 0,
    any: true,
    breakpoint: false,
    keep_mask: false,
    resume: None,
    defer: 0,
});

fn wait(signal: u8) -> Instruction {
    let mask = 1 << signal;
    Instruction::CtxArb(CtxArb {
        mask,
        any: false,
        breakpoint: false,
        keep_mask: false,
        resume: None,
        defer: 0,
    })
}

fn immed(dest: Operand, value: u16) -> Instruction {
    Instruction::Immed {
        dest,
        value,
        shift: ImmedShift::None,
        invert: false,
    }
}

fn memory(
    op: CommandOp,
    transfer: TransferRegister,
    a: Operand,
    count: u8,
    completion: Completion,
) -> Instruction {
    let b = Operand::Constant(0);
    Instruction::Command(Command {
        op,
        transfer,
        a,
        b,
        count,
        completion,
        indirect: false,
        ignore_data_error: false,
    })
}

const ADDRESS: Operand = Operand::Gpr(Bank::A, 0);
const SWAP: Completion = Completion::CtxSwap {
    signal: 1,
    defer: 0,
};

/// Every context adds one to the scratch longword at 0x100 and dies.
fn increments() -> Vec<Instruction> {
    vec![
        immed(ADDRESS, 0x100),
        memory(
            CommandOp::ScratchIncr,
            TransferRegister::None,
            ADDRESS,
            0,
            Completion::Silent,
        ),
        KILL,
    ]
}

#[test]
fn chip_is_quiet_after_all_contexts_are_killed() {
    let mut chip = chip(&[(0, &increments()), (5, &increments())]);
    assert_eq!(run(&mut chip, Cycle::MAX), Stop::Quiet);
    assert_eq!(chip.units().scratch.read(0x100), Some(16));
    assert_eq!(chip.fabric().in_flight(), 0);
    let stats = Stats::collect(&chip);
    let scratch = stats
        .units
        .iter()
        .find(|unit| unit.name == "scratch")
        .unwrap();
    assert_eq!((scratch.commands.len(), scratch.commands[0].count), (1, 16));
}

#[test]
fn chip_without_programs_is_quiet_immediately() {
    assert_eq!(run(&mut chip(&[]), Cycle::MAX), Stop::Quiet);
}

#[test]
fn waiting_for_an_unraised_signal_is_reported_as_deadlock() {
    let mut stuck = chip(&[(3, &[wait(4), KILL])]);
    let Stop::Fault(fault) = run(&mut stuck, Cycle::MAX) else {
        panic!("no fault")
    };
    assert_eq!(
        (fault.check, fault.me, fault.context),
        (Some(Check::Deadlock), Some(3), Some(0))
    );
    assert!(
        fault.message.contains("waits for signal 4, since cycle"),
        "{}",
        fault.message
    );
    // The chip reports its state, the analysis the reason; a second call adds nothing.
    for _ in 0..2 {
        assert!(explain_deadlock(&mut stuck).is_some());
    }
    let Some([raised, states]) = stuck.fault().map(|it| &it.notes[..]) else {
        panic!("{:?}", stuck.fault())
    };
    assert_eq!(raised, "no instruction of any program raises it");
    assert_eq!(fault.notes[..], *std::slice::from_ref(states));
    assert!(
        states.contains("microengine 3 contexts 0 to 7: wait for signal 4"),
        "{states}"
    );
    let mut allowed = chip(&[(3, &[wait(4), KILL])]);
    allowed.allow(Check::Deadlock);
    // A run that continues from there, as a chain does from a checkpoint, finds nothing new.
    for _ in 0..2 {
        assert_eq!(run(&mut allowed, Cycle::MAX), Stop::Quiet);
        assert_eq!(
            allowed.fabric().checks.passed_over().collect::<Vec<_>>(),
            [(Check::Deadlock, 1)]
        );
    }
}

/// A context that writes, reads back over SRAM and DRAM, and adds up.
fn busy() -> Vec<Instruction> {
    let s = TransferRegister::S(0);
    vec![
        immed(ADDRESS, 0x100),
        immed(Operand::STransfer(0), 5),
        memory(CommandOp::SramWrite, s, ADDRESS, 1, SWAP),
        memory(
            CommandOp::SramTestAndIncr,
            s,
            ADDRESS,
            0,
            Completion::CtxSwap {
                signal: 3,
                defer: 0,
            },
        ),
        memory(CommandOp::SramRead, s, ADDRESS, 1, SWAP),
        immed(Operand::DTransfer(0), 7),
        immed(Operand::DTransfer(1), 8),
        memory(
            CommandOp::DramWrite,
            TransferRegister::D(0),
            ADDRESS,
            1,
            Completion::SigDone(2),
        ),
        Instruction::CtxArb(CtxArb {
            mask: 0b1100,
            any: false,
            breakpoint: false,
            keep_mask: false,
            resume: None,
            defer: 0,
        }),
        memory(
            CommandOp::ScratchIncr,
            TransferRegister::None,
            ADDRESS,
            0,
            Completion::Silent,
        ),
        KILL,
    ]
}

#[test]
fn stepped_chip_matches_uninterrupted_run() {
    let programs: Vec<(u8, Vec<Instruction>)> = (0..8).map(|me| (me, busy())).collect();
    let programs: Vec<(u8, &[Instruction])> =
        programs.iter().map(|(me, p)| (*me, p.as_slice())).collect();
    let mut whole = chip(&programs);
    assert_eq!(run(&mut whole, Cycle::MAX), Stop::Quiet);
    assert_eq!(whole.units().scratch.read(0x100), Some(64));
    assert_eq!(
        whole.units().dram.read_bytes(0x100, 8),
        Some(vec![0, 0, 0, 7, 0, 0, 0, 8])
    );
    for step in [1, 3, 50, 777] {
        let mut stepped = chip(&programs);
        let mut until = step;
        while run(&mut stepped, until) == Stop::Reached {
            assert_eq!(stepped.now(), until);
            until += step;
        }
        assert_eq!(stepped.units().scratch.read(0x100), Some(64));
        let (mut a, mut b) = (Stats::collect(&stepped), Stats::collect(&whole));
        (a.cycles, b.cycles, a.nanoseconds, b.nanoseconds) = (0, 0, 0, 0);
        assert_eq!(a.units.len(), b.units.len());
        for (a, b) in a.units.iter().zip(&b.units) {
            assert_eq!(
                (&a.commands, a.words, a.busy, a.queue_peak, a.waiting),
                (&b.commands, b.words, b.busy, b.queue_peak, b.waiting)
            );
        }
    }
}

#[test]
fn clone_of_a_running_chip_runs_identically() {
    let mut chip = chip(&[(0, &busy()), (6, &busy())]);
    assert_eq!(run(&mut chip, 100), Stop::Reached);
    let mut copy = chip.clone();
    assert_eq!(run(&mut chip, Cycle::MAX), run(&mut copy, Cycle::MAX));
    assert_eq!(Stats::collect(&chip), Stats::collect(&copy));
}

/// A microengine that is alone runs far ahead of a pause, with many trace events.
#[test]
fn observers_receive_no_events_past_a_pause() {
    struct Last(Cycle);
    impl Observer for Last {
        fn see(&mut self, at: Cycle, _: &TraceEvent) {
            self.0 = at;
        }
    }
    let spins = Instruction::Branch {
        condition: Condition::Always,
        target: 0,
        defer: 0,
    };
    let mut chip = chip(&[(0, &[spins])]);
    let mut last = Last(0);
    for pause in (1..10).map(|step| 2000 * step) {
        let stop = chip.run_or_pause(40_000, pause, &mut NoTraffic, &mut last);
        assert_eq!(stop, None);
        assert!(last.0 < pause && last.0 + 10 > pause, "{} {pause}", last.0);
    }
}

#[test]
fn invalid_chip_setups_are_refused() {
    let refuse = |boot: &BootPlan, programs| {
        Chip::new(ENGINE, profile(), boot, programs)
            .err()
            .map(|e| e.to_string())
    };
    let boot = BootPlan::default();
    let error = Chip::new(ENGINE, profile(), &boot, vec![(8, program(&[KILL]))]).err();
    assert_eq!(
        error,
        Some(ChipError::NoSuchMicroengine { index: 8, last: 7 })
    );
    let error = refuse(&boot, vec![(1, program(&[KILL])), (1, program(&[KILL]))]).unwrap();
    assert!(error.contains("microengine 1"), "{error}");
    let ring = RingSetup {
        number: 0,
        base: 100,
        size: 128,
        status: RingStatus::NearlyFull,
    };
    let error = refuse(
        &BootPlan {
            rings: vec![ring],
            ..BootPlan::default()
        },
        vec![],
    )
    .unwrap();
    assert!(error.contains("ring 0"), "{error}");
}

/// Every context reads memory that does not exist.
fn reads_missing_memory() -> Vec<Instruction> {
    let top = Instruction::Immed {
        dest: ADDRESS,
        value: 0x8000,
        shift: ImmedShift::By16,
        invert: false,
    };
    let register = TransferRegister::S(0);
    let read = memory(CommandOp::SramRead, register, ADDRESS, 1, SWAP);
    vec![top, read, KILL]
}

#[test]
fn access_to_missing_memory_stops_at_the_instruction() {
    let mut chip = chip(&[(2, &reads_missing_memory())]);
    let Stop::Fault(fault) = run(&mut chip, Cycle::MAX) else {
        panic!("no fault")
    };
    assert_eq!(
        (fault.check, fault.me, fault.context, fault.pc),
        (None, Some(2), Some(0), Some(1))
    );
    assert!(fault.message.contains("channel 2"), "{}", fault.message);
}

/// The neighbour signals every 200 cycles and runs ahead, but a read of memory that does not exist
/// ends the run between two signals.
#[test]
fn signal_sent_after_a_fault_is_not_in_flight() {
    let mut sends = vec![
        immed(ADDRESS, 1 << 3),
        Instruction::LocalCsrWrite {
            csr: csr::NEXT_NEIGHBOR_SIGNAL,
            src: ADDRESS,
        },
    ];
    sends.resize(200, Instruction::Nop);
    sends.push(Instruction::Branch {
        condition: Condition::Always,
        target: 1,
        defer: 0,
    });
    let sleeps = [wait(1), wait(1), wait(1), KILL];
    let mut reads = vec![Instruction::Nop; 100];
    reads.extend(reads_missing_memory());
    let sources = |chip: &Chip| {
        let Some(ContextStatus::Asleep(asleep)) = Inspect::new(chip).why(2, 0) else {
            panic!("context 0 of microengine 2 waits");
        };
        assert_eq!(asleep.at, 1);
        asleep.missing[0].sources.clone()
    };
    let mut chip = chip(&[(0, &reads), (1, &sends), (2, &sleeps)]);
    let stop = run(&mut chip, 10_000);
    assert!(matches!(stop, Stop::Fault(_)), "{stop:?}");
    assert!(chip.now() < 200);
    let found = sources(&chip);
    let sent = |source: &SignalOrigin| !matches!(source, SignalOrigin::Sender(_));
    assert!(!found.is_empty() && !found.iter().any(sent), "{found:?}");

    let mut chip = self::chip(&[(1, &sends), (2, &sleeps)]);
    assert_eq!(run(&mut chip, 206), Stop::Reached);
    let found = sources(&chip);
    assert!(
        matches!(found[..], [SignalOrigin::OnTheWay { .. }]),
        "{found:?}"
    );
}
