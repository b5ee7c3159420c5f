//! The latencies of the processor's pipeline, from chip profiles.

use npsim_arm::Timing;
use npsim_profile::Profile;

/// The latencies of a chip.
pub(crate) fn timing(profile: &Profile) -> Timing {
    Timing {
        load_to_use: profile.xscale_load_to_use(),
        multiply: profile.xscale_multiply(),
        saturate: profile.xscale_saturate(),
        register_shift: profile.xscale_register_shift(),
        branch_mispredicted: profile.xscale_branch_mispredicted(),
        thumb_branch: profile.xscale_thumb_branch(),
        jump: profile.xscale_jump(),
        load_jump: profile.xscale_load_jump(),
        block: profile.xscale_block(),
        block_jump: profile.xscale_block_jump(),
        swap: profile.xscale_swap(),
        store_double: profile.xscale_store_double(),
        read_status: profile.xscale_read_status(),
        write_flags: profile.xscale_write_flags(),
        write_status: profile.xscale_write_status(),
        read_coprocessor: profile.xscale_read_coprocessor(),
        write_coprocessor: profile.xscale_write_coprocessor(),
        exception: profile.xscale_exception(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_use_the_xscale_pipeline_timing() {
        for name in Profile::names() {
            let profile = Profile::load(name).unwrap();
            assert_eq!(timing(&profile), Timing::XSCALE, "{name}");
        }
    }
}
