//! The name index that editors use: registers, signals, labels, imports and synonyms of a
//! preprocessed program, with all their uses.
//!
//! Declarations, scopes and the meaning of labels come from the assembler itself; only uses are
//! collected from the tokens of every line, so that a line that is not yet a valid statement has
//! them too.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use npsim_isa::Unit;

use crate::directives::{
    DeclarationDirective, DirectiveName, HintDirective, RewriteDirective, ScopeDirective,
};
use crate::front::parse::parse;
use crate::front::statement::Statement;
use crate::front::token::{LogicalLine, Nesting, NestingEvent, Token, TokenKind, split_labels};
use crate::middle::declare::{declare, first_name};
use crate::middle::labels::Labels;
use crate::middle::program::LabelDefinition;
use crate::middle::scope::{Declared, NameSpace, Symbols, single_name};
use crate::source::{ExpansionId, SourceMap, Span};

/// The kind of symbol that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// A register.
    Register,
    /// A signal.
    Signal,
    /// A label.
    Label,
    /// A constant that the loader supplies.
    Import,
    /// Another name for an operand.
    Synonym,
}

impl NameKind {
    /// Returns the kind's name for display.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Signal => "signal",
            Self::Label => "label",
            Self::Import => "import variable",
            Self::Synonym => "operand synonym",
        }
    }
}

/// A declared name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name, including its sigil; for a label, including its `#`.
    pub name: String,
    /// The kind of symbol.
    pub kind: NameKind,
    /// Number of its scope; 0 is the file.
    pub scope: usize,
    /// Where it was first declared.
    pub place: Span,
    /// The expansion that contains the declaration.
    pub expansion: ExpansionId,
    /// Its declaration, such as `.reg read $x[4]`; one line per distinct declaration.
    pub declaration: String,
}

/// An occurrence of a symbol's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameReference {
    /// The span of the name.
    pub span: Span,
    /// The expansion that contains it.
    pub expansion: ExpansionId,
    /// Index of the symbol.
    pub symbol: usize,
    /// Whether this occurrence declares the symbol.
    pub declares: bool,
}

/// The names of a program.
#[derive(Clone, Debug, Default)]
pub struct NameIndex {
    /// All symbols, each once.
    pub symbols: Vec<Symbol>,
    /// All references, sorted by position.
    pub references: Vec<NameReference>,
    /// Enclosing scope of each scope.
    parents: Vec<Option<usize>>,
    /// Symbols by scope, kind and name, except labels.
    known: BTreeMap<(usize, NameKind, Rc<str>), usize>,
    /// The scope at each line of text outside of macros.
    lines: Vec<(Span, usize)>,
}

impl NameIndex {
    /// Indexes the lines of a program.
    #[must_use]
    pub fn new(lines: &[LogicalLine], sources: &SourceMap) -> Self {
        // Errors are reported by the assembler.
        let mut ignored = Vec::new();
        let statements = parse(lines, &mut ignored);
        let (symbols, scopes) = declare(&statements, &mut ignored);
        let mut index = Self {
            parents: symbols.scopes.iter().map(|scope| scope.parent).collect(),
            ..Self::default()
        };
        for declared in &symbols.declarations {
            index.declare(&statements[declared.statement], declared);
        }
        let mut labels = Vec::new();
        for (statement, &scope) in statements.iter().zip(&scopes) {
            index.synonym(statement, scope);
            for label in &statement.labels {
                let symbol = index.label(label, scope);
                labels.push(LabelDefinition {
                    token: label.clone(),
                    scope,
                    item: symbol,
                });
            }
        }
        let labels = Labels::new(&[], &labels, &symbols, sources, &mut ignored);
        for (line, &scope) in lines.iter().zip(&scopes) {
            let uses = Uses {
                symbols: &symbols,
                labels: &labels,
                scope,
            };
            index.line(line, &uses);
        }
        index.references.sort_unstable();
        index.references.dedup();
        index.lines.sort_by_key(|(span, _)| (span.file, span.lo));
        index
    }

