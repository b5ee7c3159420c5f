//! The core's architecture for gdb: an `ARMv5TE` processor with the registers of its basic feature.
//!
//! The register layouts of other crates are little-endian; gdb expects the byte order of the program.

use gdbstub::arch::{Arch, Registers};

/// The target description: r0 to r15 and CPSR, which is number 25 in gdb.
const DESCRIPTION: &str = r#"<?xml version="1.0"?>
<!DOCTYPE target SYSTEM "gdb-target.dtd">
<target version="1.0">
  <architecture>armv5te</architecture>
  <feature name="org.gnu.gdb.arm.core">
    <reg name="r0" bitsize="32" type="uint32"/>
    <reg name="r1" bitsize="32" type="uint32"/>
    <reg name="r2" bitsize="32" type="uint32"/>
    <reg name="r3" bitsize="32" type="uint32"/>
    <reg name="r4" bitsize="32" type="uint32"/>
    <reg name="r5" bitsize="32" type="uint32"/>
    <reg name="r6" bitsize="32" type="uint32"/>
    <reg name="r7" bitsize="32" type="uint32"/>
    <reg name="r8" bitsize="32" type="uint32"/>
    <reg name="r9" bitsize="32" type="uint32"/>
    <reg name="r10" bitsize="32" type="uint32"/>
    <reg name="r11" bitsize="32" type="uint32"/>
    <reg name="r12" bitsize="32" type="uint32"/>
    <reg name="sp" bitsize="32" type="data_ptr"/>
    <reg name="lr" bitsize="32"/>
    <reg name="pc" bitsize="32" type="code_ptr"/>
    <reg name="cpsr" bitsize="32" regnum="25"/>
  </feature>
</target>
"#;

/// The core of an IXP.
#[derive(Debug)]
pub enum XScale {}

/// The registers: r0 to r15 and CPSR.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoreRegisters {
    /// The register values.
    pub values: [u32; 17],
    /// Whether they are sent in big-endian order.
    pub is_big_endian: bool,
}

impl Registers for CoreRegisters {
    type ProgramCounter = u32;

    fn pc(&self) -> u32 {
        self.values[15]
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        for value in self.values {
            let bytes = if self.is_big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            };
            for byte in bytes {
                write_byte(Some(byte));
            }
        }
    }

    /// Ignores the bytes: [`CoreTarget`](super::target::CoreTarget) refuses to write registers, with an
    /// explanation.
    fn gdb_deserialize(&mut self, _bytes: &[u8]) -> Result<(), ()> {
        Ok(())
    }
}

impl Arch for XScale {
    type Usize = u32;
    type Registers = CoreRegisters;
    type RegId = ();
    type BreakpointKind = usize;

    fn target_description_xml() -> Option<&'static str> {
        Some(DESCRIPTION)
    }
}
