use super::*;
use crate::parameter::{Domain, ParameterValue};

fn text() -> &'static str {
    Profile::text("ixp2400").unwrap()
}

#[test]
fn the_ixp2400_is_complete() {
    let profile = Profile::load("ixp2400").unwrap();
    assert_eq!(profile.microengines(), 8);
    assert_eq!(profile.number_of(5), 0x11);
    assert_eq!(profile.index_of(0x11), Some(5));
    assert_eq!(profile.index_of(0x04), None);
    assert_eq!(profile.index_of(0x20), None);
    assert_eq!(profile.scratch_read(), 60);
    assert_eq!(profile.erratum(69).unwrap().elements[0], [9, 18, 27]);
    assert_eq!(
        profile.foundations().iter().map(|(_, n)| n).sum::<usize>(),
        profile.parameters().count()
    );
}

/// The assembler, which does not know the chip, warns according to the table's figure.
#[test]
fn index_register_latency_matches_the_instruction_table() {
    for name in ["ixp2400", "ixp2800"] {
        let profile = Profile::load(name).unwrap();
        assert_eq!(profile.lm_addr_gap(), npsim_isa::csr::INDEX_GAP, "{name}");
        assert_eq!(profile.csr_gap(), npsim_isa::csr::INDEX_GAP, "{name}");
    }
}

#[test]
fn parameters_keep_their_unit_and_basis() {
    let profile = Profile::load("ixp2400").unwrap();
    let read = profile
        .parameters()
        .find(|p| p.group == "dram" && p.name == "read")
        .unwrap();
    assert_eq!(
        (read.value, read.unit, read.foundation),
        (
            ParameterValue::Number(180),
            "ME cycles",
            Foundation::Calibrated
        )
    );
    assert!(
        profile
            .parameters()
            .all(|p| !p.basis.is_empty() && !p.meaning.is_empty())
    );
}

/// Another chip for studies made with the vendor's simulator: it differs only in the two latencies
/// that ixp2400 fits to a board and those derived from them.
#[test]
fn uncalibrated_chip_differs_only_in_memory_latencies() {
    let (fitted, recalled) = (
        Profile::load("ixp2400").unwrap(),
        Profile::load("ixp2400-sdk").unwrap(),
    );
    let pairs = fitted.parameters().zip(recalled.parameters());
    let moved: Vec<_> = pairs
        .filter(|(old, new)| old.value != new.value)
        .map(|(old, new)| {
            let number = |p: &Parameter| p.value.number().unwrap();
            (
                format!("{}.{}", old.group, old.name),
                number(old) - number(new),
            )
        })
        .collect();
    let group = |name: &str| -> Vec<u64> {
        let of = moved.iter().filter(|(key, _)| key.starts_with(name));
        of.map(|(_, by)| *by).collect()
    };
    assert_eq!(group("sram."), [54; 6]);
    assert_eq!(group("dram."), [60; 3]);
    assert_eq!(group("gpp."), [54, 60]);
    assert_eq!(moved.len(), 11, "{moved:?}");
    assert_eq!(recalled.sram_read(), 90);
    assert!(
        recalled
            .parameters()
            .all(|p| p.foundation != Foundation::Calibrated)
    );
    let board = Profile::from_texts(
        Profile::text("ixp2400-sdk").unwrap(),
        Board::text("enp-2611").unwrap(),
    );
    assert_eq!(board.unwrap().name(), "ixp2400-sdk");
}

#[test]
fn a_chip_extends_a_built_in_one() {
    let own = |extends: &str, rest: &str| {
        let text = format!("name = \"mine\"\ntitle = \"t\"\nextends = \"{extends}\"\n{rest}");
        Profile::from_toml(&text)
    };
    let plain = own("ixp2400", "").unwrap();
    assert_eq!(
        (plain.name(), plain.board().chip.as_str()),
        ("mine", "ixp2400")
    );
    assert_eq!(own("ixp2400-sdk", "").unwrap().sram_read(), 90);
    assert!(
        own("ixp1200", "")
            .unwrap_err()
            .to_string()
            .contains("ixp2400")
    );
    let unknown = "[sram]\nraed = { value = 90, unit = \"ME cycles\", source = \"s\" }";
    let error = own("ixp2400", unknown).unwrap_err().to_string();
    assert!(error.contains("`sram.raed` is not known"), "{error}");
    let other = Board::text("ixp2800-6g").unwrap();
    let error = Profile::from_texts(Profile::text("ixp2400-sdk").unwrap(), other);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("made for `ixp2800`")
    );
}

