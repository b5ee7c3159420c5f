//! npsim
