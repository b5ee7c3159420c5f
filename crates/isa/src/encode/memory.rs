//! Memory and I/O command words.

use super::{absent, blank, error, number, present, ranged};
use crate::{
    CapAccess, CapCommand, CapCsr, Command, CommandNext, Completion, ContextMode, EncodeError,
    EncodeErrorKind, Format, IGNORE_ERROR_TOKEN, OperandRole, RESTRICTED, Role, SignalRule,
    TransferKind, TransferRegister, Unit, port, raw, unused,
};

/// Returns the position of the command field, which every unit's format has.
pub(crate) fn command_field(format: Format) -> crate::raw::Field {
    match format {
        Format::Sram => raw::sram::COMMAND,
        Format::Scratch => raw::scratch::COMMAND,
        Format::Dram => raw::dram::COMMAND,
        Format::Pci => raw::pci::COMMAND,
        Format::Hash => raw::hash::COMMAND,
        Format::Msf => raw::msf::COMMAND,
        Format::Cap => raw::cap::COMMAND,
        Format::CapCsr => raw::cap_csr::COMMAND,
        Format::AluShf
        | Format::Alu
        | Format::LdField
        | Format::BrByte
        | Format::BrBit
        | Format::Branch
        | Format::CtxArb
        | Format::Jump
        | Format::Immed
        | Format::MulStep
        | Format::LocalCsr => unreachable!("a format without a command"),
    }
}

pub(super) fn command(command: &Command, contexts: ContextMode) -> Result<u64, EncodeError> {
    use raw::{address, memory};
    let info = command.op.info();
    let unit = info.unit.info();
    let mut word = blank(unit.format)
        | command_field(unit.format).put(info.code.into())
        | memory::INDIRECT.put(command.indirect.into())
        | completion(command.completion, info.signals)?;

    let mut token = info.token;
    if command.ignore_data_error {
        if !info.ignore_error {
            return error(
                OperandRole::Whole,
                EncodeErrorKind::Unexpected {
                    reason: "the command does not take ignore_data_error",
                },
            );
        }
        token |= IGNORE_ERROR_TOKEN;
    }
    word |= address::TOKEN.put(token.into());

    if info.takes_count {
        let count = ranged(OperandRole::Count, command.count, 1, unit.max_count.into())?;
        word |= memory::COUNT.put(count - u64::from(unit.count_minus_one));
    } else {
        ranged(OperandRole::Count, command.count, 0, 0)?;
    }

    word |= match (info.takes_transfer, command.transfer) {
        (true, TransferRegister::None) if command.indirect => 0,
        (true, register) => transfer(register, info.default_transfer, contexts)?,
        (false, TransferRegister::None) => 0,
        (false, _) => {
            return error(
                OperandRole::Transfer,
                EncodeErrorKind::Unexpected {
                    reason: "the command moves no transfer register; write `--`",
                },
            );
        }
    };

    if info.takes_operands {
        let a = present((OperandRole::A, command.a))?;
        let b = present((OperandRole::B, command.b))?;
        let ports = port::assign(a, b)?;
        // The address is a sum, so the swap needs no bit in the word.
        word |= address::A.put(port::code(&RESTRICTED, ports.a, Role::Source)?);
        word |= address::B.put(port::code(&RESTRICTED, ports.b, Role::Source)?);
    } else {
        const REASON: &str = "the command takes no address";
        absent(OperandRole::A, command.a, REASON)?;
        absent(OperandRole::B, command.b, REASON)?;
        word |= address::A.put(unused::SHF_A.into()) | address::B.put(unused::SHF_B.into());
    }
    Ok(word)
}

