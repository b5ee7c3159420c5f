//! Operator-set parameters and their ranges.

/// A parameter outside its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterError {
    /// Name of the parameter.
    pub name: &'static str,
    /// The allowed range, in words.
    pub allowed: &'static str,
}

impl ParameterError {
    /// Returns an error about the parameter `name` unless it is `good`.
    pub(crate) fn unless(
        good: bool,
        name: &'static str,
        allowed: &'static str,
    ) -> Result<(), Self> {
        if good {
            Ok(())
        } else {
            Err(Self { name, allowed })
        }
    }
}

impl std::fmt::Display for ParameterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` must be {}", self.name, self.allowed)
    }
}

impl std::error::Error for ParameterError {}
