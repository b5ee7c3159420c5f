//! npsim-isa
