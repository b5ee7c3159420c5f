//! The operations that take more than one expression, named in the `functions` section of the
//! table.
//!
//! Each takes its operands from the register file and leaves codes, A operand and result as its
//! instruction defines.

use crate::cam::Cam;
use crate::crc;
use crate::datapath::{Codes, Datapath};
use crate::operation::Op;

impl Datapath {
    /// Adds with the carry of the condition codes.
    #[inline]
    fn sum_with_carry(&mut self, op: &Op, x: u32, y: u32) {
        let carry = u32::from(self.codes.carry());
        let result = x.wrapping_add(y).wrapping_add(carry);
        self.codes = Codes::sum(x, y, result);
        self.plain(op, x, result);
    }

    #[inline(always)]
    pub(crate) fn add_carry(&mut self, op: &Op) {
        let (x, y) = (self.get(op.a), self.get(op.b));
        self.sum_with_carry(op, x, y);
    }

    #[inline(always)]
    pub(crate) fn sub_carry(&mut self, op: &Op) {
        let (x, y) = (self.get(op.a), self.get(op.b));
        self.sum_with_carry(op, x, !y);
    }

    #[inline(always)]
    pub(crate) fn shift_indirect(&mut self, op: &Op) {
        let count = self.previous_a & 31;
        let (x, b) = (self.get(op.a), self.get(op.b));
        let y = if op.n == 0 { b << count } else { b >> count };
        let result = match op.y {
            0 => y,
            1 => !y,
            2 => x & y,
            3 => !x & y,
            4 => x & !y,
            _ => x | y,
        };
        self.logical(op, x, result);
    }

    #[inline]
    fn double_shift_by(&mut self, op: &Op, count: u32) {
        let (x, y) = (self.get(op.a), self.get(op.b));
        let result = ((u64::from(x) << 32 | u64::from(y)) >> count) as u32;
        self.logical(op, x, result);
    }

    #[inline]
    pub(crate) fn double_shift(&mut self, op: &Op) {
        self.double_shift_by(op, u32::from(op.n));
    }

    #[inline]
    pub(crate) fn double_shift_indirect(&mut self, op: &Op) {
        self.double_shift_by(op, self.previous_a & 31);
    }

    /// The vacated bits are filled with the sign of the previous result.
    #[inline]
    fn arithmetic_shift_by(&mut self, op: &Op, count: u32) {
        let fill = u64::from((self.previous_result as i32 >> 31) as u32);
        let result = ((fill << 32 | u64::from(self.get(op.b))) >> count) as u32;
        self.logical(op, 0, result);
    }

    #[inline]
    pub(crate) fn arithmetic_shift(&mut self, op: &Op) {
        self.arithmetic_shift_by(op, u32::from(op.n));
    }

    #[inline]
    pub(crate) fn arithmetic_shift_indirect(&mut self, op: &Op) {
        self.arithmetic_shift_by(op, self.previous_a & 31);
    }

    #[inline]
    pub(crate) fn align_big_endian(&mut self, op: &Op) {
        let source = self.get(op.b);
        let pair = u64::from(self.align_be) << 32 | u64::from(source);
        self.align_be = source;
        let result = (pair >> (32 - 8 * (self.byte_index & 3))) as u32;
        self.logical(op, 0, result);
    }

    #[inline]
    pub(crate) fn align_little_endian(&mut self, op: &Op) {
        let source = self.get(op.a);
        let pair = u64::from(source) << 32 | u64::from(self.align_le);
        self.align_le = source;
        let result = (pair >> (8 * (self.byte_index & 3))) as u32;
        self.logical(op, source, result);
    }

    /// Executes `ld_field` and sets the codes.
    #[inline]
    pub(crate) fn load_field(&mut self, op: &Op) {
        let inputs = self.inputs(op);
        self.logical(op, inputs.a, inputs.a & inputs.kept | inputs.shifted);
    }

    #[inline]
    pub(crate) fn no_operation(&mut self, _: &Op) {
        self.previous_a = 0;
        self.previous_result = 0;
    }

    #[inline(always)]
    pub(crate) fn start_product(&mut self, op: &Op) {
        (self.multiplicand, self.multiplier) = (self.get(op.a), self.get(op.b));
        self.previous_a = self.multiplicand;
    }

    #[inline(always)]
    pub(crate) fn step_product(&mut self, op: &Op) {
        self.previous_a = self.get(op.a);
    }

    #[inline]
    pub(crate) fn last_product(&mut self, op: &Op) {
        let (x, y) = (u64::from(self.multiplicand), u64::from(self.multiplier));
        let product = match op.n {
            0 => (x & 0xff_ffff) * (y & 0xff),
            1 => (x & 0xffff) * (y & 0xffff),
            _ => x * y,
        };
        let result = if op.x == 0 {
            product as u32
        } else {
            (product >> 32) as u32
        };
        self.logical(op, 0, result);
    }

    #[inline]
    pub(crate) fn clear_cam(&mut self, _: &Op) {
        self.cam = Cam::new();
    }

    #[inline]
    pub(crate) fn look_up_cam(&mut self, op: &Op) {
        let tag = self.get(op.a);
        let result = self.cam.lookup(tag);
        self.logical(op, tag, result);
    }

    #[inline]
    pub(crate) fn write_cam(&mut self, op: &Op) {
        let (tag, entry) = (self.get(op.a), self.get(op.b));
        self.cam.write(entry, tag, op.n);
        self.previous_a = tag;
    }

    #[inline]
    pub(crate) fn write_cam_state(&mut self, op: &Op) {
        let entry = self.get(op.b);
        self.cam.write_state(entry, op.n);
        self.previous_a = 0;
    }

    #[inline]
    pub(crate) fn update_crc(&mut self, op: &Op) {
        let source = self.get(op.b);
        self.crc_remainder = crc::update(self.crc_remainder, op.x, source);
        self.logical(op, 0, source);
    }
}
