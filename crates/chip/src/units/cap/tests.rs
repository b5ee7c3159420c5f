use super::*;
use crate::gpp::Gpp;
use crate::gpp::boot::BootPlan;
use crate::kernel::signal_source::SignalSource;
use crate::units::Units;
use crate::units::hash::{Hash, HashWidth};
use crate::units::scratch::Scratch;

struct Bench {
    cap: Cap,
    fabric: Fabric,
    scratch: Scratch,
    hash: Hash,
    gpp: Gpp,
    pushed: Vec<(BusCommand, Vec<u32>)>,
    signals: Vec<(Cycle, Event)>,
}

impl Bench {
    fn new() -> Self {
        let profile = Profile::load("ixp2400").unwrap();
        Self {
            cap: Cap::new(&profile),
            scratch: Scratch::new(&profile),
            hash: Hash::new(&profile),
            gpp: Gpp::new(&profile, &BootPlan::default()),
            fabric: Fabric::new(profile, Units::inlets),
            pushed: Vec::new(),
            signals: Vec::new(),
        }
    }

    fn command(op: CommandOp, address: u32, count: u8) -> BusCommand {
        BusCommand {
            op,
            me: 5,
            context: 3,
            pc: 0,
            address,
            count,
            transfer_me: 5,
            transfer: 50,
            transfer_kind: TransferKind::S,
            signal_context: 3,
            pull_signals: 0,
            push_signals: 0,
            byte_mask: 0xff,
            immediate: None,
            indirect: None,
        }
    }

