//! Consistency checks across the numbers of a profile, which no single range can express.

use super::Profile;
use crate::MICROENGINES;
use crate::error::ProfileError;
use crate::parse::wrong;

impl Profile {
    /// Checks conditions that no single range can express, such as latencies
    /// that leave room for the fixed parts of the path.
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        let microengines = usize::from(self.clusters()) * usize::from(self.per_cluster());
        if microengines > MICROENGINES {
            return Err(wrong(
                "microengine.per_cluster",
                &format!(
                    "{microengines} microengines are more than the {MICROENGINES} of the largest chip"
                ),
            ));
        }
        let dram_access = self.dram_row_to_column()
            + self.dram_column_to_data()
            + self.dram_burst_half_cycles().div_ceil(2);
        let array = (self.hash_array_48() + 2 * self.hash_buffer_48_64()) * self.bus_cycle();
        let media = 8 * self.bus_cycle();
        let least = [
            ("scratch.read", self.scratch_read(), self.path(1)),
            ("scratch.write", self.scratch_write(), self.path(1)),
            (
                "scratch.atomic",
                self.scratch_atomic(),
                self.scratch_write() + self.transfer_cycles(1),
            ),
            ("scratch.ring_get", self.scratch_ring_get(), self.path(1)),
            ("scratch.ring_put", self.scratch_ring_put(), self.path(1)),
            ("sram.read", self.sram_read(), self.path(1)),
            ("sram.write", self.sram_write(), self.path(1)),
            (
                "sram.atomic",
                self.sram_atomic(),
                self.sram_write() + self.transfer_cycles(1),
            ),
            ("sram.dequeue", self.sram_dequeue(), self.path(1)),
            ("sram.ring_get", self.sram_ring_get(), self.path(1)),
            (
                "sram.ring_put",
                self.sram_ring_put(),
                self.sram_write() + self.transfer_cycles(1),
            ),
            ("sram.csr", self.sram_csr(), self.path(1)),
            ("dram.read", self.dram_read(), self.path(2) + dram_access),
            ("dram.write", self.dram_write(), self.path(2)),
            ("dram.rbuf_rd", self.dram_rbuf_rd(), self.path(0) + media),
            (
                "dram.tbuf_wr",
                self.dram_tbuf_wr(),
                self.path(0) + dram_access + media,
            ),
            (
                "hash.one",
                self.hash_one(),
                self.path(2) + array + self.transfer_cycles(2),
            ),
            ("msf.read", self.msf_read(), self.path(1)),
            ("msf.write", self.msf_write(), self.path(1)),
            ("cap.read", self.cap_read(), self.path(1)),
            ("cap.write", self.cap_write(), self.path(1)),
        ];
        for (key, value, least) in least {
            if value < least {
                return Err(wrong(
                    key,
                    &format!("{value} ME cycles are fewer than the {least} that the path takes"),
                ));
            }
        }
        if !self.dram_channel_interleave().is_power_of_two() {
            return Err(wrong(
                "dram.channel_interleave",
                "it must be a power of two",
            ));
        }
        if !self.dram_bank_interleave().is_power_of_two() {
            return Err(wrong("dram.bank_interleave", "it must be a power of two"));
        }
        self.check_divisors()?;
        for (key, bytes) in [
            ("dram.channel_bytes", self.dram_channel_bytes()),
            ("sram.channel_bytes", self.sram_channel_bytes()),
        ] {
            if !bytes.is_multiple_of(4096) {
                return Err(wrong(key, "it must be a multiple of 4096"));
            }
        }
        Ok(())
    }

    /// Checks sizes that are divided into equal parts, and limits that bound each other.
    fn check_divisors(&self) -> Result<(), ProfileError> {
        let whole = [
            (
                "dram.channel_interleave",
                self.dram_channel_interleave(),
                "dram.burst_bytes",
                self.dram_burst_bytes(),
            ),
            (
                "dram.bank_interleave",
                self.dram_bank_interleave(),
                "dram.burst_bytes",
                self.dram_burst_bytes(),
            ),
            (
                "msf.rbuf_bytes",
                self.rbuf_bytes(),
                "the largest element",
                256,
            ),
            (
                "msf.tbuf_bytes",
                self.tbuf_bytes(),
                "the largest element",
                256,
            ),
            ("scratch.bytes", self.scratch_bytes(), "a page", 4096),
        ];
        for (key, size, part_key, part) in whole {
            if !size.is_multiple_of(part) {
                return Err(wrong(
                    key,
                    &format!("{size} bytes are not a multiple of the {part} of {part_key}"),
                ));
            }
        }
        let transfers = self.media().transfers_per_clock();
        if !self.media_bus_bytes().is_multiple_of(transfers) {
            return Err(wrong(
                "msf.bus_bytes",
                &format!(
                    "{} moves {transfers} transfers per clock, and {} bytes cannot be divided among them",
                    self.media().name(),
                    self.media_bus_bytes()
                ),
            ));
        }
        let below = [
            (
                "msf.transmit_low_water",
                u64::from(self.transmit_low_water()),
                "msf.transmit_high_water",
                u64::from(self.transmit_high_water()),
            ),
            (
                "msf.transmit_high_water",
                u64::from(self.transmit_high_water()),
                "msf.transmit_fifo",
                u64::from(self.transmit_fifo_bytes()),
            ),
            (
                "dram.refresh_cycles",
                self.dram_refresh_cycles(),
                "dram.refresh_interval",
                self.dram_refresh_interval(),
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
