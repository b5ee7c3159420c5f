//! Faults of a microengine, described with the names that its program uses.

use npsim_image::{RegisterSymbol, TransferDirection};
use npsim_isa::{Bank, Context, Operand};

use crate::microengine::{LoopExit, Microengine, slow};
use crate::registers::{B, D_IN, D_OUT, NN, S_IN, S_OUT};
use crate::watchdog;
use npsim_chip::Cycle;
use npsim_chip::core::{ContextPhase, Core, signal_name_at};
use npsim_chip::kernel::check::{Check, Fault, WATCHDOG_CYCLES};
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::fault_injection::list_contexts;

/// Most names that a message gives for a register.
const MAX_NAMES: usize = 3;

/// The text of a fault.
struct FaultReport {
    message: String,
    notes: Vec<String>,
    help: &'static str,
}

impl Microengine {
    /// Raises a fault at the present instruction, in global order: a microengine runs ahead of the
    /// chip, and a fault elsewhere at an earlier cycle has to stop the run first.
    ///
    /// `Err(Post)`: something is pending before this cycle; the instruction is retried when the
    /// chip has reached it, so no part of it may have taken effect yet. `Err(Stop)`: the fault was
    /// raised. `Ok`: the user allows the check (`--allow`), it is counted, and the instruction
    /// continues; `report` is not called then, since building the text costs more than the run.
    fn raise_fault(
        &mut self,
        check: Option<Check>,
        fabric: &mut Fabric,
        report: impl FnOnce(&Self) -> FaultReport,
    ) -> Result<(), LoopExit> {
        if !self.can_observe(fabric) {
            return Err(LoopExit::Post);
        }
        let allowed = check.is_some_and(|check| fabric.checks.is_allowed(check));
        let FaultReport {
            message,
            notes,
            help,
        } = if allowed {
            FaultReport {
                message: String::new(),
                notes: Vec::new(),
                help: "",
            }
        } else {
            report(self)
        };
        fabric.checks.raise(Fault {
            check,
            cycle: self.cycle,
            me: Some(self.index),
            context: Some(self.datapath.context.number()),
            pc: Some(self.pc),
            message,
            notes,
            help: Some(help.to_owned()),
            also: Vec::new(),
        });
        if allowed { Ok(()) } else { Err(LoopExit::Stop) }
    }

    fn stop(&mut self, fabric: &mut Fabric, report: impl FnOnce(&Self) -> FaultReport) -> LoopExit {
        self.raise_fault(None, fabric, report)
            .err()
            .unwrap_or(LoopExit::Stop)
    }

    /// Raises the fault of a word that is not a valid instruction.
    #[cold]
    #[inline(never)]
    pub(crate) fn no_instruction(&mut self, fabric: &mut Fabric) -> LoopExit {
        self.stop(fabric, |me| match me.program.loaded().words().get(usize::from(me.pc)) {
            Some(Err(reason)) => FaultReport {
                message: format!("the word at address {} is not a valid instruction: {reason}", me.pc),
                notes: Vec::new(),
                help: "look for a jump to a wrong address, or data among the instructions",
            },
            _ => FaultReport {
                message: format!(
                    "execution left the program, which has the addresses 0 to {}",
                    me.program.end().saturating_sub(1)
                ),
                notes: Vec::new(),
                help: "end the program with a branch or ctx_arb[kill], or look for a jump or rtn to a wrong address",
            },
        })
    }

    /// Raises a fault if a unit owns the register.
    pub(crate) fn check_owner(&mut self, slot: usize, fabric: &mut Fabric) -> Result<(), LoopExit> {
        let touch = if slot >= S_OUT as usize {
            "written"
        } else {
            "read"
        };
        self.check_claim(slot, touch, fabric)
    }

    /// Raises a fault if a command would fill a register that another command will fill.
    pub(crate) fn check_free(&mut self, slot: usize, fabric: &mut Fabric) -> Result<(), LoopExit> {
        self.check_claim(slot, "given to a second command", fabric)
    }

