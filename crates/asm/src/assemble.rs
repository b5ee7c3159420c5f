//! The assembler's pipeline, from source text to image.

use crate::Assembly;
use crate::Includes;
use crate::Options;
use crate::back::allocate::{AllocationProblem, Assignment, allocate};
use crate::back::emit::Emitter;
use crate::back::live_ranges::LiveRanges;
use crate::back::spill;
use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::front::lower::lower;
use crate::front::parse::parse;
use crate::front::preprocess::preprocess;
use crate::front::raw_word;
use crate::front::statement::SourcePlace;
use crate::front::synonyms;
use crate::lints::{self, Pragmas};
use crate::middle::check;
use crate::middle::declare::declare;
use crate::middle::flow::{self, FlowGraph};
use crate::middle::groups::Groups;
use crate::middle::hazards;
use crate::middle::labels::Labels;
use crate::middle::liveness::{Liveness, analyse};
use crate::middle::program::{Item, LabelDefinition, Side};
use crate::middle::scope::Symbols;
use crate::middle::select::{SelectedProgram, SelectionInputs, select};
use crate::middle::webs;
use crate::source::{ExpansionId, FileId, SourceMap, Span};
use npsim_image::{
    Image, ImageExpansion, ImageScope, LabelSymbol, Origin, RegisterSymbol, SignalSymbol, Synonym,
};
use npsim_isa::Target;

/// Assembles the program that `includes` loads for `main`.
///
/// An image is returned unless there is an error; the diagnostics hold all findings.
#[must_use]
pub fn assemble(main: &str, includes: &dyn Includes, options: &Options) -> Assembly {
    let mut sources = SourceMap::default();
    let mut diagnostics = Vec::new();
    let mut pragmas = Pragmas::default();
    let image = run(
        main,
        includes,
        options,
        &mut sources,
        &mut pragmas,
        &mut diagnostics,
    );
    lints::apply(&mut diagnostics, &options.lints, &pragmas);
    // Order by the position in the text outside of all macros.
    diagnostics.sort_by_key(|d| {
        let outermost = sources.expansion_chain(d.primary.expansion).last();
        let span = outermost.map_or(d.primary.span, |used| used.call);
        (span.file, span.lo)
    });
    let failed = diagnostics.iter().any(|d| d.level == Severity::Error);
    Assembly {
        image: image.filter(|_| !failed),
        diagnostics,
        sources,
    }
}

/// A program whose symbols all have register or signal numbers.
pub struct AllocatedProgram {
    /// Instructions, labels and the facts stated by directives.
    pub selection: SelectedProgram,
    /// Variables and signals.
    pub symbols: Symbols,
    /// Control flow.
    pub flow: FlowGraph,
    /// Ordered transfer registers.
    pub groups: Groups,
    /// Data flow.
    pub liveness: Liveness,
    /// The allocated numbers.
    pub assignment: Assignment,
    /// Operand synonyms.
    pub synonyms: Vec<synonyms::Synonym>,
}

