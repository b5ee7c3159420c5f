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
    /// S transfer registers, `$`.
    S,
    /// D transfer registers, `$$`.
    D,
    /// Next-neighbour registers, `n$`.
    NextNeighbour,
}

impl RegisterFile {
    /// Returns the file selected by a name's sigil.
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

/// A register to be allocated.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a declaration"
)]
pub struct Variable {
    /// The name; for an array element, including its number in brackets.
    pub name: String,
    /// The scope that declares it.
    pub scope: usize,
    /// Its register file.
    pub space: RegisterFile,
    /// The sides of a transfer register that it stands for.
    pub direction: TransferDirection,
    /// Whether it shares its register with no other variable, regardless of data flow.
    pub private: bool,
    /// Whether all contexts or all scopes share it, and only this program sets it.
    pub shared: bool,
    /// The number, and for a GPR the bank, that the source requires.
    pub fixed: Option<(Option<Bank>, u8)>,
    /// The directive that implies it, such as `.xfer_order_rd`, if it is not declared.
    pub implied_by: Option<&'static str>,
    /// Where it was declared.
    pub place: SourcePlace,
    /// Whether an instruction or directive uses it.
    pub used: bool,
    /// Whether the loader sets its initial value.
    pub initialised: bool,
}

/// A signal to be allocated.
#[derive(Clone, Debug)]
pub struct SignalVariable {
    /// The name; for an array element, including its number in brackets.
    pub name: String,
    /// The scope that declares it.
    pub scope: usize,
    /// Whether the signal shares its number with no other.
    pub private: bool,
    /// The number that the source requires.
    pub fixed: Option<u8>,
    /// Whether a DRAM command raises it, so that it occupies an even number and the next.
    pub pair: bool,
    /// A place that names one signal of the pair, as `s[1]` does for `s`.
    pub half: Option<SourcePlace>,
    /// Where it was declared.
    pub place: SourcePlace,
    /// Whether an instruction or directive uses it.
    pub used: bool,
}

/// What a declared name, or an element of it, stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A register. A transfer name may be declared once for each side.
    Register {
        /// The variable accessed by reads.
        read: Option<VariableId>,
        /// The variable accessed by writes.
        write: Option<VariableId>,
    },
    /// A signal.
    Signal(SignalId),
}

/// A declared name.
#[derive(Clone, Debug)]
pub struct ScopeEntry {
    /// The single element, or the elements of the array.
    pub elements: Vec<Element>,
    /// Whether it was declared with `[n]`.
    pub array: bool,
    /// The place of the declaration.
    pub place: SourcePlace,
}

impl ScopeEntry {
    /// Whether it is an array with an element of this number.
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
    /// The directive that opens it; `None` for the file.
    pub begin: Option<SourcePlace>,
    /// The directive that closes it.
    pub end: Option<SourcePlace>,
    /// Registers that the scope declares.
    pub registers: BTreeMap<String, ScopeEntry>,
    /// Signals that the scope declares; a signal may have the same name as a register.
    pub signals: BTreeMap<String, ScopeEntry>,
}

/// Which of the separate name spaces of registers and signals to search first; a name found only in
/// the other is returned for a better message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSpace {
    /// A register.
    Register,
    /// A signal.
    Signal,
}

impl NameSpace {
    const fn other(self) -> Self {
        match self {
            Self::Register => Self::Signal,
            Self::Signal => Self::Register,
        }
    }
}

impl Scope {
    /// Looks up a name with an optional element number in this scope. Returns the name as declared,
    /// its entry, and the element; `None` stands for the whole.
    ///
    /// `$x[1]` and `$x1` are the same transfer register, whichever of them is declared: the
    /// vendor's sources use both.
    #[must_use]
    pub fn entry(
        &self,
        name: &str,
        index: Option<i64>,
        kind: NameSpace,
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
        // An indexed name that is not an array: the caller reports the error.
        other.or_else(|| own.map(|(name, entry)| (&**name, entry, index)))
    }

    /// Returns a conflicting declaration under the other spelling of a name declared with this
    /// size: the elements of `$x[2]` are `$x0` and `$x1`.
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

    /// Returns the names of one kind.
    #[must_use]
    pub const fn names(&self, kind: NameSpace) -> &BTreeMap<String, ScopeEntry> {
        match kind {
            NameSpace::Register => &self.registers,
            NameSpace::Signal => &self.signals,
        }
    }

    /// Returns the names of one kind, mutably.
    pub const fn names_mut(&mut self, kind: NameSpace) -> &mut BTreeMap<String, ScopeEntry> {
        match kind {
            NameSpace::Register => &mut self.registers,
            NameSpace::Signal => &mut self.signals,
        }
    }
}

