//! Selection of memory and I/O commands.

use npsim_isa::{
    CapAccess, CapCsr, Command, CommandOp, Completion, Instruction as Template, Operand,
    OperandRole as Role, TransferRegister, cap_csr,
};

use super::Selector;
use super::builder::Builder;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::parse::operand::OperandForm;
use crate::front::statement::SourcePlace;
use crate::front::token::TokenKind;
use crate::middle::program::{LateKind, TransferOperand};
use crate::spelling::closest;
use npsim_isa::physical_register;

/// The optional tokens of a command.
struct CommandTokens {
    completion: Completion,
    indirect: bool,
    ignore_data_error: bool,
}

impl Builder<'_, '_> {
    /// Builds the template of a memory or I/O command.
    pub fn command(&mut self) -> Result<Template, Diagnostic> {
        let tokens = self.command_tokens()?;
        let mnemonic = self.statement.mnemonic.as_str();
        if let Some(width) = mnemonic.strip_prefix("hash_") {
            let op = match width {
                "48" => CommandOp::Hash48,
                "64" => CommandOp::Hash64,
                _ => CommandOp::Hash128,
            };
            return self.hash(op, &tokens);
        }
        if self.statement.operands.is_empty() {
            self.arity(1, 5)?;
        }
        let word = self.word(0);
        if mnemonic == "cap"
            && let Some(template) = self.cap_csr(&word, &tokens)?
        {
            return Ok(template);
        }
        let op = self.sub_command(mnemonic, &word)?;
        self.plain(op, &tokens)
    }

    fn sub_command(&self, mnemonic: &str, word: &str) -> Result<CommandOp, Diagnostic> {
        let of_unit = || {
            CommandOp::ALL
                .into_iter()
                .filter(|op| op.info().unit.info().name == mnemonic)
        };
        if let Some(op) = of_unit().find(|op| op.info().name == word) {
            return Ok(op);
        }
        let place = self.place(0);
        let diagnostic = place.error(
            codes::UNKNOWN_COMMAND,
            format!("`{mnemonic}` has no command `{word}`"),
        );
        let known: Vec<&str> = of_unit().map(|op| op.info().name).collect();
        Err(match closest(word, known.iter().copied()) {
            Some(near) => diagnostic
                .help(format!("did you mean `{near}`?"))
                .patch(place.span, near),
            None => diagnostic.help(format!("its commands are {}", known.join(", "))),
        })
    }

    fn plain(&mut self, op: CommandOp, tokens: &CommandTokens) -> Result<Template, Diagnostic> {
        let info = op.info();
        let operands = 4 + usize::from(info.takes_count);
        self.arity(operands, operands)?;
        let transfer = self.transfer_operand(1, info.pulls, info.pushes)?;
        let count = if info.takes_count {
            self.count(4, tokens.indirect, i64::from(info.max_count))?
        } else {
            0
        };
        Ok(Template::Command(Command {
            op,
            transfer,
            a: self.source(2, Role::A)?,
            b: self.source(3, Role::B)?,
            count,
            completion: tokens.completion,
            indirect: tokens.indirect,
            ignore_data_error: tokens.ignore_data_error,
        }))
    }

    fn hash(&mut self, op: CommandOp, tokens: &CommandTokens) -> Result<Template, Diagnostic> {
        self.arity(2, 2)?;
        let transfer = self.transfer_operand(0, true, true)?;
        Ok(Template::Command(Command {
            op,
            transfer,
            a: Operand::None,
            b: Operand::None,
            count: self.count(1, tokens.indirect, 3)?,
            completion: tokens.completion,
            indirect: tokens.indirect,
            ignore_data_error: tokens.ignore_data_error,
        }))
    }

