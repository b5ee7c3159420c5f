//! `.begin`/`.end` scopes and the registers and signals declared in them.

use std::collections::BTreeMap;

use npsim_isa::Bank;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::statement::SourcePlace;
use crate::front::token::Token;
use crate::middle::program::{SignalId, VariableId};
use crate::spelling::closest;
use npsim_image::TransferDirection;

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegisterFile {
    /// Context-relative general-purpose registers.
    Gpr,
    /// General-purpose registers that all contexts share.
    Absolute,
    /// `$`
    S,
    /// `$$`
    D,
    /// `n$`
    NextNeighbour,
}

impl RegisterFile {
    /// The file that a name's sigil names.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name.starts_with("n$") {
            Self::NextNeighbour
        } else if name.starts_with("$$") {
            Self::D
        } else if name.starts_with('$') {
            Self::S
        } else if name.starts_with('@') {
            Self::Absolute
        } else {
            Self::Gpr
        }
    }

    /// Whether registers of this file have an IN and an OUT side.
    #[must_use]
    pub const fn is_transfer(self) -> bool {
        matches!(self, Self::S | Self::D)
    }
}

/// A register that is to be allocated.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a declaration"
)]
pub struct Variable {
    /// The name; an array element has its number in brackets.
    pub name: String,
    /// The scope it was declared in.
    pub scope: usize,
    /// The file.
    pub space: RegisterFile,
    /// Which sides of a transfer register it stands for.
    pub direction: TransferDirection,
    /// The variable shares its register with no other, whatever the data flow says.
    pub private: bool,
    /// All contexts or all scopes share it, and nothing outside of the program sets it.
    pub shared: bool,
    /// The number, and for a GPR the bank, that the source asks for.
    pub fixed: Option<(Option<Bank>, u8)>,
    /// Where it was declared.
    pub place: SourcePlace,
    /// Whether an instruction or directive names it.
    pub used: bool,
    /// The loader gives it a value.
    pub initialised: bool,
}

/// A signal that is to be allocated.
#[derive(Clone, Debug)]
pub struct SignalVariable {
    /// The name; an array element has its number in brackets.
    pub name: String,
    /// The scope it was declared in.
    pub scope: usize,
    /// The signal shares its number with no other.
    pub private: bool,
    /// The number that the source asks for.
    pub fixed: Option<u8>,
    /// A DRAM command raises it: it owns an even number and the next.
    pub pair: bool,
    /// Where it was declared.
    pub place: SourcePlace,
    /// Whether an instruction or directive names it.
    pub used: bool,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A register. A transfer name may have been declared once for each side.
    Register {
        /// The variable that reads mean.
        read: Option<VariableId>,
        /// The variable that writes mean.
        write: Option<VariableId>,
    },
    /// A signal.
    Signal(SignalId),
}

/// A declared name.
#[derive(Clone, Debug)]
pub struct ScopeEntry {
    /// One element, or those of the array.
    pub elements: Vec<Element>,
    /// Declared with `[n]`.
    pub array: bool,
    /// Where.
    pub place: SourcePlace,
}

/// The names of one scope.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The enclosing scope.
    pub parent: Option<usize>,
    /// The directive that opens it; none for the file.
    pub begin: Option<SourcePlace>,
    /// The directive that closes it.
    pub end: Option<SourcePlace>,
    /// Registers declared in it.
    pub registers: BTreeMap<String, ScopeEntry>,
    /// Signals declared in it; one may have the name of a register.
    pub signals: BTreeMap<String, ScopeEntry>,
}

/// Registers and signals have names of their own. What is wanted is looked up
/// first; the other says what a name means instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A register.
    Register,
    /// A signal.
    Signal,
}

impl Wanted {
    const fn other(self) -> Self {
        match self {
            Self::Register => Self::Signal,
            Self::Signal => Self::Register,
        }
    }
}

impl Scope {
    /// The names of one kind.
    #[must_use]
    pub const fn names(&self, kind: Wanted) -> &BTreeMap<String, ScopeEntry> {
        match kind {
            Wanted::Register => &self.registers,
            Wanted::Signal => &self.signals,
        }
    }

    /// The names of one kind, to be changed.
    pub const fn names_mut(&mut self, kind: Wanted) -> &mut BTreeMap<String, ScopeEntry> {
        match kind {
            Wanted::Register => &mut self.registers,
            Wanted::Signal => &mut self.signals,
        }
    }
}

/// All scopes of a program; scope 0 is the file.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// The scopes in the order in which they were opened.
    pub scopes: Vec<Scope>,
    /// The registers in the order in which they were declared.
    pub variables: Vec<Variable>,
    /// The signals in the order in which they were declared.
    pub signals: Vec<SignalVariable>,
    /// Import variables and where they are declared.
    pub imports: BTreeMap<String, SourcePlace>,
    /// Every name of a declaration, in order, those too that are declared again.
    pub declarations: Vec<Declared>,
}

/// A name in a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Number of the statement.
    pub statement: usize,
    /// Which of the directive's arguments is the name.
    pub argument: usize,
    /// How many arguments before the first name are qualifiers.
    pub qualifiers: usize,
    /// The scope that has the name.
    pub scope: usize,
}

impl Default for Symbols {
    fn default() -> Self {
        Self {
            scopes: vec![Scope::default()],
            variables: Vec::new(),
            signals: Vec::new(),
            imports: BTreeMap::new(),
            declarations: Vec::new(),
        }
    }
}

