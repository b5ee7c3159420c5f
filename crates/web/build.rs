//! Gives the module a stack as large as that of a native thread: the default of WebAssembly is
//! half of that, and what the assembler nests is bounded for native ones. And a bound of its memory: a browser gives
//! a page no more than some gigabytes, and the page has two modules.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    if target.starts_with("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=4194304");
        println!("cargo::rustc-link-arg-cdylib=--max-memory=1073741824");
    }
}
