//! npsim for Python.
