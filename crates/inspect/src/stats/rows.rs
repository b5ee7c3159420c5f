//! Counters of tasks and devices, whose names are only known once their kinds are registered.

use npsim_chip::kernel::row::Row;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The rows of the tasks, by kind: a list for each kind, even if no such task
/// runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskRows(Vec<(String, Vec<Row>)>);

impl TaskRows {
    /// Empty lists for kinds of tasks with these names.
    pub(super) fn of_kinds(kinds: &[String]) -> Self {
        let mut rows = Self::default();
        for kind in kinds {
            rows.add(kind, Vec::new());
        }
        rows
    }

    /// Adds rows of a task of a kind. In statistics, `-` in its name becomes `_`.
    pub fn add(&mut self, kind: &str, rows: Vec<Row>) {
        let key = kind.replace('-', "_");
        match self.0.iter_mut().find(|(own, _)| *own == key) {
            Some((_, own)) => own.extend(rows),
            None => self.0.push((key, rows)),
        }
    }

    /// The rows of tasks of a kind; empty if there is no such kind.
    #[must_use]
    pub fn of(&self, kind: &str) -> &[Row] {
        let key = kind.replace('-', "_");
        let found = self.0.iter().find(|(own, _)| *own == key);
        found.map_or(&[], |(_, rows)| rows)
    }
}

impl Serialize for TaskRows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, rows)| (key, rows)))
    }
}

/// A device beside an SRAM channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceStats {
    /// The name of its kind.
    pub kind: &'static str,
    /// The name in the project file.
    pub name: String,
    /// The SRAM channel that it is attached to.
    pub channel: u8,
    /// Byte address of its window in the channel.
    pub address: u32,
    /// Its counts.
    pub counts: Row,
    /// The counters of each of its modules, by the module's name.
    pub modules: Vec<(&'static str, Row)>,
    /// Its lines in the summary of a run.
    pub summary: Vec<String>,
}

impl DeviceStats {
    /// The counts of a module.
    #[must_use]
    pub fn module(&self, name: &str) -> Option<&Row> {
        let found = self.modules.iter().find(|(own, _)| *own == name);
        found.map(|(_, row)| row)
    }
}

impl Serialize for DeviceStats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("channel", &self.channel)?;
        map.serialize_entry("address", &self.address)?;
        self.counts.serialize_into(&mut map)?;
        for (name, row) in &self.modules {
            map.serialize_entry(name, row)?;
        }
        map.end()
    }
}

/// The devices of a chip, channel by channel. In statistics, each kind has an
/// entry: an object for a single device, a list for several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Devices(pub Vec<DeviceStats>);

impl Devices {
    /// The first device of a kind.
    #[must_use]
    pub fn of(&self, kind: &str) -> Option<&DeviceStats> {
        self.0.iter().find(|device| device.kind == kind)
    }
}

impl Serialize for Devices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut written: Vec<&str> = Vec::new();
        for DeviceStats { kind, .. } in &self.0 {
            if written.contains(kind) {
                continue;
            }
            written.push(kind);
            let same: Vec<_> = self.0.iter().filter(|it| it.kind == *kind).collect();
            match &same[..] {
                [one] => map.serialize_entry(kind, one)?,
                several => map.serialize_entry(kind, several)?,
            }
        }
        map.end()
    }
}
