//! The middle end, from statements to a program over names: declarations and
//! scopes, instruction selection, control flow, liveness, and the checks that
//! need them.

pub(crate) mod bit_set;
pub(crate) mod check;
pub(crate) mod declare;
pub(crate) mod flow;
pub(crate) mod groups;
pub(crate) mod hazards;
pub(crate) mod labels;
pub(crate) mod liveness;
pub(crate) mod program;
pub(crate) mod returns;
pub(crate) mod scope;
pub(crate) mod select;
pub(crate) mod webs;
pub(crate) mod worklist;
