//! A microengine: contexts, registers and their owners, local memory, CAM, CSRs.

use npsim_image::{Image, TransferDirection};
use npsim_isa::{CONTEXTS, Context, Operand, csr};

use crate::flights::Flight;
use crate::inspect::Inspect;
use npsim_chip::Cycle;
use npsim_chip::core::{
    ContextPhase, ContextView, Core, CoreProbe, DeferSlots, IndexName, IndexWrite, TransferOwner,
};
use npsim_chip::kernel::fabric::TransferKind;
use npsim_chip::kernel::target::CommandTarget;

/// A register in its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterView {
    /// Its value. While a command that fills it is in flight, this is the previous value.
    pub value: u32,
    /// Whether it has ever been written; `None` if the core does not track this.
    pub initialised: Option<bool>,
    /// The command that owns it, for a transfer register.
    pub owner: Option<TransferOwner>,
}

/// A local CSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedCsr {
    /// The name.
    pub name: &'static str,
    /// The address, as used in instructions.
    pub address: u16,
    /// The value that an instruction of the context would read, without the
    /// side effects of reading: for `PSEUDO_RANDOM_NUMBER`, the number last
    /// read.
    pub value: u32,
}

/// A microengine in its present state.
#[derive(Clone, Copy, Debug)]
pub struct MicroengineView<'a> {
    inspect: &'a Inspect<'a>,
    core: &'a dyn Core,
}

impl Inspect<'_> {
    /// A microengine by its index; `None` if there is none.
    #[must_use]
    pub fn microengine(&self, me: u8) -> Option<MicroengineView<'_>> {
        let core = self.chip().microengines().get(usize::from(me))?;
        Some(MicroengineView {
            inspect: self,
            core: core.as_ref(),
        })
    }

    /// The microengines that have a program, in order of their indices.
    pub fn microengines(&self) -> impl Iterator<Item = MicroengineView<'_>> {
        let all = 0..self.chip().microengines().len() as u8;
        let views = all.filter_map(|me| self.microengine(me));
        views.filter(|view| !view.image().words.is_empty())
    }

    /// The command that owns transfer registers of a microengine, or that puts their thread on a
    /// receive freelist; `None` if the data is still to come, such as that of a frame.
    #[must_use]
    pub fn flight_of(&self, me: u8, owner: &TransferOwner) -> Option<&Flight> {
        self.flights().iter().find(|it| {
            let command = &it.command;
            let registers = (command.transfer_me, command.transfer_kind, command.transfer);
            let issuer = (command.me, command.context, command.pc, it.issued);
            let owner_issued = (me, owner.context, owner.pc, owner.issued);
            let asked = owner.op == Some(command.op) && issuer == owner_issued;
            let comes_unasked = it.unsolicited && (owner.op.is_none() || owner.is_on_freelist());
            asked || comes_unasked && registers == (me, owner.kind, owner.first)
        })
    }
}

impl<'a> MicroengineView<'a> {
    /// The index.
    #[must_use]
    pub fn index(&self) -> u8 {
        self.core.index()
    }