    /// Builds a `cap` command with an enumerated CSR; `None` if the address is computed.
    fn cap_csr(
        &mut self,
        word: &str,
        tokens: &CommandTokens,
    ) -> Result<Option<Template>, Diagnostic> {
        match (word, self.statement.operands.len()) {
            ("fast_wr", _) => {
                self.arity(3, 3)?;
                let csr = self.cap_address(2)?;
                if self.word(1) == "alu" {
                    return Ok(Some(Template::CapCsr(CapCsr {
                        access: CapAccess::FastWriteAlu,
                        csr,
                        transfer: TransferRegister::None,
                        count: 0,
                        completion: tokens.completion,
                        indirect: tokens.indirect,
                    })));
                }
                let place = self.place(1);
                let data = match self.late_number(1, LateKind::CapData)? {
                    None => 0,
                    Some(data) => cap_data(data, place)?,
                };
                if tokens.completion != Completion::Silent {
                    return Err(self
                        .statement
                        .place
                        .error(
                            codes::COMMAND_WITHOUT_SIGNAL,
                            "`cap[fast_wr]` raises no signal",
                        )
                        .help("remove the signal; the write needs no transfer register"));
                }
                Ok(Some(Template::CapFastWrite {
                    csr,
                    data,
                    indirect: tokens.indirect,
                }))
            }
            ("read" | "write", 3 | 4) => {
                let access = if word == "read" {
                    CapAccess::Read
                } else {
                    CapAccess::Write
                };
                let read = access == CapAccess::Read;
                let transfer = self.transfer_operand(1, !read, read)?;
                let count = if self.operand(3).is_empty() {
                    1
                } else {
                    self.count(3, tokens.indirect, 8)?
                };
                Ok(Some(Template::CapCsr(CapCsr {
                    access,
                    csr: self.cap_address(2)?,
                    transfer,
                    count,
                    completion: tokens.completion,
                    indirect: tokens.indirect,
                })))
            }
            _ => Ok(None),
        }
    }

    fn cap_address(&mut self, index: usize) -> Result<u16, Diagnostic> {
        self.locate(Role::Csr, index);
        let place = self.place(index);
        if let [token] = self.operand(index)
            && token.kind == TokenKind::Ident
        {
            // The name is prefixed because a local CSR has the same one.
            let name = if token.text.eq_ignore_ascii_case("MISC_CONTROL") {
                "CAP_MISC_CONTROL"
            } else {
                &token.text
            };
            if let Some(address) = cap_csr::by_name(name) {
                return Ok(address);
            }
            let diagnostic = place.error(
                codes::UNKNOWN_CSR,
                format!("there is no CAP CSR `{}`", token.text),
            );
            return Err(
                match closest(&token.text, cap_csr::all().iter().map(|info| info.name)) {
                    Some(near) => diagnostic
                        .help(format!("did you mean `{near}`?"))
                        .patch(place.span, near),
                    None => diagnostic.help("use a name of the CSR reference or its address field"),
                },
            );
        }
        let address = self.number(index, Role::Csr, 0..=0xffff, "a CAP address")?;
        Ok(address as u16)
    }

    /// Reads the transfer operand; symbolic ones are recorded and returned as `None`.
    fn transfer_operand(
        &mut self,
        index: usize,
        pulls: bool,
        pushes: bool,
    ) -> Result<TransferRegister, Diagnostic> {
        self.locate(Role::Transfer, index);
        let place = self.place(index);
        let (name, element) = match Selector::form(self.operand(index), place)? {
            OperandForm::None => return Ok(TransferRegister::None),
            OperandForm::Name(name, element) => (name, element),
            _ => {
                return Err(place
                    .error(
                        codes::NOT_A_TRANSFER_REGISTER,
                        "this operand must be a transfer register or `--`",
                    )
                    .help("name a register declared with `.reg $name` or `.reg $$name`"));
            }
        };
        if let Some((read, write)) = self.selector.transfer_sides(name, element)? {
            if pulls && write.is_none() || pushes && read.is_none() {
                let (declared, done) = if pulls {
                    ("read", "sends its OUT register")
                } else {
                    ("write", "fills its IN register")
                };
                let (why, mended) = self.selector.one_sided(name, read.or(write), declared);
                let why = why.trim_end_matches(',');
                return Err(place
                    .error(
                        codes::TRANSFER_DIRECTION,
                        format!("`{}` {why}, but this command {done}", name.text),
                    )
                    .help(mended.unwrap_or_else(|| format!("declare it without `{declared}`"))));
            }
            if pulls && pushes && read != write {
                return Err(place
                    .error(
                        codes::TRANSFER_DIRECTION,
                        format!(
                            "`{}` stands for two numbers, but this command sends and fills one",
                            name.text
                        ),
                    )
                    .help("declare it once, without `read` or `write`"));
            }
            self.transfer = Some(TransferOperand { read, write, place });
            return Ok(TransferRegister::None);
        }
        match physical_register(&name.text) {
            Some(operand @ Operand::STransfer(n)) if element.is_none() => {
                self.selector.out.physical.push(operand);
                Ok(TransferRegister::S(n))
            }
            Some(operand @ Operand::DTransfer(n)) if element.is_none() => {
                self.selector.out.physical.push(operand);
                Ok(TransferRegister::D(n))
            }
            _ => Err(self.selector.undefined_register(name)),
        }
    }