    fn check_claim(
        &mut self,
        slot: usize,
        touch: &'static str,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        if !self.scoreboard.is_reserved(slot as u16) {
            return Ok(());
        }
        if !self.can_observe(fabric) {
            return Err(LoopExit::Post);
        }
        if self.scoreboard.exposes(slot as u16) {
            self.watchdog_at = self.cycle + WATCHDOG_CYCLES;
        }
        let Some(&reservation) = self.scoreboard.of(slot) else {
            return Ok(());
        };
        self.raise_fault(Some(Check::TransferInFlight), fabric, |me| {
            let name = me.register_name(slot);
            let owner = reservation.op.map_or_else(
                || "the media interface, which will push a receive status word".to_owned(),
                |op| {
                    let info = op.info();
                    let listed = if reservation.owner().is_on_freelist() {
                        "the media interface, which will push a receive status word: "
                    } else {
                        ""
                    };
                    format!(
                        "{listed}{}[{}] at {}, issued by context {} at cycle {}",
                        info.unit.info().name,
                        info.name,
                        me.program.image().place(reservation.pc),
                        reservation.context,
                        reservation.issued
                    )
                },
            );
            FaultReport {
                message: format!("{name} is {touch} while a unit owns it"),
                notes: vec![format!("the owner is {owner}")],
                help: if slot >= S_OUT as usize {
                    "wait for the command's signal before the register is written again"
                } else {
                    "wait for the command's signal before the register is used"
                },
            }
        })
    }

    /// Raises the fault of a register that was never written.
    #[cold]
    #[inline(never)]
    pub(crate) fn uninitialised(
        &mut self,
        slot: usize,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        self.raise_fault(Some(Check::UninitialisedRead), fabric, |me| FaultReport {
            message: format!(
                "{} is read, but nothing was ever written to it",
                me.register_name(slot)
            ),
            notes: Vec::new(),
            help: if slot >= S_OUT as usize {
                "write all registers that the command takes first"
            } else if slot >= S_IN as usize {
                "read data into it first, and wait for the signal"
            } else {
                "write it first; every context has registers of its own"
            },
        })
    }

    /// Raises the fault of a local memory access before a write of its address took effect.
    #[cold]
    #[inline(never)]
    pub(crate) fn local_memory_early(
        &mut self,
        pointer: u8,
        written: Cycle,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        self.raise_fault(Some(Check::LocalMemoryEarly), fabric, |me| FaultReport {
            message: format!(
                "*l$index{pointer} is used before the write of LM_ADDR_{pointer} took effect"
            ),
            notes: vec![
                format!("it was written at cycle {written}; the old address is still in use"),
                format!("{} instructions must lie between", me.timing.lm_addr_gap),
            ],
            help: "put other instructions or nops between the write and the use",
        })
    }

    /// Raises the fault of a local memory address without a word.
    #[cold]
    #[inline(never)]
    pub(crate) fn local_memory_missing(
        &mut self,
        pointer: u8,
        address: usize,
        fabric: &mut Fabric,
    ) -> LoopExit {
        self.stop(fabric, |me| FaultReport {
            message: format!(
                "*l$index{pointer} points to local memory word {address}, but there are {}",
                me.memory.words.len()
            ),
            notes: Vec::new(),
            help: "LM_ADDR is a byte address: a word's number times 4",
        })
    }

    /// Raises a fault if a control instruction takes effect in a defer slot of another one.
    #[inline]
    pub(crate) fn refuse_in_slot(&mut self, fabric: &mut Fabric) -> Result<(), LoopExit> {
        if self.slow & slow::DEFER == 0 {
            return Ok(());
        }
        self.refused_in_slot(fabric)
    }

    #[cold]
    #[inline(never)]
    fn refused_in_slot(&mut self, fabric: &mut Fabric) -> Result<(), LoopExit> {
        Err(self.stop(fabric, |_| FaultReport {
            message: "a control instruction takes effect in a defer slot of another".to_owned(),
            notes: Vec::new(),
            help: "defer slots may hold only instructions that go on to the next",
        }))
    }

    /// Checks a transfer of control to an address that may be a defer slot.
    #[inline]
    pub(crate) fn enter_checked(
        &mut self,
        target: u16,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        let info = self.program.infos.get(target as usize);
        match info.and_then(|info| info.slot_of) {
            None => Ok(()),
            Some(owner) => self.enters_slot(target, owner, fabric),
        }
    }

    #[cold]
    #[inline(never)]
    fn enters_slot(
        &mut self,
        target: u16,
        owner: u16,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        self.raise_fault(Some(Check::DeferSlotEntry), fabric, |me| FaultReport {
            message: format!(
                "control goes to address {target}, a defer slot of the instruction at {owner}"
            ),
            notes: vec![format!(
                "the slot is at {}",
                me.program.image().place(target)
            )],
            help: "without its control instruction the slot falls through; move the label",
        })
    }

    /// Raises the fault of a local CSR that does not exist.
    #[cold]
    #[inline(never)]
    pub(crate) fn no_csr(&mut self, csr: u16, fabric: &mut Fabric) -> LoopExit {
        self.stop(fabric, |_| FaultReport {
            message: format!("there is no local CSR at 0x{csr:03x}"),
            notes: Vec::new(),
            help: "local CSRs are named; see `local_csr_rd` in the reference",
        })
    }

    /// Raises the fault of an override that names a microengine that the chip does not have.
    #[cold]
    #[inline(never)]
    pub(crate) fn no_microengine(&mut self, number: u8, fabric: &mut Fabric) -> LoopExit {
        self.stop(fabric, |me| FaultReport {
            message: format!("the indirect_ref override names microengine 0x{number:02x}, which is not there"),
            notes: vec![format!("the override word is 0x{:08x}", me.datapath.previous_result)],
            help: "bits 30..26 hold the number when bit 31 is set; the override is the result of the instruction before",
        })
    }

    /// Raises the fault of a running context that has had the pipeline for too long.
    pub(crate) fn never_yields(&mut self, fabric: &mut Fabric) -> Result<(), LoopExit> {
        self.raise_fault(Some(Check::NeverYields), fabric, |me| {
            let context = me.datapath.context;
            let since = me.contexts[context].since();
            let mut notes = vec![format!("it has had the pipeline since cycle {since}")];
            notes.push(watchdog::loop_note(me.program.image(), context, me.pc));
            let ready: Vec<_> = me.contexts.ready().iter().map(Context::number).collect();
            if !ready.is_empty() {
                notes.push(format!("meanwhile {} could have run", list_contexts(&ready)));
            }
            FaultReport {
                message: format!(
                    "context {context} has run for {WATCHDOG_CYCLES} cycles without yielding, issuing a command or polling shared state"
                ),
                notes,
                help: "let the loop come to an end; if it waits for something, let it wait for the signal with ctx_arb, or read it anew in each round and give others a turn with ctx_arb[voluntary]; a delay that is meant so long can read the clock",
            }
        })
    }

    /// Raises the fault of signals that are raised again before they were consumed.
    #[cold]
    #[inline(never)]
    pub(crate) fn raised_twice(&mut self, context: Context, again: u16, fabric: &mut Fabric) {
        let pc = self.context(context.number()).place();
        let signal = again.trailing_zeros() as u8;
        let twice = fabric.raised_twice(
            (self.index, context.number(), pc),
            signal,
            self.program.image(),
        );
        let (me, by, at) = twice.second;
        // The instruction that raises the signal determines its meaning; another microengine uses
        // different names.
        let named_at = if me == self.index { at } else { pc };
        let names: Vec<_> = (1..16)
            .filter(|s| again & 1 << s != 0)
            .map(|s| signal_name_at(self.program.image(), s, named_at))
            .collect();
        fabric.checks.raise(Fault {
            check: Some(Check::SignalRaisedTwice),
            cycle: fabric.now,
            me: Some(me),
            context: Some(by),
            pc: Some(at),
            message: format!(
                "{} of microengine {} context {context} is raised again before it was consumed",
                names.join(" and "),
                self.index
            ),
            notes: twice.notes,
            help: Some(
                "wait for the signal, or test it with br_signal, before asking for it again; pass on a turn only after waiting for it"
                    .to_owned(),
            ),
            also: twice.also,
        });
    }

    /// The present address of a context.
    #[inline]
    pub(crate) fn context_pc(&self, context: Context) -> u16 {
        let it = &self.contexts[context];
        if it.state() == ContextPhase::Executing {
            self.pc
        } else {
            it.pc
        }
    }

    /// A register by the name that the program gives it, with its number.
    fn register_name(&self, slot: usize) -> String {
        let context = self.datapath.context;
        let file = (slot & !127) as u16;
        let base = self.datapath.base() as usize;
        let span = usize::from(self.mode.registers());
        let absolute = slot & 127;
        let relative = absolute
            .checked_sub(base)
            .filter(|&n| n < span)
            .map(|n| n as u8);
        let operand = |n| match file {
            S_IN | S_OUT => Operand::STransfer(n),
            D_IN | D_OUT => Operand::DTransfer(n),
            NN => Operand::Nn(n),
            B => Operand::Gpr(Bank::B, n),
            _ => Operand::Gpr(Bank::A, n),
        };
        let direction = match file {
            S_IN | D_IN => TransferDirection::Read,
            S_OUT | D_OUT => TransferDirection::Write,
            _ => TransferDirection::Both,
        };
        let mut found: Vec<&RegisterSymbol> = Vec::new();
        let absolute_operand = match file {
            B => Some(Operand::GprAbsolute(Bank::B, absolute as u8)),
            0 => Some(Operand::GprAbsolute(Bank::A, absolute as u8)),
            _ => None,
        };
        for symbol in &self.program.image().registers {
            let same = Some(symbol.operand) == relative.map(operand)
                || Some(symbol.operand) == absolute_operand;
            let way = symbol.direction == direction || symbol.direction == TransferDirection::Both;
            if same && way {
                found.push(symbol);
            }
        }
        // If several names share the register, the one that is live here.
        let alive = |symbol: &&RegisterSymbol| {
            let mut live = symbol.live_on(direction).iter();
            live.any(|range| range.touches(self.pc))
        };
        if found.iter().any(alive) {
            found.retain(alive);
        }
        let mut names: Vec<&str> = found.iter().map(|symbol| symbol.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let physical = match relative {
            Some(n) => format!("{} of context {context}", operand(n)),
            None => format!(
                "{}, absolute register {absolute},",
                operand(absolute as u8 % span as u8)
            ),
        };
        // Several names are given only if it cannot be known which of them is meant.
        if names.is_empty() || names.len() > MAX_NAMES {
            return physical;
        }
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        format!("{} ({physical})", names.join(" or "))
    }
}
