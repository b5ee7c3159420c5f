//! Streams that do not follow the protocol, or almost do.

use serde_json::json;

use crate::client::Client;
use crate::wire8;

#[test]
fn malformed_framing_ends_the_adapter_with_a_message() {
    let huge = format!("Content-Length: {}\r\n\r\n{{}}", 1_u64 << 63);
    let endless = vec![b'x'; 1 << 20];
    for (bytes, why) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "is not a header line"),
        (b"Content-Length: -1\r\n\r\n{}", "names no length"),
        (b"Content-Length: 99999999999\r\n\r\n{}", "the longest"),
        (huge.as_bytes(), "the longest"),
        (b"Content-Type: json\r\n\r\n{}", "no Content-Length"),
        (b"\xff\xfe\r\n\r\n", "is not a header line"),
        (b"Content-Length: 20\r\n\r\n{}", "after 2 of 20 bytes"),
        (b"Content-Length: 20\r\n", "ends inside a header"),
        (&endless, "does not end within"),
    ] {
        for launched in [false, true] {
            let mut client = Client::new();
            if launched {
                client.launch(wire8());
            }
            client.raw(bytes);
            let (code, errors) = client.end();
            assert_eq!(code, 1, "{errors}");
            assert!(errors.contains(why), "{errors}, not {why}");
            assert!(!errors.contains("panicked"), "{errors}");
        }
    }
}

#[test]
fn invalid_request_is_reported_and_the_adapter_continues() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let inside = format!(r#"{{"seq":5,"command":"threads","arguments":{deep}}}"#);
    let bad: [&[u8]; 7] = [
        b"",
        b"hello",
        b"[]",
        b"{\"seq\":1}",
        b"{\"seq\":1,\"command\":\"\xff\xfe\"}",
        deep.as_bytes(),
        inside.as_bytes(),
    ];
    for launched in [false, true] {
        let mut client = Client::new();
        if launched {
            client.launch(wire8());
        }
        for message in bad {
            client.raw(
                &[
                    format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes(),
                    message,
                ]
                .concat(),
            );
            let shown = client.event("output")["output"].clone();
            let shown = shown.as_str().unwrap();
            assert!(shown.contains("is not a request"), "{shown}");
        }
        let refused = client.refused("noSuchRequest", json!({}));
        let why = if launched {
            "there is no request"
        } else {
            "nothing is launched"
        };
        assert!(refused.contains(why), "{refused}");
        assert_eq!(client.hang_up(), 0);
    }
}

#[test]
fn out_of_range_numbers_are_refused() {
    let (most, least) = (i64::MAX, i64::MIN);
    let mut client = Client::new();
    client.launch(wire8());
    for (command, arguments) in [
        ("stackTrace", json!({ "threadId": least })),
        ("scopes", json!({ "frameId": most })),
        ("variables", json!({ "variablesReference": least })),
        (
            "readMemory",
            json!({ "memoryReference": "0x10", "offset": most, "count": 4 }),
        ),
        (
            "readMemory",
            json!({ "memoryReference": "0x7fffffffffffffff", "count": 4 }),
        ),
        (
            "writeMemory",
            json!({ "memoryReference": "0x7fffffffffffffff", "data": "AAAAAAAA" }),
        ),
        (
            "disassemble",
            json!({ "memoryReference": "0x100000000", "instructionOffset": most, "instructionCount": 9 }),
        ),
        (
            "disassemble",
            json!({ "memoryReference": "0x100000000", "instructionCount": most }),
        ),
        (
            "gotoTargets",
            json!({ "source": { "path": "wire8.uc" }, "line": most }),
        ),
        ("goto", json!({ "threadId": 1, "targetId": least })),
        ("stepIn", json!({ "threadId": most })),
    ] {
        let why = client.refused(command, arguments);
        assert!(!why.is_empty());
    }
    // Addresses past the end of memory have no data, and no memory of that size is allocated.
    let read = client.ask(
        "readMemory",
        json!({ "memoryReference": "0xfffffff0", "count": most }),
    );
    assert_eq!(read["data"], "");
    let info = client.ask(
        "dataBreakpointInfo",
        json!({ "name": "0x10", "asAddress": true, "bytes": most }),
    );
    assert!(info["dataId"].is_null(), "{info}");
    assert_eq!(client.hang_up(), 0);
}
