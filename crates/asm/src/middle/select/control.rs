//! Selection of branches, context arbitration and local CSR accesses.

use npsim_isa::{CtxArb, InputState, Instruction as Template, OperandRole as Role, csr};

use super::Selector;
use super::builder::Builder;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::token::TokenKind;
use crate::middle::scope::NameSpace;
use crate::spelling::closest;

impl Builder<'_, '_> {
    /// Builds the template of a control instruction; the mnemonic is known to be one.
    pub fn control(&mut self, name: &str) -> Result<Template, Diagnostic> {
        match name {
            "br_signal" | "br_!signal" => {
                self.locate(Role::Signal, 0);
                let place = self.place(0);
                let used = self.selector.signal(self.operand(0), place)?;
                self.tested = Some(used);
                Ok(Template::BranchSignal {
                    set: name == "br_signal",
                    signal: Self::signal_number(used),
                    target: self.branch_target(1)?,
                    defer: self.defer()?,
                })
            }
            "br_inp_state" | "br_!inp_state" => Ok(Template::BranchInputState {
                set: name == "br_inp_state",
                state: self.input_state()?,
                target: self.branch_target(1)?,
                defer: self.defer()?,
            }),
            "halt" => {
                self.arity(0, 0)?;
                Ok(Template::CtxArb(CtxArb {
                    mask: 0,
                    any: false,
                    breakpoint: true,
                    keep_mask: false,
                    resume: None,
                    defer: 0,
                }))
            }
            "ctx_arb" => self.ctx_arb(),
            "local_csr_rd" => Ok(Template::LocalCsrRead {
                csr: self.local_csr()?,
            }),
            _ => Ok(Template::LocalCsrWrite {
                csr: self.local_csr()?,
                src: self.source(1, Role::Src)?,
            }),
        }
    }

    fn ctx_arb(&mut self) -> Result<Template, Diagnostic> {
        let mut arb = CtxArb {
            mask: 0,
            any: self.flag("any")?,
            breakpoint: false,
            keep_mask: false,
            resume: None,
            defer: self.defer()?,
        };
        let any_place = self
            .statement
            .options
            .iter()
            .find(|choice| choice.name == "any")
            .map(|choice| choice.place);
        if let (true, Some(place)) = (self.flag("all")? && arb.any, any_place) {
            return Err(place
                .error(codes::ANY_AND_ALL, "`any` and `all` contradict each other")
                .help("remove one of them; without both, all signals are waited for"));
        }
        if let Some(choice) = self.option("br") {
            let label = Selector::label(Self::argument(choice)?, choice.place)?;
            self.locate_at(Role::Target, choice.place);
            self.target = Some(label);
            arb.resume = Some(0);
        }
        self.arity(1, 16)?;
        let single = self.statement.operands.len() == 1;
        let word = self.word(0);
        let special = single
            && self.operand(0).first().is_some_and(|token| {
                token.is("--")
                    || token.kind == TokenKind::Ident
                        && !self.selector.symbols.declared(
                            self.selector.scope,
                            &token.text,
                            NameSpace::Signal,
                        )
            });
        match word.as_str() {
            "voluntary" if special => arb.mask = 1,
            "bpt" if special => arb.breakpoint = true,
            // The hardware encodes kill as an empty mask with "any".
            "kill" if special => arb.any = true,
            "--" if special => arb.keep_mask = true,
            _ => {
                self.locate(Role::Signal, 0);
                for i in 0..self.statement.operands.len() {
                    let place = self.place(i);
                    if !special && self.is_voluntary(i) {
                        arb.mask |= 1;
                        continue;
                    }
                    let used = self
                        .selector
                        .signal(self.operand(i), place)
                        .map_err(|wrong| self.suggest_keyword(i, wrong))?;
                    arb.mask |= match Self::signal_number(used) {
                        0 => 0,
                        number => 1 << number,
                    };
                    self.waits.push(used);
                }
            }
        }
        Ok(Template::CtxArb(arb))
    }

    /// Whether an operand is the word `voluntary` among signals, which stands for a mask bit
    /// without a signal.
    fn is_voluntary(&self, index: usize) -> bool {
        let selector = &self.selector;
        let declared = selector
            .symbols
            .declared(selector.scope, "voluntary", NameSpace::Signal);
        self.word(index) == "voluntary" && !declared
    }

    /// Suggests a word such as `kill` for a lone name that is not a signal.
    fn suggest_keyword(&self, index: usize, wrong: Diagnostic) -> Diagnostic {
        const WORDS: [&str; 3] = ["voluntary", "bpt", "kill"];
        let lone = self.statement.operands.len() == 1 && self.operand(index).len() == 1;
        let signal = wrong.code == codes::UNDEFINED_SIGNAL && wrong.patches.is_empty();
        let near = closest(&self.word(index), WORDS).filter(|_| lone && signal);
        let Some(near) = near else {
            return wrong;
        };
        let span = self.place(index).span;
        wrong
            .help(format!("did you mean `{near}`?"))
            .patch(span, near)
    }

    fn input_state(&mut self) -> Result<InputState, Diagnostic> {
        self.locate(Role::Value, 0);
        let place = self.place(0);
        let word = self.word(0);
        if let Some(state) = InputState::from_text(&word) {
            return Ok(state);
        }
        let is_name = matches!(self.operand(0), [token] if token.kind == TokenKind::Ident);
        if !is_name {
            let number = self.number(0, Role::Value, 0..=15, "an input state number")?;
            if let Some(state) = InputState::from_code(number as u8) {
                return Ok(state);
            }
        }
        let diagnostic = place.error(
            codes::UNKNOWN_STATE,
            format!(
                "there is no input state `{}`",
                crate::front::token::spell(self.operand(0))
            ),
        );
        let names = InputState::ALL.into_iter().map(InputState::text);
        Err(match closest(&word, names) {
            Some(near) => diagnostic
                .help(format!("did you mean `{near}`?"))
                .patch(place.span, near),
            None => diagnostic.help(
                "the states are nn_empty, nn_full, scr_ring0_status to scr_ring11_status, fci_not_empty and fci_full",
            ),
        })
    }

    fn local_csr(&mut self) -> Result<u16, Diagnostic> {
        self.locate(Role::Csr, 0);
        let place = self.place(0);
        if let [token] = self.operand(0)
            && token.kind == TokenKind::Ident
        {
            if let Some(address) = csr::by_name(&token.text) {
                return Ok(address);
            }
            let diagnostic = place.error(
                codes::UNKNOWN_CSR,
                format!("there is no local CSR `{}`", token.text),
            );
            return Err(
                match closest(&token.text, csr::all().iter().map(|info| info.name)) {
                    Some(near) => diagnostic
                        .help(format!("did you mean `{near}`?"))
                        .patch(place.span, near),
                    None => diagnostic.help(
                        "use a name that `npsim isa \"Local CSRs\"` lists, or a byte address",
                    ),
                },
            );
        }
        let address = self.number(0, Role::Csr, 0..=0x1ffc, "a CSR address")?;
        if address % 4 != 0 {
            return Err(place
                .error(
                    codes::CONSTANT_RANGE,
                    format!("the CSR address {address:#x} is not a multiple of 4"),
                )
                .help("CSRs are addressed by byte and are 4 bytes wide"));
        }
        Ok(address as u16)
    }
}
