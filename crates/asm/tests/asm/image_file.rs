//! Images survive a round trip through a file, and damaged files are rejected with the faulty line.

use crate::support::image;
use npsim_image::Image;
use npsim_image::{
    ContextMode, ImageExpansion, ImageScope, ImportFixup, ImportPart, InitialValue, LabelSymbol,
    LiveRange, NnMode, Origin, ProgramPoint, RegisterSymbol, SignalSymbol, Synonym,
    TransferDirection,
};
use npsim_isa::{Bank, Generation, IndexStep, Operand};
use proptest::collection::vec;
use proptest::prelude::*;

fn bank() -> impl Strategy<Value = Bank> {
    prop_oneof![Just(Bank::A), Just(Bank::B)]
}

fn operand() -> impl Strategy<Value = Operand> {
    let step = || {
        prop_oneof![
            Just(IndexStep::Keep),
            Just(IndexStep::Increment),
            Just(IndexStep::Decrement)
        ]
    };
    prop_oneof![
        Just(Operand::None),
        (bank(), 0u8..32).prop_map(|(b, n)| Operand::Gpr(b, n)),
        (bank(), 0u8..128).prop_map(|(b, n)| Operand::GprAbsolute(b, n)),
        (0u8..32).prop_map(Operand::STransfer),
        (0u8..32).prop_map(Operand::DTransfer),
        (0u8..32).prop_map(Operand::Nn),
        any::<u8>().prop_map(Operand::Constant),
        step().prop_map(Operand::SIndexed),
        step().prop_map(Operand::DIndexed),
        (0u8..2, 0u8..16).prop_map(|(pointer, offset)| Operand::LocalMemory { pointer, offset }),
        (
            0u8..2,
            prop_oneof![Just(IndexStep::Increment), Just(IndexStep::Decrement)]
        )
            .prop_map(|(pointer, step)| Operand::LocalMemoryStep { pointer, step }),
        Just(Operand::NnPeek),
        Just(Operand::NnRing),
    ]
}

