//! The preprocessor: `#` directives, macros and constant evaluation, on tokens.
//!
//! Every resulting token carries its source position and the macro expansions that it came from
//! ([`crate::source::Expansion`]). Work is bounded: nesting, lines executed and tokens made all
//! have limits far above any real program.

mod blocks;
mod budget;
mod conditions;
mod defines;
mod directives;
mod environment;
mod loops;
mod macros;
mod messages;
mod print;
mod quoted;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Includes;
use crate::LintLevel;
use crate::Options;
use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::directives::{DeclarationDirective, DirectiveName};
use crate::front::expression::Failure;
use crate::front::lexer::{HashWord, Interner, RawLine, invalid_number, lex};
use crate::front::token::{LogicalLine, Token, TokenKind, split_labels};
use crate::lints::{LintOverrides, Pragmas};
use crate::source::{ExpansionId, FileId, SourceMap, Span};

pub use print::print_preprocessed;

use conditions::Conditional;
use defines::Define;
use environment::Environment;
use macros::Macro;

/// Maximum nesting of macros, loops and included files together.
const MAX_DEPTH: usize = 200;
/// Divisor for the limits on the amount of work; the fuzzer would otherwise spend much time
/// reaching them.
const SCALE: usize = if cfg!(fuzzing) { 50 } else { 1 };
/// Lines that may be executed.
const MAX_LINES: usize = 500_000 / SCALE;
/// Files that may be included, each as often as it is: reading one takes longer than a line.
const MAX_INCLUDES: usize = 20_000 / SCALE;
/// Tokens that substitution, expansion and output may make.
const MAX_TOKENS: usize = 8_000_000 / SCALE;
/// Number of bytes, or of tokens or lines that are only passed over, that count as one token made.
const SKIPPED_PER_TOKEN: usize = 16;
/// Bytes kept for messages: the text of included files, each as often as it is included, the names
/// and arguments of all uses of macros and defines, and the messages themselves. Those of a real
/// program have a few megabytes.
const MAX_KEPT_BYTES: usize = (128 << 20) / SCALE;
/// Maximum number of tokens in a line.
const MAX_LINE_TOKENS: usize = 100_000;
/// Maximum size of a token made by substitution, in bytes.
const MAX_TOKEN_TEXT: usize = 65_536;
/// Number of errors after which the rest is not read.
const MAX_ERRORS: usize = 100;
/// Number of warnings and notes of each code after which the rest is dropped.
const MAX_REMARKS: usize = 10_000;

/// The output of the preprocessor.
#[derive(Clone, Debug, Default)]
pub struct Preprocessed {
    /// The statements.
    pub lines: Vec<LogicalLine>,
    /// Names of all `#macro`s, sorted: a statement with an unknown name may be a
    /// misspelt call.
    pub macros: Vec<String>,
    /// The warning levels set by `#pragma warning`.
    pub(crate) pragmas: Pragmas,
    /// Statements and directives, outside of macros, that conditions excluded; their contents were
    /// not examined.
    pub inactive: Vec<Span>,
}

