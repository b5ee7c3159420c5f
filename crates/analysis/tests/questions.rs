//! Queries about sources as in a program that embeds the analysis: by bytes and paths.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use npsim_analysis::{
    Completion, Edit, ItemKind, NameKind, Settings, Severity, Spot, SymbolKind, WordKind, Workspace,
};

const FILE: &str = "/nowhere/count.uc";
const SOURCE: &str = "\
; add(to, by)
;   Adds.
#macro add(to, by)
alu[to, to, +, by]
#endm
.reg total step
immed[total, 1]
immed[step, 2]
add(total, step)
again#: br[again#]
";

/// A workspace that holds these texts and no files.
fn workspace(texts: &[(&str, &str)]) -> Workspace {
    let mut workspace = Workspace::new(Vec::new(), Settings::default());
    for (path, text) in texts {
        workspace.open(Path::new(path), (*text).to_owned());
    }
    workspace.assemble();
    workspace
}

/// The position of a text in a file, plus an offset in bytes.
fn spot(workspace: &Workspace, path: &str, mark: &str, on: usize) -> Spot {
    let text = workspace.text(Path::new(path)).expect("the text");
    let at = text.find(mark).expect("the mark");
    workspace.spot(Path::new(path), at + on).expect("a spot")
}

/// The texts after edits that do not overlap.
fn edited(edits: &[Edit]) -> BTreeMap<PathBuf, String> {
    let mut texts = BTreeMap::new();
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| edit.place.range.start);
    for edit in sorted.into_iter().rev() {
        let text = texts
            .entry(edit.place.path.clone())
            .or_insert_with(|| edit.place.text.to_string());
        text.replace_range(edit.place.range.clone(), &edit.text);
    }
    texts
}

#[test]
fn diagnostics_have_positions_and_fixes() {
    let broken = SOURCE.replace(".reg total step", ".reg total");
    let workspace = workspace(&[(FILE, &broken)]);
    let found = workspace.diagnostics();
    let first = found.first().expect("a message");
    assert_eq!((first.severity, first.place.line()), (Severity::Error, 8));
    assert_eq!(&first.place.text[first.place.range.clone()], "step");
    let actions = workspace.actions(Path::new(FILE), &first.place.range);
    let declare = actions.iter().find(|it| it.title == "declare `.reg step`");
    let texts = edited(&declare.expect("an action").edits);
    let mended = &texts[Path::new(FILE)];
    let workspace = self::workspace(&[(FILE, mended)]);
    assert_eq!(workspace.diagnostics(), [], "{mended}");
}

#[test]
fn warning_on_an_unterminated_last_line_can_be_silenced() {
    let text = "again#: br[again#]\nnop";
    let workspace = workspace(&[(FILE, text)]);
    let found = workspace.diagnostics();
    let warning = found.iter().find(|it| it.severity == Severity::Warning);
    let range = &warning.expect("a warning").place.range;
    let actions = workspace.actions(Path::new(FILE), range);
    let silence = actions.iter().find(|it| it.title.starts_with("silence"));
    let texts = edited(&silence.expect("an action").edits);
    let silent = self::workspace(&[(FILE, &texts[Path::new(FILE)])]);
    assert_eq!(silent.diagnostics(), [], "{texts:?}");
}

/// The text after the action whose title begins with the given text; `None` if it is not offered.
fn text_after_action(text: &str, title: &str) -> Option<String> {
    let workspace = workspace(&[(FILE, text)]);
    let found = workspace.actions(Path::new(FILE), &(0..text.len()));
    let action = found.iter().find(|it| it.title.starts_with(title))?;
    edited(&action.edits).remove(Path::new(FILE))
}

