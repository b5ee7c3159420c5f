//! Resources for tasks that send packets: rings, buffers, the routing table.

use npsim_asm::spelling::closest;
use npsim_chip::gpp::boot::ExceptionsSetup;
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::gpp::lookup::TablePlace;
use npsim_chip::gpp::packets::{PacketSender, reason};
use npsim_chip::gpp::routes::{NEXT_HOP_LONGWORDS, Routes};

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{Resolver, suggestion};
use crate::files::{join, simplify_path};
use crate::keys::Spanned;
use crate::layout::{PlacementError, Region};
use crate::problem::Problem;

/// Name of the ring on which the shipped microcode expects packets from the core.
const CORE_RING: &str = "CORE_RING";

impl Resolver<'_> {
    /// Returns the number of a `[[ring]]` of the project.
    pub fn ring_number(&mut self, name: &Spanned<String>) -> Option<u8> {
        let number = |define: &str| self.defines.get(define)?.value.parse().ok();
        if let Some(number) = number(&format!("{}_NUMBER", name.get_ref())) {
            return Some(number);
        }
        let known: Vec<String> = { self.defines.iter() }
            .filter(|(_, define)| define.owner.starts_with("ring `"))
            .filter_map(|(name, _)| name.strip_suffix("_NUMBER").map(str::to_owned))
            .collect();
        let help = suggestion(name.get_ref(), known.iter().map(String::as_str), "[[ring]]");
        self.fail(
            name.span(),
            format!("there is no ring `{}`", name.get_ref()),
            "",
            &help,
        );
        None
    }

    /// Returns a sender for a task: the source of its buffers, and the ring on which it sends them.
    pub fn sender(&mut self, ring: &Spanned<String>) -> Option<PacketSender> {
        let number = self.ring_number(ring)?;
        let taken = self.boot.task::<Exceptions>();
        let own = taken.is_some_and(|task| task.setup().ring == number);
        let core = format!("{CORE_RING}_NUMBER");
        let other = ring.get_ref() != CORE_RING && self.defines.contains_key(&core);
        if own || other {
            let message = if own {
                "the core takes packets off this ring itself"
            } else {
                "no microengine takes packets of the core off this ring"
            };
            let help = format!(
                "give a [[ring]] that a transmit stage polls for the core; that of the shipped microcode is `{CORE_RING}`"
            );
            self.fail(ring.span(), message, "", &help);
            return None;
        }
        let Some(buffers) = self.boot.buffers else {
            self.fail(
                ring.span(),
                "the task needs [buffers], which hold the packets of the core",
                "",
                "",
            );
            return None;
        };
        Some(PacketSender {
            ring: number,
            buffers,
        })
    }

    /// Returns the place of the routing table; `span` is the section that needs it.
    pub fn table_place(&mut self, span: Range<usize>) -> Option<TablePlace> {
        if let Some(routes) = self.boot.task::<Routes>() {
            return Some(TablePlace::of(routes.setup()));
        }
        if self.problems.is_empty() {
            self.fail(
                span,
                "the task needs the routing table, by which its packets leave",
                "",
                "add \"routes\" to `tasks` in [gpp]",
            );
        }
        None
    }

    /// Returns the index of a next hop given its longwords, which is the same in each router of a chain; 0,
    /// which stands for none, if the table lacks it.
    #[must_use]
    pub fn next_hop_index(&self, words: [u32; NEXT_HOP_LONGWORDS]) -> u32 {
        let routes = self.boot.task::<Routes>();
        let Some(router) = routes.and_then(|routes| routes.setup().router(0)) else {
            return 0;
        };
        let hops = router.table().next_hops().chunks(NEXT_HOP_LONGWORDS);
        // The first one stands for no route.
        let mut hops = hops.enumerate().skip(1);
        hops.find(|(_, hop)| *hop == words)
            .map_or(0, |(at, _)| at as u32)
    }

    /// Reports a task whose packets no `exceptions` task takes off their ring, unless an error of its own may
    /// be the reason: `span` is its section, `before` the number of errors before it.
    pub fn require_exceptions(&mut self, task: &str, span: Range<usize>, before: usize) {
        if self.boot.task::<Exceptions>().is_none() && self.problems.len() == before {
            self.fail(
                span,
                format!("the {task} task gets no packets"),
                "",
                "add \"exceptions\" to `tasks` in [gpp], with [gpp.exceptions]: it takes them off their ring",
            );
        }
    }

    /// Returns ring, reasons and buffers of the exceptions that a program handles instead of the task.
    #[must_use]
    pub const fn replaced_exceptions(&self) -> Option<&ExceptionsSetup> {
        self.replaced_exceptions.as_ref()
    }

    /// Returns the ring from which the shipped microcode takes packets of the core, if the project has it.
    #[must_use]
    pub fn core_ring(&self) -> Option<u8> {
        let number = self.value_of_name(&format!("{CORE_RING}_NUMBER"))?;
        u8::try_from(number).ok()
    }

    /// Returns the value of a name that sources see, if it is a number.
    #[must_use]
    pub fn value_of_name(&self, name: &str) -> Option<u32> {
        let text = self.defines.get(name)?.value.as_str();
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// Returns the name visible to sources that is closest to a wrong one.
    #[must_use]
    pub fn nearest_name(&self, wrong: &str) -> Option<&str> {
        closest(wrong, self.defines.keys().map(String::as_str))
    }

    /// Reads a file that the project names; returns its path and its bytes.
    pub fn file(&mut self, typed: &str, span: Range<usize>) -> Option<(PathBuf, Vec<u8>)> {
        let path = join(&self.text.folder, Path::new(typed));
        let path = simplify_path(self.files, Path::new("."), &path);
        match self.files.read(&path) {
            Ok(bytes) => Some((path, bytes)),
            Err(error) => {
                let label = "looked for relative to the project's folder";
                let problem = Problem::io("read", &path, &error);
                self.problems
                    .push(problem.at(self.text.excerpt(span, label)));
                None
            }
        }
    }

    /// Returns the regions allocated in DRAM so far, in address order.
    #[must_use]
    pub fn dram_regions(&self) -> &[Region] {
        self.dram.regions()
    }

    /// Reserves a region of DRAM.
    ///
    /// # Errors
    /// Returns an error if the region overlaps another or exceeds the DRAM.
    pub fn reserve_dram(
        &mut self,
        name: &str,
        start: u32,
        bytes: u32,
    ) -> Result<(), PlacementError> {
        self.dram.reserve(name, start.into(), bytes.into())
    }

    /// Checks that a reason code can be used by microcode.
    pub fn reason(&mut self, typed: &Spanned<u8>) -> u8 {
        let code = *typed.get_ref();
        if code >= reason::FIRST {
            self.fail(
                typed.span(),
                format!("{code} is a reason code of the core's own"),
                "",
                &format!("microcode has codes from 0 to {}", reason::FIRST - 1),
            );
        }
        code
    }
}
