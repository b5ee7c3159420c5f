//! The registers and signals that source names denote at a point of the program.

use std::iter::successors;

use crate::image::{Image, RegisterSymbol, SignalSymbol, TransferDirection};
use crate::live::{LiveRange, ProgramPoint};

/// A register that holds the value of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveRegister<'a> {
    /// Name, register and scope.
    pub symbol: &'a RegisterSymbol,
    /// The side of a transfer register that holds it: `Read` for IN, `Write` for OUT;
    /// `Both` for all other registers.
    pub side: TransferDirection,
    /// Whether the source can refer to it by name at this point: the word is in its scope, and no
    /// scope in between redeclares the name.
    pub visible: bool,
}

/// A signal whose number is allocated to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSignal<'a> {
    /// Name, number and scope.
    pub symbol: &'a SignalSymbol,
    /// Whether the source can refer to it by name at this point.
    pub visible: bool,
}

impl Image {
    /// Returns the scope of a word as an index into [`Image::scopes`]; `None` if the image has no
    /// scopes of words, like those of earlier formats.
    #[must_use]
    pub fn scope_of(&self, address: u16) -> Option<u32> {
        self.word_scopes.get(usize::from(address)).copied()
    }

    /// Returns a scope and its enclosing scopes, from the inside out.
    pub fn scope_chain(&self, scope: u32) -> impl Iterator<Item = u32> + '_ {
        let known = self.scopes.get(scope as usize).map(|_| scope);
        successors(known, |scope| {
            let scope = self.scopes.get(*scope as usize)?;
            // The file reader ensures that the enclosing scope comes earlier.
            scope.parent
        })
    }

    /// Returns the registers that hold the value of a name at a point, in the order of their
    /// declarations; empty without [live ranges](Self::has_live_ranges). Absolute registers, which
    /// all contexts share, and transfer registers that a command fills or empties are included.
    #[must_use]
    pub fn registers_live_at(&self, point: ProgramPoint) -> Vec<LiveRegister<'_>> {
        let live = self.live_registers(point);
        let with_scope = live.map(|(symbol, side)| LiveRegister {
            symbol,
            side,
            visible: self.name_denotes(
                &symbol.name,
                symbol.scope,
                point.address,
                NameKind::Register,
            ),
        });
        with_scope.collect()
    }

    /// Returns the symbols that are live, regardless of visibility.
    fn live_registers(
        &self,
        point: ProgramPoint,
    ) -> impl Iterator<Item = (&RegisterSymbol, TransferDirection)> {
        let known = self.registers.iter().filter(|_| self.has_live_ranges());
        known.flat_map(move |symbol| {
            let transfer = matches!(
                symbol.operand,
                npsim_isa::Operand::STransfer(_) | npsim_isa::Operand::DTransfer(_)
            );
            let own = if transfer {
                TransferDirection::Read
            } else {
                TransferDirection::Both
            };
            let sides = [
                (own, &symbol.live),
                (TransferDirection::Write, &symbol.live_out),
            ];
            let live = sides
                .into_iter()
                .filter(move |(_, live)| any_contains(live, point));
            live.map(move |(side, _)| (symbol, side))
        })
    }

    /// Returns the signals whose number is allocated to a name at a point.
    #[must_use]
    pub fn signals_live_at(&self, point: ProgramPoint) -> Vec<LiveSignal<'_>> {
        if !self.has_live_ranges() {
            return Vec::new();
        }
        let live = self
            .signals
            .iter()
            .filter(|it| any_contains(&it.live, point));
        let live = live.map(|symbol| LiveSignal {
            symbol,
            visible: self.name_denotes(&symbol.name, symbol.scope, point.address, NameKind::Signal),
        });
        live.collect()
    }

    /// Returns the registers that a name or synonym denotes at a point, with the sides that hold a
    /// value there; empty if none holds a value or the name denotes none.
    #[must_use]
    pub fn registers_named(&self, name: &str, point: ProgramPoint) -> Vec<LiveRegister<'_>> {
        let name = self.without_synonym(name, point.address);
        let called = self.live_registers(point).filter(|(it, _)| it.name == name);
        let meant = called.filter(|(it, _)| {
            self.name_denotes(&it.name, it.scope, point.address, NameKind::Register)
        });
        let visible = meant.map(|(symbol, side)| LiveRegister {
            symbol,
            side,
            visible: true,
        });
        visible.collect()
    }

    /// Returns the signal that a name or synonym denotes at a point.
    #[must_use]
    pub fn signal_named(&self, name: &str, point: ProgramPoint) -> Option<&SignalSymbol> {
        let name = self.without_synonym(name, point.address);
        let all = self.signals_live_at(point);
        let found = all
            .into_iter()
            .find(|it| it.visible && it.symbol.name == name);
        found.map(|it| it.symbol)
    }

    /// Returns the operand that a synonym stands for at a word, or the name itself if it is no
    /// synonym. Of several in a scope, the last one before the word counts, by line, within one
    /// file and macro use; elsewhere, simply the last one.
    fn without_synonym<'a>(&'a self, name: &'a str, address: u16) -> &'a str {
        let origin = self.origins.get(usize::from(address));
        let before = |at: &crate::Origin| {
            origin.is_none_or(|own| {
                (own.file, own.expansion) != (at.file, at.expansion) || at.line < own.line
            })
        };
        let scope = self.scope_of(address).unwrap_or(0);
        let meant = self.scope_chain(scope).find_map(|scope| {
            let mut known = self.synonyms.iter().rev();
            known.find(|it| it.name == name && it.scope == scope && before(&it.origin))
        });
        meant.map_or(name, |it| it.operand.as_str())
    }

    /// Whether a name used at a word denotes the declaration in `scope`.
    fn name_denotes(&self, name: &str, scope: u32, address: u16, kind: NameKind) -> bool {
        let Some(own) = self.scope_of(address) else {
            // Without scopes of words, this cannot be decided.
            return true;
        };
        let declares = |scope: &u32| match kind {
            NameKind::Register => { self.registers.iter() }
                .any(|it| it.scope == *scope && base_name(&it.name) == base_name(name)),
            NameKind::Signal => { self.signals.iter() }
                .any(|it| it.scope == *scope && base_name(&it.name) == base_name(name)),
        };
        self.scope_chain(own).find(declares) == Some(scope)
    }
}

/// The two separate name spaces: registers and signals.
#[derive(Clone, Copy)]
enum NameKind {
    Register,
    Signal,
}

/// Returns the declared name; for an array element, the name without its index.
fn base_name(name: &str) -> &str {
    name.split_once('[')
        .map_or(name, |(base_name, _)| base_name)
}

fn any_contains(live: &[LiveRange], point: ProgramPoint) -> bool {
    live.iter().any(|range| range.contains(point))
}
