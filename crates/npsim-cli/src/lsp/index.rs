//! Which name means what: registers, signals and labels of a preprocessed
//! program with all their uses. Follows the assembler's rules for scopes, and
//! those for labels in macros.

use std::collections::BTreeMap;

use npsim_asm::front::token::{Line, Token, TokenKind};
use npsim_asm::source::ExpansionId;
use npsim_asm::{SourceMap, Span};
use npsim_isa::Unit;

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
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

impl Kind {
    /// For people.
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
    /// With its sigil, a label with its `#`.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Number of its scope; 0 is the file.
    pub scope: usize,
    /// Where it was declared first.
    pub place: Span,
    /// In whose body.
    pub expansion: ExpansionId,
    /// How it was declared, such as `.reg read $x[4]`.
    pub declaration: String,
}

/// A place where a symbol is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The text.
    pub span: Span,
    /// In whose body it stands.
    pub expansion: ExpansionId,
    /// Index of the symbol.
    pub symbol: usize,
    /// Whether this declares it.
    pub declares: bool,
}

/// The symbols of a program.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// In the order in which they were declared.
    pub symbols: Vec<Symbol>,
    /// Sorted by place.
    pub references: Vec<Reference>,
    /// Enclosing scope of each scope.
    parents: Vec<Option<usize>>,
    /// Names by scope: those of signals are apart from all others.
    names: Vec<BTreeMap<String, usize>>,
    signals: Vec<BTreeMap<String, usize>>,
    labels: BTreeMap<String, Vec<usize>>,
    /// Scope after each line of text that stands in a file as it is.
    lines: Vec<(Span, usize)>,
}

impl Index {
    /// Reads the lines of a program.
    #[must_use]
    pub fn new(lines: &[Line], sources: &SourceMap) -> Self {
        let mut index = Self {
            parents: vec![None],
            names: vec![BTreeMap::new()],
            signals: vec![BTreeMap::new()],
            ..Self::default()
        };
        let scopes = index.declare(lines);
        index.resolve(lines, &scopes, sources);
        index.references.sort_unstable();
        index.references.dedup();
        index.lines.sort_by_key(|(span, _)| (span.file, span.lo));
        index
    }

    fn declare(&mut self, lines: &[Line]) -> Vec<usize> {
        let mut scope = 0;
        let mut scopes = Vec::with_capacity(lines.len());
        for line in lines {
            let (labels, rest) = split_labels(&line.tokens);
            let mut entered = None;
            if let Some((first, arguments)) = rest.split_first() {
                match first.text.to_ascii_lowercase().as_str() {
                    word @ (".begin" | ".local") => {
                        self.parents.push(Some(scope));
                        self.names.push(BTreeMap::new());
                        self.signals.push(BTreeMap::new());
                        scope = self.parents.len() - 1;
                        entered = Some(scope);
                        if word == ".local" {
                            self.declare_names(word, arguments, scope, Kind::Register);
                        }
                    }
                    ".end" | ".endlocal" => scope = self.parents[scope].unwrap_or(0),
                    word @ ".reg" => self.declare_names(word, arguments, scope, Kind::Register),
                    word @ ".sig" => self.declare_names(word, arguments, scope, Kind::Signal),
                    word @ ".operand_synonym" => {
                        let name = &arguments[..arguments.len().min(1)];
                        self.declare_names(word, name, scope, Kind::Synonym);
                    }
                    word @ (".import_var" | ".import") => {
                        self.declare_names(word, arguments, scope, Kind::Import);
                    }
                    _ => {}
                }
            }
            for label in labels {
                let id = self.symbols.len();
                self.symbols.push(Symbol {
                    name: label.text.to_string(),
                    kind: Kind::Label,
                    scope: entered.unwrap_or(scope),
                    place: label.span,
                    expansion: label.expansion,
                    declaration: format!("{}:", label.text),
                });
                self.labels
                    .entry(label.text.to_string())
                    .or_default()
                    .push(id);
                self.refer(label, id, true);
            }
            scopes.push(scope);
            if let Some(first) = line.tokens.first()
                && line.expansion == ExpansionId::ROOT
                && first.expansion == ExpansionId::ROOT
            {
                self.lines.push((first.span, scope));
            }
        }
        scopes
    }

