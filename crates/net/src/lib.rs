//! npsim-net