    /// Adds a name that a statement declares.
    fn declare(&mut self, statement: &Statement, declared: &Declared) {
        let Some(directive) = statement.directive() else {
            return;
        };
        let kind = match directive.name {
            DirectiveName::Declaration(DeclarationDirective::ImportVar) => NameKind::Import,
            DirectiveName::Declaration(DeclarationDirective::Sig) => NameKind::Signal,
            DirectiveName::Declaration(DeclarationDirective::Reg)
            | DirectiveName::Scope(_)
            | DirectiveName::Hint(_)
            | DirectiveName::Program(_)
            | DirectiveName::Rewrite(_)
            | DirectiveName::Structured(_) => NameKind::Register,
        };
        let (before, [name, after @ ..]) = directive.arguments.split_at(declared.argument) else {
            return;
        };
        let mut text = format!("{} ", directive.spelling);
        for qualifier in before[..declared.qualifiers]
            .iter()
            .filter(|it| !it.is(","))
        {
            text += &qualifier.text.to_ascii_lowercase();
            text.push(' ');
        }
        text += &name.text;
        if after.first().is_some_and(|open| open.is("["))
            && let Some(close) = after.iter().position(|token| token.is("]"))
        {
            text.extend(after[..=close].iter().map(|token| &*token.text));
        }
        // Directives imply single registers, even if they name them as array elements.
        let implied = matches!(directive.name, DirectiveName::Program(_));
        let single = element(after).filter(|_| implied);
        let single = single.and_then(|number| single_name(&name.text, number));
        let text_of_name = single.map_or_else(|| Rc::clone(&name.text), Rc::from);
        let name = Token {
            text: text_of_name,
            ..name.clone()
        };
        self.enter(kind, declared.scope, &name, text);
    }

    /// Adds the name of an `.operand_synonym`.
    fn synonym(&mut self, statement: &Statement, scope: usize) {
        let introduces = DirectiveName::Rewrite(RewriteDirective::OperandSynonym);
        if let Some(directive) = statement.directive()
            && directive.name == introduces
            && let Some(name) = directive.arguments.first()
            && name.kind == TokenKind::Ident
        {
            let text = format!("{} {}", directive.spelling, name.text);
            self.enter(NameKind::Synonym, scope, name, text);
        }
    }

    fn enter(&mut self, kind: NameKind, scope: usize, name: &Token, declaration: String) {
        let key = (scope, kind, Rc::clone(&name.text));
        let symbol = if let Some(&symbol) = self.known.get(&key) {
            let known = &mut self.symbols[symbol].declaration;
            if *known != declaration {
                *known += "\n";
                *known += &declaration;
            }
            symbol
        } else {
            let symbol = self.add(kind, scope, name, declaration);
            self.known.insert(key, symbol);
            symbol
        };
        self.add_reference(name, symbol, true);
    }

    fn label(&mut self, label: &Token, scope: usize) -> usize {
        let symbol = self.add(NameKind::Label, scope, label, format!("{}:", label.text));
        self.add_reference(label, symbol, true);
        symbol
    }

    fn add(&mut self, kind: NameKind, scope: usize, name: &Token, declaration: String) -> usize {
        self.symbols.push(Symbol {
            name: name.text.to_string(),
            kind,
            scope,
            place: name.span,
            expansion: name.expansion,
            declaration,
        });
        self.symbols.len() - 1
    }

    fn add_reference(&mut self, token: &Token, symbol: usize, declares: bool) {
        self.references.push(NameReference {
            span: token.span,
            expansion: token.expansion,
            symbol,
            declares,
        });
    }