/// Preprocesses the source that `includes` loads for `main`.
///
/// Errors are added to `diagnostics`; the lines are those that could be produced nonetheless.
pub fn preprocess(
    main: &str,
    includes: &dyn Includes,
    options: &Options,
    sources: &mut SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> Preprocessed {
    let mut preprocessor = Preprocessor {
        includes,
        sources,
        diagnostics,
        interner: Interner::default(),
        defines: FxHashMap::default(),
        macros: FxHashMap::default(),
        imports: FxHashSet::default(),
        lines: Vec::new(),
        paths: Vec::new(),
        depth: 0,
        executed: 0,
        included: 0,
        made: 0,
        kept: 0,
        errors: 0,
        remarks: FxHashMap::default(),
        stopped: false,
        leaving: false,
        switched: LintOverrides::default(),
        pragmas: Pragmas::default(),
        inactive: Vec::new(),
        reported: FxHashSet::default(),
        lexical: FxHashSet::default(),
        guessed: FxHashSet::default(),
        broken: None,
    };
    preprocessor.main(main, options);
    let mut macros: Vec<String> = preprocessor
        .macros
        .keys()
        .map(ToString::to_string)
        .collect();
    macros.sort_unstable();
    Preprocessed {
        lines: preprocessor.lines,
        macros,
        pragmas: preprocessor.pragmas,
        inactive: preprocessor.inactive,
    }
}

struct Preprocessor<'a> {
    includes: &'a dyn Includes,
    sources: &'a mut SourceMap,
    diagnostics: &'a mut Vec<Diagnostic>,
    interner: Interner,
    defines: FxHashMap<Rc<str>, Rc<Define>>,
    /// Macros by name; those with the same name differ in their number of parameters.
    macros: FxHashMap<Rc<str>, Vec<Rc<Macro>>>,
    /// Names declared by `.import_var` so far.
    imports: FxHashSet<Rc<str>>,
    lines: Vec<LogicalLine>,
    /// The open files, outermost first.
    paths: Vec<String>,
    depth: usize,
    executed: usize,
    included: usize,
    made: usize,
    kept: usize,
    errors: usize,
    /// Number of warnings and notes found, by code.
    remarks: FxHashMap<&'static str, usize>,
    /// Whether a limit was reached, so that all loops terminate.
    stopped: bool,
    /// Whether an `#exitm` was executed, so that the innermost macro terminates.
    leaving: bool,
    switched: LintOverrides,
    pragmas: Pragmas,
    inactive: Vec<Span>,
    reported: FxHashSet<(&'static str, Span, ExpansionId)>,
    /// Errors in lines as written that have been reported, regardless of how often the lines are
    /// used.
    lexical: FxHashSet<(&'static str, Span)>,
    /// Names for which a suggestion was sought. Each use of a macro repeats the same error; only
    /// the first message has the suggestion.
    guessed: FxHashSet<Span>,
    /// The error in a broken `#define` that the current expansion uses; the line is then dropped.
    broken: Option<Failure>,
}

impl Preprocessor<'_> {
    fn main(&mut self, main: &str, options: &Options) {
        let (path, text) = match self.includes.load(main, None) {
            Ok(found) => found,
            Err(why) => {
                let file = self.sources.add_file(main.to_owned(), String::new(), None);
                let span = Span { file, lo: 0, hi: 0 };
                self.report(
                    Diagnostic::error(
                        codes::INCLUDE_FAILED,
                        format!("cannot read `{main}`"),
                        span,
                        ExpansionId::ROOT,
                    )
                    .note(why),
                );
                return;
            }
        };
        let lines = self.read(&path, text, None);
        let plain = Environment::plain(ExpansionId::ROOT);
        if !options.defines.is_empty() {
            let text: String = options
                .defines
                .iter()
                .map(|(name, text)| format!("#define {name} {text}").replace('\n', " ") + "\n")
                .collect();
            let defines = self.read("<command line>", text, None);
            self.run(&defines, &plain);
        }
        self.paths.push(path);
        self.run(&lines, &plain);
        self.paths.pop();
    }

    fn read(&mut self, path: &str, text: String, from: Option<Span>) -> Vec<RawLine> {
        let file = FileId(self.sources.files().len() as u32);
        let lines = lex(&text, file, &mut self.interner);
        self.sources.add_file(path.to_owned(), text, from);
        lines
    }

    /// Executes the lines of a file, of a macro's body, or of one iteration of a loop.
    fn run(&mut self, lines: &[RawLine], environment: &Environment) {
        if self.depth >= MAX_DEPTH {
            if let Some(recursion) = self.recursion(environment.expansion) {
                self.report(recursion);
                self.stopped = true;
            }
            self.report_limit_in_lines(
                &format!("macros, loops and included files nest more than {MAX_DEPTH} deep"),
                lines,
                environment,
            );
            return;
        }
        self.depth += 1;
        let mut conditionals: Vec<Conditional> = Vec::new();
        let mut at = 0;
        while at < lines.len() && !self.stopped && !self.leaving {
            let line = &lines[at];
            self.executed += 1;
            if self.executed > MAX_LINES {
                self.report_limit_in_lines(
                    &format!("more than {MAX_LINES} lines were executed"),
                    &lines[at..],
                    environment,
                );
                break;
            }
            let live = conditionals.last().is_none_or(Conditional::is_live);
            // Errors in a define are reported where its name is used, and excluded text may contain
            // anything; but an unclosed comment swallows everything after it.
            let now = |error: &&Diagnostic| {
                live && !line.is_define() || error.code == codes::UNTERMINATED_COMMENT
            };
            for error in line.errors.iter().filter(now) {
                self.report_in(error, environment.expansion);
            }
            match &line.directive {
                Some((HashWord::Directive(directive), name)) if directive.is_conditional() => {
                    self.conditional(*directive, name, line, environment, &mut conditionals);
                    at += 1;
                }
                _ if !live => {
                    if environment.expansion == ExpansionId::ROOT {
                        self.inactive.extend(line.span());
                    }
                    at += 1;
                }
                Some((HashWord::Unknown, name)) => {
                    if !line.is_wrong() {
                        self.unknown_directive(name, environment);
                    }
                    at += 1;
                }
                Some((HashWord::Nothing, _)) => at += 1,
                Some((HashWord::Directive(directive), name)) => {
                    at = self.directive(*directive, name, lines, at, environment);
                }
                None => {
                    if !line.is_wrong() {
                        let tokens = self.substitute(&line.tokens, environment);
                        self.statement(tokens, environment.expansion);
                    }
                    at += 1;
                }
            }
        }
        if !self.stopped && !self.leaving {
            // All of these blocks are open at once, so the same comment swallowed their ends.
            let comment = conditionals.first().and_then(|_| open_comment(lines));
            for open in &conditionals {
                let error = Diagnostic::error(
                    codes::UNTERMINATED_CONDITIONAL,
                    format!("this #{} has no #endif", open.opener.text),
                    open.opener.span,
                    environment.expansion,
                )
                .label("opened here")
                .help("close it with #endif in the same file, macro or loop");
                self.unterminated(comment, environment, error);
            }
        }
        self.depth -= 1;
    }

    /// Reports a block without an end. If an unclosed comment swallowed the end, only that comment
    /// is reported.
    fn unterminated(
        &mut self,
        comment: Option<&Diagnostic>,
        environment: &Environment,
        diagnostic: Diagnostic,
    ) {
        match comment {
            Some(comment) => self.report_in(comment, environment.expansion),
            None => self.report(diagnostic),
        }
    }

    /// Returns the error for a macro that uses itself, reported once at the outermost use, since
    /// all paths back into it are alike.
    fn recursion(&self, innermost: ExpansionId) -> Option<Diagnostic> {
        let mut uses: Vec<_> = self.sources.expansion_chain(innermost).collect();
        uses.reverse();
        let (first, again) = uses.iter().enumerate().find_map(|(at, used)| {
            let before = uses[..at].iter().position(|it| it.name == used.name)?;
            Some((before, at))
        })?;
        let outermost = uses.first()?;
        let names: Vec<String> = uses[..=again]
            .iter()
            .map(|used| format!("`{}`", used.name))
            .collect();
        let name = &uses[again].name;
        let mut error = Diagnostic::error(
            codes::EXPANSION_LIMIT,
            format!("macro `{name}` uses itself endlessly"),
            outermost.call,
            ExpansionId::ROOT,
        )
        .label("this use never ends");
        for used in &uses[first + 1..=again] {
            error = error.also(
                used.call,
                ExpansionId::ROOT,
                format!("`{}` is used again here", used.name),
            );
        }
        Some(
            error
                .note(format!("Each use leads to the next: {}.", names.join(" > ")))
                .help("end it with a condition: a parameter that counts, `#if` and `#exitm`, or write a loop with `#while`"),
        )
    }

    /// Adds a diagnostic unless the same code was already reported at the same place.
    fn report(&mut self, diagnostic: Diagnostic) {
        // Anything reported after a limit was reached is only a consequence.
        if self.stopped {
            return;
        }
        let mut diagnostic = diagnostic;
        if diagnostic.level == Severity::Warning {
            match self.switched.level(diagnostic.code) {
                Some(LintLevel::Allow) => return,
                Some(LintLevel::Deny) => diagnostic.level = Severity::Error,
                Some(LintLevel::Warn) | None => {}
            }
        }
        let place = &diagnostic.primary;
        if !self
            .reported
            .insert((diagnostic.code, place.span, place.expansion))
        {
            return;
        }
        let (level, span, expansion) = (diagnostic.level, place.span, place.expansion);
        if level != Severity::Error && !self.charge_remark(&diagnostic) {
            return;
        }
        self.diagnostics.push(diagnostic);
        if level == Severity::Error {
            self.errors += 1;
            if self.errors == MAX_ERRORS {
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::TOO_MANY_ERRORS,
                        format!("{MAX_ERRORS} errors were found; the rest is not read"),
                        span,
                        expansion,
                    )
                    .help("fix the first ones and try again"),
                );
                self.stopped = true;
            }
        }
    }

    /// Whether this code was already reported at this place. Loops repeat the same error in every
    /// iteration, and searching for suggestions each time would dominate the run time.
    fn already_reported(&self, code: &'static str, at: &Token) -> bool {
        self.stopped || self.reported.contains(&(code, at.span, at.expansion))
    }

    /// Reports an error in a line as written, with the first use that led to it.
    fn report_in(&mut self, found: &Diagnostic, expansion: ExpansionId) {
        if !self.lexical.insert((found.code, found.primary.span)) {
            return;
        }
        let mut diagnostic = found.clone();
        diagnostic.primary.expansion = expansion;
        for label in &mut diagnostic.secondary {
            label.expansion = expansion;
        }
        self.report(diagnostic);
    }

    /// Handles a line that is not a directive: a macro call, or a statement for the parser.
    fn statement(&mut self, mut tokens: Vec<Token>, expansion: ExpansionId) {
        if self.stopped {
            return;
        }
        let (labels, statement) = split_labels(&tokens);
        let labels = labels.len();
        if self.is_call(statement) {
            let call = tokens.split_off(labels);
            let Ok(label) = self.expand(tokens) else {
                return;
            };
            self.emit(label, expansion);
            self.call(&call, expansion);
            return;
        }
        if !self.needs_expansion(&tokens) {
            let error = self.call_without_brackets(statement);
            if let Some(error) = error.or_else(|| self.invalid_pasted_token(&tokens)) {
                self.report(error);
                tokens.truncate(labels);
            }
            self.emit(tokens, expansion);
            return;
        }
        // An unusable line keeps its labels, for branches to them.
        let kept = tokens[..labels].to_vec();
        let Ok(mut tokens) = self.expand(tokens) else {
            self.emit(kept, expansion);
            return;
        };
        let (labels, statement) = split_labels(&tokens);
        let labels = labels.len();
        if self.is_call(statement) {
            let call = tokens.split_off(labels);
            self.emit(tokens, expansion);
            self.call(&call, expansion);
            return;
        }
        if let Some(error) = self.call_without_brackets(statement) {
            self.report(error);
            self.emit(kept, expansion);
            return;
        }
        if let Some(open) = open_bracket_or_comma(&tokens) {
            let error = Diagnostic::error(
                codes::UNCLOSED_BRACKET,
                format!(
                    "after macro expansion the line ends before `{}` is closed",
                    open.text
                ),
                open.span,
                open.expansion,
            )
            .help("a #define must contain as many closing as opening brackets");
            self.report(error);
            return;
        }
        if let Some(error) = self.invalid_pasted_token(&tokens) {
            self.report(error);
            self.emit(kept, expansion);
            return;
        }
        self.emit(tokens, expansion);
    }

    /// Returns the error for a token that pasting has made and no source may contain; it may have
    /// come through a loop or an argument.
    fn invalid_pasted_token(&self, tokens: &[Token]) -> Option<Diagnostic> {
        let mut before = None;
        tokens.iter().find_map(|token| {
            // After these it is an argument, which a macro may append to a name.
            let argument = before.is_some_and(|it: &Token| it.is("(") || it.is(","));
            before = Some(token);
            let error = if token.is("#") && !argument {
                let message = "after macro expansion `#` does not end a label here";
                let code = codes::INVALID_CHARACTER;
                Diagnostic::error(code, message, token.span, token.expansion)
                    .help("`##` and `/**/` join it to a name or a number before it")
            } else {
                invalid_number(token)?
            };
            // A token written like this in the source is reported there.
            let known = self.lexical.contains(&(error.code, token.span));
            (!known).then_some(error)
        })
    }

    fn emit(&mut self, tokens: Vec<Token>, expansion: ExpansionId) {
        let Some(first) = tokens.first() else {
            return;
        };
        let imports = DirectiveName::Declaration(DeclarationDirective::ImportVar);
        if DirectiveName::parse(&first.text).is_some_and(|(name, _)| name == imports) {
            let names = tokens[1..].iter().filter(|t| t.kind == TokenKind::Ident);
            self.imports.extend(names.map(|name| name.text.clone()));
        }
        let first = first.clone();
        // The parser copies the texts.
        let texts: usize = tokens
            .iter()
            .map(|token| token.text.len() / SKIPPED_PER_TOKEN)
            .sum();
        if self.charge(tokens.len() + texts, tokens.len(), &first) {
            self.pragmas.note(&tokens, &self.switched);
            self.lines.push(LogicalLine { tokens, expansion });
        }
    }
}

/// Returns the unclosed comment in these lines, which swallows everything after it.
fn open_comment(lines: &[RawLine]) -> Option<&Diagnostic> {
    { lines.iter().rev() }
        .flat_map(|line| &line.errors)
        .find(|error| error.code == codes::UNTERMINATED_COMMENT)
}

/// Returns the bracket or comma that would make the next line a continuation of this one.
fn open_bracket_or_comma(tokens: &[Token]) -> Option<&Token> {
    let mut open: Vec<&Token> = Vec::new();
    for token in tokens.iter().filter(|t| t.kind == TokenKind::Punct) {
        match &*token.text {
            "(" | "[" | "{" => open.push(token),
            ")" | "]" | "}" => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop().or_else(|| tokens.last().filter(|t| t.is(",")))
}

#[cfg(test)]
mod tests;