    /// Reads a reference count from 1 to `most`: a constant, or `max_N` if an `indirect_ref`
    /// (`indirect`) supplies the count at run time.
    ///
    /// `open_count` then tells the later stages that the number of registers is unknown:
    /// `middle/groups.rs` and `back/allocate/transfers.rs` reserve all that the command may reach.
    fn count(&mut self, index: usize, indirect: bool, most: i64) -> Result<u8, Diagnostic> {
        self.locate(Role::Count, index);
        let place = self.place(index);
        self.open_count |= indirect;
        if let [token] = self.operand(index)
            && let Some(limit) = token.text.to_ascii_lowercase().strip_prefix("max_")
            && let Ok(limit) = limit.parse::<i64>()
        {
            if !indirect {
                return Err(place
                    .error(
                        codes::MAX_COUNT,
                        format!("`{}` needs `indirect_ref`", token.text),
                    )
                    .note("The count then comes from the result of the previous instruction.")
                    .help("write the count, or add `indirect_ref`"));
            }
            if !(1..=16).contains(&limit) {
                return Err(place
                    .error(
                        codes::CONSTANT_RANGE,
                        format!("a maximum count of {limit} is not possible"),
                    )
                    .help("use max_1 to max_16"));
            }
            self.open_count = true;
            return Ok(limit.min(most) as u8);
        }
        self.number(index, Role::Count, 1..=most, "a reference count")
            .map(|count| count as u8)
    }

    fn command_tokens(&mut self) -> Result<CommandTokens, Diagnostic> {
        let done = self.option("sig_done");
        let swap = self.option("ctx_swap");
        let defer = self.defer()?;
        let mut completion = Completion::Silent;
        if let (Some(done), Some(swap)) = (done, swap) {
            return Err(swap
                .place
                .error(
                    codes::TWO_COMPLETIONS,
                    "`sig_done` and `ctx_swap` in one command",
                )
                .also(done.place.span, done.place.expansion, "the other one")
                .help("keep `ctx_swap` to sleep until the signal, or `sig_done` to continue"));
        }
        if let Some(choice) = done.or(swap) {
            let tokens = Self::argument(choice)?;
            let place = SourcePlace::of_all(tokens).unwrap_or(choice.place);
            let used = self.selector.signal(tokens, place)?;
            if used.odd == Some(true) {
                return Err(place
                    .error(
                        codes::SIGNAL_ODD,
                        "a command that raises a pair of signals names the pair",
                    )
                    .help("leave the number out; a wait may name one of the two"));
            }
            self.locate_at(Role::Signal, place);
            self.completion = Some(used);
            let number = Self::signal_number(used);
            completion = if done.is_some() {
                Completion::SigDone(number)
            } else {
                Completion::CtxSwap {
                    signal: number,
                    defer,
                }
            };
        }
        if defer > 0 && swap.is_none() {
            let place = self
                .statement
                .options
                .iter()
                .find(|choice| choice.name == "defer")
                .map_or(self.statement.place, |choice| choice.place);
            return Err(place
                .error(
                    codes::DEFER_WITHOUT_SWAP,
                    "`defer` needs `ctx_swap` in a command",
                )
                .note("A command that does not swap the context out has no defer slots.")
                .help("remove `defer` or wait with `ctx_swap[signal]`"));
        }
        Ok(CommandTokens {
            completion,
            indirect: self.flag("indirect_ref")?,
            ignore_data_error: self.flag("ignore_data_error")?,
        })
    }
}

/// Checks the 14-bit immediate of `cap[fast_wr]`.
pub fn cap_data(value: i64, place: SourcePlace) -> Result<u16, Diagnostic> {
    u16::try_from(value)
        .ok()
        .filter(|data| *data < 1 << 14)
        .ok_or_else(|| {
            place
                .error(
                    codes::CONSTANT_RANGE,
                    format!("the data {value} does not fit the 14 bits of `cap[fast_wr]`"),
                )
                .help(
                    "use a value from 0 to 16383, or compute it and write `cap[fast_wr, ALU, csr]`",
                )
        })
}