#[test]
fn unknown_chip_error_lists_known_chips() {
    let error = Profile::load("ixp1200").unwrap_err().to_string();
    assert!(
        error.contains("ixp1200") && error.contains("ixp2400"),
        "{error}"
    );
}

#[test]
fn missing_parameters_are_reported_by_name() {
    for (chip, board) in [("ixp2400", "enp-2611"), ("ixp2800", "ixp2800-6g")] {
        let (chip, board) = (Profile::text(chip).unwrap(), Board::text(board).unwrap());
        for schema in &SCHEMA {
            let of_board = schema.is_board_parameter();
            let mut table: Table = if of_board { board } else { chip }.parse().unwrap();
            let group = table.get_mut(schema.group).unwrap();
            group.as_table_mut().unwrap().remove(schema.name).unwrap();
            let text = table.to_string();
            let key = schema.key();
            let error = if of_board {
                match Profile::from_texts(chip, &text) {
                    Err(ProfileError::Board(error)) => *error,
                    other => panic!("{key}: {other:?}"),
                }
            } else {
                Profile::from_texts(&text, board).unwrap_err()
            };
            match error {
                ProfileError::Missing { key: missing, .. } => assert_eq!(missing, key),
                other => panic!("{key}: {other:?}"),
            }
        }
    }
}

#[test]
fn every_parameter_refuses_out_of_range_values() {
    let profile = Profile::load("ixp2800").unwrap();
    for schema in &SCHEMA {
        let key = format!("`{}.{}`", schema.group, schema.name);
        let mut bad: Vec<ParameterValue> = vec!["nonsense".into()];
        match schema.domain {
            Domain::Number { least, most, .. } => {
                bad.push((most + 1).into());
                bad.extend(least.checked_sub(1).map(ParameterValue::Number));
            }
            Domain::Name(_) => bad.push(0.into()),
        }
        for value in bad {
            let error = profile.with(schema.group, schema.name, value).unwrap_err();
            assert!(error.to_string().contains(&key), "{error}");
        }
    }
    // Clocks and depths are never zero.
    for (group, name) in [
        ("clock", "me_mhz"),
        ("clock", "media_mhz"),
        ("clock", "bus_cycle"),
        ("microengine", "command_fifo_depth"),
        ("sram", "inlet_depth"),
        ("dram", "bank_fifo_depth"),
        ("msf", "receive_freelist_depth"),
    ] {
        let error = profile.with(group, name, 0).unwrap_err().to_string();
        assert!(error.contains("0 is not within 1 to"), "{error}");
    }
}