    /// Adds the uses on a line.
    fn line(&mut self, line: &LogicalLine, uses: &Uses<'_>) {
        if let Some(first) = line.tokens.first()
            && line.expansion == ExpansionId::ROOT
            && first.expansion == ExpansionId::ROOT
        {
            self.lines.push((first.span, uses.scope));
        }
        let (_, rest) = split_labels(&line.tokens);
        let Some((first, arguments)) = rest.split_first() else {
            return;
        };
        let directive = DirectiveName::parse(&first.text).map(|(name, _)| name);
        if matches!(
            directive,
            Some(DirectiveName::Declaration(_) | DirectiveName::Scope(ScopeDirective::Local))
        ) {
            self.sizes(arguments, uses);
            return;
        }
        let word = first.text.to_ascii_lowercase();
        let mut depth = 0usize;
        let mut operand = 0;
        let mut closed = false;
        for (at, token) in rest.iter().enumerate().skip(1) {
            if token.kind == TokenKind::Punct {
                match &*token.text {
                    "[" | "(" => depth += 1,
                    "]" | ")" => {
                        depth = depth.saturating_sub(1);
                        closed |= depth == 0;
                    }
                    "," if depth == 1 && !closed => operand += 1,
                    _ => {}
                }
                continue;
            }
            let keyword = !word.starts_with('.')
                && (depth == 0 || (!closed && depth == 1 && is_keyword(&word, operand)));
            if !keyword {
                let name_space = name_space(&word, directive, operand, &rest[..at]);
                self.named(token, element(&rest[at + 1..]), name_space, uses);
            }
        }
    }

    /// Adds the names used in the array sizes of a declaration.
    fn sizes(&mut self, arguments: &[Token], uses: &Uses<'_>) {
        let mut depth = 0usize;
        for token in arguments {
            if token.is("[") {
                depth += 1;
            } else if token.is("]") {
                depth = depth.saturating_sub(1);
            } else if depth > 0 {
                self.named(token, None, NameSpace::Register, uses);
            }
        }
    }

    fn named(&mut self, token: &Token, index: Option<i64>, name_space: NameSpace, uses: &Uses<'_>) {
        let symbol = match token.kind {
            TokenKind::Ident => self.find(token, index, name_space, uses),
            TokenKind::Label => uses.labels.definition(token, uses.scope).map(|it| it.item),
            TokenKind::Number(_) | TokenKind::Str | TokenKind::Quoted | TokenKind::Punct => None,
        };
        if let Some(symbol) = symbol {
            self.add_reference(token, symbol, false);
        }
    }

    /// Returns the symbol that a name denotes: synonyms take precedence over registers and signals,
    /// and these over imports.
    fn find(
        &self,
        name: &Token,
        index: Option<i64>,
        name_space: NameSpace,
        uses: &Uses<'_>,
    ) -> Option<usize> {
        let of = |scope: usize, kind, name: &str| {
            let key = (scope, kind, Rc::from(name));
            self.known.get(&key).copied()
        };
        let mut around = self.enclosing_scopes(uses.scope);
        let synonym = around.find_map(|scope| of(scope, NameKind::Synonym, &name.text));
        let declared = || {
            let found = uses
                .symbols
                .found(uses.scope, &name.text, index, name_space)?;
            let kind = match found.kind {
                NameSpace::Register => NameKind::Register,
                NameSpace::Signal => NameKind::Signal,
            };
            of(found.scope, kind, found.name)
        };
        let import = || of(0, NameKind::Import, &name.text);
        synonym.or_else(declared).or_else(import)
    }

