//! The form of messages: the properties that the protocol requires, with their types.

use serde_json::Value;

/// A property by its path: `frames[].id:int`; a `?` before the type means that it may be absent.
const RESPONSES: &[(&str, &[&str])] = &[
    (
        "initialize",
        &[
            "supportsConfigurationDoneRequest:bool",
            "supportsStepBack:bool",
            "supportsDataBreakpoints:bool",
            "exceptionBreakpointFilters[].filter:str",
            "exceptionBreakpointFilters[].label:str",
            "exceptionBreakpointFilters[].description:?str",
            "exceptionBreakpointFilters[].default:?bool",
            "completionTriggerCharacters[]:str",
        ],
    ),
    ("continue", &["allThreadsContinued:?bool"]),
    ("threads", &["threads[].id:int", "threads[].name:str"]),
    (
        "stackTrace",
        &[
            "stackFrames[].id:int",
            "stackFrames[].name:str",
            "stackFrames[].line:int",
            "stackFrames[].column:int",
            "stackFrames[].source:?obj",
            "stackFrames[].source.path:?str",
            "stackFrames[].source.name:?str",
            "stackFrames[].instructionPointerReference:?str",
            "totalFrames:?int",
        ],
    ),
    (
        "scopes",
        &[
            "scopes[].name:str",
            "scopes[].variablesReference:int",
            "scopes[].expensive:bool",
            "scopes[].presentationHint:?str",
        ],
    ),
    (
        "variables",
        &[
            "variables[].name:str",
            "variables[].value:str",
            "variables[].variablesReference:int",
            "variables[].type:?str",
            "variables[].evaluateName:?str",
        ],
    ),
    ("setVariable", &["value:str"]),
    (
        "evaluate",
        &[
            "result:str",
            "variablesReference:int",
            "memoryReference:?str",
        ],
    ),
    ("setBreakpoints", BREAKPOINTS),
    ("setInstructionBreakpoints", BREAKPOINTS),
    ("setDataBreakpoints", BREAKPOINTS),
    ("setExceptionBreakpoints", BREAKPOINTS),
    ("breakpointLocations", &["breakpoints[].line:int"]),
    (
        "gotoTargets",
        &[
            "targets[].id:int",
            "targets[].label:str",
            "targets[].line:int",
        ],
    ),
    (
        "dataBreakpointInfo",
        &[
            "dataId:str-or-null",
            "description:str",
            "accessTypes[]:?str",
            "canPersist:?bool",
        ],
    ),
    (
        "exceptionInfo",
        &[
            "exceptionId:str",
            "breakMode:str",
            "description:?str",
            "details.message:?str",
            "details.typeName:?str",
            "details.stackTrace:?str",
        ],
    ),
    (
        "completions",
        &[
            "targets[].label:str",
            "targets[].start:?int",
            "targets[].length:?int",
        ],
    ),
    (
        "disassemble",
        &[
            "instructions[].address:str",
            "instructions[].instruction:str",
            "instructions[].instructionBytes:?str",
            "instructions[].location:?obj",
            "instructions[].line:?int",
            "instructions[].presentationHint:?str",
        ],
    ),
    (
        "readMemory",
        &["address:str", "unreadableBytes:?int", "data:?str"],
    ),
    ("writeMemory", &["bytesWritten:?int"]),
    ("source", &["content:str", "mimeType:?str"]),
    (
        "loadedSources",
        &["sources[].path:?str", "sources[].name:?str"],
    ),
];

const BREAKPOINTS: &[&str] = &[
    "breakpoints[].verified:bool",
    "breakpoints[].id:?int",
    "breakpoints[].message:?str",
    "breakpoints[].line:?int",
    "breakpoints[].source:?obj",
    "breakpoints[].instructionReference:?str",
];

/// Responses without a body.
const BARE: &[&str] = &[
    "launch",
    "configurationDone",
    "goto",
    "next",
    "stepIn",
    "stepOut",
    "stepBack",
    "reverseContinue",
    "pause",
    "cancel",
    "terminate",
    "disconnect",
];

const EVENTS: &[(&str, &[&str])] = &[
    ("initialized", &[]),
    ("terminated", &[]),
    (
        "stopped",
        &[
            "reason:str",
            "description:?str",
            "threadId:?int",
            "text:?str",
            "allThreadsStopped:?bool",
            "hitBreakpointIds[]:?int",
        ],
    ),
    ("output", &["output:str", "category:?str"]),
];

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "int" => value.is_i64() || value.is_u64(),
        "str" => value.is_string(),
        "bool" => value.is_boolean(),
        "obj" => value.is_object(),
        "str-or-null" => value.is_string() || value.is_null(),
        other => panic!("no type {other}"),
    }
}

fn walk(value: &Value, path: &str, kind: &str, optional: bool, whole: &Value) {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, list) = match step.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (step, false),
    };
    let Some(inner) = value.get(name) else {
        assert!(
            optional || !rest.is_empty() && name == "source",
            "`{name}` is missing: {whole}"
        );
        return;
    };
    let each = |inner: &Value| {
        if rest.is_empty() {
            assert!(has_type(inner, kind), "`{path}` is no {kind}: {whole}");
        } else {
            walk(inner, rest, kind, optional, whole);
        }
    };
    if list {
        let list = inner.as_array();
        list.unwrap_or_else(|| panic!("`{name}` is no list: {whole}"))
            .iter()
            .for_each(each);
    } else {
        each(inner);
    }
}

fn check_body(message: &Value, wanted: &[&str]) {
    for wanted in wanted {
        let (path, kind) = wanted.split_once(':').unwrap();
        let optional = kind.starts_with('?');
        walk(
            &message["body"],
            path,
            kind.trim_start_matches('?'),
            optional,
            message,
        );
    }
    // A property that the protocol does not define is a misspelt name.
    let known: Vec<_> = wanted
        .iter()
        .map(|it| it.split([':', '.', '[']).next().unwrap())
        .collect();
    for name in message["body"]
        .as_object()
        .into_iter()
        .flat_map(|it| it.keys())
    {
        let capability = message["command"] == "initialize" && name.starts_with("supports");
        assert!(
            known.contains(&name.as_str()) || capability,
            "`{name}` is unknown: {message}"
        );
    }
}

/// Panics if a message does not have the form that the protocol requires.
pub fn check(message: &Value) {
    assert!(has_type(&message["seq"], "int"), "{message}");
    match message["type"].as_str() {
        Some("response") => {
            assert!(has_type(&message["request_seq"], "int"), "{message}");
            assert!(has_type(&message["success"], "bool"), "{message}");
            let command = message["command"].as_str().unwrap();
            if message["success"] == false {
                assert!(has_type(&message["message"], "str"), "{message}");
                assert!(
                    has_type(&message["body"]["error"]["id"], "int"),
                    "{message}"
                );
                assert!(
                    has_type(&message["body"]["error"]["format"], "str"),
                    "{message}"
                );
                return;
            }
            if let Some((_, wanted)) = RESPONSES.iter().find(|it| it.0 == command) {
                check_body(message, wanted);
            } else {
                assert!(BARE.contains(&command), "{message}");
                assert!(message.get("body").is_none(), "{message}");
            }
        }
        Some("event") => {
            let event = message["event"].as_str().unwrap();
            let found = EVENTS.iter().find(|it| it.0 == event);
            check_body(message, found.unwrap_or_else(|| panic!("{message}")).1);
        }
        _ => panic!("{message}"),
    }
}

/// All commands whose answers have a form defined here.
pub fn commands() -> impl Iterator<Item = &'static str> {
    RESPONSES.iter().map(|it| it.0).chain(BARE.iter().copied())
}
