//! Chips and boards: by name, by file, and what is wrong with them.

use crate::harness::{Dir, LOOP};

const ME: &str = "[[me]]\nid = 0\nsource = \"a.uc\"\n";
const PORT: &str = "[[port]]\n";

/// A custom board file, made from a shipped one.
fn board(edit: impl Fn(&str) -> String) -> String {
    let text = npsim_profile::Board::text("ixp2800-6g").expect("a shipped board");
    let own = edit(text);
    assert_ne!(own, text, "the edit found nothing to change");
    own
}

fn project(chip: &str, more: &str) -> Dir {
    Dir::new()
        .with("p/npsim.toml", format!("[chip]\n{chip}\n{ME}{more}"))
        .with("p/a.uc", LOOP)
}

#[test]
fn ports_overriding_the_board_are_reported() {
    let dir = project("", &PORT.repeat(2));
    dir.npsim("run p --until 1us --board enp-2611").expect(
        0,
        &["note: the board enp-2611 has 3 ports (1.000 Gb/s), but the project's [[port]] sections make them 2 ports (1.000 Gb/s)"],
    );
    for same in [project("", &PORT.repeat(3)), project("", "")] {
        let done = same.npsim("run p --until 1us --quiet --board enp-2611");
        assert_eq!(done.expect(0, &[]).err, "");
    }
}

fn refused(chip: &str, more: &str, phrases: &[&str]) {
    project(chip, more)
        .npsim("run p --until 1us")
        .expect(1, phrases);
}

#[test]
fn board_sets_chip_and_ports() {
    let dir = project("board = \"ixp2800-6g\"", "");
    dir.npsim("run p --until 1us --explain").expect(
        0,
        &[
            "on ixp2800, board ixp2800-6g",
            "(1400 MHz)",
            "PORT_COUNT               6",
            "__IXP28XX                1",
        ],
    );
    // The command line's board overrides it, and so does its chip.
    dir.npsim("run p --until 1us --explain --board enp-2611")
        .expect(
            0,
            &[
                "on ixp2400, board enp-2611",
                "PORT_COUNT               3",
                "__IXP2400                1",
            ],
        );
    dir.npsim("run p --until 1us --explain --chip ixp2400")
        .expect(
            0,
            &[
                "on ixp2400, board ixp2400-plain",
                "PORT_COUNT               0",
            ],
        );
    dir.npsim("run p --until 1us --explain --chip ixp2800")
        .expect(0, &["on ixp2800, board ixp2800-6g"]);
    dir.npsim("run p --until 1us --chip ixp2800 --board enp-2611")
        .expect(
            1,
            &["board `enp-2611` does not take chip `ixp2800`: it is made for `ixp2400`"],
        );
}

#[test]
fn project_may_use_fewer_or_slower_ports() {
    let slow = "[[port]]\nrate = \"100Mbps\"\n[[port]]\nmac = \"02:00:00:00:00:09\"\n";
    project("board = \"enp-2611\"", slow)
        .npsim("run p --until 1us --explain")
        .expect(
            0,
            &[
                "PORT_COUNT               2",
                "     0  100.000 Mb/s\n     1  1.000 Gb/s\n",
            ],
        );
    refused(
        "board = \"enp-2611\"",
        "[[port]]\nrate = \"10Gbps\"\n",
        &[
            "port 0 of the board enp-2611 is not that fast",
            "it has 1.000 Gb/s",
            "p/npsim.toml:7:8",
        ],
    );
    refused(
        "board = \"enp-2611\"",
        &PORT.repeat(4),
        &["4 ports are given, but the board enp-2611 has 3"],
    );
    // A chip without a board takes the project's values.
    project("profile = \"ixp2800\"", "[[port]]\nrate = \"10Gbps\"\n")
        .npsim("run p --until 1us --explain")
        .expect(0, &["     0  10.000 Gb/s\n"]);
}

