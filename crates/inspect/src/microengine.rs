//! One microengine: contexts, registers and their owners, local memory, CAM, CSRs.

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

/// A register as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterView {
    /// What it holds. While a command that fills it is in flight this is what it held
    /// before.
    pub value: u32,
    /// Whether anything has ever been written to it; none where the core does not say.
    pub initialised: Option<bool>,
    /// The command that has it, of a transfer register.
    pub owner: Option<TransferOwner>,
}

/// A local CSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedCsr {
    /// The name.
    pub name: &'static str,
    /// The address, as instructions give it.
    pub address: u16,
    /// What an instruction of the context would read, but for what reading changes:
    /// `PSEUDO_RANDOM_NUMBER` is the one that was read last.
    pub value: u32,
}

/// A microengine as it stands.
#[derive(Clone, Copy, Debug)]
pub struct MicroengineView<'a> {
    inspect: &'a Inspect<'a>,
    core: &'a dyn Core,
}

impl Inspect<'_> {
    /// A microengine by its index; `None` where there is none.
    #[must_use]
    pub fn microengine(&self, me: u8) -> Option<MicroengineView<'_>> {
        let core = self.chip().microengines().get(usize::from(me))?;
        Some(MicroengineView {
            inspect: self,
            core: core.as_ref(),
        })
    }

    /// The microengines that have a program, by their index.
    pub fn microengines(&self) -> impl Iterator<Item = MicroengineView<'_>> {
        let all = 0..self.chip().microengines().len() as u8;
        let views = all.filter_map(|me| self.microengine(me));
        views.filter(|view| !view.image().words.is_empty())
    }

    /// The command that has transfer registers of a microengine, or that puts their thread on a
    /// receive freelist; `None` where the data is still to come, as that of a frame.
    #[must_use]
    pub fn flight_of(&self, me: u8, owner: &TransferOwner) -> Option<&Flight> {
        self.flights().iter().find(|it| {
            let command = &it.command;
            let registers = (command.transfer_me, command.transfer_kind, command.transfer);
            let issuer = (command.me, command.context, command.pc, it.issued);
            let owner_issued = (me, owner.context, owner.pc, owner.issued);
            let asked = owner.op == Some(command.op) && issuer == owner_issued;
            let comes_unasked = it.unasked && (owner.op.is_none() || owner.is_listed());
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

    /// What the chip knows it as.
    #[must_use]
    pub const fn core(&self) -> &'a dyn Core {
        self.core
    }

    /// The program.
    #[must_use]
    pub fn image(&self) -> &'a Image {
        self.core.program().image()
    }

    /// A context: what it does and since when, its address, its signals.
    #[must_use]
    pub fn context(&self, context: u8) -> ContextView {
        self.core.context(context)
    }

    /// The context that has the pipeline.
    #[must_use]
    pub fn executing(&self) -> Option<u8> {
        (0..CONTEXTS).find(|context| self.context(*context).phase == ContextPhase::Executing)
    }

    /// The cycle of its next instruction. It lies before [`Inspect::now`] where all
    /// contexts sleep.
    #[must_use]
    pub fn local_time(&self) -> Cycle {
        self.core.local_time()
    }

    /// Since when it waits for room in its command FIFO, and the unit that is to blame;
    /// no unit where the command bus is.
    #[must_use]
    pub fn held(&self) -> Option<(Cycle, Option<CommandTarget>)> {
        self.inspect.chip().fabric().buses.stalled(self.index())
    }

    /// The defer slots that are being executed.
    #[must_use]
    pub fn defer_slots(&self) -> Option<DeferSlots> {
        self.core.probe()?.defer_slots()
    }

    /// A register as an instruction of a context names it: general-purpose, transfer,
    /// next-neighbour; of a transfer register `TransferDirection::Write` is the OUT side.
    /// `None` for other operands.
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

    /// Registers that a context has of each file: 16, or 32 with four contexts.
    #[must_use]
    pub fn registers_each(&self) -> u8 {
        self.image().contexts.registers()
    }

    /// Local memory, by longwords.
    #[must_use]
    pub fn local_memory(&self) -> &'a [u32] {
        self.core.local_memory()
    }

    /// The local memory pointers of a context, in longwords.
    #[must_use]
    pub fn pointers(&self, context: u8) -> Option<[u32; 2]> {
        Some(self.core.probe()?.pointers(context))
    }

    /// `T_INDEX`, as a register's number.
    #[must_use]
    pub fn transfer_index(&self) -> Option<u8> {
        Some(self.core.probe()?.transfer_index())
    }

    /// `T_INDEX` as an instruction of a cycle finds it, from the state at the beginning of the
    /// cycle: with the writes that take effect by then.
    #[must_use]
    pub fn transfer_index_at(&self, cycle: Cycle) -> Option<u8> {
        let due = { self.index_writes().into_iter().rev() }
            .find(|it| it.index == IndexName::Transfer && it.effective <= cycle);
        due.map_or_else(|| self.transfer_index(), |it| Some(it.value as u8 & 127))
    }

    /// Writes of index registers on their way, of the context that executes.
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

    /// A local CSR by its address, as an instruction of the context would read it.
    #[must_use]
    pub fn csr(&self, address: u16, context: u8) -> Option<u32> {
        let (now, fabric) = (self.inspect.now(), &self.inspect.chip().fabric());
        self.core.probe()?.local_csr(address, context, now, fabric)
    }

    /// All local CSRs with a name.
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
