//! The first pass over the statements: scopes and declarations.

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{DeclarationDirective, DirectiveName, ProgramDirective, ScopeDirective};
use crate::front::constant;
use crate::front::statement::{Directive, SourcePlace, Statement};
use crate::front::token::{Nesting, Token, TokenKind, element_tokens};
use crate::middle::scope::{
    Declared, Element, NameSpace, RegisterFile, Scope, ScopeEntry, SignalVariable, Symbols,
    Variable, single_name,
};
use npsim_image::TransferDirection;
use npsim_isa::physical_register;
use std::collections::BTreeMap;
use std::rc::Rc;

/// No register file has more elements than this.
const MAX_ARRAY_LENGTH: i64 = 128;

/// Opens and closes scopes and enters all declared names. Returns the symbols and the scope of each
/// statement.
pub fn declare(
    statements: &[Statement],
    diagnostics: &mut Vec<Diagnostic>,
) -> (Symbols, Vec<usize>) {
    let mut walk = Walk {
        symbols: Symbols::default(),
        open: Vec::new(),
        scope: 0,
        statement: 0,
        diagnostics,
    };
    let mut scopes = Vec::with_capacity(statements.len());
    for (number, statement) in statements.iter().enumerate() {
        walk.statement = number;
        if let Some(directive) = statement.directive() {
            walk.directive(directive);
        }
        scopes.push(walk.scope);
    }
    walk.implied(statements, &scopes);
    for (opener, place) in walk.open.clone() {
        let [opener, closer] = opener.names();
        walk.diagnostics.push(
            place
                .error(
                    codes::UNBALANCED_SCOPE,
                    format!("`{opener}` without `{closer}`"),
                )
                .label("opened here and never closed")
                .help(format!("add `{closer}`")),
        );
    }
    (walk.symbols, scopes)
}

/// The qualifiers of a declaration.
#[derive(Clone, Copy, Default)]
struct Qualifiers {
    direction: Option<TransferDirection>,
    private: bool,
    global: bool,
    /// Whether another program may set it.
    foreign: bool,
    /// The directive that implies the register, if it is not declared.
    implied_by: Option<&'static str>,
}

impl Qualifiers {
    /// Adds a direction; both together are no restriction.
    fn join(&mut self, direction: TransferDirection) {
        self.direction = Some(match self.direction {
            Some(known) if known != direction => TransferDirection::Both,
            _ => direction,
        });
    }
}

/// The kind of directive that opens a scope.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opener {
    Begin,
    Local,
}

impl Opener {
    /// Returns the names of the directive and of the one that closes its scope.
    fn names(self) -> [&'static str; 2] {
        let names = match self {
            Self::Begin => [ScopeDirective::Begin, ScopeDirective::End],
            Self::Local => [ScopeDirective::Local, ScopeDirective::Endlocal],
        };
        names.map(|name| name.word().name)
    }
}