#[test]
fn unused_declarations_can_be_removed() {
    // The rest uses `b` and `t`, and the same text without the declaration of `x` is wanted.
    let rest = ".reg b\n.sig t\nimmed[b, 1]\nalu[--, --, B, b]\nctx_arb[t]\ne#: br[e#]\n";
    for (declared, wanted) in [
        (".reg x ; a counter\n", ""),
        ("    .sig volatile x\n", ""),
        ("begin#: .reg x\n", "begin#: \n"),
        (".reg x /* for\nlater */\n", " /* for\nlater */\n"),
        (
            "#macro m()\n    .reg x\n    nop\n#endm\nm()\nm()\n",
            "#macro m()\n    nop\n#endm\nm()\nm()\n",
        ),
    ] {
        let (text, wanted) = (format!("{declared}{rest}"), format!("{wanted}{rest}"));
        assert_eq!(
            text_after_action(&text, "remove the declaration of `x`"),
            Some(wanted)
        );
    }
    let of_several = ["x, y, z[2]", "y, x z[2]", "y, z[2] x", "y, z[2], x[1 + 1]"];
    for (names, wanted) in of_several
        .iter()
        .zip(["y, z[2]", "y, z[2]", "y, z[2]", "y, z[2]"])
    {
        let text =
            |names: &str| format!(".begin\n.reg volatile {names}\nimmed[y, 1]\n.end\n{rest}");
        assert_eq!(
            text_after_action(&text(names), "remove the declaration of `x`"),
            Some(text(wanted))
        );
    }
    let local = |names: &str| format!(".local{names}\nnop\n.endlocal\n{rest}");
    assert_eq!(
        text_after_action(&local(" x"), "remove the declaration"),
        Some(local(""))
    );
}

#[test]
fn declarations_needed_by_one_macro_use_are_kept() {
    let text = "#macro m(n)\n.begin\n.reg x\n#if (n)\nimmed[x, 1]\nalu[--, --, B, x]\n#endif\nnop\n.end\n#endm\n\
                m(0)\nm(1)\ne#: br[e#]\n";
    assert!(text_after_action(text, "silence `unused-register`").is_some());
    assert_eq!(text_after_action(text, "remove"), None);
    assert!(text_after_action(&text.replace("m(1)", "m(0)"), "remove").is_some());
    // A name passed to a macro is not declared where it is written.
    let given = "#macro m(n)\n.reg n\nnop\n#endm\nm(x)\ne#: br[e#]\n";
    assert!(text_after_action(given, "silence `unused-register`").is_some());
    assert_eq!(text_after_action(given, "remove"), None);
}

#[test]
fn invalid_context_counts_are_corrected() {
    let text = |contexts: &str| format!(".num_contexts {contexts}\ne#: br[e#]\n");
    for (wrong, right) in [("1", "4"), ("5", "8"), ("2 + 1", "4"), ("0x10", "8")] {
        let title = format!("write `.num_contexts {right}`");
        assert_eq!(
            text_after_action(&text(wrong), &title),
            Some(text(right)),
            "{wrong}"
        );
    }
    let defined = text_after_action(&format!("#define N 1\n{}", text("N")), "write");
    let right = [
        format!("#define N 4\n{}", text("N")),
        format!("#define N 1\n{}", text("4")),
    ];
    assert!(
        defined.as_ref().is_some_and(|it| right.contains(it)),
        "{defined:?}"
    );
}

#[test]
fn hover_text_follows_edits() {
    let mut workspace = workspace(&[(FILE, SOURCE)]);
    let hover = |workspace: &Workspace, mark, on| {
        let spot = spot(workspace, FILE, mark, on);
        workspace.hover(&spot).map(|hover| hover.text)
    };
    let total = hover(&workspace, "total, 1", 0).expect("a meaning");
    assert!(total.contains("register: `total` is "), "{total}");
    assert!(total.contains("(file:///nowhere/count.uc#L6)"), "{total}");
    let add = hover(&workspace, "add(total", 0).expect("a meaning");
    assert!(add.contains("#macro add(to, by)") && add.contains("Adds."));
    workspace.change(Path::new(FILE), SOURCE.replace("Adds.", "Sums up."));
    workspace.assemble();
    let add = hover(&workspace, "add(total", 0).expect("a meaning");
    assert!(add.contains("Sums up."), "{add}");
    workspace.close(Path::new(FILE));
    workspace.assemble();
    assert!(workspace.text(Path::new(FILE)).is_none());
    assert_eq!(workspace.diagnostics(), []);
}

