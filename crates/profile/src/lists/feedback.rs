//! A feedback coprocessor attached to an SRAM channel. Its figures have sources, as those of the
//! chip do.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { feedback {
            /// Clock of an attached coprocessor's Quick-Start module, which takes one
            /// request a clock.
            quick_start: u64, "ps", 1..=1000000 => feedback_quick_start;
            /// Clock of the Quick-Start module alone, as the bandwidth measurement drives it.
            quick_start_alone: u64, "ps", 1..=1000000 => feedback_quick_start_alone;
            /// Clock of its XCP module, which takes one request a clock.
            xcp: u64, "ps", 1..=1000000 => feedback_xcp;
        } }
    };
}
pub(crate) use parameters;
