//! The samples of a run over time, as a table.

use npsim::observe::series::{Sample, Series};

use crate::column_data::{ColumnBuilder, Values};
use crate::table_data::TableData;

/// The samples, oldest first: counters from the start of the run up to each, and the fill of
/// each place since the sample before.
pub fn table(series: &Series) -> TableData {
    let samples = series.samples();
    let numbers = |of: &dyn Fn(&Sample) -> Option<u64>| {
        let mut column = ColumnBuilder::new(Values::U64(Vec::new()));
        for sample in samples {
            column.put(of(sample));
        }
        column.finish()
    };
    let mut columns = vec![
        ("cycle".to_owned(), numbers(&|it| Some(it.cycle))),
        ("arrived".to_owned(), numbers(&|it| Some(it.frames().0))),
        ("sent".to_owned(), numbers(&|it| Some(it.frames().1))),
        (
            "dropped_media".to_owned(),
            numbers(&|it| Some(it.dropped().0)),
        ),
        (
            "dropped_microcode".to_owned(),
            numbers(&|it| Some(it.dropped().1)),
        ),
    ];
    let last = samples.last().map(|sample| &sample.stats);
    for (at, me) in last
        .iter()
        .flat_map(|it| it.microengines.iter().enumerate())
    {
        let of = |what: fn(&npsim::inspect::stats::MicroengineStats) -> u64| {
            numbers(&|it| it.stats.microengines.get(at).map(what))
        };
        let index = me.index;
        columns.push((format!("me{index} instructions"), of(|me| me.instructions)));
        columns.push((format!("me{index} stalled"), of(|me| me.stalled)));
        columns.push((format!("me{index} idle"), of(|me| me.idle)));
    }
    for (at, counter) in last.iter().flat_map(|it| it.counters.iter().enumerate()) {
        let value = numbers(&|it| it.stats.counters.get(at).map(|it| it.value));
        columns.push((format!("counter {}", counter.name), value));
    }
    for (at, place) in series.places().iter().enumerate() {
        let name = &place.name;
        columns.push((
            format!("{name} least"),
            numbers(&|it| Some(it.fills.get(at)?.least)),
        ));
        columns.push((
            format!("{name} most"),
            numbers(&|it| Some(it.fills.get(at)?.most)),
        ));
        let mut mean = ColumnBuilder::new(Values::F64(Vec::new()));
        for sample in samples {
            let fill = sample.fills.get(at).filter(|fill| fill.samples > 0);
            mean.put(fill.map(|fill| fill.sum as f64 / fill.samples as f64));
        }
        columns.push((format!("{name} mean"), mean.finish()));
    }
    TableData::new(columns)
}
