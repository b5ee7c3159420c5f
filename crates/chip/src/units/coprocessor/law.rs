//! What the modules compute: the reference models of the schemes, between
//! registers and answers.

use npsim_congestion::quick_start::{Pool, rate_units};
use npsim_congestion::xcp::{Pools, Scale};

use super::{QuickStartGroup, XcpGroup};

/// Bits of a shift that the XCP module looks at.
const SHIFT: u32 = 63;

/// What a Quick-Start request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The rate code, 0 for nothing.
    pub code: u8,
    /// The same in units of 40 kbit/s.
    pub units: u32,
}

/// Grants what the window in use has left, and books it.
pub(super) fn grant(registers: &mut QuickStartGroup, code: u8) -> Grant {
    let [limit, phase, granted @ ..] = registers;
    let granted = &mut granted[(*phase & 8) as usize / 4];
    let mut pool = Pool {
        limit: *limit as i32,
        granted: *granted as i32,
    };
    let code = pool.grant(code);
    *granted = pool.granted as u32;
    Grant {
        code,
        units: rate_units(code) as u32,
    }
}

/// The Delta with which a packet leaves; its feedback is taken from the pools.
/// A pool that is below zero counts as empty.
pub(super) fn depart(registers: &mut XcpGroup, x: u32, size: u16, delta: i32) -> i32 {
    let [residue_pos, residue_neg, cp, cn, shifts] = registers;
    let residue = |word: u32| (word as i32).max(0) as u32;
    let scale = |mantissa, shift| Scale {
        mantissa,
        shift: (shift & SHIFT) as u8,
    };
    let mut pools = Pools {
        residue_pos: residue(*residue_pos),
        residue_neg: residue(*residue_neg),
        cp: scale(*cp, *shifts),
        cn: scale(*cn, *shifts >> 8),
    };
    let departed = pools.depart(x, size, delta);
    *residue_pos = pools.residue_pos;
    *residue_neg = pools.residue_neg;
    *cp = pools.cp.mantissa;
    *cn = pools.cn.mantissa;
    *shifts = u32::from(pools.cn.shift) << 8 | u32::from(pools.cp.shift);
    departed.delta
}