    /// Issues a command whose OUT registers hold `out`, runs until the chip is idle, and returns
    /// the registers that were pulled from.
    fn run(&mut self, command: BusCommand, out: &[u32]) -> Option<(u8, u8)> {
        let slot = self.fabric.open(command);
        self.cap.arrive(slot, &mut self.fabric);
        let mut from = None;
        while let Some((time, event)) = self.fabric.events.pop() {
            self.fabric.now = time;
            match event {
                Event::Ready(slot) => {
                    let behind = ProxyTargets {
                        banks: [&mut self.scratch, &mut self.hash],
                        core: &mut self.gpp,
                    };
                    self.cap.ready(slot, &mut self.fabric, behind);
                }
                Event::Pull(slot, _) => {
                    let flight = self.fabric.flight_mut(slot);
                    flight.data[..out.len()].copy_from_slice(out);
                    from = Some((flight.command.transfer_me, flight.command.transfer));
                    self.cap.pulled(slot, &mut self.fabric);
                }
                Event::Push(slot, _) => {
                    let flight = self.fabric.flight(slot);
                    self.pushed.push((
                        flight.command,
                        flight.data[..flight.words as usize].to_vec(),
                    ));
                    self.fabric.retire(slot);
                }
                Event::Signal { .. } => self.signals.push((time, event)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(self.fabric.in_flight(), 0);
        from
    }

    fn fast_write(&mut self, csr: u16, value: u32) {
        let command = BusCommand {
            immediate: Some(value),
            ..Self::command(CommandOp::CapWrite, csr.into(), 1)
        };
        self.run(command, &[]);
    }

    fn read(&mut self, csr: u16) -> u32 {
        self.run(Self::command(CommandOp::CapRead, csr.into(), 1), &[]);
        self.pushed.pop().unwrap().1[0]
    }

    fn fault(&self) -> String {
        self.fabric
            .checks
            .fault()
            .map(|f| f.message.clone())
            .unwrap_or_default()
    }
}

#[test]
fn interthread_signal_reaches_another_microengine_after_its_latency() {
    let mut bench = Bench::new();
    // Cluster 1, microengine 2 of it, context 6, signal 9.
    bench.fast_write(cap_csr::INTERTHREAD_SIGNAL, 0x12 << 7 | 6 << 4 | 9);
    let lead = 30 - bench.fabric.profile.issue_to_inlet();
    assert_eq!(
        bench.signals,
        [(
            lead,
            Event::Signal {
                me: 6,
                context: 6,
                signal: 9,
                by: SignalSource::at(5, 3, 0)
            }
        )]
    );
    assert_eq!(bench.cap.uses.interthread_signals, 1);
    bench.fast_write(cap_csr::INTERTHREAD_SIGNAL, 4 << 7 | 1);
    assert!(bench.fault().contains("microengine 4"), "{}", bench.fault());
}

#[test]
fn interrupts_name_the_issuing_thread() {
    let mut bench = Bench::new();
    bench.fast_write(cap_csr::XSCALE_INT_A, 0);
    // Cluster 1 starts at thread 64; microengine 1 of it, context 3.
    assert_eq!(
        bench.gpp.interrupt_status(InterruptLine::A),
        [0, 0, 1 << 11, 0]
    );
    assert_eq!(bench.gpp.interrupt_status(InterruptLine::B), [0; 4]);
    assert_eq!(bench.gpp.interrupts, 1);
}

#[test]
fn thread_messages_clear_on_read() {
    let mut bench = Bench::new();
    let command = Bench::command(
        CommandOp::CapWrite,
        (cap_csr::THREAD_MESSAGE_0 + 4 * 40).into(),
        1,
    );
    bench.run(command, &[0xabcd]);
    assert_eq!(bench.read(cap_csr::THREAD_MESSAGE_SUMMARY_1), 1 << 8);
    assert_eq!(bench.read(cap_csr::THREAD_MESSAGE_0 + 4 * 40), 0xabcd);
    assert_eq!(bench.read(cap_csr::THREAD_MESSAGE_0 + 4 * 40), 0);
    assert_eq!(bench.read(cap_csr::THREAD_MESSAGE_SUMMARY_1), 0);
    bench.fast_write(cap_csr::SELF_DESTRUCT_1, 5);
    bench.fast_write(cap_csr::SELF_DESTRUCT_1, 2);
    assert_eq!(
        [
            bench.read(cap_csr::SELF_DESTRUCT_1),
            bench.read(cap_csr::SELF_DESTRUCT_1)
        ],
        [7, 0]
    );
}

#[test]
fn cap_forwards_ring_and_hash_registers() {
    let mut bench = Bench::new();
    let base = u32::from(cap_csr::SCRATCH_RING_BASE_0) + 0x20;
    bench.run(Bench::command(CommandOp::CapWrite, base, 1), &[0x4400_0400]);
    assert_eq!(bench.scratch.ring(2).size(), 256);
    assert_eq!(bench.read(base as u16), 0x4400_0400);
    bench.run(
        Bench::command(CommandOp::CapWrite, cap_csr::HASH_MULTIPLIER_64_1.into(), 2),
        &[0x89ab_cdef, 0x0123_4567],
    );
    assert_eq!(
        bench.hash.multiplier(HashWidth::Bits64),
        0x0123_4567_89ab_cdef
    );
    assert_eq!(bench.read(cap_csr::HASH_MULTIPLIER_64_2), 0x0123_4567);
}

#[test]
fn reflector_moves_transfer_registers_between_microengines() {
    let mut bench = Bench::new();
    // Microengine number 0x11 (index 5's neighbour below is 4), register 70.
    let address = 0x10 << 10 | 70 << 2;
    let read = BusCommand {
        push_signals: 8,
        ..Bench::command(CommandOp::CapReflectRead, address, 2)
    };
    assert_eq!(bench.run(read, &[1, 2]), Some((4, 70)));
    let (command, words) = bench.pushed.pop().unwrap();
    assert_eq!(
        (command.transfer_me, command.transfer, command.push_signals),
        (5, 50, 8)
    );
    assert_eq!(words, [1, 2]);
    let write = BusCommand {
        pull_signals: 8,
        ..Bench::command(CommandOp::CapReflectWrite, address, 2)
    };
    assert_eq!(bench.run(write, &[3, 4]), Some((5, 50)));
    let (command, words) = bench.pushed.pop().unwrap();
    assert_eq!(
        (command.transfer_me, command.transfer, command.push_signals),
        (4, 70, 0)
    );
    assert_eq!(words, [3, 4]);
    bench.run(
        Bench::command(CommandOp::CapReflectRead, 0x1f << 10, 1),
        &[],
    );
    assert!(
        bench.fault().contains("names no microengine"),
        "{}",
        bench.fault()
    );
}

#[test]
fn missing_registers_are_named_in_the_fault() {
    let mut bench = Bench::new();
    bench.run(Bench::command(CommandOp::CapRead, 0x5000, 1), &[]);
    assert!(bench.fault().contains("0x5000"), "{}", bench.fault());
    let mut bench = Bench::new();
    bench.run(Bench::command(CommandOp::CapRead, u32::MAX, 8), &[]);
    assert!(bench.fault().contains("0xfffffffc"), "{}", bench.fault());
    let mut bench = Bench::new();
    bench.fast_write(cap_csr::IXP_RESET_0, 1);
    assert!(bench.fault().contains("IXP_RESET_0"), "{}", bench.fault());
    let mut bench = Bench::new();
    bench.run(Bench::command(CommandOp::PciWrite, 8, 1), &[77]);
    assert_eq!((bench.cap.mailbox()[2], bench.fault()), (77, String::new()));
    bench.run(Bench::command(CommandOp::PciRead, 16, 1), &[]);
    assert!(
        bench.fault().contains("PCI is not modelled"),
        "{}",
        bench.fault()
    );
}

#[test]
fn idle_cap_read_takes_the_profile_latency() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.read(cap_csr::PRODUCT_ID),
        bench.fabric.profile.product_id()
    );
    let target = bench.fabric.profile.cap_read() - bench.fabric.profile.issue_to_inlet();
    assert_eq!(bench.fabric.now, target);
}
