use crate::harness::{Dir, LOOP};

/// Runs a project that must be rejected.
fn assert_refused(project: &str, phrases: &[&str]) {
    let dir = Dir::new()
        .with("p/npsim.toml", project)
        .with("p/a.uc", LOOP);
    dir.npsim("run p --until 1us --stats out.json")
        .expect(1, phrases);
    assert_eq!(dir.files(), ["p"]);
}

const ME: &str = "[[me]]\nid = 0\nsource = \"a.uc\"\n";

#[test]
fn errors_have_a_location_and_a_remedy() {
    assert_refused("[[me]\n", &["p/npsim.toml:1:"]);
    assert_refused(
        "[chips]\n",
        &["there is no key `chips`", "p/npsim.toml:1:2"],
    );
    assert_refused(
        &format!("[chip]\nprofile = \"ixp2401\"\n{ME}"),
        &[
            "there is no chip `ixp2401`",
            "p/npsim.toml:2:11",
            "did you mean `ixp2400`?",
        ],
    );
    assert_refused(
        &format!("{ME}[gpp]\ntasks = [\"rutes\"]\n"),
        &["there is no task `rutes`", "did you mean `routes`?"],
    );
    assert_refused(
        "[[me]]\nid = \"0,9\"\nsource = \"a.uc\"\n",
        &["there is no microengine 9", "p/npsim.toml:2:6"],
    );
    assert_refused(
        &format!("{ME}{ME}"),
        &["microengine 0 is given two programs"],
    );
    assert_refused(
        &format!("{ME}[[ring]]\nname = \"R\"\nsize = 100\n"),
        &["cannot have 100 longwords", "use 128, 256, 512 or 1024"],
    );
    assert_refused("", &["runs no microcode", "[[me]]"]);
}

#[test]
fn all_errors_are_reported_at_once() {
    assert_refused(
        &format!(
            "{ME}[[ring]]\nname = \"R\"\nsize = 1\n[[port]]\nmac = \"x\"\n[media]\nelement_size = 1\n"
        ),
        &[
            "cannot have 1 longwords",
            "is not a MAC address",
            "cannot have 1 bytes",
        ],
    );
}

#[test]
fn defines_reach_the_source() {
    let dir = Dir::new()
        .with("p/npsim.toml", format!("{ME}define = {{ WANT = 3 }}\n[[ring]]\nname = \"OUT\"\nnumber = 5\n"))
        .with("p/a.uc", "#if (WANT != 3) || (OUT != 20) || (ME_COUNT != 1)\n#error \"not as planned\"\n#endif\nhere#: br[here#]\n");
    dir.npsim("asm p")
        .expect(0, &["1 of 4096 words, microengine 0"]);
    dir.npsim("asm p -D WANT=4").expect(1, &["not as planned"]);
    dir.npsim("asm p -D OUT=4")
        .expect(1, &["-D OUT", "ring `OUT`"]);
}

#[test]
fn include_folders_of_a_project_are_searched() {
    let dir = Dir::new()
        .with("p/npsim.toml", format!("include = [\"../lib\"]\n{ME}"))
        .with("p/a.uc", "#include \"l.uc\"\n")
        .with("lib/l.uc", LOOP);
    dir.npsim("asm p").expect(0, &["1 of 4096 words"]);
}

#[test]
fn explain_shows_defaults_of_a_single_source() {
    let dir = Dir::new().with("a.uc", LOOP);
    let phrases = [
        "stands for a single source",
        "FREE_BUFFERS",
        "BUFFER_SHIFT",
        "RING_0_STATUS",
        "dram",
        "the buffers",
    ];
    dir.npsim("run a.uc --explain").expect(0, &phrases);
    dir.npsim("run a.uc --explain --until 1us")
        .expect(0, &["the time is up"]);
}

#[test]
fn a_new_project_elsewhere_finds_its_source_and_includes() {
    let dir = Dir::new()
        .with("first/a.uc", "#include \"end.uc\"\nend()\n")
        .with("lib/end.uc", "#macro end()\nctx_arb[kill]\n#endm\n");
    dir.npsim("new --from first/a.uc -I lib --out lab/one")
        .expect(0, &["wrote lab/one/npsim.toml"]);
    let text = String::from_utf8(dir.read("lab/one/npsim.toml")).expect("UTF-8");
    assert!(
        text.contains("source = \"../../first/a.uc\"")
            && text.contains("include = [\"../../lib\"]"),
        "{text}"
    );
    dir.npsim("run lab/one").expect(0, &["no events pending"]);
    dir.npsim("new --from first/a.uc -I none --out lab/two")
        .expect(1, &["there is no folder `none`"]);
    assert!(!dir.path("lab/two").exists());
}

#[test]
fn new_writes_the_default_project() {
    let dir = Dir::new().with("a.uc", LOOP);
    dir.npsim("new --from a.uc --me 2-3")
        .expect(0, &["wrote ./npsim.toml"]);
    assert_eq!(dir.files(), ["a.uc", "npsim.toml"]);
    let explained = dir.npsim("run . --explain").expect(0, &["a.uc"]).out;
    let same = |text: &str| text.split("\nMemory").nth(1).map(str::to_string);
    let single = dir.npsim("run a.uc --me 2-3 --explain").expect(0, &[]).out;
    assert_eq!(
        same(&explained),
        same(&single),
        "the written project is the default one"
    );
    dir.npsim("new --from a.uc").expect(1, &["already exists"]);
    dir.npsim("new --from none.uc").expect(1, &["none.uc"]);
    dir.npsim("new --from npsim.toml")
        .expect(1, &["not a microcode source"]);
    dir.npsim("new --from a.uc --out lab --chip ixp2850")
        .expect(1, &["there is no chip `ixp2850`"]);
    dir.npsim("new --from a.uc --out lab")
        .expect(0, &["lab/npsim.toml"]);
    dir.npsim("asm lab").expect(0, &["1 of 4096 words"]);
}

