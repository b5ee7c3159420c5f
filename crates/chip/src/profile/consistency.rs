//! What no single range can say: how the numbers of a profile must go together.

use super::parse::wrong;
use super::{Profile, ProfileError};

impl Profile {
    /// What no single range can say: latencies must leave room for the way.
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        let v = &self.values;
        let dram_access =
            v.dram_row_to_column + v.dram_column_to_data + v.dram_burst_half_cycles.div_ceil(2);
        let array = (v.hash_array_48 + 2 * v.hash_buffer_48_64) * v.bus_cycle;
        let media = 8 * v.bus_cycle;
        let least = [
            ("scratch.read", v.scratch_read, self.path(1)),
            ("scratch.write", v.scratch_write, self.path(1)),
            (
                "scratch.atomic",
                v.scratch_atomic,
                v.scratch_write + self.carriage(1),
            ),
            ("scratch.ring_get", v.scratch_ring_get, self.path(1)),
            ("scratch.ring_put", v.scratch_ring_put, self.path(1)),
            ("sram.read", v.sram_read, self.path(1)),
            ("sram.write", v.sram_write, self.path(1)),
            (
                "sram.atomic",
                v.sram_atomic,
                v.sram_write + self.carriage(1),
            ),
            ("sram.dequeue", v.sram_dequeue, self.path(1)),
            ("sram.ring_get", v.sram_ring_get, self.path(1)),
            (
                "sram.ring_put",
                v.sram_ring_put,
                v.sram_write + self.carriage(1),
            ),
            ("sram.csr", v.sram_csr, self.path(1)),
            ("dram.read", v.dram_read, self.path(2) + dram_access),
            ("dram.write", v.dram_write, self.path(2)),
            ("dram.rbuf_rd", v.dram_rbuf_rd, self.path(0) + media),
            (
                "dram.tbuf_wr",
                v.dram_tbuf_wr,
                self.path(0) + dram_access + media,
            ),
            (
                "hash.one",
                v.hash_one,
                self.path(2) + array + self.carriage(2),
            ),
            ("msf.read", v.msf_read, self.path(1)),
            ("msf.write", v.msf_write, self.path(1)),
            ("cap.read", v.cap_read, self.path(1)),
            ("cap.write", v.cap_write, self.path(1)),
        ];
        for (key, value, least) in least {
            if value < least {
                return Err(wrong(
                    key,
                    &format!("{value} ME cycles are fewer than the {least} that the way takes"),
                ));
            }
        }
        if !v.dram_channel_interleave.is_power_of_two() {
            return Err(wrong(
                "dram.channel_interleave",
                "it must be a power of two",
            ));
        }
        if !v.dram_bank_interleave.is_power_of_two() {
            return Err(wrong("dram.bank_interleave", "it must be a power of two"));
        }
        self.check_divisors()?;
        for (key, bytes) in [
            ("dram.channel_bytes", v.dram_channel_bytes),
            ("sram.channel_bytes", v.sram_channel_bytes),
        ] {
            if !bytes.is_multiple_of(4096) {
                return Err(wrong(key, "it must be a multiple of 4096"));
            }
        }
        Ok(())
    }

    /// Sizes that are cut into equal parts, and limits that bound each other.
    fn check_divisors(&self) -> Result<(), ProfileError> {
        let v = &self.values;
        let whole = [
            (
                "dram.channel_interleave",
                v.dram_channel_interleave,
                "dram.burst_bytes",
                v.dram_burst_bytes,
            ),
            (
                "dram.bank_interleave",
                v.dram_bank_interleave,
                "dram.burst_bytes",
                v.dram_burst_bytes,
            ),
            ("msf.rbuf_bytes", v.rbuf_bytes, "the largest element", 256),
            ("msf.tbuf_bytes", v.tbuf_bytes, "the largest element", 256),
            ("scratch.bytes", v.scratch_bytes, "a page", 4096),
        ];
        for (key, size, part_key, part) in whole {
            if !size.is_multiple_of(part) {
                return Err(wrong(
                    key,
                    &format!("{size} bytes are no multiple of the {part} of {part_key}"),
                ));
            }
        }
        let transfers = self.media().transfers_per_clock();
        if !v.media_bus_bytes.is_multiple_of(transfers) {
            return Err(wrong(
                "msf.bus_bytes",
                &format!(
                    "{} moves {transfers} transfers a clock, and {} bytes cannot be shared among them",
                    self.media().name(),
                    v.media_bus_bytes
                ),
            ));
        }
        let below = [
            (
                "msf.transmit_low_water",
                u64::from(v.transmit_low_water),
                "msf.transmit_high_water",
                u64::from(v.transmit_high_water),
            ),
            (
                "msf.transmit_high_water",
                u64::from(v.transmit_high_water),
                "msf.transmit_fifo",
                u64::from(v.transmit_fifo_bytes),
            ),
            (
                "dram.refresh_cycles",
                v.dram_refresh_cycles,
                "dram.refresh_interval",
                v.dram_refresh_interval,
            ),
        ];
        for (key, value, bound_key, bound) in below {
            if value > bound {
                return Err(wrong(
                    key,
                    &format!("{value} is more than {bound_key}, which is {bound}"),
                ));
            }
        }
        Ok(())
    }
}
