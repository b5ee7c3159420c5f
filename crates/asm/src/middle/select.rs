//! Instruction selection: statements to instructions with symbolic operands.

mod builder;
mod command;
mod control;
mod datapath;
mod directives;
mod expressions;
pub mod forms;
mod initial_values;
mod values;

use npsim_isa::{Generation, MnemonicInfo, Operand, mnemonic, mnemonics};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::foreign;
use crate::front::statement::{Body, Instruction, SourcePlace, Statement};
use crate::front::token::{Token, TokenKind};
use crate::middle::program::{BoundExpression, Item, LabelDefinition, VariableId};
use crate::middle::scope::{Element, Symbols, Wanted};
use crate::source::SourceMap;
use crate::spelling::closest;
use builder::Builder;
use npsim_image::{ContextMode, MemorySpace, MemorySymbol, NnMode};

/// Transfer registers that must be neighbours, in order.
#[derive(Clone, Debug)]
pub struct TransferOrder {
    /// The variables from the lowest number upwards.
    pub variables: Vec<VariableId>,
    /// The directive.
    pub place: SourcePlace,
}

/// A value for the loader; its register and what its expression names may still be symbols.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The register.
    pub register: InitialRegister,
    /// The context, or all.
    pub context: Option<u8>,
    /// The value.
    pub value: BoundExpression,
    /// Where the value stands.
    pub place: SourcePlace,
    /// The scope of the directive.
    pub scope: usize,
}

/// A longword of memory for the loader.
#[derive(Clone, Debug)]
pub struct FirstLongword {
    /// Which memory.
    pub space: MemorySpace,
    /// Byte address.
    pub address: u32,
    /// The value.
    pub value: BoundExpression,
    /// Where the value stands.
    pub place: SourcePlace,
    /// The scope of the directive.
    pub scope: usize,
}

/// What the program is made for.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Which instructions there are.
    pub generation: Generation,
    /// Memory that has a name.
    pub memories: &'a [MemorySymbol],
    /// The texts, and which defines their tokens came through.
    pub sources: &'a SourceMap,
}

impl<'a> Surroundings<'a> {
    /// The memory whose address a token is, by the name that stood for the address.
    fn memory(&self, token: &Token) -> Option<&'a MemorySymbol> {
        let define = self.sources.expansion(token.expansion)?;
        let named = self.memories.iter().find(|it| it.name == define.name)?;
        matches!(token.kind, TokenKind::Number(_)).then_some(named)
    }
}

/// The register of an initial value.
#[derive(Clone, Copy, Debug)]
pub enum InitialRegister {
    /// It is known.
    Physical(Operand),
    /// It is to be allocated.
    Symbolic(VariableId),
}

/// The program after selection.
#[derive(Debug, Default)]
pub struct SelectedProgram {
    /// Instructions and hints in order.
    pub items: Vec<Item>,
    /// Labels in order.
    pub labels: Vec<LabelDefinition>,
    /// `.xfer_order` lists.
    pub orders: Vec<TransferOrder>,
    /// `.init` values.
    pub initial: Vec<Initial>,
    /// `.init` values of memory.
    pub initial_memory: Vec<FirstLongword>,
    /// Context mode.
    pub contexts: ContextMode,
    /// Next-neighbour mode.
    pub nn_mode: NnMode,
    /// Registers named by number.
    pub physical: Vec<Operand>,
    /// Signals named by number.
    pub physical_signals: Vec<u8>,
}

/// The walk over the statements.
pub struct Selector<'a> {
    /// Declared names.
    pub symbols: &'a mut Symbols,
    /// Names of macros, for suggestions.
    pub macros: &'a [String],
    /// What the program is made for.
    pub surroundings: Surroundings<'a>,
    /// The scope of the current statement.
    pub scope: usize,
    /// What is found.
    pub out: SelectedProgram,
    /// Names whose numbers directives ask for, and where.
    pub numbered: Vec<(Element, SourcePlace)>,
    /// What is wrong.
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

