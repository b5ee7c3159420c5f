//! Custom cores, as layers around an existing core.
//!
//! A [`CoreLayer`] stands between the chip and a core and intercepts each of its turns; everything
//! else is passed through to the core below. [`layered`] makes a core kind of it, for
//! [`System::start_on`](crate::system::System::start_on), and [`layer_of`] reads the layer back from
//! a chip. A core that has nothing in common with an existing one implements [`Core`], as
//! `npsim-reference` does.

use std::fmt::Debug;

use npsim_chip::Cycle;
use npsim_chip::core::{ContextView, Core, CoreKind, CoreProbe, MeStats, Program};
use npsim_chip::kernel::fabric::{CommandId, Fabric, TransferKind};
use npsim_chip::kernel::fault_injection::Stall;
use npsim_chip::kernel::remote_access::RemoteAccess;
use npsim_chip::state::StateError;
use npsim_isa::{ContextSet, Operand};
use npsim_profile::Profile;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A layer around a core. Each microengine has its own, whose fields are part of the chip's state.
pub trait CoreLayer:
    Clone + Debug + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The name of the resulting core kind, unique among all kinds.
    const NAME: &'static str;
    /// The core below. The reference core executes one instruction per turn, the engine many.
    const BASE: CoreKind;

    /// Runs one turn of the core.
    fn run(&mut self, core: &mut dyn Core, fabric: &mut Fabric);
}

/// The core kind that a layer makes. It never skips time, so that the layer sees every turn.
#[must_use]
pub const fn layered<L: CoreLayer>() -> CoreKind {
    CoreKind {
        name: L::NAME,
        make: Layered::<L>::boxed,
    }
}

/// The layer around a microengine of a chip; `None` if its core is of another kind.
#[must_use]
pub fn layer_of<L: CoreLayer>(core: &dyn Core) -> Option<L> {
    let state = (core.kind().name == L::NAME).then(|| core.save().ok())??;
    postcard::take_from_bytes(&state)
        .ok()
        .map(|(layer, _)| layer)
}

#[derive(Clone, Debug)]
struct Layered<L> {
    layer: L,
    core: Box<dyn Core>,
}

impl<L: CoreLayer> Layered<L> {
    fn boxed(index: u8, profile: &Profile) -> Box<dyn Core> {
        Box::new(Self {
            layer: L::default(),
            core: (L::BASE.make)(index, profile),
        })
    }
}

/// Forwards methods to the core below.
macro_rules! of_the_core_below {
    (
        $(fn $reads:ident(&self $(, $in:ident: $a:ty)*) $(-> $gives:ty)?;)*
        $(mut fn $changes:ident($($with:ident: $b:ty),*) $(-> $result:ty)?;)*
    ) => {
        $(fn $reads(&self $(, $in: $a)*) $(-> $gives)? {
            self.core.$reads($($in),*)
        })*
        $(fn $changes(&mut self $(, $with: $b)*) $(-> $result)? {
            self.core.$changes($($with),*)
        })*
    };
}

impl<L: CoreLayer> Core for Layered<L> {
    fn kind(&self) -> CoreKind {
        layered::<L>()
    }

    fn boxed_clone(&self) -> Box<dyn Core> {
        Box::new(self.clone())
    }

    fn run(&mut self, fabric: &mut Fabric) {
        self.layer.run(&mut *self.core, fabric);
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        let mut state = postcard::to_allocvec(&self.layer)?;
        state.extend(self.core.save()?);
        Ok(state)
    }

    fn restored(&self, state: &[u8]) -> Result<Box<dyn Core>, StateError> {
        let (layer, below) = postcard::take_from_bytes(state)?;
        let core = self.core.restored(below)?;
        Ok(Box::new(Self { layer, core }))
    }

    of_the_core_below! {
        fn index(&self) -> u8;
        fn program(&self) -> &Program;
        fn stalls(&self) -> &[Stall];
        fn local_time(&self) -> Cycle;
        fn stats_at(&self, now: Cycle) -> MeStats;
        fn context(&self, context: u8) -> ContextView;
        fn probe(&self) -> Option<&dyn CoreProbe>;
        fn halted(&self) -> Option<u8>;
        fn read_register(&self, register: Operand, context: u8) -> u32;
        fn read_out_register(&self, kind: TransferKind, register: u8) -> u32;
        fn local_memory(&self) -> &[u32];
        fn condition_codes(&self) -> [bool; 4];
        fn cam_entry(&self, entry: u8) -> (u32, u8);
        fn cam_order(&self) -> [u8; 16];
        fn crc_remainder(&self) -> u32;
        fn state_report(&self) -> Vec<String>;
        mut fn load(program: Program);
        mut fn start(contexts: ContextSet, fabric: &mut Fabric);
        mut fn seed_random(value: u32);
        mut fn signal(context: u8, mask: u16, fabric: &mut Fabric);
        mut fn timer(context: u8, fabric: &mut Fabric);
        mut fn nn_put(index: u8, value: u32, ring: bool, fabric: &mut Fabric);
        mut fn push(kind: TransferKind, register: u8, words: &[u32]);
        mut fn pull(kind: TransferKind, register: u8, out: &mut [u32]);
        mut fn pushed(slot: CommandId, fabric: &mut Fabric);
        mut fn pulled(slot: CommandId, fabric: &mut Fabric);
        mut fn claim_in_registers(kind: TransferKind, register: u8, words: u8);
        mut fn expose(exposed: RemoteAccess);
        mut fn stall(stall: Stall) -> bool;
        mut fn stall_over(fabric: &mut Fabric);
        mut fn forget_before(now: Cycle);
        mut fn write_register(register: Operand, context: u8, value: u32);
        mut fn local_memory_mut() -> &mut [u32];
    }
}
