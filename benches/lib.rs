//! Criterion benches of npsim; see `benches/`.