    /// The chip's own view of it.
    #[must_use]
    pub const fn core(&self) -> &'a dyn Core {
        self.core
    }

    /// The program.
    #[must_use]
    pub fn image(&self) -> &'a Image {
        self.core.program().image()
    }

    /// A context: its state and since when, its address, its signals.
    #[must_use]
    pub fn context(&self, context: u8) -> ContextView {
        self.core.context(context)
    }

    /// The context that has the pipeline.
    #[must_use]
    pub fn executing(&self) -> Option<u8> {
        (0..CONTEXTS).find(|context| self.context(*context).phase == ContextPhase::Executing)
    }

    /// The cycle of its next instruction. It lies before [`Inspect::now`] if
    /// all contexts sleep.
    #[must_use]
    pub fn local_time(&self) -> Cycle {
        self.core.local_time()
    }

    /// The cycle since which it waits for room in its command FIFO, and the unit that causes the
    /// wait; no unit if the command bus does.
    #[must_use]
    pub fn held(&self) -> Option<(Cycle, Option<CommandTarget>)> {
        self.inspect.chip().fabric().buses.stalled(self.index())
    }

    /// The defer slots that are being executed.
    #[must_use]
    pub fn defer_slots(&self) -> Option<DeferSlots> {
        self.core.probe()?.defer_slots()
    }

    /// A register as named by an instruction of a context: general-purpose, transfer or
    /// next-neighbour; for a transfer register, `TransferDirection::Write` is the OUT side. `None`
    /// for other operands.
    #[must_use]
    pub fn register(
        &self,
        register: Operand,
        side: TransferDirection,
        context: u8,
    ) -> Option<RegisterView> {
        let value = match register {
            Operand::STransfer(number) if side == TransferDirection::Write => {
                let number = Context::wrapping(context).absolute_register(number);
                self.core.read_out_register(TransferKind::S, number)
            }
            Operand::DTransfer(number) if side == TransferDirection::Write => {
                let number = Context::wrapping(context).absolute_register(number);
                self.core.read_out_register(TransferKind::D, number)
            }
            Operand::Gpr(..)
            | Operand::GprAbsolute(..)
            | Operand::STransfer(_)
            | Operand::DTransfer(_)
            | Operand::Nn(_) => self.core.read_register(register, context),
            _ => return None,
        };
        let probe = self.core.probe();
        Some(RegisterView {
            value,
            initialised: probe.map(|it| it.initialised(register, side, context)),
            owner: probe.and_then(|it| it.owner(register, side, context)),
        })
    }

    /// Number of registers of each file that a context has: 16, or 32 with four contexts.
    #[must_use]
    pub fn registers_per_context(&self) -> u8 {
        self.image().contexts.registers()
    }

    /// Local memory, as longwords.
    #[must_use]
    pub fn local_memory(&self) -> &'a [u32] {
        self.core.local_memory()
    }

    /// The local memory pointers of a context, in longwords.
    #[must_use]
    pub fn pointers(&self, context: u8) -> Option<[u32; 2]> {
        Some(self.core.probe()?.pointers(context))
    }

    /// `T_INDEX`, as a register number.
    #[must_use]
    pub fn transfer_index(&self) -> Option<u8> {
        Some(self.core.probe()?.transfer_index())
    }

    /// `T_INDEX` as seen by an instruction in a cycle, computed from the state at the beginning of
    /// the cycle, including writes that take effect by then.
    #[must_use]
    pub fn transfer_index_at(&self, cycle: Cycle) -> Option<u8> {
        let due = { self.index_writes().into_iter().rev() }
            .find(|it| it.index == IndexName::Transfer && it.effective <= cycle);
        due.map_or_else(|| self.transfer_index(), |it| Some(it.value as u8 & 127))
    }

    /// Pending writes of index registers by the executing context.
    #[must_use]
    pub fn index_writes(&self) -> Vec<IndexWrite> {
        let probe = self.core.probe();
        probe.map(CoreProbe::index_writes).unwrap_or_default()
    }

    /// Tag and state of the CAM's entries, 0 to 15.
    #[must_use]
    pub fn cam(&self) -> [(u32, u8); 16] {
        std::array::from_fn(|entry| self.core.cam_entry(entry as u8))
    }

    /// The value of a local CSR, by its address, as an instruction of the context would read it.
    #[must_use]
    pub fn csr(&self, address: u16, context: u8) -> Option<u32> {
        let (now, fabric) = (self.inspect.now(), &self.inspect.chip().fabric());
        self.core.probe()?.local_csr(address, context, now, fabric)
    }

    /// All named local CSRs.
    pub fn csrs(&self, context: u8) -> impl Iterator<Item = NamedCsr> + '_ {
        csr::all().iter().filter_map(move |it| {
            Some(NamedCsr {
                name: it.name,
                address: it.address,
                value: self.csr(it.address, context)?,
            })
        })
    }
}