#[test]
fn completion_replaces_the_typed_prefix() {
    let workspace = workspace(&[(FILE, SOURCE)]);
    let spot = spot(&workspace, FILE, "total, 1", 3);
    let Completion { typed, items } = workspace.completion(&spot);
    assert_eq!(&SOURCE[typed], "tot");
    let step = items.iter().find(|it| it.label == "step").expect("step");
    assert_eq!(step.kind, ItemKind::Name(NameKind::Register));
}

#[test]
fn names_can_be_navigated_and_renamed() {
    let workspace = workspace(&[(FILE, SOURCE)]);
    let spot = spot(&workspace, FILE, "step, 2", 1);
    let definition = workspace.definition(&spot);
    assert_eq!(definition.len(), 1);
    assert_eq!((definition[0].line(), definition[0].range.len()), (6, 4));
    assert_eq!(workspace.references(&spot).len(), 3);
    let uses = workspace.uses(&spot);
    assert_eq!(uses.iter().filter(|it| it.declares).count(), 1);
    let edits = workspace.rename(&spot, "width").expect("edits");
    assert_eq!(
        edited(&edits)[Path::new(FILE)],
        SOURCE.replace("step", "width")
    );
    let taken = workspace.rename(&spot, "total").expect_err("a reason");
    assert_eq!(taken, "`total` already exists");
}

#[test]
fn outline_folds_tokens_and_layout_are_provided() {
    let workspace = workspace(&[(FILE, SOURCE)]);
    let path = Path::new(FILE);
    let outline = workspace.outline(path).expect("an outline");
    let names: Vec<_> = outline.iter().map(|it| (it.kind, &*it.name)).collect();
    let register = SymbolKind::Name(NameKind::Register);
    let label = SymbolKind::Name(NameKind::Label);
    assert_eq!(
        names,
        [
            (SymbolKind::Macro, "add"),
            (register, "total"),
            (register, "step"),
            (label, "again#")
        ]
    );
    let folds = workspace.folds(path).expect("folds");
    let lines: Vec<_> = folds
        .iter()
        .map(|it| (it.lines.clone(), it.comment))
        .collect();
    assert_eq!(lines, [(0..=1, true), (2..=3, false)]);
    let words = workspace.words(path).expect("words");
    let kind = |text: &str| {
        let word = words.iter().find(|it| &SOURCE[it.range.clone()] == text);
        word.map(|it| (it.kind, it.declares))
    };
    assert_eq!(kind("alu"), Some((WordKind::Instruction, false)));
    assert_eq!(kind("by"), Some((WordKind::Parameter, false)));
    assert_eq!(kind("total"), Some((WordKind::Register, true)));
    let edits = workspace.layout(path, None).expect("edits");
    let laid_out = &edited(&edits)[path];
    assert!(laid_out.contains("\n    immed[total, 1]\n"), "{laid_out}");
}

#[test]
fn hints_lenses_and_signatures_show_costs_and_operands() {
    let workspace = workspace(&[(FILE, SOURCE)]);
    let whole = 0..SOURCE.len();
    let hints = workspace.hints(Path::new(FILE), &whole).expect("hints");
    let add = SOURCE.find("add(total, step)").expect("the use") + "add(total, step)".len();
    let words = hints.iter().find(|it| it.offset == add).expect("a hint");
    assert_eq!(words.label, "1 word");
    let lenses = workspace.lenses(Path::new(FILE)).expect("lenses");
    let titles: Vec<_> = lenses.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles, ["4 of 4096 words", "1 use, 1 word each"]);
    let spot = spot(&workspace, FILE, "step)", 0);
    let signature = workspace.signature(&spot).expect("a form");
    let form = &signature.forms[signature.active];
    assert_eq!((&*form.text, signature.operand), ("add(to, by)", 1));
    assert_eq!(&form.text[form.operands[1].clone()], "by");
}

#[test]
fn project_files_have_hover_but_no_folds_or_layout() {
    let file = "/nowhere/p/npsim.toml";
    let workspace = workspace(&[(file, "[[me]]\nid = 0\nsource = \"count.uc\"\n")]);
    let hover = workspace.hover(&spot(&workspace, file, "id", 0));
    assert!(hover.expect("a meaning").text.starts_with("`me.id`"));
    assert_eq!(workspace.folds(Path::new(file)), None);
    assert_eq!(workspace.layout(Path::new(file), None), None);
}

