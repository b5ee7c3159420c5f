//! Extensions of a project on its slow path and beside its SRAM: kinds of tasks and of devices,
//! each with its own keys.
//!
//! A kind is a type that names its section of the project file, defines the section's keys (a serde
//! type), and makes a task or a device from them. A [`Registry`] is a list of kinds, passed to
//! [`crate::Project::load`].

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use npsim_chip::gpp::Task;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use toml::de::DeValue;

use crate::keys::Spanned;
use crate::resolve::resolver::Resolver;
use crate::source_map::KeyStep;
use crate::toml_errors::KeyError;
use crate::toml_reader::from_value;

/// A kind of task of the general-purpose core.
pub trait TaskKind: Send + Sync + 'static {
    /// Name in `tasks` of `[gpp]`, and of its section `[gpp.NAME]`.
    const NAME: &'static str;
    /// Whether statistics list its rows even if no such task runs.
    const LISTED: bool = true;
    /// Whether a task with a section runs even if it is not listed in `tasks`.
    const RUNS: bool = false;
    /// Keys of the section; `#[serde(deny_unknown_fields)]` catches misspelt ones. Their doc
    /// comments are the descriptions that editors show.
    type Keys: DeserializeOwned + JsonSchema + Send + Sync;

    /// Makes the task; `None` if there are errors, which the resolver has recorded.
    fn resolve(
        &self,
        keys: &Spanned<Self::Keys>,
        resolver: &mut Resolver<'_>,
    ) -> Option<PlannedTask>;
}

/// A task of a project.
#[derive(Debug)]
pub struct PlannedTask {
    /// The task.
    pub task: Box<dyn Task>,
    /// Description of what it will do, shown by `npsim project` and `--explain`.
    pub text: String,
}

/// A kind of device beside an SRAM channel.
pub trait DeviceKind: Send + Sync + 'static {
    /// Name of its section: `[NAME]` for one device, `[[NAME]]` for several.
    const NAME: &'static str;
    /// Keys of the section; `#[serde(deny_unknown_fields)]` catches misspelt ones. Their doc
    /// comments are the descriptions that editors show.
    type Keys: DeserializeOwned + JsonSchema + Send + Sync;

    /// Finds the device's window with [`Resolver::window`] and attaches the device with
    /// [`Resolver::attach`], or records errors with [`Resolver::fail`].
    fn resolve(&self, keys: &Spanned<Self::Keys>, resolver: &mut Resolver<'_>);
}