#[test]
fn unknown_board_lists_the_known_ones() {
    refused(
        "board = \"enp-2612\"",
        "",
        &[
            "there is no board `enp-2612`",
            "p/npsim.toml:2:9",
            "did you mean `enp-2611`?",
            "ixp2800-6g",
        ],
    );
    refused(
        "profile = \"ixp2400\"\nboard = \"ixp2800-6g\"",
        "",
        &[
            "board `ixp2800-6g` does not take chip `ixp2400`",
            "p/npsim.toml:3:9",
        ],
    );
    refused(
        "board = \"none.toml\"",
        "",
        &["p/none.toml", "p/npsim.toml:2:9"],
    );
}

#[test]
fn unknown_chip_policy_is_refused() {
    let own = |rows: &str| {
        let head = "name = \"own\"\ntitle = \"t\"\nextends = \"ixp2400\"\n[dram]\n";
        project("profile = \"own.toml\"", "").with("p/own.toml", format!("{head}rows = {rows}\n"))
    };
    own("{ value = \"open\", source = \"s\" }")
        .npsim("run p --until 1us --explain")
        .expect(0, &["on own, board ixp2400-plain"]);
    for (rows, phrases) in [
        (
            "{ value = \"opne\", source = \"s\" }",
            &[
                "`dram.rows` is wrong: unknown policy `opne`; expected `closed` or `open`",
                "did you mean `open`?",
            ][..],
        ),
        ("{ value = \"open\" }", &["needs a `source`"]),
        (
            "{ value = \"open\", unit = \"rows\", source = \"s\" }",
            &["`dram.rows.unit` is not known"],
        ),
        (
            "{ value = 1, source = \"s\" }",
            &["`dram.rows.value` is wrong"],
        ),
        ("\"open\"", &["write { value = \"...\", source = \"...\" }"]),
    ] {
        own(rows).npsim("run p --until 1us").expect(1, phrases);
    }
    Dir::new()
        .npsim("chip ixp2400")
        .expect(0, &["dram.rows", "closed", "dram.refresh", "in-turn"]);
}

#[test]
fn custom_board_file_is_validated() {
    let run = |own: String| {
        project("board = \"own.toml\"", "")
            .with("p/own.toml", own)
            .npsim("run p --until 1us --explain")
    };
    run(board(|text| text.replace("\"ixp2800-6g\"", "\"mine\"")))
        .expect(0, &["on ixp2800, board mine", "PORT_COUNT               6"]);
    for (from, to, phrases) in [
        (
            "media_mhz = { value = 500",
            "media_mhz = { value = 0",
            [
                "`clock.media_mhz` is wrong",
                "0 is not within 1 to 10000 MHz",
            ],
        ),
        (
            "media_mhz =",
            "media_khz =",
            [
                "`clock.media_mhz` (MHz) is missing",
                "Clock of the media interface.",
            ],
        ),
        (
            "receive_fifo = { value = 4096",
            "receive_fifo = { value = -1",
            ["`msf.receive_fifo.value` is wrong", "a whole number from 0"],
        ),
        (
            "channel_bytes = { value = 67108864",
            "channel_bytes = { value = 5000",
            ["`sram.channel_bytes` is wrong", "multiple of 4096"],
        ),
        (
            "bus_bytes = { value = 4",
            "bus_bytes = { value = 3",
            ["`msf.bus_bytes` is wrong", "cannot be divided"],
        ),
        (
            "[clock]\n",
            "[clock]\nme_mhz = { value = 1, unit = \"MHz\", source = \"x\" }\n",
            ["`clock.me_mhz` is wrong", "move it to the chip's file"],
        ),
        (
            "[clock]\n",
            "[clock\n",
            ["board `own.toml`", "invalid TOML"],
        ),
        (
            "chip = \"ixp2800\"",
            "chip = \"ixp2850\"",
            ["board `own.toml`", "no chip profile is named `ixp2850`"],
        ),
    ] {
        run(board(|text| text.replacen(from, to, 1))).expect(1, &phrases);
    }
}