    /// Returns a scope and its enclosing scopes.
    fn enclosing_scopes(&self, scope: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(scope), |&scope| self.parents[scope])
    }

    /// Returns the occurrences of a symbol's name.
    pub fn references_to(&self, symbol: usize) -> impl Iterator<Item = &NameReference> {
        let all = self.references.iter();
        all.filter(move |reference| reference.symbol == symbol)
    }

    /// Returns the references whose span contains a byte of a file, by starting position.
    pub fn at(&self, span: Span) -> impl Iterator<Item = &NameReference> {
        let from = self
            .references
            .partition_point(|reference| reference.span.file < span.file);
        self.references[from..]
            .iter()
            .take_while(move |reference| {
                reference.span.file == span.file && reference.span.lo <= span.lo
            })
            .filter(move |reference| span.lo <= reference.span.hi)
    }

    /// Returns the scope at a byte of a file, based on the text outside of macros.
    #[must_use]
    pub fn scope_at(&self, span: Span) -> usize {
        let after = self
            .lines
            .partition_point(|(line, _)| (line.file, line.lo) <= (span.file, span.lo));
        match after.checked_sub(1).map(|at| self.lines[at]) {
            Some((line, scope)) if line.file == span.file => scope,
            _ => 0,
        }
    }

    /// Returns the symbols visible in a scope, inner scopes first, except labels.
    pub fn visible(&self, scope: usize) -> impl Iterator<Item = &Symbol> {
        self.enclosing_scopes(scope).flat_map(|scope| {
            let from = (scope, NameKind::Register, Rc::from(""));
            let all = self.known.range(from..);
            let here = all.take_while(move |((known, ..), _)| *known == scope);
            here.map(|(_, &symbol)| &self.symbols[symbol])
        })
    }
}

/// Returns the argument ranges of the names that a declaration declares, each with its size.
#[must_use]
pub fn declared_names(arguments: &[Token]) -> Vec<Range<usize>> {
    let mut names: Vec<Range<usize>> = Vec::new();
    let mut nesting = Nesting::default();
    for (at, token) in arguments.iter().enumerate().skip(first_name(arguments)) {
        let met = nesting.process(token);
        if nesting.depth == 0 && token.kind == TokenKind::Ident {
            names.push(at..at + 1);
        } else if (nesting.depth > 0 || met == Some(NestingEvent::Closed))
            && let Some(name) = names.last_mut()
        {
            name.end = at + 1;
        }
    }
    names
}

/// Returns the number in the brackets after a name, if there is nothing else in them.
fn element(after: &[Token]) -> Option<i64> {
    match after {
        [open, number, close, ..] if open.is("[") && close.is("]") => match number.kind {
            TokenKind::Number(number) => i64::try_from(number).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// The context for looking up the names of a line.
struct Uses<'a> {
    symbols: &'a Symbols,
    labels: &'a Labels<'a>,
    scope: usize,
}

/// Whether an operand is a word of the language, so that it does not denote a register of the same
/// name.
fn is_keyword(mnemonic: &str, operand: usize) -> bool {
    match mnemonic {
        "alu" | "alu_shf" => operand == 2,
        "local_csr_rd" | "local_csr_wr" | "br_inp_state" | "br_!inp_state" | "crc_be"
        | "crc_le" => operand == 0,
        unit => operand == 0 && Unit::by_name(unit).is_some(),
    }
}

/// Returns what a name denotes if a register and a signal share it: the signal as a signal operand,
/// in the brackets of an option that takes a signal, or where its number is taken.
fn name_space(
    word: &str,
    directive: Option<DirectiveName>,
    operand: usize,
    before: &[Token],
) -> NameSpace {
    let takes_one = |name: &Token| {
        let name = name.text.to_ascii_lowercase();
        matches!(&*name, "sig_done" | "ctx_swap" | "signal" | "mask")
    };
    let hint = DirectiveName::Hint;
    let signal = directive == Some(hint(HintDirective::SetSig))
        || directive == Some(hint(HintDirective::IoCompleted))
        || word == "ctx_arb"
        // `br_!signal` is three tokens.
        || (operand == 0 && matches!(word, "br_signal" | "br_"))
        || match before {
            [.., address] if address.is("&") => true,
            [.., name, open] => (open.is("[") || open.is("(")) && takes_one(name),
            _ => false,
        };
    if signal {
        NameSpace::Signal
    } else {
        NameSpace::Register
    }
}