const LIBRARY: &str = "\
#define STEP 1
#macro add(to, by)
again#:
    alu[to, to, +, by]
    br[to#]
#endm
#macro other(by)
    immed[by, STEP] ; STEP of another
#endm
";

const USER: &str = "\
#include \"library.uc\"
#define TWICE(n) (n + n + STEP)
.reg total by
#ifdef STEP
immed[by, TWICE(2)]
immed[total, STEP]
#endif
total#:
add(total, by)
";

/// The texts after a rename at a mark of the second of them.
fn renamed(mark: &str, on: usize, new: &str) -> Result<BTreeMap<PathBuf, String>, String> {
    let [library, user] = ["/nowhere/library.uc", "/nowhere/user.uc"];
    let workspace = workspace(&[(library, LIBRARY), (user, USER)]);
    let path = if USER.contains(mark) { user } else { library };
    let spot = spot(&workspace, path, mark, on);
    assert!(workspace.renameable(&spot).is_ok(), "{mark}");
    Ok(edited(&workspace.rename(&spot, new)?))
}

#[test]
fn macro_and_define_are_renamed_in_all_files() {
    for (mark, on) in [("add(total", 1), ("add(to,", 0)] {
        let texts = renamed(mark, on, "plus").expect("edits");
        let user = &texts[Path::new("/nowhere/user.uc")];
        assert_eq!(*user, USER.replace("add(", "plus("));
        let library = &texts[Path::new("/nowhere/library.uc")];
        assert_eq!(*library, LIBRARY.replace("add(", "plus("));
    }
    let texts = renamed("STEP]", 0, "PACE").expect("edits");
    let user = &texts[Path::new("/nowhere/user.uc")];
    assert_eq!(*user, USER.replace("STEP", "PACE"));
    let library = &texts[Path::new("/nowhere/library.uc")];
    assert!(
        library.contains("immed[by, PACE] ; STEP of another"),
        "{library}"
    );
}

#[test]
fn parameter_is_renamed_only_within_its_definition() {
    let texts = renamed("to, +", 0, "sum").expect("edits");
    assert_eq!(texts.len(), 1);
    let library = &texts[Path::new("/nowhere/library.uc")];
    assert!(
        library.contains("add(sum, by)\nagain#:\n    alu[sum, sum, +, by]\n    br[sum#]\n"),
        "{library}"
    );
    let texts = renamed("by]\n    br", 0, "step").expect("edits");
    let library = &texts[Path::new("/nowhere/library.uc")];
    assert!(library.contains("+, step]") && library.contains("other(by)\n    immed[by,"));
    let texts = renamed("n + n", 4, "m").expect("edits");
    let user = &texts[Path::new("/nowhere/user.uc")];
    assert!(user.contains("TWICE(m) (m + m + STEP)"), "{user}");
}

#[test]
fn rename_to_an_invalid_or_existing_name_is_refused() {
    for (mark, new, why) in [
        ("to, +", "by", "`by` already exists"),
        ("add(to,", "total", "`total` already exists"),
        ("STEP]\n#", "alu", "instruction"),
        ("STEP]\n#", "$x", "not a name"),
    ] {
        let refused = renamed(mark, 0, new).expect_err(mark);
        assert!(refused.contains(why), "{mark}: {refused}");
    }
}

#[test]
fn rename_refuses_transfer_registers_with_mixed_spellings() {
    let text = ".reg $x[2] $y0\nimmed[$x[0], 1]\nimmed[$x1, 2]\nimmed[$y[0], 3]\nctx_arb[kill]\n";
    let workspace = workspace(&[(FILE, text)]);
    for (mark, of) in [("$x[2]", 2), ("$x1, 2", 2), ("$y0", 1), ("$y[0]", 1)] {
        let spot = spot(&workspace, FILE, mark, 1);
        // All places are known, whichever spelling they have.
        assert_eq!(workspace.references(&spot).len(), of + 1, "{mark}");
        let refused = workspace.rename(&spot, "$z").expect_err(mark);
        assert!(refused.contains("pasted together from pieces"), "{refused}");
    }
}
