//! Instruction selection, from statements to instructions with symbolic operands.

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
use crate::middle::scope::{Element, NameSpace, Symbols};
use crate::source::SourceMap;
use crate::spelling::{MAX_SUGGESTIONS, closest};
use builder::Builder;
use npsim_image::{ContextMode, MemorySpace, MemorySymbol, NnMode};

/// Transfer registers that must have consecutive numbers.
#[derive(Clone, Debug)]
pub struct TransferOrder {
    /// The variables, from the lowest number upwards.
    pub variables: Vec<VariableId>,
    /// The directive.
    pub place: SourcePlace,
}

/// An initial value that the loader sets; its register and the names in its expression may still be
/// symbolic.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The register.
    pub register: InitialRegister,
    /// The context; `None` for all contexts.
    pub context: Option<u8>,
    /// The value.
    pub value: BoundExpression,
    /// The place of the value.
    pub place: SourcePlace,
    /// The scope of the directive.
    pub scope: usize,
}

/// An initial longword of memory that the loader sets.
#[derive(Clone, Debug)]
pub struct FirstLongword {
    /// The memory.
    pub space: MemorySpace,
    /// Byte address.
    pub address: u32,
    /// The value.
    pub value: BoundExpression,
    /// The place of the value.
    pub place: SourcePlace,
    /// The scope of the directive.
    pub scope: usize,
}

/// The environment that the program is assembled for.
#[derive(Clone, Copy, Debug)]
pub struct SelectionInputs<'a> {
    /// Determines the available instructions.
    pub generation: Generation,
    /// Named blocks of memory.
    pub memories: &'a [MemorySymbol],
    /// The source texts and the defines that their tokens came from.
    pub sources: &'a SourceMap,
}

impl<'a> SelectionInputs<'a> {
    /// Returns the memory whose address a token is, judging by the define that expanded to it.
    fn memory(&self, token: &Token) -> Option<&'a MemorySymbol> {
        let define = self.sources.expansion(token.expansion)?;
        let named = self.memories.iter().find(|it| it.name == define.name)?;
        matches!(token.kind, TokenKind::Number(_)).then_some(named)
    }
}

/// The register of an initial value.
#[derive(Clone, Copy, Debug)]
pub enum InitialRegister {
    /// A physical register.
    Physical(Operand),
    /// A variable to be allocated.
    Symbolic(VariableId),
}

/// The program after selection.
#[derive(Debug, Default)]
pub struct SelectedProgram {
    /// Instructions and hints, in order.
    pub items: Vec<Item>,
    /// Labels, in order.
    pub labels: Vec<LabelDefinition>,
    /// `.xfer_order` lists.
    pub orders: Vec<TransferOrder>,
    /// `.init` values.
    pub initial: Vec<Initial>,
    /// `.init` values for memory.
    pub initial_memory: Vec<FirstLongword>,
    /// Context mode.
    pub contexts: ContextMode,
    /// Next-neighbour mode.
    pub nn_mode: NnMode,
    /// Registers that the program names by number.
    pub physical: Vec<Operand>,
    /// Signals that the program names by number.
    pub physical_signals: Vec<u8>,
}

/// The state of the pass over the statements.
pub struct Selector<'a> {
    /// Declared names.
    pub symbols: &'a mut Symbols,
    /// Names of macros, for suggestions.
    pub macros: &'a [String],
    /// The environment that the program is assembled for.
    pub inputs: SelectionInputs<'a>,
    /// The scope of the current statement.
    pub scope: usize,
    /// The program selected so far.
    pub out: SelectedProgram,
    /// Names whose numbers directives require, with the places.
    pub numbered: Vec<(Element, SourcePlace)>,
    /// The diagnostics so far.
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

/// Selects instructions for all statements; `scopes` holds the scope of each, and `macros` the
/// names that a misspelt call may have meant.
pub fn select(
    statements: &[Statement],
    scopes: &[usize],
    symbols: &mut Symbols,
    macros: &[String],
    inputs: SelectionInputs<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> SelectedProgram {
    let mut selector = Selector {
        symbols,
        macros,
        inputs,
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
                // A placeholder word, so that defer slots are counted correctly.
                let stub = Builder::stub(instruction, scope);
                selector.out.items.push(Item::Micro(Box::new(stub)));
            }
        }
    }
    selector.out
}

impl Selector<'_> {
    /// Whether to search for similar names.
    fn may_suggest(&self) -> bool {
        self.diagnostics.len() < MAX_SUGGESTIONS
    }

    /// Returns a declared name similar to an undeclared one.
    fn similar(&self, name: &str, kind: NameSpace) -> Option<&str> {
        let guess = || self.symbols.similar(self.scope, name, kind);
        self.may_suggest().then(guess).flatten()
    }

    fn instruction(&mut self, statement: &Instruction) -> Result<(), Diagnostic> {
        let mut builder = Builder::new(self, statement);
        let name = statement.mnemonic.as_str();
        let Some(row) = mnemonic(name) else {
            let guess = builder.selector.may_suggest();
            let macros: &[String] = if guess { builder.selector.macros } else { &[] };
            return Err(unknown(statement, name, macros));
        };
        if let Err(newer) = builder.selector.inputs.generation.check(row) {
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
    // The name includes the arguments of a macro call.
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
        && let Some(meant) = foreign::missing_mark_error(name, place)
    {
        return meant;
    }
    if let Some(written) = foreign::equivalent_instruction(called)
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