fn origin(files: u32, expansions: u32) -> impl Strategy<Value = Origin> {
    let expansion = if expansions == 0 {
        Just(None).boxed()
    } else {
        prop::option::of(0..expansions).boxed()
    };
    (0..files, any::<u32>(), any::<u32>(), expansion).prop_map(|(file, line, column, expansion)| {
        Origin {
            file,
            line,
            column,
            expansion,
        }
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z$@_\\[\\]0-9]{0,8}", any::<String>()]
}

/// Live ranges of a program of the given number of words.
fn live(words: usize) -> impl Strategy<Value = Vec<LiveRange>> {
    let point = |n: usize| ProgramPoint {
        address: (n / 2) as u16,
        after: n % 2 == 1,
    };
    prop::sample::subsequence((0..words * 2).collect::<Vec<_>>(), 0..=(words * 2).min(8)).prop_map(
        move |points| {
            let pairs = points
                .chunks(2)
                .filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
            pairs
                .map(|(first, last)| LiveRange {
                    first: point(first),
                    last: point(last),
                })
                .collect()
        },
    )
}

prop_compose! {
    fn symbols(words: usize)(
        labels in vec((name(), any::<u16>()), 0..4),
        registers in vec((name(), 0u32..3, operand(), 0..3, live(words), live(words)), 0..4),
        signals in vec((name(), 0u32..3, any::<u8>(), live(words)), 0..4),
        initial in vec((operand(), prop::option::of(0u8..8), any::<u32>()), 0..4),
        imports in vec((any::<u16>(), name(), prop::sample::select(ImportPart::ALL.to_vec()),
            any::<bool>(), prop::option::of(any::<u32>())), 0..4),
    ) -> Image {
        Image {
            labels: labels.into_iter().map(|(name, address)| LabelSymbol { name, address }).collect(),
            registers: registers.into_iter().map(|(name, scope, operand, d, live, live_out)| RegisterSymbol {
                name, scope, operand, live, live_out,
                direction: [TransferDirection::Read, TransferDirection::Write, TransferDirection::Both][d as usize],
            }).collect(),
            signals: signals.into_iter()
                .map(|(name, scope, number, live)| SignalSymbol { name, scope, number, live }).collect(),
            initial_values: initial.into_iter()
                .map(|(register, context, value)| InitialValue { register, context, value }).collect(),
            imports: imports.into_iter().map(|(address, name, part, shifted, value)| ImportFixup {
                address, name, part, shifted, value,
            }).collect(),
            ..Image::default()
        }
    }
}

fn any_image() -> impl Strategy<Value = Image> {
    (1u32..4, 0u32..3, 0usize..6).prop_flat_map(|(files, expansions, words)| {
        (
            symbols(words),
            name(),
            any::<[bool; 5]>(),
            vec(name(), files as usize),
            vec(
                (
                    name(),
                    origin(files, expansions),
                    vec((name(), name()), 0..3),
                ),
                expansions as usize,
            ),
            vec(0u64..1 << 40, words),
            vec(origin(files, expansions), words),
            prop::sample::subsequence((0..words as u16).collect::<Vec<_>>(), 0..=words),
            (
                vec(0u32..3, words),
                vec((name(), 0u32..3, name(), origin(files, expansions)), 0..3),
            ),
            vec(
                (
                    any::<u32>(),
                    [origin(files, expansions), origin(files, expansions)],
                ),
                3..5,
            ),
        )
            .prop_map(
                |(
                    symbols,
                    name,
                    flags,
                    files,
                    expansions,
                    words,
                    origins,
                    statements,
                    (word_scopes, synonyms),
                    scopes,
                )| {
                    Image {
                        name,
                        generation: Generation::ALL[usize::from(flags[4])],
                        contexts: if flags[0] {
                            ContextMode::Four
                        } else {
                            ContextMode::Eight
                        },
                        nn_mode: if flags[1] {
                            NnMode::Own
                        } else {
                            NnMode::Neighbor
                        },
                        files,
                        expansions: expansions
                            .into_iter()
                            .enumerate()
                            .map(|(index, (name, mut call, arguments))| {
                                // A scope can only be enclosed by an earlier one.
                                call.expansion = call.expansion.filter(|n| (*n as usize) < index);
                                ImageExpansion {
                                    name,
                                    call,
                                    arguments,
                                }
                            })
                            .collect(),
                        words,
                        origins: if flags[2] { origins } else { Vec::new() },
                        statements,
                        word_scopes: if flags[3] { word_scopes } else { Vec::new() },
                        synonyms: synonyms
                            .into_iter()
                            .filter(|_| flags[3])
                            .map(|(name, scope, operand, origin)| Synonym {
                                name,
                                scope,
                                operand,
                                origin,
                            })
                            .collect(),
                        // Each scope lies in an earlier one; entries without known scopes still
                        // have scope numbers.
                        scopes: scopes
                            .into_iter()
                            .filter(|_| flags[3])
                            .enumerate()
                            .map(|(index, (parent, [begin, end]))| ImageScope {
                                parent: (index > 0).then(|| parent % (index as u32).max(1)),
                                begin,
                                end,
                            })
                            .collect(),
                        ..symbols
                    }
                },
            )
    })
}

proptest! {
    #[test]
    fn every_image_round_trips(image in any_image()) {
        let bytes = image.to_file_bytes();
        prop_assert_eq!(Image::from_file_bytes(&bytes), Ok(image));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic_the_reader(bytes in vec(any::<u8>(), 0..200)) {
        let _ = Image::from_file_bytes(&bytes);
    }

    #[test]
    fn errors_in_damaged_images_name_an_existing_line(image in any_image(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = image.to_file_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Err(error) = Image::from_file_bytes(&bytes) {
            let lines = 1 + bytes.split(|b| *b == b'\n').count();
            prop_assert!((1..=lines).contains(&error.line), "{}", error);
        }
    }
}

#[test]
fn assembled_program_round_trips() {
    let image = image(
        "#macro put(x)\nimmed[x, N]\n#endm\n.import_var N\n.reg count\n.sig s\n.init count 3\nput(count)\nloop#: alu[count, count, -, 1]\nbne[loop#]\nctx_arb[s], br[loop#]\n",
    );
    assert_eq!(Image::from_file_bytes(&image.to_file_bytes()), Ok(image));
}

#[test]
fn documented_example_round_trips() {
    let book = include_str!("../../../../docs/src/image-format.md");
    let (_, example) = book.split_once("```text\nnpsim-image 3\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let example = format!("npsim-image 3\n{example}");
    let image = Image::from_file_bytes(example.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(image.to_file_bytes()).unwrap(), example);
}

#[test]
fn version_1_images_are_read_without_live_ranges() {
    let text = "npsim-image 1\nname \"a.uc\"\nfile \"a.uc\"\nexpansion \"m\" 0 1 1 -\nword f0000c0300\norigin 0 1 1 0\n\
        register \"x\" 7 a3 both\nsignal \"s\" 7 4\nend\n";
    let image = Image::from_file_bytes(text.as_bytes()).unwrap();
    assert!(!image.has_live_ranges());
    assert_eq!(image.registers[0].name, "x");
    let again = image.to_file_bytes();
    assert!(again.starts_with(b"npsim-image 3\n"));
    assert_eq!(Image::from_file_bytes(&again), Ok(image));
}

#[test]
fn version_2_images_are_read_without_word_scopes() {
    let text = "npsim-image 2\nname \"a.uc\"\nfile \"a.uc\"\nscope - 0 1 1 - 0 9 1 -\nword f0000c0300\n\
        origin 0 1 1 -\nregister \"x\" 0 a3 both 0..0+\nend\n";
    let image = Image::from_file_bytes(text.as_bytes()).unwrap();
    assert_eq!(image.scope_of(0), None);
    let meant = image.registers_named("x", ProgramPoint::before(0));
    assert_eq!(meant.len(), 1, "what is alive is all that is known");
}

#[test]
fn image_file_errors_name_their_line() {
    for (text, line, part) in [
        ("", 1, "not an image file"),
        ("npsim-image 4\nend\n", 1, "version 4"),
        ("npsim-image 0\nend\n", 1, "reads 1 to 3"),
        ("npsim-image one\nend\n", 1, "not a version"),
        ("npsim-image 1\nword 12\nend\n", 2, "ten hex digits"),
        ("npsim-image 1\nname \"x\nend\n", 2, "not closed"),
        (
            "npsim-image 1\nname \"x\" y\nend\n",
            2,
            "unexpected `y` at the end of the line",
        ),
        ("npsim-image 1\ncontexts 7\nend\n", 2, "`7` contexts"),
        (
            "npsim-image 1\nlabel \"x\"\nend\n",
            2,
            "the address is missing",
        ),
        (
            "npsim-image 1\nlabel \"x\" 70000\nend\n",
            2,
            "not a number or is too large",
        ),
        (
            "npsim-image 1\nregister \"x\" 0 a32 both\nend\n",
            2,
            "not a register",
        ),
        ("npsim-image 1\nwibble\nend\n", 2, "unknown line `wibble`"),
        (
            "npsim-image 1\nword 0000000000\norigin 0 1 1 -\nend\n",
            4,
            "file 0",
        ),
        (
            "npsim-image 1\nfile \"a\"\nword 0000000000\norigin 0 1 1 2\nend\n",
            5,
            "expansion 2",
        ),
        (
            "npsim-image 1\nfile \"a\"\norigin 0 1 1 -\nend\n",
            4,
            "0 words have 1",
        ),
        (
            "npsim-image 1\nfile \"a\"\nexpansion \"m\" 0 1 1 0\nend\n",
            4,
            "only an earlier one",
        ),
        (
            "npsim-image 1\nfile \"a\"\nexpansion \"m\" 0 1 1 1\nexpansion \"n\" 0 1 1 0\nend\n",
            5,
            "expansion 0 is inside expansion 1",
        ),
        ("npsim-image 1\nname \"x\"\n", 3, "without `end`"),
        ("npsim-image 1\nend\nmore\n", 3, "follow `end`"),
        (
            "npsim-image 1\nscope - 0 1 1 - 0 9 1 -\nend\n",
            2,
            "needs version 2",
        ),
        ("npsim-image 1\nstatements 0\nend\n", 2, "needs version 2"),
        (
            "npsim-image 1\nsignal \"s\" 0 1 0..1\nend\n",
            2,
            "unexpected `0..1` at the end of the line",
        ),
        ("npsim-image 2\nwithin 0 0\nend\n", 2, "needs version 3"),
        (
            "npsim-image 2\nsynonym \"x\" 0 \"y\" 0 1 1 -\nend\n",
            2,
            "needs version 3",
        ),
        (
            "npsim-image 3\nwithin 0 0\nend\n",
            2,
            "word 0 is in a scope, but there are 0",
        ),
        (
            "npsim-image 3\nword f0000c0300\nwithin 0 0\nwithin 1 0\nend\n",
            4,
            "word 0 is in two scopes",
        ),
        (
            "npsim-image 3\nword f0000c0300\nword f0000c0300\nwithin 0 0\nend\n",
            5,
            "word 0 is in scope 0, but there are 0",
        ),
        (
            "npsim-image 3\nfile \"a\"\nscope - 0 1 1 - 0 9 1 -\nword f0000c0300\nword f0000c0300\nwithin 0 1\nend\n",
            7,
            "word 0 is in no scope",
        ),
        (
            "npsim-image 3\nfile \"a\"\nsynonym \"x\" 2 \"y\" 0 1 1 -\nend\n",
            4,
            "`x` is of scope 2",
        ),
        ("npsim-image 2\nscope - 0 1 1 - 0 9 1 -\nend\n", 3, "file 0"),
        (
            "npsim-image 2\nscope - 0 1 1 -\nend\n",
            2,
            "the file is missing",
        ),
        (
            "npsim-image 2\nfile \"a\"\nscope 0 0 1 1 - 0 9 1 -\nend\n",
            4,
            "scope 0 must be in",
        ),
        (
            "npsim-image 2\nfile \"a\"\nscope - 0 1 1 - 0 9 1 -\nscope - 0 1 1 - 0 9 1 -\nend\n",
            5,
            "scope 1 must be in",
        ),
        (
            "npsim-image 2\nfile \"a\"\nscope - 0 1 1 - 0 9 1 -\nregister \"x\" 1 a0 both\nend\n",
            5,
            "`x` is of scope 1",
        ),
        (
            "npsim-image 2\nstatements 3-1\nend\n",
            2,
            "`3-1` is neither",
        ),
        ("npsim-image 2\nstatements 0 x\nend\n", 2, "`x` is neither"),
        ("npsim-image 2\nstatements 0-3 3\nend\n", 2, "out of order"),
        (
            "npsim-image 2\nstatements 0\nend\n",
            3,
            "word 0 begins a statement",
        ),
        (
            "npsim-image 2\nsignal \"s\" 0 1 3..\nend\n",
            2,
            "`3..` is not a live range",
        ),
        (
            "npsim-image 2\nsignal \"s\" 0 1 3..2+\nend\n",
            2,
            "`3..2+` is not a live range",
        ),
        (
            "npsim-image 2\nsignal \"s\" 0 1 0..1 1\nend\n",
            2,
            "1 is out of order",
        ),
        (
            "npsim-image 2\nsignal \"s\" 0 1 0\nend\n",
            3,
            "`s` is live at 0",
        ),
        (
            "npsim-image 2\nregister \"x\" 0 $0 both 0 out 5\nend\n",
            3,
            "`x` is live at 0",
        ),
        (
            "npsim-image 2\nregister \"x\" 0 $0 both inside 5\nend\n",
            2,
            "`inside` is not a live range",
        ),
        (
            "npsim-image 2\nfile \"a\"\nexpansion \"m\" 0 1 1 - \"x\"\nend\n",
            3,
            "the argument must be in quotes",
        ),
    ] {
        let error = Image::from_file_bytes(text.as_bytes()).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
    }
}
