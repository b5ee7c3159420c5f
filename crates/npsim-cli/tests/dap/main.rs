//! The debug adapter as a client sees it: every request, and clients that misbehave.

mod client;
mod form;
mod neovim;
mod streams;
mod vscode;

use client::Client;
use serde_json::{Value, json};

fn wire8() -> Value {
    json!({
        "program": "microcode/tutorial/wire8.uc",
        "load": 0.5,
        "time": "100us",
        "args": ["-I", "microcode/lib"],
    })
}

/// A context of microengine 0.
fn thread(context: i64) -> i64 {
    context + 1
}

fn line(client: &mut Client, thread: i64) -> i64 {
    let stack = client.ask("stackTrace", json!({ "threadId": thread }));
    stack["stackFrames"][0]["line"].as_i64().unwrap()
}

#[test]
fn session_runs_forwards_and_backwards() {
    let mut client = Client::new();
    client.launch(wire8());
    let set = client.ask(
        "setBreakpoints",
        json!({
            "source": { "path": "/elsewhere/microcode/tutorial/wire8.uc" },
            "breakpoints": [
                { "line": 47, "condition": "context == 3" },
                { "line": 46, "logMessage": "status {$status:x}", "hitCondition": ">=1" },
                { "line": 9999 },
                { "line": 47, "condition": "nothing == 3" },
                { "line": -4 },
                { "column": 1 },
            ],
        }),
    );
    let verified: Vec<_> = set["breakpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["verified"] == true)
        .collect();
    assert_eq!(verified, [true, true, false, false, false, false]);
    assert!(
        set["breakpoints"][2]["message"]
            .as_str()
            .unwrap()
            .contains("no code at line 9999")
    );
    client.ask(
        "setExceptionBreakpoints",
        json!({ "filters": ["ring-overflow", "uninitialised-read"] }),
    );
    client.ask("configurationDone", json!({}));
    assert_eq!(client.event("stopped")["reason"], "entry");
    let threads = client.ask("threads", json!({}));
    assert_eq!(threads["threads"].as_array().unwrap().len(), 8);
    assert_eq!(threads["threads"][3]["name"], "ME0 ctx3 wire8");

    let stopped = client.go("continue", thread(0));
    assert_eq!(stopped["reason"], "breakpoint");
    assert_eq!(stopped["threadId"], thread(3));
    assert_eq!(stopped["hitBreakpointIds"], json!([1]));
    let at = stopped["description"].clone();
    assert_eq!(line(&mut client, thread(3)), 47);
    assert_eq!(client.go("next", thread(3))["reason"], "step");
    assert_eq!(line(&mut client, thread(3)), 48);
    client.go("stepIn", thread(3));
    client.go("stepBack", thread(3));
    client.go("stepBack", thread(3));
    assert_eq!(line(&mut client, thread(3)), 47);
    let again = client.go("reverseContinue", thread(3));
    assert_eq!(again["text"], "the beginning of the run");
    assert_eq!(client.go("continue", thread(3))["description"], at);

    let stack = client.ask(
        "stackTrace",
        json!({ "threadId": thread(3), "startFrame": 0, "levels": 1 }),
    );
    let frame = stack["stackFrames"][0].clone();
    assert!(
        frame["source"]["path"]
            .as_str()
            .unwrap()
            .ends_with("microcode/tutorial/wire8.uc")
    );
    let scopes = client.ask("scopes", json!({ "frameId": frame["id"] }));
    let (mut names, mut registers) = (None, None);
    for scope in scopes["scopes"].as_array().unwrap() {
        let reference = scope["variablesReference"].clone();
        let variables = client.ask("variables", json!({ "variablesReference": reference }));
        let part = client.ask("variables", json!({ "variablesReference": reference, "start": 1, "count": 2, "format": { "hex": true } }));
        let (all, part) = (
            variables["variables"].as_array().unwrap(),
            part["variables"].as_array().unwrap(),
        );
        assert_eq!(part.len(), all.len().saturating_sub(1).min(2));
        if scope["name"] == "Registers" {
            registers = Some(reference.clone());
        }
        if scope["name"] == "Names" {
            names = Some((reference, all.clone()));
        }
    }
    let (reference, names) = names.unwrap();
    assert!(names.iter().any(|it| it["name"] == "status"), "{names:?}");
    let hover = json!({ "expression": "status >> 24", "frameId": frame["id"], "context": "hover" });
    let value = client.ask("evaluate", hover);
    assert!(value["result"].as_str().unwrap().contains("(0x"), "{value}");
    let word = json!({ "expression": "scratch[0x40]", "context": "watch" });
    let memory = client.ask("evaluate", word)["memoryReference"].clone();
    assert!(
        client
            .refused(
                "evaluate",
                json!({ "expression": "nothing", "context": "hover" })
            )
            .contains("`nothing`")
    );

    // Data.
    let info = client.ask(
        "dataBreakpointInfo",
        json!({ "variablesReference": reference, "name": "status" }),
    );
    let word = client.ask(
        "dataBreakpointInfo",
        json!({ "name": memory, "asAddress": true, "bytes": 4 }),
    );
    assert_eq!(word["accessTypes"], json!(["read", "write", "readWrite"]));
    let none = client.ask("dataBreakpointInfo", json!({ "name": "nothing" }));
    assert_eq!(none["dataId"], Value::Null);
    client.ask(
        "setBreakpoints",
        json!({ "source": { "path": "wire8.uc" }, "breakpoints": [] }),
    );
    client.ask(
        "setBreakpoints",
        json!({ "source": { "path": "/elsewhere/microcode/tutorial/wire8.uc" } }),
    );
    client.ask(
        "setDataBreakpoints",
        json!({ "breakpoints": [{ "dataId": info["dataId"], "accessType": "write" }] }),
    );
    assert_eq!(
        client.go("continue", thread(3))["reason"],
        "data breakpoint"
    );
    client.ask("setDataBreakpoints", json!({ "breakpoints": [] }));

    // Instructions.
    let reference_of = frame["instructionPointerReference"].clone();
    let words = client.ask("disassemble", json!({ "memoryReference": reference_of, "instructionOffset": -50, "instructionCount": 80 }));
    let words = words["instructions"].as_array().unwrap();
    assert_eq!(words.len(), 80);
    assert_eq!(words[0]["presentationHint"], "invalid");
    assert_eq!(words[50]["address"], reference_of);
    client.ask("setInstructionBreakpoints", json!({ "breakpoints": [{ "instructionReference": reference_of, "offset": 8 }, { "instructionReference": "0x1000fff00" }] }));
    assert_eq!(client.go("continue", thread(3))["reason"], "breakpoint");
    client.ask("setInstructionBreakpoints", json!({ "breakpoints": [] }));

    // Memory.
    let zeros = client.ask(
        "readMemory",
        json!({ "memoryReference": memory, "count": 8 }),
    );
    assert_eq!(zeros["unreadableBytes"], 0);
    client.ask(
        "writeMemory",
        json!({ "memoryReference": memory, "offset": 1, "data": "EjQ=" }),
    );
    let read = client.ask("evaluate", json!({ "expression": "scratch[0x40] & 0xffff00", "context": "watch", "format": { "hex": true } }));
    assert_eq!(read["result"], "0x123400");
    client.ask(
        "setVariable",
        json!({ "variablesReference": registers, "name": "a3", "value": "5" }),
    );
    let set = json!({ "expression": "a3", "frameId": frame["id"], "context": "watch" });
    assert_eq!(client.ask("evaluate", set)["result"], "5 (0x5)");

    // The rest.
    let repl = json!({ "expression": "status", "context": "repl" });
    let status = client.ask("evaluate", repl)["result"].clone();
    assert!(
        status.as_str().unwrap().contains("changed by hand"),
        "{status}"
    );
    client.ask(
        "evaluate",
        json!({ "expression": "goto 1000", "context": "repl" }),
    );
    assert_eq!(client.event("stopped")["reason"], "goto");
    let completed = client.ask("completions", json!({ "text": "contin", "column": 7 }));
    assert_eq!(completed["targets"][0]["label"], "continue");
    let locations = client.ask(
        "breakpointLocations",
        json!({ "source": { "path": "wire8.uc" }, "line": 45, "endLine": 48 }),
    );
    assert_eq!(locations["breakpoints"].as_array().unwrap().len(), 3);
    let sources = client.ask("loadedSources", json!({}));
    let source = client.ask(
        "source",
        json!({ "source": sources["sources"][0], "sourceReference": 0 }),
    );
    assert!(source["content"].as_str().unwrap().contains("receive_"));
    assert!(
        client
            .refused("source", json!({ "source": { "path": "/etc/passwd" } }))
            .contains("no program has")
    );
    client.ask("cancel", json!({ "requestId": 1 }));
    client.ask("pause", json!({ "threadId": 1 }));
    client.event("stopped");
    assert!(
        client
            .refused("exceptionInfo", json!({ "threadId": 1 }))
            .contains("no check")
    );
    assert!(client.refused("stepOut", json!({})).contains("threadId"));
    assert!(
        client
            .refused("restart", json!({}))
            .contains("no request `restart`")
    );
    // Steps out of a macro that was stepped into.
    let asked = json!({ "source": { "path": "wire8.uc" }, "breakpoints": [{ "line": 49, "condition": "context == 3" }] });
    client.ask("setBreakpoints", asked);
    client.go("continue", thread(3));
    assert!(
        client
            .refused("stepOut", json!({ "threadId": thread(3) }))
            .contains("not in a macro")
    );
    client.go("stepIn", thread(3));
    let stack = client.ask("stackTrace", json!({ "threadId": thread(3) }));
    assert_eq!(stack["stackFrames"][0]["name"], "receive_store");
    assert_eq!(stack["stackFrames"][1]["line"], 49);
    client.go("stepOut", thread(3));
    assert_eq!(line(&mut client, thread(3)), 50);
    let asked = json!({ "source": { "name": "wire8.uc" }, "line": 47 });
    let id = client.ask("gotoTargets", asked)["targets"][1]["id"].clone();
    client.ask("goto", json!({ "threadId": thread(3), "targetId": id }));
    client.event("stopped");
    assert_eq!(line(&mut client, thread(3)), 47);
    client.ask("terminate", json!({}));
    client.event("terminated");
    client.ask("disconnect", json!({}));
    let missing: Vec<_> = form::commands()
        .filter(|it| *it != "exceptionInfo" && !client.answered.iter().any(|done| done == it))
        .collect();
    assert_eq!(missing, [""; 0], "requests that the test did not make");
    assert_eq!(client.hang_up(), 0);
}

#[test]
fn data_breakpoint_watches_the_enclosing_longword() {
    let mut client = Client::new();
    client.launch(wire8());
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let word = json!({ "expression": "scratch[0x40]", "context": "watch" });
    let memory = client.ask("evaluate", word)["memoryReference"].clone();
    let digits = memory.as_str().unwrap().trim_start_matches("0x");
    let first = i64::from_str_radix(digits, 16).unwrap();
    let mut info = |offset: i64, bytes: i64| {
        let name = format!("{:#x}", first + offset);
        let asked = json!({ "name": name, "asAddress": true, "bytes": bytes });
        client.ask("dataBreakpointInfo", asked)
    };
    for (offset, bytes) in [(0, 4), (1, 2), (3, 1)] {
        let info = info(offset, bytes);
        assert_eq!(info["description"], "scratch[0x40] of 0.0", "{info}");
        assert_eq!(info["dataId"], "0.0:scratch[0x40]");
    }
    let several = info(1, 4);
    assert_eq!(several["dataId"], Value::Null);
    let said = several["description"].as_str().unwrap();
    assert!(
        said.contains("several longwords from scratch[0x40] on"),
        "{said}"
    );
    let mut set = |access: &str| {
        let asked =
            json!({ "breakpoints": [{ "dataId": "0.0:scratch[0x40]", "accessType": access }] });
        client.ask("setDataBreakpoints", asked)["breakpoints"][0].clone()
    };
    for access in ["read", "readWrite"] {
        let point = set(access);
        assert_eq!(point["verified"], true);
        let said = point["message"].as_str().unwrap();
        assert!(said.contains("not gets from rings"), "{said}");
    }
    assert_eq!(set("write")["message"], Value::Null);
    let unaligned =
        json!({ "breakpoints": [{ "dataId": "0.0:scratch[0x41]", "accessType": "write" }] });
    let point = client.ask("setDataBreakpoints", unaligned)["breakpoints"][0].clone();
    assert_eq!(point["verified"], false);
    assert!(
        point["message"]
            .as_str()
            .unwrap()
            .contains("is not a longword"),
        "{point}"
    );
    assert_eq!(client.hang_up(), 0);
}

#[test]
fn client_writes_are_recorded() {
    let mut client = Client::new();
    client.launch(wire8());
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let say = |client: &mut Client, line: &str| {
        let asked = json!({ "expression": line, "context": "repl" });
        client.ask("evaluate", asked)["result"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    say(&mut client, "goto 3000");
    client.event("stopped");
    let word = json!({ "expression": "scratch[0x40]", "context": "watch" });
    let memory = client.ask("evaluate", word)["memoryReference"].clone();
    // The last byte of a longword and the first of the next one.
    let asked = json!({ "memoryReference": memory, "offset": 3, "data": "EjQ=" });
    client.ask("writeMemory", asked);
    let stack = client.ask("stackTrace", json!({ "threadId": 1 }));
    let scopes = client.ask(
        "scopes",
        json!({ "frameId": stack["stackFrames"][0]["id"] }),
    );
    let scopes = scopes["scopes"].as_array().unwrap();
    let registers = scopes.iter().find(|it| it["name"] == "Registers").unwrap();
    let asked = json!({ "variablesReference": registers["variablesReference"], "name": "b3", "value": "5" });
    client.ask("setVariable", asked);
    say(&mut client, "goto 3500");
    client.event("stopped");
    for (what, value) in [("scratch[0x40]", 0x12), ("scratch[0x44]", 0x3400_0000)] {
        let said = say(&mut client, &format!("who {what} 1"));
        assert!(said.starts_with("cycle 3000 "), "{said}");
        assert!(said.contains(&format!(": {value} (")), "{said}");
        assert!(
            said.trim_end().ends_with("the user, in the debugger"),
            "{said}"
        );
    }
    let said = say(&mut client, "who b3 5");
    assert!(
        said.contains("cycle 3000 ") && said.contains(": 5 (0x5), the user, in the debugger"),
        "{said}"
    );
    // The bytes beside them are not written.
    let said = say(&mut client, "who scratch[0x3c] 1");
    assert!(said.starts_with("nothing has written"), "{said}");
    assert_eq!(client.hang_up(), 0);
}

#[test]
fn goto_reaches_lines_ahead_and_behind() {
    let mut client = Client::new();
    client.launch(wire8());
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let source = json!({ "path": "microcode/tutorial/wire8.uc" });
    // Conditions that otherwise stop a run do not stop a jump.
    let set = json!({ "source": source, "breakpoints": [{ "line": 46 }] });
    client.ask("setBreakpoints", set);
    let asked = json!({ "source": source, "line": 47 });
    let targets = client.ask("gotoTargets", asked.clone());
    let id = |at: usize| targets["targets"][at]["id"].as_i64().unwrap();
    assert_eq!(
        targets["targets"][0]["label"],
        "the next time at wire8.uc:47"
    );
    let go = |client: &mut Client, at: usize| {
        client.ask("goto", json!({ "threadId": thread(3), "targetId": id(at) }));
        let stopped = client.event("stopped");
        assert_eq!(
            (&stopped["reason"], &stopped["threadId"]),
            (&json!("goto"), &json!(thread(3)))
        );
        assert_eq!(line(client, thread(3)), 47);
        stopped["description"].clone()
    };
    let first = go(&mut client, 0);
    let second = go(&mut client, 0);
    assert_ne!(first, second);
    assert_eq!(go(&mut client, 1), first);
    // There is no cycle before the first, and the run stays where it is.
    let none = json!({ "threadId": thread(3), "targetId": id(1) });
    assert!(
        client
            .refused("goto", none)
            .contains("is not there before this moment")
    );
    assert_eq!(line(&mut client, thread(3)), 47);
    let none = json!({ "threadId": thread(3), "targetId": 77 });
    assert!(client.refused("goto", none).contains("no target 77"));
    client.hang_up();
}

#[test]
fn fault_stops_as_an_exception_with_details() {
    let folder = std::env::temp_dir().join(format!("npsim-dap-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("faulty.uc");
    std::fs::write(
        &file,
        ".reg a b\n    immed[a, 5]\n    alu[b, b, +, a]\n    ctx_arb[kill]\n",
    )
    .unwrap();
    let mut client = Client::new();
    client.launch(json!({ "program": file, "stopOnEntry": false }));
    client.ask("configurationDone", json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "exception");
    assert_eq!(line(&mut client, stopped["threadId"].as_i64().unwrap()), 3);
    let info = client.ask("exceptionInfo", json!({ "threadId": stopped["threadId"] }));
    assert_eq!(info["exceptionId"], "uninitialised-read");
    let checks: Vec<&str> = npsim::chip::kernel::check::Check::ALL
        .iter()
        .map(|it| it.name())
        .collect();
    let others: Vec<_> = checks
        .into_iter()
        .filter(|it| *it != "uninitialised-read")
        .collect();
    client.ask("setExceptionBreakpoints", json!({ "filters": others }));
    let end = client.go("continue", 1);
    assert!(
        end["text"].as_str().unwrap().starts_with("the run ends"),
        "{end}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(client.hang_up(), 0);
}

#[test]
fn running_search_can_be_interrupted() {
    let mut client = Client::new();
    client.launch(json!({
        "program": "microcode/forward", "load": 1, "time": "10s",
    }));
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    client.ask("continue", json!({ "threadId": 1 }));
    let pause = client.send("pause", json!({ "threadId": 1 }));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "pause", "{stopped}");
    client.response(pause);
    client.event("stopped");
    // The client closes the connection while the run continues.
    client.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(client.hang_up(), 0);
}

#[test]
fn refused_launch_says_why() {
    for (arguments, why) in [
        (json!({}), "names no `program`"),
        (json!({ "program": "nowhere" }), "cannot read `nowhere`"),
        (
            json!({ "program": "microcode/forward", "memory": 1 }),
            "give at least `--memory",
        ),
        (
            json!({ "program": "microcode/forward", "load": "much" }),
            "--load",
        ),
        (
            json!({ "program": "microcode/forward", "args": ["--nonsense"] }),
            "--nonsense",
        ),
        (
            json!({ "program": "microcode/forward", "args": "--load 1" }),
            "`args` must be a list of words",
        ),
        (
            json!({ "program": "microcode/forward", "args": [["--load"]] }),
            "`args` must be a list of words",
        ),
        (
            json!({ "program": "microcode/forward", "stopOnentry": true }),
            "no `stopOnentry`; did you mean `stopOnEntry`?",
        ),
        (
            json!({ "program": "microcode/forward", "stopOnEntry": "no" }),
            "`stopOnEntry` must be true or false",
        ),
        (
            json!({ "program": "microcode/forward", "colour": 1, "__sessionId": "x" }),
            "no `colour`; it can have load, rate,",
        ),
        (
            json!({ "program": "microcode/tutorial/wire8.uc" }),
            "has errors",
        ),
    ] {
        let mut client = Client::new();
        client.ask("initialize", json!({ "adapterID": "npsim" }));
        assert!(
            client
                .refused("threads", json!({}))
                .contains("nothing is launched")
        );
        let launch = client.send("launch", arguments);
        assert_eq!(client.response(launch)["success"], false);
        let output = client.event("output")["output"].clone();
        assert!(output.as_str().unwrap().contains(why), "{output}");
        client.event("terminated");
        client.hang_up();
    }
}

#[test]
fn core_is_listed_as_a_thread() {
    let mut client = Client::new();
    client.launch(json!({
        "program": "microcode/forward/icmp-c.toml",
        "rate": "60kpps",
        "time": "100us",
        "args": ["--set", "load.special.icmp=1", "--to", "10.1.0.1/32"],
    }));
    let set = client.ask(
        "setBreakpoints",
        json!({
            "source": { "path": "/elsewhere/microcode/core/slow/icmp.c" },
            "breakpoints": [{ "line": 162 }, { "line": 99999 }],
        }),
    );
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    assert_eq!(set["breakpoints"][1]["verified"], false, "{set}");
    let at = set["breakpoints"][0]["line"].clone();
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let threads = client.ask("threads", json!({}));
    let threads = threads["threads"].as_array().unwrap();
    let core = threads.last().unwrap();
    assert_eq!(core["name"], "core icmp.elf");
    let core = core["id"].as_i64().unwrap();
    let stopped = client.go("continue", thread(0));
    assert_eq!(stopped["reason"], "breakpoint");
    assert_eq!(stopped["threadId"], core);
    let stack = client.ask("stackTrace", json!({ "threadId": core }));
    let frame = &stack["stackFrames"][0];
    assert_eq!(frame["line"], at);
    let path = frame["source"]["path"].as_str().unwrap();
    assert!(path.ends_with("microcode/core/slow/icmp.c"), "{path}");
    let scopes = client.ask("scopes", json!({ "frameId": frame["id"] }));
    let reference = &scopes["scopes"][0]["variablesReference"];
    let registers = client.ask("variables", json!({ "variablesReference": reference }));
    let pc = registers["variables"][15].clone();
    assert_eq!(pc["name"], "pc");
    assert_eq!(client.go("next", core)["reason"], "step");
    client.go("stepBack", core);
    let registers = client.ask("variables", json!({ "variablesReference": reference }));
    assert_eq!(registers["variables"][15], pc);
}
