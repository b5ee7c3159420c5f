//! The language server: whatever an editor sends, it exits at the end of the stream.

#![no_main]

use std::io::{Cursor, sink};

use libfuzzer_sys::fuzz_target;
use npsim_fuzz::conversation::{Protocol, stream};

const BEGIN: [&str; 3] = [
    r#"initialize {"capabilities":{}}"#,
    "initialized {}",
    r##"textDocument/didOpen {"textDocument":{"uri":"untitled:a.uc","languageId":"uc","version":1,"text":"#macro m(a)\nalu[a, a, +, 1]\n#endm\n.reg x\nl#: m(x)\nbr[l#]\n"}}"##,
];

fuzz_target!(|input: &[u8]| {
    // Without the initial messages if the input requests that.
    let (begin, input) = match input.strip_prefix(b"!") {
        Some(rest) => (&BEGIN[..0], rest),
        None => (&BEGIN[..], input),
    };
    let stream = stream(Protocol::Language, begin, input);
    if let Err(error) = npsim_cli::lsp::serve_streams(Cursor::new(stream), sink()) {
        assert!(!error.to_string().is_empty());
    }
});