    fn declare_names(&mut self, word: &str, arguments: &[Token], scope: usize, kind: Kind) {
        let mut scope = scope;
        let mut qualifiers = String::new();
        let mut declared = false;
        let mut depth = 0usize;
        for (at, token) in arguments.iter().enumerate() {
            if token.is("[") {
                depth += 1;
            } else if token.is("]") {
                depth = depth.saturating_sub(1);
            }
            if depth > 0 || token.kind != TokenKind::Ident {
                continue;
            }
            let lower = token.text.to_ascii_lowercase();
            let qualifies = matches!(
                lower.as_str(),
                "read" | "write" | "volatile" | "visible" | "remote" | "extern" | "global"
            );
            if qualifies && !declared && at + 1 < arguments.len() && kind != Kind::Import {
                if lower == "global" {
                    scope = 0;
                }
                qualifiers += &lower;
                qualifiers.push(' ');
                continue;
            }
            declared = true;
            let mut declaration = format!("{word} {qualifiers}{}", token.text);
            let rest = &arguments[at + 1..];
            if rest.first().is_some_and(|open| open.is("["))
                && let Some(close) = rest.iter().position(|token| token.is("]"))
            {
                declaration.extend(rest[..=close].iter().map(|token| &*token.text));
            }
            let names = if kind == Kind::Signal {
                &mut self.signals[scope]
            } else {
                &mut self.names[scope]
            };
            let known = names.get(&*token.text).copied();
            let id = known.unwrap_or(self.symbols.len());
            if known.is_none() {
                names.insert(token.text.to_string(), id);
                self.symbols.push(Symbol {
                    name: token.text.to_string(),
                    kind,
                    scope,
                    place: token.span,
                    expansion: token.expansion,
                    declaration,
                });
            } else if self.symbols[id].declaration != declaration {
                self.symbols[id].declaration += "\n";
                self.symbols[id].declaration += &declaration;
            }
            self.refer(token, id, true);
        }
    }

    fn refer(&mut self, token: &Token, symbol: usize, declares: bool) {
        self.references.push(Reference {
            span: token.span,
            expansion: token.expansion,
            symbol,
            declares,
        });
    }

