//! Speed of the assembler: a program of 50 000 lines from text to image.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use npsim::asm::{Includes, Options, assemble};
use npsim_benches::large_source;

/// Lines of the source.
const LINES: usize = 50_000;

/// A single source without includes.
struct SingleFile(String);

impl Includes for SingleFile {
    fn load(&self, name: &str, including: Option<&str>) -> Result<(String, String), String> {
        if including.is_some() {
            return Err("the bench has one source".to_owned());
        }
        Ok((name.to_owned(), self.0.clone()))
    }
}

fn assembler(criterion: &mut Criterion) {
    let source = SingleFile(large_source(LINES));
    assert_eq!(source.0.lines().count(), LINES);
    let options = Options {
        control_store_words: 8192,
        ..Options::default()
    };
    let run = || {
        let assembly = assemble("large.uc", &source, &options);
        assembly.image.map_or_else(
            || panic!("{:?}", assembly.diagnostics.first()),
            |image| image.words.len(),
        )
    };
    println!("assembler: {LINES} lines become {} words", run());
    let mut group = criterion.benchmark_group("assembler");
    group
        .throughput(Throughput::Elements(LINES as u64))
        .sample_size(10);
    group.bench_function("50 000 lines with macros", |bencher| bencher.iter(run));
    group.finish();
}

criterion_group!(benches, assembler);
criterion_main!(benches);
