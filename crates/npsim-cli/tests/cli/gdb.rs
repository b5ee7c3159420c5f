//! The program of the core under a real gdb, driven by commands.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use crate::harness::{Dir, root};

const GDB: &str = "gdb-multiarch";
/// Traffic in which every packet is an echo request to the router, which the core answers.
const ECHO_TRAFFIC: &str = "--set load.special.icmp=1 --to 10.1.0.1/32 --rate 60kpps --time 200us";

/// A debugger that waits for gdb; it ends with the test.
struct Served {
    child: Child,
    port: String,
    said: Option<JoinHandle<String>>,
}

impl Served {
    fn new(target: &str, options: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_npsim"))
            .current_dir(root())
            .args(["debug", target, "--gdb", ":0"])
            .args(options.split_whitespace())
            .stderr(Stdio::piped())
            .spawn()
            .expect("run npsim");
        let mut stderr = BufReader::new(child.stderr.take().expect("its messages"));
        let mut first = String::new();
        stderr.read_line(&mut first).expect("a line");
        assert!(first.contains("listening at"), "{first}");
        let port = first.trim().rsplit(':').next().expect("a port").to_owned();
        let said = std::thread::spawn(move || {
            let mut rest = String::new();
            let _ = stderr.read_to_string(&mut rest);
            rest
        });
        Self {
            child,
            port,
            said: Some(said),
        }
    }

    fn connect(&self) -> std::io::Result<TcpStream> {
        TcpStream::connect(format!("127.0.0.1:{}", self.port))
    }

    /// Waits for it to exit; returns the exit code and its output.
    fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("it ends");
        let said = self.said.take().expect("it was not asked before");
        (status.code(), said.join().expect("its messages"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// gdb's output for commands; `None` if gdb is not installed.
fn gdb(elf: &str, served: &Served, commands: &str) -> Option<String> {
    let commands = commands.lines().flat_map(|line| ["-ex", line]);
    let output = Command::new(GDB)
        .current_dir(root())
        .args(["-nx", "-batch", "-iex", "set pagination off"])
        .args(["-d", "microcode/core", elf, "-ex"])
        .arg(format!("target remote 127.0.0.1:{}", served.port))
        .args(commands)
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: {GDB} is not installed");
        return None;
    };
    // Error messages follow all printed output.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(text(&output.stdout) + &text(&output.stderr))
}

/// Parts in the order in which they come.
#[track_caller]
fn expect(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            panic!("no `{part}` where it belongs in:\n{text}");
        };
        rest = behind;
    }
}

#[test]
fn gdb_debugs_the_core_program_forwards_and_backwards() {
    let served = Served::new("microcode/forward/icmp-c.toml", ECHO_TRAFFIC);
    let commands = "\
break icmp_take
continue
print packet->reason
next
next
step
bt 3
up
info locals
watch icmp_counts.echo_replies
continue
set $after = (unsigned)$pc
reverse-continue
print $after - (unsigned)$pc
x/i $pc
delete 2
continue
finish
reverse-continue
reverse-stepi
stepi
info registers pc
reverse-finish
next
next
reverse-next
print 8 * 8";
    let Some(said) = gdb("microcode/core/icmp.elf", &served, commands) else {
        return;
    };
    expect(
        &said,
        &[
            "Breakpoint 1, icmp_take (packet=",
            "$1 = 5",
            "if (!datagram_in_frame(&about",
            "enum answer how",
            "#0  answer (",
            "#1  icmp_take (packet=",
            "in main () at slow/icmp_main.c:14",
            "known = 34",
            "Hardware watchpoint 2: icmp_counts.echo_replies",
            "Old value = 0",
            "New value = 1",
            "in send_echo",
            "Old value = 1",
            "New value = 0",
            "in send_echo",
            "$2 = 4",
            "str\t",
            "Breakpoint 1, icmp_take (packet=",
            "in main () at slow/icmp_main.c:14",
            "Value returned is $3 = 1",
            "Breakpoint 1, icmp_take (packet=",
            "in main () at slow/icmp_main.c:14",
            "Breakpoint 1, icmp_take (packet=",
            "pc ",
            "<icmp_take>",
            "main () at slow/icmp_main.c:14",
            "Breakpoint 1, icmp_take (packet=",
            "if (!datagram_in_frame(&about",
            "Breakpoint 1, icmp_take (packet=",
            "$4 = 64",
        ],
    );
    assert_eq!(served.end().0, Some(0));
}

#[test]
fn gdb_watches_a_ring_that_microengines_fill() {
    let served = Served::new("microcode/forward/icmp-c.toml", ECHO_TRAFFIC);
    // The first longword of EXCEPTION_RING, which is at 0x800 of scratch.
    let commands = "\
watch *(unsigned *)(0xca000000 + 0x800)
continue
monitor ring EXCEPTION_RING
reverse-continue
reverse-continue
set var $r0 = 1
set var icmp_counts.echo_replies = 1
monitor where core";
    let Some(said) = gdb("microcode/core/icmp.elf", &served, commands) else {
        return;
    };
    expect(
        &said,
        &[
            "Old value = 0",
            "New value = 83886084",
            "Old value = 83886084",
            "New value = 0",
            "No more reverse-execution history",
        ],
    );
    for part in [
        "scratch ring 1 at 0x800: 1 of 128 longwords",
        "Could not write registers",
        "Cannot access memory",
        "core icmp.elf running at 0x0300145c",
    ] {
        expect(&said, &[part]);
    }
}

