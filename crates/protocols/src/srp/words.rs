//! The task in the summary of a run and in `npsim project`.

use npsim_chip::kernel::row::Row;
use npsim_project::quantity::{grouped, show_rate};

use super::task::{PacedBy, SrpClass, SrpSetup};

impl SrpClass {
    /// The summary line of the class, from its row in the statistics.
    pub(super) fn summary(&self, row: &Row) -> String {
        let of = |name| u64::try_from(row.get(name).unwrap_or(0)).unwrap_or(0);
        let rate = |bytes: u64| show_rate(bytes as f64 * 8.0);
        let flows = of("flows");
        let head = format!("class {}: {} flows   ", self.class, grouped(flows));
        match self.pace {
            PacedBy::Fixed(fixed) => format!("{head}rate {} each", rate(fixed)),
            PacedBy::Srp { .. } => format!(
                "{head}rates {} to {}   {} losses and timeouts",
                rate(of("least_rate")),
                rate(of("most_rate")),
                grouped(of("events"))
            ),
        }
    }
}

impl SrpSetup {
    /// The plan of the task.
    pub(super) fn plan(&self) -> String {
        let srp = |class: &&SrpClass| matches!(class.pace, PacedBy::Srp { .. });
        let computed = self.classes.iter().filter(srp).count();
        format!(
            "{} flows, {} classes with a rate of their own, {computed} whose rates are computed",
            self.flows.len(),
            self.classes.len() - computed,
        )
    }
}
