//! Chips for a given number of microengines.

use npsim::project::Overrides;

/// Overrides that select microengines 0 to `microengines` - 1, on an IXP2800 if
/// there are more than eight.
#[must_use]
pub fn on_microengines(microengines: u32, defines: &[(&str, u32)]) -> Overrides {
    let chip = if microengines > 8 {
        "ixp2800"
    } else {
        "ixp2400"
    };
    let defines = defines.iter();
    Overrides {
        chip: Some(chip.into()),
        ids: Some(format!("0-{}", microengines - 1)),
        defines: defines
            .map(|(name, value)| ((*name).into(), value.to_string()))
            .collect(),
        ..Overrides::default()
    }
}