#[test]
fn project_can_extend_another() {
    let base = format!("{ME}name = \"work\"\ndefine = {{ WANT = 3 }}\n[[ring]]\nname = \"OUT\"\n");
    let dir = Dir::new()
        .with("base/npsim.toml", base)
        .with(
            "base/a.uc",
            "#if WANT != 4\n#error \"not as planned\"\n#endif\nhere#: br[here#]\n",
        )
        .with(
            "p/npsim.toml",
            "extends = \"../base\"\n[[me]]\nname = \"work\"\ndefine = { WANT = 4 }\n",
        );
    dir.npsim("asm base").expect(1, &["not as planned"]);
    dir.npsim("check p").expect(0, &[]);
    dir.npsim("check p --set me.work.define.WANT=5")
        .expect(1, &["not as planned"]);
    dir.npsim("run p --until 1us --checkpoint c.ckpt")
        .expect(0, &[]);
    let resume = "run --until 2us --resume c.ckpt";
    dir.npsim(resume).expect(0, &[]);
    dir.npsim("run p --until 1us --stats base/npsim.toml")
        .expect(1, &["would overwrite the project file"]);
    dir.npsim("run p --until 1us --set ring.OUT.size=256 --stats p/npsim.toml")
        .expect(1, &["would overwrite the project file"]);
    let chip = "extends = \"ixp2400\"\n[scratch]\nread = { value = 70, unit = \"ME cycles\", provenance = \"assumed\", basis = \"test\" }\n";
    let dir = dir.with("c/chip.toml", chip).with(
        "c/npsim.toml",
        "extends = \"../p\"\nchip.profile = \"chip.toml\"\n",
    );
    dir.npsim("run c --until 1us --stats c/chip.toml")
        .expect(1, &["would overwrite a file of the project"]);
    assert_eq!(dir.read("c/chip.toml"), chip.as_bytes());
    let dir = dir.with(
        "base/npsim.toml",
        format!("{ME}name = \"work\"\n[[ring]]\nname = \"OUT\"\nsize = 256\n"),
    );
    dir.npsim(resume)
        .expect(1, &["the project file", "has changed"]);
    let dir = dir.with(
        "base/npsim.toml",
        format!("{ME}name = \"work\"\n[[ring]]\nname = \"OUT\"\nsize = 7\n"),
    );
    dir.npsim("check p")
        .expect(1, &["base/npsim.toml:7:8", "7 longwords"]);
}

#[test]
fn coprocessor_can_be_dumped_and_refuses_atomic_operations() {
    let project = format!("{ME}[coprocessor]\nname = \"FEEDBACK\"\nchannel = 1\n");
    let source = "
        .num_contexts 4
        .reg $x address
        .sig done
        br=ctx[0, go#]
        ctx_arb[kill]
    go#:
        immed[address, ((FEEDBACK >> 16) & 0xffff), <<16]
        immed_w0[address, (FEEDBACK & 0xffff)]
        immed[$x, 7]
        sram[write, $x, address, 8, 1], ctx_swap[done]
        ctx_arb[kill]
    ";
    let dir = Dir::new()
        .with("p/npsim.toml", project.clone())
        .with("p/a.uc", source);
    dir.npsim("run p --explain").expect(
        0,
        &[
            "sram1    0x04000000 to 0x04001fff  coprocessor `FEEDBACK`",
            "FEEDBACK_MAILBOXES       0x44001000",
        ],
    );
    dir.npsim("run p --until 1us --dump FEEDBACK=qs.txt --dump FEEDBACK_XCP=xcp.txt")
        .expect(0, &["FEEDBACK on sram1: no requests"]);
    let text = String::from_utf8(dir.read("qs.txt")).expect("UTF-8");
    // Four per line, and no line with only zeros.
    let first = "0x44000000 0x00000000 0x00000000 0x00000007 0x00000000";
    assert_eq!(text.lines().next(), Some(first));
    assert!(text.lines().count() < 64, "{text}");
    let text = String::from_utf8(dir.read("xcp.txt")).expect("UTF-8");
    assert_eq!(text, "0x44000400 to 0x440007ff: all zero\n");
    for (instruction, phrase) in [
        (
            "sram[test_and_set, $x, address, 16], ctx_swap[done]",
            "which has no atomic operations",
        ),
        ("sram[read, $x, address, 0xc, 1], ctx_swap[done]", "a.uc:12"),
    ] {
        let changed = source.replace(
            "sram[write, $x, address, 8, 1], ctx_swap[done]",
            &format!("alu_shf[address, address, OR, 0xc, <<8]\n        {instruction}"),
        );
        let dir = Dir::new()
            .with("p/npsim.toml", project.clone())
            .with("p/a.uc", changed);
        dir.npsim("run p --until 1us")
            .expect(3, &["in the window of the coprocessor FEEDBACK", phrase]);
    }
    assert_refused(
        &format!("{project}address = 0x2000\n"),
        &[
            "lies in the channel's memory",
            "p/npsim.toml:7",
            "0x4000000",
        ],
    );
    assert_refused(
        &format!("{ME}[coprocessor]\nname = \"F\"\nchannel = 5\n"),
        &["there is no SRAM channel 5", "p/npsim.toml:6:11"],
    );
}
