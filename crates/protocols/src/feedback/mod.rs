//! The feedback coprocessor: programmable logic on an SRAM channel that answers Quick-Start
//! and XCP requests, one per clock of the module.
//!
//! The coprocessor is a look-aside device, as content-addressable memories and classifiers
//! are: it shares the channel's pins with the memory and responds to commands in a window of
//! addresses beyond it. Each of its two modules has its own clock. The shared variables of a
//! scheme are registers that only the module and the general-purpose core change, so no
//! locking is needed. The figures are those of an implementation on an Altera Stratix II:
//! Hauger et al., "Evaluation of Router Implementations for Explicit Congestion Control
//! Schemes", section V.
//!
//! A request is handed over when the channel starts its command. The module holds it until
//! its next edge, so the channel starts the next request only after that edge; meanwhile that
//! request waits in the channel's FIFO, and commands to the memory pass it.

pub(crate) mod clock;
pub(crate) mod keys;
mod window;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;

use npsim_chip::Cycle;
use npsim_chip::kernel::row::Row;
use npsim_chip::units::sram::device::{Attachment, Device, Handover, WindowPart, WindowRequest};
use npsim_profile::Profile;
use serde::{Deserialize, Serialize};

use crate::quick_start::device::QuickStartModule;
use crate::xcp::device::XcpModule;
pub use window::{GROUPS, MAILBOXES, QUICK_START, REQUEST_WORDS, REQUESTS, WINDOW_BYTES, XCP};
pub(crate) use window::{QUICK_START_WORDS, XCP_WORDS};
use window::{Register, WindowAccess};

/// Contexts per microengine; each has a mailbox.
const CONTEXTS: usize = 8;

/// The device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Coprocessor {
    attachment: Attachment,
    /// The module that answers Quick-Start requests.
    pub quick_start: QuickStartModule,
    /// The module that answers XCP requests.
    pub xcp: XcpModule,
}

impl Coprocessor {
    /// Creates a device with all registers zero, which grants nothing. [`Device::prepare`]
    /// sets up its clocks and mailboxes.
    #[must_use]
    pub fn new(attachment: Attachment) -> Self {
        Self {
            attachment,
            quick_start: QuickStartModule::new(0, 1),
            xcp: XcpModule::new(0, 1, 0),
        }
    }

    fn access(&self, request: WindowRequest) -> Result<WindowAccess, String> {
        let WindowRequest {
            writes,
            place,
            count,
        } = request;
        let mailboxes = self.xcp.mailboxes();
        if writes {
            WindowAccess::write(place, count, mailboxes)
        } else {
            WindowAccess::read(place, count, mailboxes)
        }
    }
}

impl Device for Coprocessor {
    fn kind(&self) -> &'static str {
        "coprocessor"
    }

    fn attachment(&self) -> &Attachment {
        &self.attachment
    }

    fn prepare(&mut self, profile: &Profile) {
        let mailboxes = usize::from(profile.microengines()) * CONTEXTS;
        let mhz = profile.me_mhz();
        self.quick_start = QuickStartModule::new(profile.feedback_quick_start(), mhz);
        self.xcp = XcpModule::new(profile.feedback_xcp(), mhz, mailboxes);
    }

    fn parts(&self) -> Vec<WindowPart> {
        let part = |suffix, offset, registers| WindowPart {
            suffix,
            offset,
            registers,
        };
        vec![
            part("", QUICK_START, Some(XCP - QUICK_START)),
            part("_XCP", XCP, Some(REQUESTS - XCP)),
            part("_REQUESTS", REQUESTS, None),
            part("_MAILBOXES", MAILBOXES, None),
        ]
    }

    fn check(&self, request: WindowRequest) -> Result<Range<u32>, String> {
        let access = self.access(request)?;
        Ok(access.concerns(request.place, request.count))
    }

    /// The answer to an XCP request cannot be read before it is available.
    fn free_at(&self, request: WindowRequest) -> Cycle {
        match self.access(request) {
            Ok(WindowAccess::QuickStart { .. }) => self.quick_start.module.free_at(),
            Ok(WindowAccess::XcpRequest(_)) => self.xcp.module.free_at(),
            Ok(WindowAccess::XcpAnswer(mailbox)) => self.xcp.answered(mailbox),
            Ok(WindowAccess::Registers(_)) | Err(_) => 0,
        }
    }

    /// Executes a command that the channel hands over; returns the cycle at which its answer
    /// is available and the channel can move data (`Device::serve`).
    ///
    /// Registers and finished answers are available at once. A Quick-Start request is
    /// answered by the same command, at the module's next edge. An XCP request is a write
    /// that is done when the module has it; a separate command, a read of the mailbox, gets
    /// the answer.
    fn serve(
        &mut self,
        request: WindowRequest,
        handover: Handover,
        data: &mut [u32],
    ) -> Result<Cycle, String> {
        let Handover { now, since, .. } = handover;
        match self.access(request)? {
            WindowAccess::Registers(first) => {
                for (place, word) in (u32::from(first)..).zip(data) {
                    let old = self.register(place).unwrap_or_default();
                    if request.writes {
                        self.set_register(place, handover.written(old, *word));
                    } else {
                        *word = old;
                    }
                }
            }
            WindowAccess::QuickStart { group, code } => {
                let (grant, answered) = self.quick_start.request(now, since, group, code);
                data[0] = grant;
                return Ok(answered);
            }
            WindowAccess::XcpRequest(mailbox) => {
                let words = std::array::from_fn(|word| data[word]);
                self.xcp.request(now, since, mailbox, words)?;
            }
            WindowAccess::XcpAnswer(mailbox) => data[0] = self.xcp.answer(mailbox)?,
        }
        Ok(now)
    }

    fn register(&self, place: u32) -> Option<u32> {
        Some(match Register::at(place)? {
            Register::QuickStart { group, word } => self.quick_start.read(group, word),
            Register::Xcp { group, word } => self.xcp.read(group, word),
            Register::Gap => 0,
        })
    }

    fn set_register(&mut self, place: u32, value: u32) -> bool {
        match Register::at(place) {
            Some(Register::QuickStart { group, word }) => {
                *self.quick_start.register(group, word) = value;
            }
            Some(Register::Xcp { group, word }) => *self.xcp.register(group, word) = value,
            Some(Register::Gap) | None => return false,
        }
        true
    }

    fn part_at(&self, place: u32) -> &'static str {
        match place * 4 {
            place if place < REQUESTS => "the registers",
            place if place < MAILBOXES => "the Quick-Start requests",
            _ => "the XCP mailboxes",
        }
    }

    fn help(&self) -> &'static str {
        "`npsim docs coprocessor` shows the window; NAME_REQUESTS and NAME_MAILBOXES are its parts"
    }

    fn modules(&self, cycles: Cycle) -> Vec<(&'static str, Row)> {
        vec![
            ("quick_start", self.quick_start.row(cycles)),
            ("xcp", self.xcp.row(cycles)),
        ]
    }

    fn summary(&self, cycles: Cycle) -> Vec<String> {
        words::summary(self, cycles)
    }

    fn is_compatible_with(&self, saved: &Self) -> bool {
        self.attachment == saved.attachment
            && self.xcp.mailboxes() == saved.xcp.mailboxes()
            && self
                .quick_start
                .module
                .is_compatible_with(&saved.quick_start.module)
            && self.xcp.module.is_compatible_with(&saved.xcp.module)
    }
}
