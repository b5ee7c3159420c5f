//! The text output of `npsim trace order`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use npsim::quantity::grouped;
use npsim_net::order::{Counter, OrderMeasures};
use npsim_session::text_table::TextTable;

use super::order_report::{FlowReport, IdentifiedBy, OrderReport};

pub fn text(report: &OrderReport, width: usize) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_text(&mut out, report, width);
    out
}

fn write_text(out: &mut String, report: &OrderReport, width: usize) -> std::fmt::Result {
    let order = &report.order;
    writeln!(
        out,
        "{}: {}, {} frames",
        report.file,
        report.format,
        grouped(report.frames)
    )?;
    let by = match (&report.against, report.by) {
        (Some(against), _) => format!("the frames of {against}"),
        (None, IdentifiedBy::Tcp) => "TCP sequence numbers; lost packets are not seen".into(),
        (None, _) => "the stamps of generated traffic".into(),
    };
    writeln!(out, "order from   {by}")?;
    if report.left_out > 0 {
        let why = match report.by {
            IdentifiedBy::Against => "that did not enter",
            IdentifiedBy::Stamps => "without a stamp",
            IdentifiedBy::Tcp => "that are not TCP segments with data",
        };
        writeln!(
            out,
            "left out     {} frames {why}",
            grouped(report.left_out)
        )?;
    }
    writeln!(
        out,
        "flows        {}, {} with reordered packets",
        grouped(order.flows),
        grouped(order.reordered_flows)
    )?;
    let missing = order.missing.map_or_else(String::new, |missing| {
        format!(", {} missing", grouped(missing))
    });
    writeln!(
        out,
        "packets      {}{missing}, {} duplicates",
        grouped(order.packets),
        grouped(order.duplicates)
    )?;
    if order.is_in_order() {
        writeln!(
            out,
            "in order     each packet left after all those of its flow that entered before it"
        )?;
    } else {
        writeln!(out, "\n{}", counters(order, width))?;
        writeln!(out, "\nextents      {}", extents(order))?;
        let in_place = order.displacements.get(&0).copied().unwrap_or(0);
        writeln!(
            out,
            "in place     {} packets ({}), {} displaced by more than {}",
            grouped(in_place),
            percent(order, in_place),
            grouped(order.displaced_beyond),
            grouped(report.threshold)
        )?;
        writeln!(out, "\n{}", distances(order, width))?;
    }
    if !report.flows.is_empty() {
        writeln!(
            out,
            "\n{}",
            each(&report.flows, order.missing.is_some(), width)
        )?;
    }
    Ok(())
}

fn percent(order: &OrderMeasures, count: u64) -> String {
    let percent = order.percent(count);
    percent.map_or_else(|| "-".into(), |percent| format!("{percent:.2}%"))
}

fn extents(order: &OrderMeasures) -> String {
    let mean = order.extents.sum as f64 / order.reordered.max(1) as f64;
    format!(
        "of reordered packets: mean {mean:.2}, largest {}",
        grouped(order.extents.largest)
    )
}

fn counters(order: &OrderMeasures, width: usize) -> String {
    let mut table = TextTable::new(&["counter", "packets", "share"]);
    for counter in Counter::ALL {
        let count = counter.of(order);
        let row = [
            counter.shown().into(),
            grouped(count),
            percent(order, count),
        ];
        table.add_row(row);
    }
    table.fitted(width)
}

/// Classes of distances, in packets: 0, 1, 2, 3, 4 to 7, 8 to 15 and so on.
fn classes(largest: u64) -> Vec<RangeInclusive<u64>> {
    let single = (0..=largest.min(3)).map(|distance| distance..=distance);
    let wide = (2..u64::BITS).map(|bits| 1 << bits..=(u64::MAX >> (u64::BITS - 1 - bits)));
    single
        .chain(wide.take_while(|class| *class.start() <= largest))
        .collect()
}

/// The numbers of n-reordered, early, late and held packets, by distance.
fn distances(order: &OrderMeasures, width: usize) -> String {
    let (mut early, mut late) = (BTreeMap::new(), BTreeMap::new());
    for (&displacement, &packets) in &order.displacements {
        match displacement.signum() {
            -1 => early.insert(displacement.unsigned_abs(), packets),
            1 => late.insert(displacement.unsigned_abs(), packets),
            _ => None,
        };
    }
    let columns = [&order.degrees, &early, &late, &order.held];
    let largest = columns
        .iter()
        .filter_map(|column| column.last_key_value())
        .map(|(&distance, _)| distance)
        .max();
    let mut table = TextTable::new(&["distance", "n-reordered", "early", "late", "held back"]);
    for class in classes(largest.unwrap_or(0)) {
        let (from, to) = (*class.start(), *class.end());
        let mut row = vec![if from == to {
            from.to_string()
        } else {
            format!("{from}-{to}")
        }];
        for column in columns {
            let sum: u64 = column
                .range(class.clone())
                .map(|(_, packets)| packets)
                .sum();
            row.push(if sum == 0 { "-".into() } else { grouped(sum) });
        }
        table.add_row(row);
    }
    table.fitted(width)
}

fn each(flows: &[FlowReport], losses: bool, width: usize) -> String {
    let mut header = vec!["flow", "packets"];
    if losses {
        header.push("missing");
    }
    header.extend(["duplicates"]);
    header.extend(Counter::ALL.map(Counter::shown));
    header.push("extent");
    // Names are not broken either.
    let mut table = TextTable::with_numbers(&header, 0..header.len());
    for flow in flows {
        let order = &flow.order;
        let mut row = vec![flow.name.clone(), grouped(order.packets)];
        if losses {
            row.push(grouped(order.missing.unwrap_or(0)));
        }
        row.push(grouped(order.duplicates));
        row.extend(Counter::ALL.map(|counter| grouped(counter.of(order))));
        row.push(grouped(order.extents.largest));
        table.add_row(row);
    }
    table.fitted(width)
}

#[cfg(test)]
mod tests {
    use super::classes;

    #[test]
    fn distance_classes_are_contiguous() {
        assert_eq!(classes(0), [0..=0]);
        assert_eq!(classes(3), [0..=0, 1..=1, 2..=2, 3..=3]);
        assert_eq!(classes(8)[4..], [4..=7, 8..=15]);
        let all = classes(u64::MAX);
        assert_eq!(all.last().map(|class| *class.end()), Some(u64::MAX));
        assert!(all.is_sorted_by(|a, b| *a.end() + 1 == *b.start()));
    }
}
