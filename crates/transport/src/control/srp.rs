//! SRP: packets leave at a rate that depends on the loss event rate (Shang et al., TCP-SRP). The law
//! is in [`npsim_protocols::srp`], and is also used by a network processor that paces.

use npsim_protocols::srp::{self, PacingLaw};
use serde::{Deserialize, Serialize};

use super::{ControlInputs, Controller};
use crate::host::HostParameters;

/// Parameters of an SRP sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SrpParameters {
    /// Highest pacing rate, in bytes of IP per second.
    pub most: Option<u64>,
}

/// The rate of a paced sender, which has no window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SrpControl {
    law: PacingLaw,
}

impl SrpControl {
    /// Creates the state before the handshake.
    #[must_use]
    pub fn new(host: &HostParameters, parameters: SrpParameters) -> Self {
        let first = u64::from(host.initial_window);
        Self {
            law: PacingLaw::new(first, parameters.most),
        }
    }
}

/// Returns the inputs of the law at this time.
fn law_inputs(moment: &ControlInputs) -> srp::LawInputs {
    srp::LawInputs {
        now: moment.now,
        mss: moment.mss,
        packet: moment.packet,
        srtt: moment.srtt,
        timeout: moment.timeout,
    }
}

impl Controller for SrpControl {
    fn window(&self) -> u64 {
        u64::MAX >> 2
    }

    fn threshold(&self) -> Option<u64> {
        None
    }

    fn rate(&self) -> Option<u64> {
        Some(self.law.rate())
    }

    fn opened(&mut self, moment: &ControlInputs, lost: bool) {
        self.law.opened(&law_inputs(moment), lost);
    }

    fn acknowledged(&mut self, _moment: &ControlInputs, _bytes: u64) {
        self.law.progressed();
    }

    /// A sender without a window keeps sending while a loss is being repaired, so data that arrive
    /// in the meantime count for the rate when they arrive.
    fn arrived(&mut self, moment: &ControlInputs, bytes: u64) {
        self.law.arrived(&law_inputs(moment), bytes);
    }

    fn lost(&mut self, moment: &ControlInputs) {
        self.law.lost(&law_inputs(moment));
    }

    /// So do losses in the meantime.
    fn lost_during_recovery(&mut self, moment: &ControlInputs) {
        self.law.lost(&law_inputs(moment));
    }

    fn recovered(&mut self, _moment: &ControlInputs) {}

    fn timed_out(&mut self, moment: &ControlInputs, _again: bool) {
        self.law.timed_out(&law_inputs(moment));
    }
}