fn completion(completion: Completion, rule: SignalRule) -> Result<u64, EncodeError> {
    use raw::memory;
    let (signal, next) = match completion {
        Completion::Silent => (0, CommandNext::Run),
        Completion::SigDone(signal) => {
            ranged(OperandRole::Signal, signal, 1, 15)?;
            (signal, CommandNext::Run)
        }
        Completion::CtxSwap { signal, defer } => {
            let next = match ranged(OperandRole::Defer, defer, 0, 2)? {
                0 => CommandNext::Swap,
                1 => CommandNext::SwapDefer1,
                _ => CommandNext::SwapDefer2,
            };
            (signal, next)
        }
    };
    if rule == SignalRule::None && completion != Completion::Silent {
        return error(OperandRole::Signal, EncodeErrorKind::NoSignal);
    }
    if rule.needs_even() && signal % 2 == 1 {
        return error(OperandRole::Signal, EncodeErrorKind::OddSignal { signal });
    }
    Ok(number(OperandRole::Signal, signal, memory::SIGNAL)? | memory::NEXT.put(next.code().into()))
}

/// Number of registers of one kind that the field distinguishes with eight
/// contexts; its top bit selects the other kind.
pub(crate) const TRANSFERS_PER_KIND: u8 = 1 << (raw::memory::TRANSFER.width - 1);

fn transfer(
    register: TransferRegister,
    default: TransferKind,
    contexts: ContextMode,
) -> Result<u64, EncodeError> {
    let role = OperandRole::Transfer;
    let (kind, register) = match register {
        TransferRegister::None => return error(role, EncodeErrorKind::Missing),
        TransferRegister::S(register) => (TransferKind::S, register),
        TransferRegister::D(register) => (TransferKind::D, register),
    };
    let field = raw::memory::TRANSFER;
    match contexts {
        ContextMode::Four if kind != default => error(role, EncodeErrorKind::WrongTransferKind),
        ContextMode::Four => number(role, register, field),
        ContextMode::Eight => {
            let register = ranged(role, register, 0, u32::from(TRANSFERS_PER_KIND) - 1)?;
            let other = if kind == default {
                0
            } else {
                TRANSFERS_PER_KIND
            };
            Ok(field.put(register | u64::from(other)))
        }
    }
}

pub(super) fn cap_fast_write(csr: u16, data: u16, indirect: bool) -> Result<u64, EncodeError> {
    use raw::cap_fast_write;
    let [high, low] = csr.to_be_bytes();
    Ok(blank(Format::CapCsr)
        | raw::cap_csr::INDIRECT.put(indirect.into())
        | raw::cap_csr::COMMAND.put(CapCommand::FastWrite.code().into())
        | number(OperandRole::Value, data, cap_fast_write::DATA)?
        | cap_fast_write::CSR_HIGH.put(high.into())
        | cap_fast_write::NEXT.put(CommandNext::Run.code().into())
        | cap_fast_write::CSR_LOW.put(low.into()))
}

pub(super) fn cap_csr(access: &CapCsr, contexts: ContextMode) -> Result<u64, EncodeError> {
    use raw::cap_csr;
    let unit = Unit::Cap.info();
    let [high, low] = access.csr.to_be_bytes();
    let word = blank(Format::CapCsr)
        | cap_csr::INDIRECT.put(access.indirect.into())
        | cap_csr::CSR_HIGH.put(high.into())
        | cap_csr::CSR_LOW.put(low.into());
    let command = match access.access {
        CapAccess::Read => CapCommand::Read,
        CapAccess::Write => CapCommand::Write,
        CapAccess::FastWriteAlu => {
            if access.transfer != TransferRegister::None {
                return error(
                    OperandRole::Transfer,
                    EncodeErrorKind::Unexpected {
                        reason: "a fast write takes its data from the previous ALU result",
                    },
                );
            }
            ranged(OperandRole::Count, access.count, 0, 0)?;
            return Ok(word
                | completion(access.completion, SignalRule::None)?
                | cap_csr::COMMAND.put(CapCommand::FastWriteAlu.code().into()));
        }
    };
    let count = ranged(OperandRole::Count, access.count, 1, unit.max_count.into())?;
    Ok(word
        | completion(access.completion, SignalRule::Single)?
        | cap_csr::COMMAND.put(command.code().into())
        | cap_csr::COUNT.put(count - u64::from(unit.count_minus_one))
        | transfer(access.transfer, unit.default_transfer, contexts)?)
}
