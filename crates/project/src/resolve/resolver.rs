//! State of a project while its names are resolved.

use std::collections::BTreeMap;
use std::ops::Range;

use npsim_chip::gpp::boot::{self, BootPlan, ExceptionsSetup};

use super::port_address::{Gateway, PortAddress};
use crate::capacity::Capacity;
use crate::disturb::NodeStall;
use crate::files::Files;
use crate::keys::Spanned;
use crate::layout::MemoryLayout;
use crate::problem::Problem;
use crate::project_text::ProjectText;
use crate::text::is_name;

/// A name that sources see, with its owner.
#[derive(Clone, Debug)]
pub(super) struct OwnedDefine {
    pub(super) value: String,
    pub(super) owner: String,
}

/// Location of a named memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedMemory {
    pub(super) space: boot::Space,
    /// Byte address in its memory.
    pub(super) address: u32,
    /// Size in bytes.
    pub(super) size: u64,
}

/// A value as text for the assembler.
#[derive(Clone, Debug)]
pub struct DefineText(String);

impl From<String> for DefineText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

macro_rules! plain_numbers {
    ($($number:ty)+) => {
        $(impl From<$number> for DefineText {
            fn from(number: $number) -> Self {
                Self(number.to_string())
            }
        })+
    };
}

plain_numbers! { u8 u16 u32 u64 usize }

/// A project while it is resolved: what has been allocated, and the errors so far. Kinds of tasks
/// and devices ([`crate::registry`]) use it to look up what their keys name.
#[derive(Debug)]
pub struct Resolver<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) text: &'a ProjectText,
    pub(super) capacity: &'a Capacity,
    pub(super) problems: Vec<Problem>,
    pub(super) defines: BTreeMap<String, OwnedDefine>,
    pub(super) scratch: MemoryLayout,
    pub(super) sram: Vec<MemoryLayout>,
    pub(super) dram: MemoryLayout,
    pub(super) memories: BTreeMap<String, NamedMemory>,
    pub(super) macs: Vec<[u8; 6]>,
    /// The router's own addresses by port; several are those of the routers of a chain.
    pub(super) addresses: Vec<Vec<PortAddress>>,
    /// Next hops given by IPv4 address.
    pub(super) gateways: Vec<Gateway>,
    /// The class of each flow in the flow table, by number from 1 on.
    pub(super) flow_classes: Vec<u8>,
    pub(super) stages: Vec<(String, Vec<u8>)>,
    pub(super) node_stalls: Vec<NodeStall>,
    /// Places of names that were already defined, with the owners of those definitions.
    pub(super) clashes: Vec<(usize, String)>,
    pub(super) boot: BootPlan,
    /// The exceptions that a program handles instead of the task.
    pub(super) replaced_exceptions: Option<ExceptionsSetup>,
    /// Description of what each task will do.
    pub(super) tasks: Vec<String>,
}

impl<'a> Resolver<'a> {
    /// Creates a resolver with nothing allocated.
    pub(super) fn new(files: &'a dyn Files, text: &'a ProjectText, capacity: &'a Capacity) -> Self {
        let sram = capacity.sram_bytes.iter().enumerate();
        Self {
            files,
            text,
            capacity,
            problems: Vec::new(),
            defines: BTreeMap::new(),
            scratch: MemoryLayout::new("scratch", capacity.scratch_bytes),
            sram: sram
                .map(|(i, size)| MemoryLayout::new(format!("sram{i}"), *size))
                .collect(),
            dram: MemoryLayout::new("dram", capacity.dram_bytes),
            memories: BTreeMap::new(),
            macs: Vec::new(),
            addresses: Vec::new(),
            gateways: Vec::new(),
            flow_classes: Vec::new(),
            stages: Vec::new(),
            node_stalls: Vec::new(),
            clashes: Vec::new(),
            boot: BootPlan::default(),
            replaced_exceptions: None,
            tasks: Vec::new(),
        }
    }
}

impl Resolver<'_> {
    /// Returns the resources of the chip.
    #[must_use]
    pub fn capacity(&self) -> &Capacity {
        self.capacity
    }

    /// Returns the contents of the chip before the first cycle, as far as they are known: ports,
    /// rings, queues, buffers and devices are resolved before tasks.
    #[must_use]
    pub fn boot(&self) -> &BootPlan {
        &self.boot
    }

    /// Returns the number of errors so far. A kind that adds none of its own can use what it has
    /// looked up.
    #[must_use]
    pub fn mistakes(&self) -> usize {
        self.problems.len()
    }

    /// Reports an error at a place in the project file, with a label for that place and a suggested
    /// remedy; both may be empty.
    pub fn fail(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
        help: &str,
    ) {
        let mut problem = Problem::new(message).at(self.text.excerpt(span, label));
        if !help.is_empty() {
            problem = problem.help(help);
        }
        self.problems.push(problem);
    }

    /// Checks that sources can use a name.
    pub fn name(&mut self, name: &Spanned<String>) -> bool {
        let good = is_name(name.get_ref());
        if !good {
            self.fail(
                name.span(),
                format!("`{}` is not a name that a source can use", name.get_ref()),
                "",
                "use letters, digits and `_`, beginning with a letter",
            );
        }
        good
    }

    /// Defines a name for all sources; `owner` describes what it belongs to, for messages: ``the
    /// ring `R` ``.
    pub fn define(
        &mut self,
        name: String,
        value: impl Into<DefineText>,
        owner: &str,
        span: Range<usize>,
    ) {
        if let Some(other) = self.defines.get(&name) {
            // If something is defined twice, all its clashing names are one error.
            let clash = (span.start, other.owner.clone());
            if self.clashes.contains(&clash) {
                return;
            }
            let message = if other.owner == owner {
                format!("{owner} is given twice")
            } else {
                format!(
                    "`{name}` is defined twice: by {} and by {owner}",
                    other.owner
                )
            };
            self.clashes.push(clash);
            self.fail(
                span,
                message,
                "the second one",
                "give one of them another name",
            );
            return;
        }
        self.defines.insert(
            name,
            OwnedDefine {
                value: value.into().0,
                owner: owner.to_string(),
            },
        );
    }
}
