//! What stands where a chip lacks a core.

use npsim_isa::Operand;

use super::{ContextView, Core, CoreKind, MeStats};
use crate::Cycle;
use crate::kernel::disturb::Stall;
use crate::kernel::fabric::{Fabric, TransferKind};
use crate::kernel::saved_memory::StateError;
use crate::microengine::program::Program;

/// A core that the chip lacks. Nobody comes to it: nothing is posted for a core that is not
/// there, and a state in which something is, is refused.
#[derive(Debug)]
pub(super) struct Absent;

/// Nobody comes here.
#[cold]
fn nobody() -> ! {
    unreachable!("the chip lacks this microengine")
}

impl Core for Absent {
    fn kind(&self) -> CoreKind {
        nobody()
    }

    fn boxed_clone(&self) -> Box<dyn Core> {
        Box::new(Self)
    }

    fn index(&self) -> u8 {
        nobody()
    }

    fn load(&mut self, _: Program) {
        nobody()
    }

    fn program(&self) -> &Program {
        nobody()
    }

    fn start(&mut self, _: u8, _: &mut Fabric) {
        nobody()
    }

    fn seed_random(&mut self, _: u32) {
        nobody()
    }

    fn run(&mut self, _: &mut Fabric) {
        nobody()
    }

    fn signal(&mut self, _: u8, _: u16, _: &mut Fabric) {
        nobody()
    }

    fn timer(&mut self, _: u8, _: &mut Fabric) {
        nobody()
    }

    fn nn_put(&mut self, _: u8, _: u32, _: bool, _: &mut Fabric) {
        nobody()
    }

    fn push(&mut self, _: TransferKind, _: u8, _: &[u32]) {
        nobody()
    }

    fn pull(&mut self, _: TransferKind, _: u8, _: &mut [u32]) {
        nobody()
    }

    fn claim_in(&mut self, _: TransferKind, _: u8, _: u8) {
        nobody()
    }

    fn stall(&mut self, _: Stall) -> bool {
        nobody()
    }

    fn stalls(&self) -> &[Stall] {
        nobody()
    }

    fn stall_over(&mut self, _: &mut Fabric) {
        nobody()
    }

    fn local_time(&self) -> Cycle {
        nobody()
    }

    fn stats_at(&self, _: Cycle) -> MeStats {
        nobody()
    }

    fn context(&self, _: u8) -> ContextView {
        nobody()
    }

    fn write_register(&mut self, _: Operand, _: u8, _: u32) {
        nobody()
    }

    fn read_register(&self, _: Operand, _: u8) -> u32 {
        nobody()
    }

    fn read_out_register(&self, _: TransferKind, _: u8) -> u32 {
        nobody()
    }

    fn local_memory(&self) -> &[u32] {
        nobody()
    }

    fn local_memory_mut(&mut self) -> &mut [u32] {
        nobody()
    }

    fn condition_codes(&self) -> [bool; 4] {
        nobody()
    }

    fn cam_entry(&self, _: u8) -> (u32, u8) {
        nobody()
    }

    fn cam_order(&self) -> [u8; 16] {
        nobody()
    }

    fn crc_remainder(&self) -> u32 {
        nobody()
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        nobody()
    }

    fn restored(&self, _: &[u8]) -> Result<Box<dyn Core>, StateError> {
        nobody()
    }
}
