//! Commands as microengines issue them and buses carry them.

use npsim_isa::{CommandOp, Context};
use serde::{Deserialize, Serialize};

/// Index of a command in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CommandId(pub u32);

/// Which register file a command pushes to or pulls from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TransferKind {
    /// S transfer registers.
    S,
    /// D transfer registers.
    D,
}

impl BusCommand {
    /// The byte address at which a media interface command begins: without the bits below its
    /// access granularity, and without the data that a fast write carries above it.
    #[must_use]
    pub const fn media_address(&self) -> u32 {
        self.address
            & match self.op {
                CommandOp::MsfFastWr => 0xffff,
                CommandOp::MsfRead64 | CommandOp::MsfWrite64 => !7,
                _ => !3,
            }
    }

    /// The data that a fast write to the media interface carries above its address.
    #[must_use]
    pub fn fast_data(&self) -> u32 {
        self.immediate.unwrap_or(self.address >> 16) & 0xffff
    }

    /// A command of microengine 0, context 0 for one reference at address 0, without signals; a
    /// starting point for others.
    #[must_use]
    pub const fn blank(op: CommandOp, transfer_kind: TransferKind) -> Self {
        Self {
            op,
            me: 0,
            context: 0,
            pc: 0,
            address: 0,
            count: 1,
            transfer_me: 0,
            transfer: 0,
            transfer_kind,
            signal_context: 0,
            pull_signals: 0,
            push_signals: 0,
            byte_mask: 0xff,
            immediate: None,
            indirect: None,
        }
    }
}

/// A command as the bus carries it, built by the microengine at issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusCommand {
    /// Unit and sub-command.
    pub op: CommandOp,
    /// Microengine index of the issuer.
    pub me: u8,
    /// Context of the issuer, 0-7.
    pub context: u8,
    /// Word address of the instruction, for messages.
    pub pc: u16,
    /// Byte address (a + b).
    pub address: u32,
    /// Number of references, in the unit's own size: longwords, quadwords for DRAM, operands for
    /// the hash unit. 1 to 16.
    pub count: u8,
    /// Microengine whose registers are used; differs from `me` only under an indirect override.
    pub transfer_me: u8,
    /// First register, absolute, 0 to 127.
    pub transfer: u8,
    /// The kind of registers.
    pub transfer_kind: TransferKind,
    /// Context that receives the signals.
    pub signal_context: u8,
    /// Bit s: signal s is raised when data has been pulled.
    pub pull_signals: u16,
    /// Bit s: signal s is raised when data has been pushed, or at the end for commands that push
    /// nothing but signal then.
    pub push_signals: u16,
    /// Byte mask; 0xff if not overridden.
    pub byte_mask: u8,
    /// Data carried in the command: fast-write data, or an atomic's no-pull immediate.
    pub immediate: Option<u32>,
    /// The raw override word if `indirect_ref` was given (the DRAM controller reads RBUF and TBUF
    /// addresses from it).
    pub indirect: Option<u32>,
}

impl BusCommand {
    /// The context that receives the signals, from its packed number.
    #[must_use]
    #[inline]
    pub const fn signal_context(&self) -> Context {
        Context::wrapping(self.signal_context)
    }
}