fn run(
    main: &str,
    includes: &dyn Includes,
    options: &Options,
    sources: &mut SourceMap,
    pragmas: &mut Pragmas,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Image> {
    let placed = place(main, includes, options, sources, pragmas, diagnostics)?;
    let labels = Labels::new(
        &placed.selection.items,
        &placed.selection.labels,
        &placed.symbols,
        sources,
        diagnostics,
    );
    let emitter = Emitter::new(
        &placed.selection.items,
        &placed.symbols,
        &labels,
        &placed.flow,
        &placed.assignment,
        Target {
            generation: options.generation,
            contexts: placed.selection.contexts,
        },
    );
    let (words, imports) = emitter.words(diagnostics);
    let initial = placed.selection.initial.iter();
    let initial_values =
        initial.filter_map(|it| emitter.initial(it, &options.imports, diagnostics));
    let initial_values: Vec<_> = initial_values.collect();
    let longwords = placed.selection.initial_memory.iter();
    let initial_memory =
        longwords.filter_map(|it| emitter.longword(it, &options.imports, diagnostics));
    let initial_memory = initial_memory.collect();
    let mut image = Image {
        name: sources
            .files()
            .first()
            .map_or_else(|| main.to_owned(), |file| file.path.clone()),
        generation: options.generation,
        contexts: placed.selection.contexts,
        nn_mode: placed.selection.nn_mode,
        words,
        imports,
        initial_values,
        initial_memory,
        ..Image::default()
    };
    if let Err(error) = image.link(&options.imports) {
        let micro = placed.selection.items.iter().filter_map(Item::micro);
        if let Some(micro) = micro.clone().nth(error.address as usize) {
            diagnostics.push(
                micro
                    .place_of(npsim_isa::OperandRole::Value)
                    .error(
                        codes::IMPORT_VALUE,
                        format!(
                            "{:#x} of the import `{}` {}",
                            error.value, error.name, error.reason
                        ),
                    )
                    .help("load a large value with `immed[reg, (NAME & 0xffff)]` and `immed_w1[reg, (NAME >> 16)]`"),
            );
        }
    }
    origins(&mut image, &placed, sources);
    symbol_tables(&mut image, &placed, &labels);
    Some(image)
}

/// Runs all stages up to allocation; `None` if there is any error.
pub fn place(
    main: &str,
    includes: &dyn Includes,
    options: &Options,
    sources: &mut SourceMap,
    pragmas: &mut Pragmas,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<AllocatedProgram> {
    let preprocessed = preprocess(main, includes, options, sources, diagnostics);
    *pragmas = preprocessed.pragmas;
    // A missing include would only cause follow-up messages for everything that uses it, and an
    // endless expansion yields too much text.
    let cut = [codes::INCLUDE_FAILED, codes::EXPANSION_LIMIT];
    if diagnostics.iter().any(|d| cut.contains(&d.code)) {
        return None;
    }
    let statements = parse(&preprocessed.lines, diagnostics);
    let (mut statements, synonyms) = synonyms::replace(statements, diagnostics);
    raw_word::replace(&mut statements, options.generation, diagnostics);
    let statements = lower(statements, diagnostics);
    let (mut symbols, scopes) = declare(&statements, diagnostics);
    let mut selection = select(
        &statements,
        &scopes,
        &mut symbols,
        &preprocessed.macros,
        SelectionInputs {
            generation: options.generation,
            memories: &options.memories,
            sources,
        },
        diagnostics,
    );
    check_size(&selection, options, diagnostics)?;
    check_any(
        &selection,
        !preprocessed.macros.is_empty(),
        sources,
        diagnostics,
    )?;
    check::pair_signals(&selection.items, &mut symbols, diagnostics);
    let (flow, groups, liveness) =
        analyse_program(&mut selection, &mut symbols, options, sources, diagnostics)?;
    check_size(&selection, options, diagnostics)?;
    check::neighbours(&selection.items, &flow, diagnostics);
    check::awaited(&selection.items, &symbols, &liveness, diagnostics);
    check::counts(&selection.items, &flow, diagnostics);
    check::unsignalled_commands(&selection.items, diagnostics);
    check::names(&selection.items, &flow, &symbols, &liveness, diagnostics);
    check::end(&selection.items, &flow, diagnostics);
    hazards::check(&selection.items, &flow, &symbols, &groups, diagnostics);
    if diagnostics.iter().any(|d| d.level == Severity::Error) {
        return None;
    }
    let assignment = allocate(
        &problem(&selection, &symbols, &liveness, &groups),
        diagnostics,
    );
    if diagnostics.iter().any(|d| d.level == Severity::Error) {
        return None;
    }
    Some(AllocatedProgram {
        selection,
        symbols,
        flow,
        groups,
        liveness,
        assignment,
        synonyms,
    })
}

/// Maximum number of rounds of inserting copies. Each round resolves at least one conflict in every
/// group of names that still has one.
const SPILL_ROUNDS: usize = 100;

/// Computes control flow, ordered registers and data flow, after splitting names into webs and
/// inserting any copies that are requested.
fn analyse_program(
    selection: &mut SelectedProgram,
    symbols: &mut Symbols,
    options: &Options,
    sources: &SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(FlowGraph, Groups, Liveness)> {
    // Branches to bare addresses would miss their targets after an insertion.
    let movable = !selection
        .items
        .iter()
        .filter_map(Item::micro)
        .flat_map(|micro| micro.target.iter().chain(&micro.targets))
        .any(|token| {
            crate::middle::scope::physical_label(&token.text).is_some()
                && !selection
                    .labels
                    .iter()
                    .any(|label| label.token.text == token.text)
        });
    for round in 0.. {
        let labels = Labels::new(
            &selection.items,
            &selection.labels,
            symbols,
            sources,
            diagnostics,
        );
        if round == 0 {
            labels.addresses_like_labels(&selection.items, diagnostics);
        }
        let flow = flow::build(&selection.items, &labels, diagnostics);
        let groups = Groups::new(symbols, &selection.orders, diagnostics);
        groups.check(&selection.items, symbols, diagnostics);
        // Further messages about a faulty program would only hide the important ones.
        if diagnostics.iter().any(|d| d.level == Severity::Error) {
            return None;
        }
        if round == 0 {
            webs::split(&mut selection.items, &flow, symbols);
        }
        let groups = Groups::new(symbols, &selection.orders, diagnostics);
        let liveness = analyse(&selection.items, &flow, symbols, &groups);
        let copies = if options.spill_moves && movable && round < SPILL_ROUNDS {
            spill::plan(&problem(selection, symbols, &liveness, &groups))
        } else {
            Vec::new()
        };
        if copies.is_empty() {
            return Some((flow, groups, liveness));
        }
        spill::insert(&copies, selection, symbols, diagnostics);
        // Copies of copies could otherwise grow from round to round.
        check_size(selection, options, diagnostics)?;
    }
    None
}

fn problem<'a>(
    selection: &'a SelectedProgram,
    symbols: &'a Symbols,
    liveness: &'a Liveness,
    groups: &'a Groups,
) -> AllocationProblem<'a> {
    AllocationProblem {
        items: &selection.items,
        symbols,
        liveness,
        groups,
        contexts: selection.contexts,
        physical: &selection.physical,
        physical_signals: &selection.physical_signals,
    }
}

fn check_size(
    selection: &SelectedProgram,
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<()> {
    let micros = || selection.items.iter().filter_map(Item::micro);
    let count = micros().count();
    let limit = options.control_store_words.min(8192);
    if count <= limit {
        return Some(());
    }
    if let Some(first) = micros().nth(limit) {
        diagnostics.push(
            first
                .place
                .error(
                    codes::PROGRAM_TOO_LONG,
                    format!("the program has {count} words, the control store {limit}"),
                )
                .label("the first instruction that does not fit")
                .help("split the program over two microengines, or use loops instead of unrolled code"),
        );
    }
    None
}

/// Rejects a program without words, which control would run off immediately.
fn check_any(
    selection: &SelectedProgram,
    has_macros: bool,
    sources: &SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<()> {
    if selection.items.iter().any(|item| item.micro().is_some()) {
        return Some(());
    }
    let failed = diagnostics.iter().any(|d| d.level == Severity::Error);
    if let Some(file) = sources.files().first().filter(|_| !failed) {
        let place = Diagnostic::error(
            codes::EMPTY_PROGRAM,
            format!("`{}` has no instruction", file.path),
            Span {
                file: crate::source::FileId(0),
                lo: 0,
                hi: 0,
            },
            ExpansionId::ROOT,
        );
        let place = place.note(
            "Directives, macro definitions and lines excluded by a condition produce no words.",
        );
        diagnostics.push(if has_macros {
            // A file of macros only is not a mistake, but yields no image.
            Diagnostic {
                level: Severity::Note,
                ..place.help("include it in a program")
            }
        } else {
            place.help(
                "write at least `ctx_arb[kill]`, or look for an #if that excludes the program",
            )
        });
    }
    None
}

/// Fills in the origins of words, expansions and scopes, and the boundaries of statements.
fn origins(image: &mut Image, placed: &AllocatedProgram, sources: &SourceMap) {
    image.files = sources
        .files()
        .iter()
        .map(|file| file.path.clone())
        .collect();
    let mut origin = |span: Span, expansion: ExpansionId| {
        let (path, line, column) = sources.presumed_location(span);
        let known = image.files.iter().position(|file| file == path);
        let file = known.unwrap_or_else(|| {
            image.files.push(path.to_owned());
            image.files.len() - 1
        });
        Origin {
            file: file as u32,
            line,
            column,
            // Expansion n of the source map is entry n - 1 of the image.
            expansion: expansion.0.checked_sub(1),
        }
    };
    image.expansions = sources
        .expansions()
        .iter()
        .map(|used| ImageExpansion {
            name: used.name.clone(),
            call: origin(used.call, used.parent),
            arguments: used.arguments.clone(),
        })
        .collect();
    // The file's own scope reaches from the start of the main source to its end.
    let whole = sources.files().first().map_or(0, |file| file.text.len());
    let mut edge = |place: Option<SourcePlace>, at: usize| {
        let main = Span {
            file: FileId(0),
            lo: at as u32,
            hi: at as u32,
        };
        let (span, expansion) = place.map_or((main, ExpansionId::ROOT), |place| {
            (place.span, place.expansion)
        });
        origin(span, expansion)
    };
    let scopes = placed.symbols.scopes.iter();
    image.scopes = scopes
        .map(|scope| ImageScope {
            parent: scope.parent.map(|parent| parent as u32),
            begin: edge(scope.begin, 0),
            end: edge(scope.end, whole),
        })
        .collect();
    image.synonyms = { placed.synonyms.iter() }
        .map(|it| Synonym {
            name: it.name.clone(),
            scope: it.scope as u32,
            operand: it.operand.clone(),
            origin: origin(it.place.span, it.place.expansion),
        })
        .collect();
    let micros = || placed.selection.items.iter().filter_map(Item::micro);
    image.origins = micros()
        .map(|micro| origin(micro.place.span, micro.place.expansion))
        .collect();
    image.word_scopes = micros().map(|micro| micro.scope as u32).collect();
    let mut last = None;
    image.statements = (0..)
        .zip(micros())
        .filter(|(_, micro)| last.replace(micro.statement) != Some(micro.statement))
        .map(|(address, _)| address)
        .collect();
}

/// Returns the name of a label in the image: labels of macros get the number of their expansion.
fn label_name(label: &LabelDefinition) -> String {
    let name = label.token.text.trim_end_matches('#');
    if SourcePlace::of(&label.token).expansion == ExpansionId::ROOT {
        name.to_owned()
    } else {
        format!("{name}.{}", label.token.expansion.0)
    }
}

/// Fills the image's tables of labels, registers and signals: the names shown by debuggers, faults
/// and profiles. A declared name that never got a number has no entry.
///
/// Labels are sorted by address, the order in `.npi` files. A name may share its register with
/// others; its live ranges tell when the register belongs to it (`back/live_ranges.rs`).
fn symbol_tables(image: &mut Image, placed: &AllocatedProgram, labels: &Labels<'_>) {
    let AllocatedProgram {
        selection,
        symbols,
        assignment,
        ..
    } = placed;
    let mut live = LiveRanges::new(&selection.items, symbols, &placed.groups, &placed.liveness);
    image.labels = selection
        .labels
        .iter()
        .map(|label| LabelSymbol {
            name: label_name(label),
            address: labels.address(label.item),
        })
        .collect();
    image.labels.sort_by_key(|label| label.address);
    let registers = symbols.variables.iter().zip(&assignment.registers);
    for (id, (variable, register)) in registers.enumerate() {
        if let Some(operand) = *register {
            image.registers.push(RegisterSymbol {
                name: variable.name.clone(),
                scope: variable.scope as u32,
                operand,
                direction: variable.direction,
                live: live.take(id, Side::In),
                live_out: live.take(id, Side::Out),
            });
        }
    }
    let signals = symbols.signals.iter().zip(&assignment.signals);
    for ((signal, number), live) in signals.zip(live.signals) {
        if let Some(number) = *number {
            image.signals.push(SignalSymbol {
                name: signal.name.clone(),
                scope: signal.scope as u32,
                number,
                live,
            });
        }
    }
}
