//! Experiments as data: a system, a sweep, what is measured, and what was published.
