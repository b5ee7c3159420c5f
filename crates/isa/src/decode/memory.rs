//! Memory and I/O command words.

use super::RawWord;
use crate::{
    Bank, CapAccess, CapCommand, CapCsr, Command, CommandNext, CommandOp, Completion, ContextMode,
    DecodeError, Format, Instruction, Operand, Role, TransferKind, TransferRegister, Unit,
    encode::{TRANSFERS_PER_KIND, command_field},
    raw,
};

pub(super) fn command(
    word: RawWord,
    format: Format,
    contexts: ContextMode,
) -> Result<Instruction, DecodeError> {
    use raw::{address, memory};
    let field = command_field(format);
    let unit = word.defined(field, Unit::of(format))?;
    let (code, token) = (word.byte(field), word.byte(address::TOKEN));
    // Blame the command field only if no token gives the command a meaning.
    let code_known = CommandOp::ALL
        .into_iter()
        .any(|op| op.info().unit == unit && op.info().code == code);
    let blamed = if code_known { address::TOKEN } else { field };
    let (op, ignore_data_error) = word.defined(blamed, CommandOp::from_codes(unit, code, token))?;
    let info = op.info();
    let (a, b) = if info.takes_operands {
        (
            word.narrow(address::A, Role::Source, Bank::A)?,
            word.narrow(address::B, Role::Source, Bank::B)?,
        )
    } else {
        (Operand::None, Operand::None)
    };
    let count = if info.takes_count {
        word.byte(memory::COUNT) + u8::from(unit.info().count_minus_one)
    } else {
        0
    };
    let transfer = if info.takes_transfer {
        transfer(word, info.default_transfer, contexts)
    } else {
        TransferRegister::None
    };
    Ok(Instruction::Command(Command {
        op,
        transfer,
        a,
        b,
        count,
        completion: completion(word)?,
        indirect: word.flag(memory::INDIRECT),
        ignore_data_error,
    }))
}

fn completion(word: RawWord) -> Result<Completion, DecodeError> {
    use raw::memory;
    let signal = word.byte(memory::SIGNAL);
    let swap = |defer| Completion::CtxSwap { signal, defer };
    let next = CommandNext::from_code(word.byte(memory::NEXT));
    Ok(match word.defined(memory::NEXT, next)? {
        CommandNext::Swap => swap(0),
        CommandNext::SwapDefer1 => swap(1),
        CommandNext::SwapDefer2 => swap(2),
        CommandNext::Run if signal == 0 => Completion::Silent,
        CommandNext::Run => Completion::SigDone(signal),
    })
}

fn transfer(word: RawWord, default: TransferKind, contexts: ContextMode) -> TransferRegister {
    let field = word.byte(raw::memory::TRANSFER);
    let other = contexts == ContextMode::Eight && field & TRANSFERS_PER_KIND != 0;
    let register = match contexts {
        ContextMode::Eight => field & !TRANSFERS_PER_KIND,
        ContextMode::Four => field,
    };
    match (default, other) {
        (TransferKind::S, false) | (TransferKind::D, true) => TransferRegister::S(register),
        (TransferKind::D, false) | (TransferKind::S, true) => TransferRegister::D(register),
    }
}

pub(super) fn cap_csr(word: RawWord, contexts: ContextMode) -> Result<Instruction, DecodeError> {
    use raw::cap_csr;
    let csr = u16::from_be_bytes([word.byte(cap_csr::CSR_HIGH), word.byte(cap_csr::CSR_LOW)]);
    let command = CapCommand::from_code(word.byte(cap_csr::COMMAND));
    let access = match word.defined(cap_csr::COMMAND, command)? {
        CapCommand::FastWrite => {
            return Ok(Instruction::CapFastWrite {
                csr,
                data: word.get(raw::cap_fast_write::DATA) as u16,
                indirect: word.flag(cap_csr::INDIRECT),
            });
        }
        CapCommand::Read => CapAccess::Read,
        CapCommand::Write => CapAccess::Write,
        CapCommand::FastWriteAlu => CapAccess::FastWriteAlu,
    };
    let unit = Unit::Cap.info();
    let alu = access == CapAccess::FastWriteAlu;
    Ok(Instruction::CapCsr(CapCsr {
        access,
        csr,
        transfer: if alu {
            TransferRegister::None
        } else {
            transfer(word, unit.default_transfer, contexts)
        },
        count: if alu {
            0
        } else {
            word.byte(cap_csr::COUNT) + u8::from(unit.count_minus_one)
        },
        completion: completion(word)?,
        indirect: word.flag(cap_csr::INDIRECT),
    }))
}