/// The result of a name lookup.
#[derive(Clone, Copy, Debug)]
pub struct FoundName<'a> {
    /// The scope that declares it.
    pub scope: usize,
    /// Its kind.
    pub kind: NameSpace,
    /// The name as declared: `$x` for `$x1` if `$x` is an array.
    pub name: &'a str,
    /// The declaration.
    pub entry: &'a ScopeEntry,
    /// The element; `None` for the whole.
    pub element: Option<i64>,
}

/// All scopes of a program; scope 0 is the file.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// The scopes, in the order in which they were opened.
    pub scopes: Vec<Scope>,
    /// The registers, in order of declaration.
    pub variables: Vec<Variable>,
    /// The signals, in order of declaration.
    pub signals: Vec<SignalVariable>,
    /// Import variables and the places of their declarations.
    pub imports: BTreeMap<String, SourcePlace>,
    /// Every declared name, in order, including repeated declarations.
    pub declarations: Vec<Declared>,
}

/// A name in a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Index of the statement.
    pub statement: usize,
    /// Index of the name among the directive's arguments.
    pub argument: usize,
    /// Number of arguments before the first name that are qualifiers.
    pub qualifiers: usize,
    /// The scope that declares the name.
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
    /// Looks up a name from a scope outwards, first as the wanted kind, then as the other.
    #[must_use]
    pub fn lookup(&self, scope: usize, name: &str, wanted: NameSpace) -> Option<&ScopeEntry> {
        let found = self.found(scope, name, None, wanted)?;
        found.element.is_none().then_some(found.entry)
    }

    /// Whether a register or signal of this name is visible in the scope.
    #[must_use]
    pub fn declared(&self, scope: usize, name: &str, kind: NameSpace) -> bool {
        self.found_as(scope, name, None, kind).is_some()
    }

    /// Looks up a name with an optional element number from a scope outwards, first as the wanted
    /// kind, then as the other.
    #[must_use]
    pub fn found(
        &self,
        scope: usize,
        name: &str,
        index: Option<i64>,
        wanted: NameSpace,
    ) -> Option<FoundName<'_>> {
        let kinds = [wanted, wanted.other()];
        { kinds.into_iter() }.find_map(|kind| self.found_as(scope, name, index, kind))
    }

    /// Looks up a name like [`found`](Self::found), for one kind only.
    #[must_use]
    pub fn found_as(
        &self,
        scope: usize,
        name: &str,
        index: Option<i64>,
        kind: NameSpace,
    ) -> Option<FoundName<'_>> {
        self.enclosing_scopes(scope).find_map(|scope| {
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

    /// Whether the name is visible in the scope as a register or signal.
    #[must_use]
    pub fn is_declared(&self, scope: usize, name: &str) -> bool {
        self.found(scope, name, None, NameSpace::Register).is_some()
    }

    /// Returns a scope and its enclosing scopes.
    pub fn enclosing_scopes(&self, scope: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(scope), |&scope| self.scopes[scope].parent)
    }

    /// Returns the element that a name with an optional number denotes.
    ///
    /// # Errors
    /// Undefined names are left to the caller (`Ok(None)`); an element outside its array is
    /// reported as `array-bounds`.
    pub fn element(
        &self,
        scope: usize,
        token: &Token,
        index: Option<i64>,
        wanted: NameSpace,
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

    /// Returns a visible name similar to `name`, for a suggestion.
    #[must_use]
    pub fn similar(&self, scope: usize, name: &str, kind: NameSpace) -> Option<&str> {
        let visible = self
            .enclosing_scopes(scope)
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

/// Returns the name of the single transfer register for element `number` of the array `name`.
#[must_use]
pub fn single_name(name: &str, number: i64) -> Option<String> {
    RegisterFile::of(name)
        .is_transfer()
        .then(|| format!("{name}{number}"))
}

/// Splits the name of a transfer register into an array name and an element number: `$x` and 1 for
/// `$x1`.
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

/// Returns the number of a physical signal name, `s1` to `s15`.
#[must_use]
pub fn physical_signal(name: &str) -> Option<u8> {
    let digits = name.strip_prefix(['s', 'S'])?;
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    digits.parse().ok().filter(|n| *n < 16)
}

/// Returns the address of a physical label name, `L23` or `L23#`.
#[must_use]
pub fn physical_label(name: &str) -> Option<u16> {
    let digits = name.strip_prefix(['L', 'l'])?;
    let digits = digits.strip_suffix('#').unwrap_or(digits);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|n| *n < 8192)
}