#[test]
fn gdb_steps_through_a_little_endian_program() {
    let project = "name = \"little\"\n[chip]\nprofile = \"ixp2400\"\n[[me]]\nid = 0\nsource = \"a.uc\"\n\
        [gpp.program]\nelf = \"hello.elf\"\nimport = { IN_NUMBER = 4 }\n";
    let elf = root().join("crates/xscale/tests/programs/hello-little.elf");
    let dir = Dir::new()
        .with("npsim.toml", project)
        .with("a.uc", "ctx_arb[kill]\n")
        .with("hello.elf", std::fs::read(elf).expect("the program"));
    let path = |name| dir.path(name).to_str().expect("a path").to_owned();
    let served = Served::new(&path("npsim.toml"), "");
    let commands = "\
stepi
stepi
reverse-stepi
info registers pc
break main
continue
print/d bytes
continue
reverse-continue
reverse-continue";
    let Some(said) = gdb(&path("hello.elf"), &served, commands) else {
        return;
    };
    expect(
        &said,
        &[
            "_start () at",
            "<_start+4>",
            "Breakpoint 1, main () at",
            "$1 = {1, 2, 3, 4}",
            // The end of the run, and its beginning.
            "No more reverse-execution history",
            "Breakpoint 1, main () at",
            "No more reverse-execution history",
            "_start () at",
        ],
    );
    assert_eq!(
        served.end(),
        (
            Some(0),
            "the run ends: nothing more can happen\n".to_owned()
        )
    );
}

#[test]
fn gdb_unwinds_thumb_and_arm_code() {
    let commands = "\
break leaf
continue
bt
finish
delete 1
break in_arm
continue
break popped
continue
bt
finish
reverse-continue
reverse-continue
delete
break hands_over
continue
break leaf
continue
bt
delete
tbreak main
reverse-continue
next
next
reverse-next
break tick
continue
bt 3";
    for program in ["thumb", "thumb-little"] {
        let dir = Dir::core_program(program, "");
        let path = |name| dir.path(name).to_str().expect("a path").to_owned();
        let served = Served::new(&path("npsim.toml"), "");
        let Some(said) = gdb(&path("program.elf"), &served, commands) else {
            return;
        };
        expect(
            &said,
            &[
                "Breakpoint 1, leaf (value",
                "#1  0x",
                "in popped (value",
                "#2  0x",
                "in main () at",
                "in popped (value",
                "Value returned is $1 = 0",
                "Breakpoint 2, in_arm (callback",
                "Breakpoint 3, popped (value",
                "#1  0x",
                "in in_arm (callback",
                "in main () at",
                "in in_arm (callback",
                "Value returned is $2 = ",
                "Breakpoint 3, popped (value",
                "Breakpoint 2, in_arm (callback",
                "in hands_over ()",
                // It jumped to `popped`, which returns for it.
                "Breakpoint 5, leaf (value",
                "#1  0x",
                "in popped (value=1)",
                "#2  0x",
                "in main () at",
                "Temporary breakpoint 6, main () at",
                "97\t",
                "96\t",
                "Breakpoint 7, tick () at",
                "#1  0x",
                "in irq () at",
                "#2  0x",
                "in on_irq () at",
            ],
        );
    }
}

#[test]
fn debugger_ends_when_gdb_disconnects() {
    for (name, bytes, code, says) in [
        ("killed", &b"$k#6b"[..], 0, ""),
        ("detached", b"$D#44", 0, ""),
        (
            "left",
            b"",
            0,
            "the connection ended before gdb sent anything",
        ),
        ("left while it runs", b"$c#63", 0, "the connection ended"),
        (
            "a mistaken checksum",
            b"$g#00",
            1,
            "does not speak the protocol of gdb",
        ),
        (
            "noise",
            b"\xff\0noise$$##}}",
            1,
            "does not speak the protocol of gdb",
        ),
    ] {
        let served = Served::new("microcode/forward/icmp-c.toml", ECHO_TRAFFIC);
        let mut stream = served.connect().expect(name);
        stream.write_all(bytes).expect(name);
        if bytes.len() == 5 {
            // Its answer comes when it has been read.
            let _ = stream.read(&mut [0; 1]);
            assert!(served.connect().is_err(), "{name}: one gdb at a time");
        }
        drop(stream);
        let (ended, said) = served.end();
        assert_eq!(ended, Some(code), "{name}: {said}");
        assert!(said.contains(says), "{name}: {said}");
        assert!(!said.contains("panicked"), "{name}: {said}");
    }
}

#[test]
fn gdb_is_refused_without_a_core_program() {
    let dir = Dir::new();
    let wire = root().join("microcode/tutorial/wire8.uc");
    let lib = root().join("microcode/lib");
    let line = format!(
        "debug {} -I {} --load 0.5 --gdb :0",
        wire.display(),
        lib.display()
    );
    dir.npsim(&line)
        .expect(1, &["the core runs no program", "[gpp]"]);
}