struct Walk<'a> {
    symbols: Symbols,
    open: Vec<(Opener, SourcePlace)>,
    scope: usize,
    /// Index of the current statement.
    statement: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Walk<'_> {
    fn directive(&mut self, directive: &Directive) {
        let place = directive.place;
        let result = match directive.name {
            DirectiveName::Scope(ScopeDirective::Begin) => {
                self.enter(Opener::Begin, place);
                Ok(())
            }
            DirectiveName::Scope(ScopeDirective::Local) => {
                self.enter(Opener::Local, place);
                self.names(directive, false)
            }
            DirectiveName::Scope(ScopeDirective::End) => self.leave(Opener::Begin, place),
            DirectiveName::Scope(ScopeDirective::Endlocal) => self.leave(Opener::Local, place),
            DirectiveName::Declaration(DeclarationDirective::Reg) => self.names(directive, false),
            DirectiveName::Declaration(DeclarationDirective::Sig) => self.names(directive, true),
            DirectiveName::Declaration(DeclarationDirective::ImportVar) => self.imports(directive),
            DirectiveName::Hint(_)
            | DirectiveName::Program(_)
            | DirectiveName::Rewrite(_)
            | DirectiveName::Structured(_) => Ok(()),
        };
        if let Err(diagnostic) = result {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Declares the registers named by `.areg`, `.breg` and `.xfer_order` but by no `.reg`, each in
    /// the scope of the first directive that names it.
    fn implied(&mut self, statements: &[Statement], scopes: &[usize]) {
        let mut implied: BTreeMap<(usize, Rc<str>), (Declared, Token, Qualifiers)> =
            BTreeMap::new();
        for (number, (statement, &scope)) in statements.iter().zip(scopes).enumerate() {
            let Some((directive, direction)) = statement.directive().and_then(implicit_declaration)
            else {
                continue;
            };
            for (argument, name, index) in named_registers(directive) {
                let known = self
                    .symbols
                    .found_as(scope, &name.text, index, NameSpace::Register);
                let single = index.and_then(|number| single_name(&name.text, number));
                let text = single.map_or_else(|| Rc::clone(&name.text), Rc::from);
                if known.is_some() || physical_register(&text).is_some() {
                    continue;
                }
                let declared = Declared {
                    statement: number,
                    argument,
                    qualifiers: argument,
                    scope,
                };
                let key = (scope, Rc::clone(&text));
                let qualifiers = Qualifiers {
                    implied_by: Some(directive.spelling),
                    ..Qualifiers::default()
                };
                let entry = { implied.entry(key) }
                    .or_insert_with(|| (declared, Token { text, ..name }, qualifiers));
                entry.2.join(direction);
            }
        }
        let mut implied: Vec<_> = implied.into_values().collect();
        implied.sort_by_key(|(declared, ..)| (declared.statement, declared.argument));
        for (declared, name, qualifiers) in implied {
            self.scope = declared.scope;
            self.symbols.declarations.push(declared);
            if let Err(diagnostic) = self.name(&name, None, qualifiers, false) {
                self.diagnostics.push(diagnostic);
            }
        }
    }

    fn enter(&mut self, opener: Opener, place: SourcePlace) {
        self.symbols.scopes.push(Scope {
            parent: Some(self.scope),
            begin: Some(place),
            ..Scope::default()
        });
        self.scope = self.symbols.scopes.len() - 1;
        self.open.push((opener, place));
    }

    fn leave(&mut self, opener: Opener, place: SourcePlace) -> Result<(), Diagnostic> {
        let [opened_by, closer] = opener.names();
        match self.open.last() {
            Some((open, _)) if *open == opener => {
                self.open.pop();
                self.symbols.scopes[self.scope].end = Some(place);
                self.scope = self.symbols.scopes[self.scope].parent.unwrap_or(0);
                Ok(())
            }
            Some((open, at)) => Err(place
                .error(
                    codes::UNBALANCED_SCOPE,
                    format!("`{closer}` does not close `{}`", open.names()[0]),
                )
                .also(at.span, at.expansion, "the innermost open scope")),
            None => Err(place
                .error(
                    codes::UNBALANCED_SCOPE,
                    format!("`{closer}` without `{opened_by}`"),
                )
                .label("no scope is open here")),
        }
    }

    fn imports(&mut self, directive: &Directive) -> Result<(), Diagnostic> {
        let names = { directive.arguments.iter().enumerate() }.filter(|(_, token)| !token.is(","));
        let mut declared = 0usize;
        for (argument, name) in names {
            if name.kind != TokenKind::Ident {
                return Err(SourcePlace::of(name)
                    .error(
                        codes::SYNTAX,
                        format!("expected a name to import, found `{}`", name.text),
                    )
                    .label("not expected here"));
            }
            let known = self.symbols.imports.entry(name.text.to_string());
            known.or_insert_with(|| SourcePlace::of(name));
            self.symbols.declarations.push(Declared {
                statement: self.statement,
                argument,
                qualifiers: 0,
                // An import has no scope: it is visible in the whole program.
                scope: 0,
            });
            declared += 1;
        }
        if declared == 0 {
            return Err(directive.place.error(
                codes::SYNTAX,
                format!("`{}` imports nothing", directive.spelling),
            ));
        }
        Ok(())
    }

    fn names(&mut self, directive: &Directive, signals: bool) -> Result<(), Diagnostic> {
        let mut qualifiers = Qualifiers::default();
        let first_name = first_name(&directive.arguments);
        let (before, mut rest) = directive.arguments.split_at(first_name);
        for word in before {
            qualify(&mut qualifiers, &word.text);
        }
        let mut declared = 0usize;
        while let Some((first, after)) = rest.split_first() {
            if first.is(",") {
                rest = after;
                continue;
            }
            if first.kind != TokenKind::Ident {
                return Err(SourcePlace::of(first)
                    .error(
                        codes::SYNTAX,
                        format!("expected a name to declare, found `{}`", first.text),
                    )
                    .label("not expected here"));
            }
            self.symbols.declarations.push(Declared {
                statement: self.statement,
                argument: directive.arguments.len() - rest.len(),
                qualifiers: first_name,
                scope: if qualifiers.global { 0 } else { self.scope },
            });
            let size;
            (size, rest) = array_size(after)?;
            if let Err(diagnostic) = self.name(first, size, qualifiers, signals) {
                self.diagnostics.push(diagnostic);
            }
            declared += 1;
        }
        if declared == 0 && directive.name != DirectiveName::Scope(ScopeDirective::Local) {
            return Err(directive.place.error(
                codes::SYNTAX,
                format!("`{}` declares nothing", directive.spelling),
            ));
        }
        Ok(())
    }

    fn name(
        &mut self,
        token: &Token,
        size: Option<usize>,
        qualifiers: Qualifiers,
        signal: bool,
    ) -> Result<(), Diagnostic> {
        let place = SourcePlace::of(token);
        let scope = if qualifiers.global { 0 } else { self.scope };
        let space = RegisterFile::of(&token.text);
        if signal && space != RegisterFile::Gpr {
            return Err(place.error(
                codes::SYNTAX,
                format!("`{}` is a register name, not a signal name", token.text),
            ));
        }
        let direction = qualifiers.direction.unwrap_or(TransferDirection::Both);
        let kind = if signal {
            NameSpace::Signal
        } else {
            NameSpace::Register
        };
        if let Some(known) = self.symbols.scopes[scope].names(kind).get(&*token.text) {
            return self.redeclare(token, scope, size, direction, signal, &known.clone());
        }
        if let Some((other, entry)) = self.symbols.scopes[scope].other_spelling(&token.text, size) {
            return Err(place
                .error(
                    codes::DECLARED_TWICE,
                    format!("`{}` and `{other}` are one register", token.text),
                )
                .also(
                    entry.place.span,
                    entry.place.expansion,
                    format!("`{other}` is declared here"),
                )
                .note("The name of a transfer register that ends in a number is also the name of an array element.")
                .help("remove one of the declarations, or give one of them another name"));
        }
        let elements = (0..size.unwrap_or(1))
            .map(|i| {
                let name = if size.is_some() {
                    format!("{}[{i}]", token.text)
                } else {
                    String::from(&*token.text)
                };
                if signal {
                    self.symbols.signals.push(SignalVariable {
                        name,
                        scope,
                        private: qualifiers.private,
                        fixed: None,
                        pair: false,
                        half: None,
                        place,
                        used: false,
                    });
                    Element::Signal(self.symbols.signals.len() - 1)
                } else {
                    let id = self.variable(name, scope, space, direction, qualifiers, place);
                    Element::Register {
                        read: (direction != TransferDirection::Write).then_some(id),
                        write: (direction != TransferDirection::Read).then_some(id),
                    }
                }
            })
            .collect();
        self.symbols.scopes[scope].names_mut(kind).insert(
            String::from(&*token.text),
            ScopeEntry {
                elements,
                array: size.is_some(),
                place,
            },
        );
        Ok(())
    }

    fn variable(
        &mut self,
        name: String,
        scope: usize,
        space: RegisterFile,
        direction: TransferDirection,
        qualifiers: Qualifiers,
        place: SourcePlace,
    ) -> usize {
        self.symbols.variables.push(Variable {
            name,
            scope,
            space,
            direction: if space.is_transfer() {
                direction
            } else {
                TransferDirection::Both
            },
            private: qualifiers.private
                || qualifiers.global
                || matches!(space, RegisterFile::Absolute | RegisterFile::NextNeighbour),
            shared: !qualifiers.foreign
                && (space == RegisterFile::Absolute
                    || space == RegisterFile::Gpr && qualifiers.global),
            fixed: None,
            implied_by: qualifiers.implied_by,
            place,
            used: false,
            initialised: false,
        });
        self.symbols.variables.len() - 1
    }

    /// Handles a second declaration of a name in the same scope.
    ///
    /// | the first declaration | the second one | outcome |
    /// | --- | --- | --- |
    /// | a transfer name of one side | its other side, of equal size | the name gets both sides |
    /// | of equal size | anything else | a warning; the first declaration stands |
    /// | of another size | anything | an error |
    ///
    /// Each side of a transfer name is a separate variable, since `$x` as a source is an IN
    /// register and `$x` as a destination an OUT register ([`Element::Register`]).
    fn redeclare(
        &mut self,
        token: &Token,
        scope: usize,
        size: Option<usize>,
        direction: TransferDirection,
        signal: bool,
        known: &ScopeEntry,
    ) -> Result<(), Diagnostic> {
        let place = SourcePlace::of(token);
        let same_size = known.elements.len() == size.unwrap_or(1) && known.array == size.is_some();
        let twice = |level: fn(SourcePlace, &'static str, String) -> Diagnostic| {
            level(
                place,
                codes::DECLARED_TWICE,
                format!("`{}` is declared twice in one scope", token.text),
            )
            .also(
                known.place.span,
                known.place.expansion,
                "first declared here",
            )
        };
        let space = RegisterFile::of(&token.text);
        let sides = known.elements.first().copied();
        let other_side = match sides {
            Some(Element::Register { read, write }) if space.is_transfer() && same_size => {
                match direction {
                    TransferDirection::Read => read.is_none(),
                    TransferDirection::Write => write.is_none(),
                    TransferDirection::Both => false,
                }
            }
            _ => false,
        };
        if other_side && !signal {
            let mut elements = known.elements.clone();
            for (i, element) in elements.iter_mut().enumerate() {
                let name = if known.array {
                    format!("{}[{i}]", token.text)
                } else {
                    String::from(&*token.text)
                };
                let id = self.variable(name, scope, space, direction, Qualifiers::default(), place);
                if let Element::Register { read, write } = element {
                    if direction == TransferDirection::Read {
                        *read = Some(id);
                    } else {
                        *write = Some(id);
                    }
                }
            }
            if let Some(entry) = self.symbols.scopes[scope].registers.get_mut(&*token.text) {
                entry.elements = elements;
            }
            return Ok(());
        }
        if same_size {
            self.diagnostics.push(
                twice(SourcePlace::warning)
                    .note("Both declarations mean the same register or signal."),
            );
            return Ok(());
        }
        Err(twice(SourcePlace::error)
            .help("give one of them another name, or put them into different `.begin` scopes"))
    }
}

/// Returns a directive that implicitly declares the registers it names, with their direction;
/// `None` for other directives.
fn implicit_declaration(directive: &Directive) -> Option<(&Directive, TransferDirection)> {
    let direction = match directive.name {
        DirectiveName::Program(
            ProgramDirective::Areg | ProgramDirective::Breg | ProgramDirective::XferOrder,
        ) => TransferDirection::Both,
        DirectiveName::Program(ProgramDirective::XferOrderRd) => TransferDirection::Read,
        DirectiveName::Program(ProgramDirective::XferOrderWr) => TransferDirection::Write,
        _ => return None,
    };
    Some((directive, direction))
}

/// Returns the registers that such a directive names: argument position, name, and element number
/// if there is one in brackets.
fn named_registers(directive: &Directive) -> Vec<(usize, Token, Option<i64>)> {
    let arguments = &directive.arguments;
    let one = matches!(
        directive.name,
        DirectiveName::Program(ProgramDirective::Areg | ProgramDirective::Breg)
    );
    let mut named = Vec::new();
    let mut nesting = Nesting::default();
    for (at, name) in arguments.iter().enumerate() {
        nesting.process(name);
        if nesting.depth > 0 || name.kind != TokenKind::Ident {
            continue;
        }
        match element_tokens(&arguments[at + 1..]) {
            None => named.push((at, name.clone(), None)),
            Some(number) => {
                // A faulty number is reported when the directive is processed.
                let index = constant::evaluate(number, SourcePlace::of(name)).ok();
                named.extend(index.map(|index| (at, name.clone(), Some(index))));
            }
        }
        if one {
            break;
        }
    }
    named
}

/// Returns the position of the first name among the arguments of a declaration, after commas and
/// qualifiers. The last word is always a name.
pub fn first_name(arguments: &[Token]) -> usize {
    let is_before = |(at, token): &(usize, &Token)| {
        let is_word = token.kind == TokenKind::Ident && at + 1 < arguments.len();
        token.is(",") || is_word && qualify(&mut Qualifiers::default(), &token.text)
    };
    arguments.iter().enumerate().take_while(is_before).count()
}

/// Applies a qualifier; returns false if the word is not one.
fn qualify(qualifiers: &mut Qualifiers, word: &str) -> bool {
    match &*word.to_ascii_lowercase() {
        "read" => qualifiers.join(TransferDirection::Read),
        "write" => qualifiers.join(TransferDirection::Write),
        "volatile" => qualifiers.private = true,
        "visible" | "remote" | "extern" => {
            qualifiers.private = true;
            qualifiers.foreign = true;
        }
        "global" => {
            qualifiers.global = true;
            qualifiers.private = true;
        }
        _ => return false,
    }
    true
}

/// Parses `[n]` after a declared name.
fn array_size(tokens: &[Token]) -> Result<(Option<usize>, &[Token]), Diagnostic> {
    let Some(open) = tokens.first().filter(|token| token.is("[")) else {
        return Ok((None, tokens));
    };
    let Some(close) = tokens.iter().position(|token| token.is("]")) else {
        return Err(SourcePlace::of(open).error(codes::SYNTAX, "expected `]` after the array size"));
    };
    let size = constant::evaluate(&tokens[1..close], SourcePlace::of(open))?;
    if !(1..=MAX_ARRAY_LENGTH).contains(&size) {
        return Err(SourcePlace::of(open)
            .error(
                codes::ARRAY_BOUNDS,
                format!("an array of {size} elements is not possible"),
            )
            .help(format!("the size must be from 1 to {MAX_ARRAY_LENGTH}")));
    }
    Ok((Some(size as usize), &tokens[close + 1..]))
}