impl Symbols {
    /// Looks a name up from a scope outwards: what is wanted, or else what the
    /// name stands for among the others.
    #[must_use]
    pub fn lookup(&self, scope: usize, name: &str, wanted: Wanted) -> Option<&ScopeEntry> {
        self.declared(scope, name, wanted)
            .or_else(|| self.declared(scope, name, wanted.other()))
    }

    /// A register, or a signal, of this name that the scope sees.
    #[must_use]
    pub fn declared(&self, scope: usize, name: &str, kind: Wanted) -> Option<&ScopeEntry> {
        self.found(scope, name, kind).map(|(_, entry)| entry)
    }

    /// The scope that has what [`lookup`](Self::lookup) finds, and which kind of name it is.
    #[must_use]
    pub fn scope_of(&self, scope: usize, name: &str, wanted: Wanted) -> Option<(usize, Wanted)> {
        [wanted, wanted.other()].into_iter().find_map(|kind| {
            let (scope, _) = self.found(scope, name, kind)?;
            Some((scope, kind))
        })
    }

    fn found(&self, scope: usize, name: &str, kind: Wanted) -> Option<(usize, &ScopeEntry)> {
        self.outwards(scope)
            .find_map(|scope| Some((scope, self.scopes[scope].names(kind).get(name)?)))
    }

    /// Whether the name stands for anything in the scope.
    #[must_use]
    pub fn is_declared(&self, scope: usize, name: &str) -> bool {
        self.lookup(scope, name, Wanted::Register).is_some()
    }

    /// Whether the scope sees a register of this name in either of its spellings.
    #[must_use]
    pub fn names_register(&self, scope: usize, name: &str) -> bool {
        self.declared(scope, name, Wanted::Register).is_some()
            || self.other_spelling(scope, name, None).is_some()
    }

    /// The scope and those around it.
    pub fn outwards(&self, scope: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(scope), |&scope| self.scopes[scope].parent)
    }

    /// The element that a name with an optional number means.
    ///
    /// # Errors
    /// `undefined-register` or `undefined-signal` style diagnostics are left to
    /// the caller (`Ok(None)`); an element outside its array is `array-bounds`.
    pub fn element(
        &self,
        scope: usize,
        token: &Token,
        index: Option<i64>,
        wanted: Wanted,
    ) -> Result<Option<Element>, Diagnostic> {
        let other_spelling = || self.other_spelling(scope, &token.text, index);
        let Some(entry) = self.lookup(scope, &token.text, wanted) else {
            return Ok(other_spelling());
        };
        if index.is_some()
            && !entry.array
            && let Some(element) = other_spelling()
        {
            return Ok(Some(element));
        }
        let number = index.unwrap_or(0);
        let found = usize::try_from(number)
            .ok()
            .and_then(|i| entry.elements.get(i));
        match found {
            Some(_) if index.is_some() && !entry.array => Err(SourcePlace::of(token)
                .error(
                    codes::ARRAY_BOUNDS,
                    format!("`{}` is not an array", token.text),
                )
                .also(entry.place.span, entry.place.expansion, "declared here")
                .help(format!("declare it as `{}[n]` with its size", token.text))),
            Some(element) => Ok(Some(*element)),
            None => Err(SourcePlace::of(token)
                .error(
                    codes::ARRAY_BOUNDS,
                    format!("element {number} of `{}` does not exist", token.text),
                )
                .also(
                    entry.place.span,
                    entry.place.expansion,
                    format!("declared here with {} elements", entry.elements.len()),
                )
                .help(format!(
                    "elements are numbered from 0 to {}",
                    entry.elements.len().saturating_sub(1)
                ))),
        }
    }

    /// The transfer register that `$x[1]` means where `$x1` is declared by itself, and that
    /// `$x1` means where `$x` is an array: sources of the vendor use both for one register.
    fn other_spelling(&self, scope: usize, name: &str, index: Option<i64>) -> Option<Element> {
        if !RegisterFile::of(name).is_transfer() {
            return None;
        }
        if let Some(number) = index {
            let entry = self.declared(scope, &format!("{name}{number}"), Wanted::Register)?;
            return entry.elements.first().filter(|_| !entry.array).copied();
        }
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &name[stem.len()..];
        if digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        let entry = self.declared(scope, stem, Wanted::Register)?;
        let number: usize = digits.parse().ok()?;
        entry.elements.get(number).filter(|_| entry.array).copied()
    }

    /// A declared name like `name`, for a suggestion.
    #[must_use]
    pub fn similar(&self, scope: usize, name: &str, kind: Wanted) -> Option<&str> {
        let visible = self
            .outwards(scope)
            .flat_map(|scope| self.scopes[scope].names(kind).keys().map(String::as_str));
        closest(name, visible)
    }

    /// Marks the variables and signals of an element as used.
    pub fn mark(&mut self, element: Element) {
        match element {
            Element::Register { read, write } => {
                for id in [read, write].into_iter().flatten() {
                    self.variables[id].used = true;
                }
            }
            Element::Signal(id) => self.signals[id].used = true,
        }
    }
}

/// The number of a physical signal name `s1` to `s15`.
#[must_use]
pub fn physical_signal(name: &str) -> Option<u8> {
    let digits = name.strip_prefix(['s', 'S'])?;
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    digits.parse().ok().filter(|n| *n < 16)
}

/// The address of a physical label name `L23` or `L23#`.
#[must_use]
pub fn physical_label(name: &str) -> Option<u16> {
    let digits = name.strip_prefix(['L', 'l'])?;
    let digits = digits.strip_suffix('#').unwrap_or(digits);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|n| *n < 8192)
}