    fn resolve(&mut self, lines: &[Line], scopes: &[usize], sources: &SourceMap) {
        for (line, &scope) in lines.iter().zip(scopes) {
            let (_, rest) = split_labels(&line.tokens);
            let Some(first) = rest.first() else { continue };
            let word = first.text.to_ascii_lowercase();
            if matches!(
                word.as_str(),
                ".reg" | ".sig" | ".local" | ".import_var" | ".import"
            ) {
                self.resolve_sizes(rest, scope, sources);
                continue;
            }
            let directive = word.starts_with('.');
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
                let keyword = !directive
                    && (depth == 0 || (!closed && depth == 1 && is_keyword(&word, operand)));
                let signal = wants_signal(&word, operand, &rest[..at]);
                if !keyword && let Some(symbol) = self.find(token, scope, signal, sources) {
                    self.refer(token, symbol, false);
                }
            }
        }
    }

    /// The names in the sizes of a declaration's arrays.
    fn resolve_sizes(&mut self, tokens: &[Token], scope: usize, sources: &SourceMap) {
        let mut depth = 0usize;
        for token in tokens {
            if token.is("[") {
                depth += 1;
            } else if token.is("]") {
                depth = depth.saturating_sub(1);
            } else if depth > 0
                && let Some(symbol) = self.find(token, scope, false, sources)
            {
                self.refer(token, symbol, false);
            }
        }
    }

    fn find(
        &self,
        token: &Token,
        scope: usize,
        signal: bool,
        sources: &SourceMap,
    ) -> Option<usize> {
        match token.kind {
            TokenKind::Ident => self.lookup(scope, &token.text, signal),
            TokenKind::Label => self.label(&token.text, token.expansion, scope, sources),
            _ => None,
        }
    }

    /// The register or signal of this name, from a scope outwards: one may have the
    /// name of the other, and what is wanted goes first.
    #[must_use]
    pub fn lookup(&self, scope: usize, name: &str, signal: bool) -> Option<usize> {
        let of = |names: &[BTreeMap<String, usize>]| {
            self.outwards(scope)
                .find_map(|scope| names[scope].get(name).copied())
        };
        if signal {
            of(&self.signals).or_else(|| of(&self.names))
        } else {
            of(&self.names).or_else(|| of(&self.signals))
        }
    }

    /// A scope and those around it.
    pub fn outwards(&self, scope: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(scope), |&scope| self.parents[scope])
    }

    /// The label that a use means: of the macro it stands in, or of one of
    /// those around it; several of one name are told apart by their scopes.
    #[must_use]
    pub fn label(
        &self,
        name: &str,
        expansion: ExpansionId,
        scope: usize,
        sources: &SourceMap,
    ) -> Option<usize> {
        let all = self.labels.get(name)?;
        let mut expansion = expansion;
        loop {
            let here: Vec<usize> = all
                .iter()
                .copied()
                .filter(|&id| self.symbols[id].expansion == expansion)
                .collect();
            match here.as_slice() {
                [] => {}
                [only] => return Some(*only),
                several => {
                    return self.outwards(scope).find_map(|scope| {
                        several
                            .iter()
                            .copied()
                            .find(|&id| self.symbols[id].scope == scope)
                    });
                }
            }
            if expansion == ExpansionId::ROOT {
                return None;
            }
            expansion = sources
                .expansion(expansion)
                .map_or(ExpansionId::ROOT, |used| used.parent);
        }
    }

    /// The places where a symbol is named.
    pub fn references_to(&self, symbol: usize) -> impl Iterator<Item = &Reference> {
        let all = self.references.iter();
        all.filter(move |reference| reference.symbol == symbol)
    }

    /// The references whose text holds a byte of a file, innermost text first.
    pub fn at(&self, span: Span) -> impl Iterator<Item = &Reference> {
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

    /// The scope in which a byte of a file stands, as far as the text stands in
    /// the program as it is.
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

    /// The symbols that can be named in a scope, inner ones first.
    pub fn visible(&self, scope: usize) -> impl Iterator<Item = &Symbol> {
        self.outwards(scope)
            .flat_map(|scope| {
                self.names[scope]
                    .values()
                    .chain(self.signals[scope].values())
            })
            .map(|&id| &self.symbols[id])
    }
}

/// Whether an operand is a word of the language, so that a register of the same
/// name is not meant.
fn is_keyword(mnemonic: &str, operand: usize) -> bool {
    match mnemonic {
        "alu" | "alu_shf" => operand == 2,
        "local_csr_rd" | "local_csr_wr" | "br_inp_state" | "br_!inp_state" | "crc_be"
        | "crc_le" => operand == 0,
        unit => operand == 0 && Unit::by_name(unit).is_some(),
    }
}

/// Whether a name stands where a signal is wanted: as an operand, in the brackets of
/// an optional token, or where its number is asked for.
fn wants_signal(word: &str, operand: usize, before: &[Token]) -> bool {
    let of = |name: &Token| {
        let name = name.text.to_ascii_lowercase();
        matches!(&*name, "sig_done" | "ctx_swap" | "signal" | "mask")
    };
    match word {
        "ctx_arb" | ".set_sig" | ".io_completed" => return true,
        // `br_!signal` is three tokens.
        "br_signal" | "br_" if operand == 0 => return true,
        _ => {}
    }
    match before {
        [.., address] if address.is("&") => true,
        [.., name, open] => (open.is("[") || open.is("(")) && of(name),
        _ => false,
    }
}

/// The labels before a statement, and the statement.
pub(super) fn split_labels(tokens: &[Token]) -> (Vec<&Token>, &[Token]) {
    let mut labels = Vec::new();
    let mut rest = tokens;
    while let [label, colon, after @ ..] = rest {
        if label.kind != TokenKind::Label || !colon.is(":") {
            break;
        }
        labels.push(label);
        rest = after;
    }
    (labels, rest)
}
