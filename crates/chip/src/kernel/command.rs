//! A command as microengines issue it and buses carry it.

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
    /// The byte address at which a command for the media interface begins: without the bits
    /// below what it moves at a time, and without the data above it of a fast write.
    #[must_use]
    pub const fn media_address(&self) -> u32 {
        self.address
            & match self.op {
                CommandOp::MsfFastWr => 0xffff,
                CommandOp::MsfRead64 | CommandOp::MsfWrite64 => !7,
                _ => !3,
            }
    }

    /// What a fast write to the media interface carries above its address.
    #[must_use]
    pub fn fast_data(&self) -> u32 {
        self.immediate.unwrap_or(self.address >> 16) & 0xffff
    }

    /// A command of microengine 0, context 0 for one reference at address 0, without
    /// signals: what others begin with.
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

/// A command as the bus carries it. Built by the microengine at issue.
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
    /// References in the unit's own units: longwords, quadwords for DRAM,
    /// operands for the hash unit. 1-16.
    pub count: u8,
    /// Microengine whose registers are used (differs from `me` only under an
    /// indirect override).
    pub transfer_me: u8,
    /// First register, absolute 0-127.
    pub transfer: u8,
    /// Which registers.
    pub transfer_kind: TransferKind,
    /// Context that gets the signals.
    pub signal_context: u8,
    /// Bit s: signal s is raised when data has been pulled.
    pub pull_signals: u16,
    /// Bit s: signal s is raised when data has been pushed, or, for commands
    /// that push nothing but signal at the end, at the end.
    pub push_signals: u16,
    /// Byte mask, 0xff when not overridden.
    pub byte_mask: u8,
    /// Data that rides in the command: fast-write data, an atomic's no-pull
    /// immediate.
    pub immediate: Option<u32>,
    /// The raw override word when `indirect_ref` was given (RBUF/TBUF
    /// addresses are read from it by the DRAM controller).
    pub indirect: Option<u32>,
}

impl BusCommand {
    /// The context that gets the signals, from its packed number.
    #[must_use]
    #[inline]
    pub const fn signal_context(&self) -> Context {
        Context::wrapping(self.signal_context)
    }
}