/// Selects instructions for all statements; `scopes` has the scope of each, and
/// `macros` the names that a misspelt call may have meant.
pub fn select(
    statements: &[Statement],
    scopes: &[usize],
    symbols: &mut Symbols,
    macros: &[String],
    surroundings: Surroundings<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> SelectedProgram {
    let mut selector = Selector {
        symbols,
        macros,
        surroundings,
        scope: 0,
        out: SelectedProgram::default(),
        numbered: Vec::new(),
        diagnostics,
    };
    for (statement, &scope) in statements.iter().zip(scopes) {
        selector.scope = scope;
        for label in &statement.labels {
            selector.out.labels.push(LabelDefinition {
                token: label.clone(),
                scope,
                item: selector.out.items.len(),
            });
        }
        let result = match &statement.body {
            Body::Empty => Ok(()),
            Body::Directive(directive) => selector.directive(directive),
            Body::Instruction(instruction) => selector.instruction(instruction),
        };
        if let Err(diagnostic) = result {
            selector.diagnostics.push(diagnostic);
            if let Body::Instruction(instruction) = &statement.body {
                // A word in its place, so that defer slots are counted right.
                let stand_in = Builder::stand_in(instruction, scope);
                selector.out.items.push(Item::Micro(Box::new(stand_in)));
            }
        }
    }
    selector.out
}

/// Messages up to which each says what may have been meant: looking through all names for each of
/// thousands takes minutes, and no more than the first hundred are shown.
const GUESSED_FOR: usize = 100;

impl Selector<'_> {
    /// Whether it is worth looking for the name that was meant.
    fn may_guess(&self) -> bool {
        self.diagnostics.len() < GUESSED_FOR
    }

    /// A declared name like one that is not declared.
    fn similar(&self, name: &str, kind: Wanted) -> Option<&str> {
        let guess = || self.symbols.similar(self.scope, name, kind);
        self.may_guess().then(guess).flatten()
    }

    fn instruction(&mut self, statement: &Instruction) -> Result<(), Diagnostic> {
        let mut builder = Builder::new(self, statement);
        let name = statement.mnemonic.as_str();
        let Some(row) = mnemonic(name) else {
            let guess = builder.selector.may_guess();
            let macros: &[String] = if guess { builder.selector.macros } else { &[] };
            return Err(unknown(statement, name, macros));
        };
        if let Err(newer) = builder.selector.surroundings.generation.check(row) {
            return Err(statement.mnemonic_place.newer_instruction(newer));
        }
        let template = builder.template(row)?;
        let micro = builder.finish(template)?;
        self.out.items.push(Item::Micro(Box::new(micro)));
        Ok(())
    }
}

fn unknown(statement: &Instruction, name: &str, macros: &[String]) -> Diagnostic {
    let place = statement.mnemonic_place;
    // The operands of a macro's use are not told apart here.
    let called = name.split('(').next().unwrap_or(name);
    let (kind, label) = if called == name {
        ("instruction", "not an instruction")
    } else {
        ("macro", "not a macro")
    };
    let diagnostic = place
        .error(
            codes::UNKNOWN_INSTRUCTION,
            format!("there is no {kind} `{called}`"),
        )
        .label(label);
    if called == name
        && let Some(meant) = foreign::without_mark(name, place)
    {
        return meant;
    }
    if let Some(written) = foreign::written_here(called)
        && !macros.iter().any(|known| known.starts_with(called))
    {
        return diagnostic.help(format!("write `{written}`"));
    }
    let spellings = mnemonics().iter().flat_map(MnemonicInfo::spellings);
    let known = spellings
        .map(|name| -> &str { name })
        .chain(macros.iter().map(String::as_str));
    if let Some(near) = closest(called, known) {
        let diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        return if called == name {
            diagnostic.patch(place.span, near)
        } else {
            diagnostic
        };
    }
    if name.contains('(') {
        return diagnostic.help("define it above with `#macro`, or include the file that has it");
    }
    diagnostic.help("see the instruction reference for the mnemonics of this microengine")
}
