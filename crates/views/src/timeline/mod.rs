//! What happened when.
