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
    /// The directive, such as `.xfer_order_rd`, that names it where none declares it.
    pub implied_by: Option<&'static str>,
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
    /// Where one signal of the pair is named, as `s[1]` is of `s`.
    pub half: Option<SourcePlace>,
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

impl ScopeEntry {
    /// Whether it is an array with this element.
    fn has(&self, number: i64) -> bool {
        let number = usize::try_from(number);
        self.array && number.is_ok_and(|number| number < self.elements.len())
    }
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
    /// What a name with an optional element number stands for in this scope: the name under
    /// which it is declared, its entry, and which element of it is meant; none for the whole.
    ///
    /// `$x[1]` and `$x1` are one transfer register, whichever of them is declared: sources of
    /// the vendor use both.
    #[must_use]
    pub fn entry(
        &self,
        name: &str,
        index: Option<i64>,
        kind: Wanted,
    ) -> Option<(&str, &ScopeEntry, Option<i64>)> {
        let declared = |name: &str| self.names(kind).get_key_value(name);
        let own = declared(name);
        if let Some((name, entry)) = own
            && (index.is_none() || entry.array)
        {
            return Some((name, entry, index));
        }
        let other = match index {
            Some(number) => single_name(name, number)
                .and_then(|name| declared(&name))
                .filter(|(_, entry)| !entry.array)
                .map(|(name, entry)| (&**name, entry, None)),
            None => element_in_name(name).and_then(|(stem, number)| {
                let (name, entry) = declared(stem).filter(|(_, entry)| entry.has(number))?;
                Some((&**name, entry, Some(number)))
            }),
        };
        // A name that is no array, with a number: the caller says what is wrong with it.
        other.or_else(|| own.map(|(name, entry)| (&**name, entry, index)))
    }

    /// What is declared here under the other spelling of a name that is declared with this
    /// size: elements of `$x[2]` are `$x0` and `$x1`.
    #[must_use]
    pub fn other_spelling(&self, name: &str, size: Option<usize>) -> Option<(String, &ScopeEntry)> {
        match size {
            None => {
                let (stem, number) = element_in_name(name)?;
                let entry = self.registers.get(stem).filter(|entry| entry.has(number))?;
                Some((format!("{stem}[{number}]"), entry))
            }
            Some(size) => { 0..size as i64 }.find_map(|number| {
                let single = single_name(name, number)?;
                let entry = self.registers.get(&single).filter(|entry| !entry.array)?;
                Some((single, entry))
            }),
        }
    }

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

/// What a name stands for, and where that is declared.
#[derive(Clone, Copy, Debug)]
pub struct FoundName<'a> {
    /// The scope that has it.
    pub scope: usize,
    /// What it is.
    pub kind: Wanted,
    /// The name under which it is declared: `$x` for `$x1` where `$x` is an array.
    pub name: &'a str,
    /// The declaration.
    pub entry: &'a ScopeEntry,
    /// Which element of it is meant; none for the whole.
    pub element: Option<i64>,
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
        let found = self.found(scope, name, None, wanted)?;
        found.element.is_none().then_some(found.entry)
    }

    /// A register, or a signal, of this name that the scope sees.
    #[must_use]
    pub fn declared(&self, scope: usize, name: &str, kind: Wanted) -> bool {
        self.found_as(scope, name, None, kind).is_some()
    }

    /// What a name with an optional element number stands for, from a scope outwards: what is
    /// wanted, or else what the name stands for among the others.
    #[must_use]
    pub fn found(
        &self,
        scope: usize,
        name: &str,
        index: Option<i64>,
        wanted: Wanted,
    ) -> Option<FoundName<'_>> {
        let kinds = [wanted, wanted.other()];
        { kinds.into_iter() }.find_map(|kind| self.found_as(scope, name, index, kind))
    }

    /// As [`found`](Self::found), of one kind alone.
    #[must_use]
    pub fn found_as(
        &self,
        scope: usize,
        name: &str,
        index: Option<i64>,
        kind: Wanted,
    ) -> Option<FoundName<'_>> {
        self.outwards(scope).find_map(|scope| {
            let (name, entry, element) = self.scopes[scope].entry(name, index, kind)?;
            Some(FoundName {
                scope,
                kind,
                name,
                entry,
                element,
            })
        })
    }

    /// Whether the name stands for anything in the scope.
    #[must_use]
    pub fn is_declared(&self, scope: usize, name: &str) -> bool {
        self.found(scope, name, None, Wanted::Register).is_some()
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
        let Some(found) = self.found(scope, &token.text, index, wanted) else {
            return Ok(None);
        };
        let (entry, index) = (found.entry, found.element);
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

/// The name of a transfer register that stands for element `number` of the array `name`.
#[must_use]
pub fn single_name(name: &str, number: i64) -> Option<String> {
    RegisterFile::of(name)
        .is_transfer()
        .then(|| format!("{name}{number}"))
}

/// The array and its element that the name of a transfer register stands for: `$x` and 1
/// for `$x1`.
#[must_use]
pub fn element_in_name(name: &str) -> Option<(&str, i64)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    let zeros = digits.len() > 1 && digits.starts_with('0');
    if !RegisterFile::of(name).is_transfer() || zeros {
        return None;
    }
    Some((stem, digits.parse().ok()?))
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