#[test]
fn custom_chip_file_is_validated() {
    let text = npsim_profile::Profile::text("ixp2400").expect("a shipped chip");
    let run = |own: String| {
        project("profile = \"own.toml\"", "")
            .with("p/own.toml", own)
            .npsim("run p --until 1us --explain")
    };
    run(text.replace("per_cluster = { value = 4", "per_cluster = { value = 3"))
        .expect(0, &["on ixp2400, board ixp2400-plain"]);
    run(text.replace(
        "command_fifo_depth = { value = 4",
        "command_fifo_depth = { value = 0",
    ))
    .expect(
        1,
        &[
            "chip `own.toml`",
            "`microengine.command_fifo_depth` is wrong",
            "1 to 64",
        ],
    );
    run(text.replace("[gpp]", "[gpu]")).expect(1, &["`gpp.ring_access` (ME cycles) is missing"]);
}

#[test]
fn chips_and_boards_are_listed_and_shown() {
    let dir = Dir::new();
    dir.npsim("chip")
        .expect(0, &["chips\n", "ixp2800 ", "boards\n", "enp-2611 "]);
    dir.npsim("chip ixp2800").expect(
        0,
        &[
            "microengine.control_store",
            "8192",
            "0 calibrated",
            "fingerprint of ixp2800 on ixp2800-plain: ",
        ],
    );
    dir.npsim("chip enp-2611 --sources").expect(
        0,
        &[
            "clock.media_mhz",
            "port 2    1.000 Gb/s",
            "media bus spi-3",
            "Linux enp2611.c",
            "port 0 [source]",
        ],
    );
    dir.npsim("chip ixp2800-6").expect(
        1,
        &[
            "there is no chip or board `ixp2800-6`",
            "did you mean `ixp2800-6g`?",
        ],
    );
    dir.npsim("new --from a.uc --board ixp2801")
        .expect(1, &[""]);
}

#[test]
fn ixp2800_has_the_larger_control_store() {
    let source = format!("{}ctx_arb[kill]\n", "nop\n".repeat(5000));
    let dir = Dir::new().with("a.uc", source);
    dir.npsim("check a.uc").expect(1, &["5001", "4096"]);
    dir.npsim("check a.uc --chip ixp2800").expect(0, &[]);
    let names = "#ifndef __IXP2800\n#error other chip\n#endif\n#if (IS_IXPTYPE(__IXP28XX))\nctx_arb[kill]\n#endif\n";
    let dir = Dir::new().with("a.uc", names);
    dir.npsim("check a.uc").expect(1, &["other chip"]);
    dir.npsim("check a.uc --chip ixp2800").expect(0, &[]);
}

#[test]
fn new_project_names_its_board() {
    let dir = Dir::new().with("a.uc", LOOP);
    dir.npsim("new --from a.uc --out lab --board ixp2800-6g")
        .expect(0, &["wrote"]);
    let text = String::from_utf8(dir.read("lab/npsim.toml")).expect("text");
    assert!(
        text.contains("[chip]\nboard = \"ixp2800-6g\"\n") && !text.contains("[[port]]"),
        "{text}"
    );
    dir.npsim("run lab --until 1us --explain")
        .expect(0, &["board ixp2800-6g", "PORT_COUNT               6"]);
}

/// One source queries a port's room on both chips.
#[test]
fn library_queries_transmit_status_on_both_boards() {
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/lib");
    let source = "#include \"tbuf.uc\"\n.reg status port\n.reg read $level\n.sig done\n\
                  immed[port, 2]\ntransmit_status(status, port, $level, done)\n\
                  alu[--, --, B, status]\nbne[full#]\nctx_arb[kill]\nfull#:\nbr[full#]\n";
    let dir = Dir::new().with("a.uc", source);
    for board in ["enp-2611", "ixp2800-6g"] {
        // The program ends only if the status is 0.
        dir.npsim(&format!(
            "run a.uc -I {library} --until 1ms --board {board}"
        ))
        .expect(0, &["no events pending"]);
    }
}