#[test]
fn inconsistent_numbers_are_refused() {
    let refused = |profile: &str, group: &str, name: &str, value: u64| {
        let profile = Profile::load(profile).unwrap();
        profile.with(group, name, value).unwrap_err().to_string()
    };
    for (profile, group, name, value, why) in [
        (
            "ixp2400",
            "dram",
            "burst_bytes",
            48,
            "`dram.channel_interleave` is wrong: 128 bytes are not a multiple of the 48 of dram.burst_bytes",
        ),
        (
            "ixp2400",
            "msf",
            "rbuf_bytes",
            1000,
            "`msf.rbuf_bytes` is wrong: 1000 bytes are not a multiple of the 256",
        ),
        (
            "ixp2800",
            "microengine",
            "per_cluster",
            9,
            "18 microengines are more than the 16 of the largest chip",
        ),
        (
            "ixp2800",
            "msf",
            "bus_bytes",
            3,
            "spi-4 moves 2 transfers per clock",
        ),
        (
            "ixp2800",
            "msf",
            "transmit_low_water",
            3073,
            "is more than msf.transmit_high_water, which is 3072",
        ),
        (
            "ixp2800",
            "msf",
            "transmit_fifo",
            3071,
            "is more than msf.transmit_fifo, which is 3071",
        ),
        (
            "ixp2800",
            "dram",
            "refresh_cycles",
            2735,
            "is more than dram.refresh_interval",
        ),
        (
            "ixp2800",
            "dram",
            "bank_interleave",
            192,
            "must be a power of two",
        ),
        (
            "ixp2800",
            "sram",
            "channel_bytes",
            5000,
            "must be a multiple of 4096",
        ),
        (
            "ixp2800",
            "sram",
            "read",
            19,
            "`sram.read` is wrong: 19 ME cycles are fewer than the 20 that the path takes",
        ),
    ] {
        let error = refused(profile, group, name, value);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn the_ixp2800_is_complete() {
    let profile = Profile::load("ixp2800").unwrap();
    assert_eq!(
        (profile.microengines(), profile.control_store_words()),
        (16, 8192)
    );
    assert_eq!((profile.me_mhz(), profile.bus_cycle()), (1400, 2));
    let numbers: Vec<u8> = (0..16).map(|me| profile.number_of(me)).collect();
    assert_eq!(numbers[6..10], [0x06, 0x07, 0x10, 0x11]);
    for (index, number) in (0..).zip(numbers) {
        assert_eq!(profile.index_of(number), Some(index));
    }
    assert_eq!(
        [0x08, 0x0f, 0x18, 0x20].map(|n| profile.index_of(n)),
        [None; 4]
    );
    assert_eq!((profile.cluster_of(7), profile.cluster_of(8)), (0, 1));
    assert_eq!(profile.media(), MediaBus::Spi4);
    assert!(profile.errata().is_empty());
}

#[test]
fn only_ixp2400_read_latencies_are_calibrated() {
    for name in Board::names() {
        let profile = Profile::load_board(name).unwrap();
        assert_eq!(profile.board().name, name);
        let calibrated: Vec<_> = profile
            .parameters()
            .filter(|p| p.foundation == Foundation::Calibrated)
            .map(|p| (p.group, p.name))
            .collect();
        let expected: &[_] = match profile.name() {
            "ixp2400" => &[("sram", "read"), ("dram", "read")],
            _ => &[],
        };
        assert_eq!(calibrated, expected, "{name}");
    }
}

#[test]
fn attached_logic_is_the_same_for_every_chip() {
    let feedback = |name: &str| {
        let profile = Profile::load(name).unwrap();
        let group = profile.parameters().filter(|p| p.group == "feedback");
        group.cloned().collect::<Vec<_>>()
    };
    let first = feedback("ixp2400");
    let values: Vec<_> = { first.iter() }
        .map(|p| (p.name, p.value.number().unwrap()))
        .collect();
    assert_eq!(
        values,
        [
            ("quick_start", 6000),
            ("quick_start_alone", 4500),
            ("xcp", 20_000)
        ]
    );
    for parameter in &first {
        assert_eq!(
            (parameter.unit, parameter.foundation),
            ("ps", Foundation::Source)
        );
    }
    for name in Profile::names() {
        assert_eq!(feedback(name), first, "{name}");
    }
}

#[test]
fn board_defines_ports_and_memory() {
    let board = Profile::load_board("enp-2611").unwrap();
    assert_eq!((board.name(), board.board().ports.len()), ("ixp2400", 3));
    assert_eq!(board.sram_channel_bytes(), 4 << 20);
    let board = Profile::load_board("ixp2800-6g").unwrap();
    let rates: u64 = board.board().ports.iter().map(|p| p.bits_per_second).sum();
    assert_eq!((board.name(), rates), ("ixp2800", 6_000_000_000));
    assert!(Profile::load("ixp2800").unwrap().board().ports.is_empty());
    let error = Profile::load_board("enp-2505").unwrap_err().to_string();
    assert!(
        error.contains("enp-2505") && error.contains("ixp2800-6g"),
        "{error}"
    );
}

#[test]
fn mismatched_chip_and_board_are_refused() {
    let refused =
        |chip: &str, board: &str| Profile::from_texts(chip, board).unwrap_err().to_string();
    let enp = Board::text("enp-2611").unwrap();
    let error = refused(Profile::text("ixp2800").unwrap(), enp);
    assert_eq!(
        error,
        "board `enp-2611` does not take chip `ixp2800`: it is made for `ixp2400`"
    );
    let error = refused(
        text(),
        &enp.replace("media = \"spi-3\"", "media = \"spi-4\""),
    );
    assert!(
        error.contains("its media bus is spi-4, the chip's spi-3"),
        "{error}"
    );
    let error = refused(
        text(),
        &enp.replace("media = \"spi-3\"", "media = \"utopia\""),
    );
    assert!(
        error.starts_with("in the board's file: `media` is wrong"),
        "{error}"
    );
    let error = Profile::from_board_toml(&enp.replace("\"ixp2400\"", "\"ixp1200\""));
    assert!(error.unwrap_err().to_string().contains("ixp1200"));
}

#[test]
fn parameters_in_the_wrong_file_are_refused() {
    let enp = Board::text("enp-2611").unwrap();
    let clock = "[clock]\nmedia_mhz = { value = 104, unit = \"MHz\", source = \"x\" }";
    let error = Profile::from_texts(&text().replace("[clock]", clock), enp).unwrap_err();
    assert!(
        error.to_string().contains("move it to the board's file"),
        "{error}"
    );
    let scratch = "[scratch]\nbytes = { value = 16384, unit = \"bytes\", source = \"x\" }\n[clock]";
    let error = Profile::from_texts(text(), &enp.replace("[clock]", scratch)).unwrap_err();
    assert!(
        error.to_string().contains("move it to the chip's file"),
        "{error}"
    );
}

#[test]
fn port_rate_is_checked_like_a_parameter() {
    let enp = Board::text("enp-2611").unwrap();
    let rate = "rate = { value = 1000, unit = \"Mbit/s\", source";
    for (with, why) in [
        (
            "rate = { value = 0, unit = \"Mbit/s\", source",
            "`port 0.rate` is wrong: 0 is not within 1 to 100000",
        ),
        (
            "rate = { value = 1, unit = \"Gbit/s\", source",
            "counts it in Mbit/s, not in Gbit/s",
        ),
        (
            "rate = { value = 1, unit = \"Mbit/s\", why",
            "needs a `source`",
        ),
        (
            "speed = 3 \nrate = { value = 1, unit = \"Mbit/s\", source",
            "`port 0.speed` is not known",
        ),
        (
            "rates = { value = 1, unit = \"Mbit/s\", source",
            "`port 0.rate` (Mbit/s) is missing",
        ),
    ] {
        let error = Profile::from_board_toml(&enp.replacen(rate, with, 1)).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn fingerprint_depends_only_on_what_affects_a_run() {
    let print = |profile: Result<Profile, ProfileError>| profile.unwrap().fingerprint();
    let enp = Board::text("enp-2611").unwrap();
    let base = print(Profile::load_board("enp-2611"));
    assert_eq!(base.len(), 16);
    assert_eq!(base, print(Profile::from_texts(text(), enp)));
    assert_eq!(
        base,
        print(Profile::from_texts(
            &text().replace("IXP2800 manual p227", "elsewhere"),
            enp
        ))
    );
    let others = [
        print(Profile::load("ixp2400")),
        print(
            Profile::load_board("enp-2611")
                .unwrap()
                .with("dram", "read", 121),
        ),
        print(Profile::from_texts(
            &text().replace("[9, 18, 27]", "[9, 18]"),
            enp,
        )),
        print(Profile::from_texts(
            text(),
            &enp.replacen("value = 1000,", "value = 100,", 1),
        )),
    ];
    for (n, other) in others.iter().enumerate() {
        assert_ne!(*other, base, "{n}");
    }
}

#[test]
fn an_unknown_parameter_or_group_is_refused() {
    let more = text().replace(
        "[hash]",
        "[hash]\nspeed = { value = 1, unit = \"x\", source = \"y\" }",
    );
    assert_eq!(
        Profile::from_toml(&more),
        Err(ProfileError::UnknownKey {
            key: "hash.speed".into()
        })
    );
    let more = format!("{}\n[turbo]\nx = 1\n", text());
    assert_eq!(
        Profile::from_toml(&more),
        Err(ProfileError::UnknownKey {
            key: "turbo".into()
        })
    );
}

#[test]
fn parameter_without_provenance_is_refused() {
    let bare = text().replace(
        "me_mhz = { value = 600, unit = \"MHz\", provenance = \"likely\", basis =",
        "me_mhz = { value = 600, unit = \"MHz\", why =",
    );
    let error = Profile::from_toml(&bare).unwrap_err().to_string();
    assert!(
        error.contains("clock.me_mhz") && error.contains("source"),
        "{error}"
    );
    let odd = text().replace(
        "provenance = \"likely\", basis = \"IXP2400 data",
        "provenance = \"guessed\", basis = \"IXP2400 data",
    );
    let error = Profile::from_toml(&odd).unwrap_err().to_string();
    assert!(error.contains("guessed"), "{error}");
}

#[test]
fn ranges_and_units_are_checked() {
    let profile = Profile::load("ixp2400").unwrap();
    let error = profile
        .with("clock", "bus_cycle", 0)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("clock.bus_cycle") && error.contains("1 to 64"),
        "{error}"
    );
    let error = profile.with("scratch", "read", 10).unwrap_err().to_string();
    assert!(
        error.contains("scratch.read") && error.contains("the path takes"),
        "{error}"
    );
    let odd = text().replace("unit = \"MHz\"", "unit = \"kHz\"");
    assert!(
        Profile::from_toml(&odd)
            .unwrap_err()
            .to_string()
            .contains("MHz")
    );
    assert_eq!(
        profile.with("scratch", "read", 80).unwrap().scratch_read(),
        80
    );
}

#[test]
fn malformed_profiles_are_refused_without_panic() {
    for bad in [
        "",
        "name = 3",
        "[",
        "name = \"x\"\ntitle = \"y\"\nproduct_id = -1",
        "erratum = 3",
    ] {
        assert!(Profile::from_toml(bad).is_err(), "{bad}");
    }
}
