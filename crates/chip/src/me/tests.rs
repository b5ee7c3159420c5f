//! Tests of the microengine as a whole.