/// A section that has been read but not resolved.
pub(crate) type ReadSection<T> = Box<dyn Fn(&mut Resolver<'_>) -> T + Send + Sync>;
/// Function that reads a section.
pub(crate) type SectionReader<T> =
    Box<dyn Fn(toml::Spanned<DeValue<'_>>) -> Result<ReadSection<T>, KeyError> + Send + Sync>;

/// A kind as stored in the registry.
pub(crate) struct RegisteredKind<T> {
    pub name: &'static str,
    pub listed: bool,
    pub runs: bool,
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    pub read: SectionReader<T>,
}

/// The available kinds.
#[derive(Default)]
pub struct Registry {
    tasks: Vec<RegisteredKind<Option<PlannedTask>>>,
    devices: Vec<RegisteredKind<()>>,
}

impl Registry {
    /// Adds a kind of task to the registry.
    #[must_use]
    pub fn with_task<K: TaskKind>(self, kind: K) -> Self {
        self.with_task_named(K::NAME, kind)
    }

    /// Like [`Self::with_task`], under a name other than the kind's own: for kinds that are defined
    /// at run time.
    #[must_use]
    pub fn with_task_named<K: TaskKind>(self, name: &'static str, kind: K) -> Self {
        let kind = Arc::new(kind);
        let read = move |value: toml::Spanned<DeValue<'_>>| -> Result<ReadSection<_>, KeyError> {
            let keys: Spanned<K::Keys> = from_value(value)?;
            let kind = kind.clone();
            Ok(Box::new(move |resolver| kind.resolve(&keys, resolver)))
        };
        self.add_task(RegisteredKind {
            name,
            listed: K::LISTED,
            runs: K::RUNS,
            schema: SchemaGenerator::subschema_for::<K::Keys>,
            read: Box::new(read),
        })
    }

    /// Adds a kind of device to the registry.
    #[must_use]
    pub fn with_device<K: DeviceKind>(self, kind: K) -> Self {
        let kind = Arc::new(kind);
        let read = move |value: toml::Spanned<DeValue<'_>>| -> Result<ReadSection<_>, KeyError> {
            let keys: Spanned<K::Keys> = from_value(value)?;
            let kind = kind.clone();
            Ok(Box::new(move |resolver| kind.resolve(&keys, resolver)))
        };
        self.add_device(RegisteredKind {
            name: K::NAME,
            listed: true,
            runs: true,
            schema: SchemaGenerator::subschema_for::<K::Keys>,
            read: Box::new(read),
        })
    }

    pub(crate) fn add_task(mut self, kind: RegisteredKind<Option<PlannedTask>>) -> Self {
        self.tasks.push(kind);
        self
    }

    pub(crate) fn add_device(mut self, kind: RegisteredKind<()>) -> Self {
        self.devices.push(kind);
        self
    }

    /// Returns the names of the task kinds.
    pub fn tasks(&self) -> impl Iterator<Item = &'static str> {
        self.tasks.iter().map(|kind| kind.name)
    }

    /// Returns the names of the task kinds that statistics always list.
    pub(crate) fn listed_tasks(&self) -> impl Iterator<Item = &'static str> {
        let listed = self.tasks.iter().filter(|kind| kind.listed);
        listed.map(|kind| kind.name)
    }

    /// Returns the names of the device kinds.
    pub fn devices(&self) -> impl Iterator<Item = &'static str> {
        self.devices.iter().map(|kind| kind.name)
    }

    /// Returns the schema of each task kind's section.
    pub(crate) fn task_schemas(
        &self,
        generator: &mut SchemaGenerator,
    ) -> Vec<(&'static str, Schema)> {
        let kinds = self.tasks.iter();
        kinds.map(|it| (it.name, (it.schema)(generator))).collect()
    }

    /// Returns the schema of each device kind's section.
    pub(crate) fn device_schemas(
        &self,
        generator: &mut SchemaGenerator,
    ) -> Vec<(&'static str, Schema)> {
        let kinds = self.devices.iter();
        kinds.map(|it| (it.name, (it.schema)(generator))).collect()
    }

    /// Removes the sections of the registered kinds from a project file and reads them.
    pub(crate) fn take(&self, root: &mut toml::de::DeTable<'_>) -> Result<Sections, KeyError> {
        let mut sections = Sections::default();
        for kind in &self.devices {
            let Some(value) = root.remove(kind.name) else {
                continue;
            };
            let span = value.span();
            let (several, is_list) = match value.into_inner() {
                DeValue::Array(several) => (several.into_iter().collect(), true),
                one => (vec![toml::Spanned::new(span, one)], false),
            };
            for (place, value) in several.into_iter().enumerate() {
                let section = Section::of(kind, value).map_err(|error| {
                    let error = if is_list {
                        error.below(KeyStep::Place(place))
                    } else {
                        error
                    };
                    error.below(KeyStep::Key(kind.name.to_owned()))
                })?;
                sections.devices.push(section);
            }
        }
        let gpp = root.get_mut("gpp").map(toml::Spanned::get_mut);
        if let Some(DeValue::Table(gpp)) = gpp {
            for kind in &self.tasks {
                if let Some(value) = gpp.remove(kind.name) {
                    let section = Section::of(kind, value).map_err(|error| {
                        let error = error.below(KeyStep::Key(kind.name.to_owned()));
                        error.below(KeyStep::Key("gpp".to_owned()))
                    })?;
                    sections.tasks.push(section);
                }
            }
        }
        Ok(sections)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: Vec<_>| names.join(", ");
        write!(
            f,
            "Registry {{ tasks: {}; devices: {} }}",
            list(self.tasks().collect()),
            list(self.devices().collect())
        )
    }
}

/// A section of a kind.
pub(crate) struct Section<T> {
    pub name: &'static str,
    pub runs: bool,
    pub span: Range<usize>,
    pub resolve: ReadSection<T>,
}

impl<T> Section<T> {
    fn of(kind: &RegisteredKind<T>, value: toml::Spanned<DeValue<'_>>) -> Result<Self, KeyError> {
        Ok(Self {
            name: kind.name,
            runs: kind.runs,
            span: value.span(),
            resolve: (kind.read)(value)?,
        })
    }
}

impl<T> fmt::Debug for Section<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Section {{ name: {}, span: {:?} }}",
            self.name, self.span
        )
    }
}

/// The sections of all kinds that a project file has.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub tasks: Vec<Section<Option<PlannedTask>>>,
    pub devices: Vec<Section<()>>,
}
