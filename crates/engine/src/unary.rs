//! Instructions with one source. Everything about them but their results is in their rows of
//! `isa/mnemonics.toml`.

use npsim_isa::UnaryOp;

use crate::datapath::{Codes, Datapath};
use crate::operation::Op;

impl Datapath {
    /// Executes a unary operation.
    #[inline(never)]
    pub(crate) fn unary(&mut self, op: &Op) {
        let source = self.get(op.b);
        let unary = UnaryOp::ALL[usize::from(op.n)];
        let result = self.unary_result(unary, source);
        let form = unary.form();
        if form.sets_codes {
            // `ffs` sets Z if the source has no 1 bit.
            let coded = if unary == UnaryOp::Ffs {
                source
            } else {
                result
            };
            self.codes = Codes {
                x: coded,
                y: 0,
                result: coded,
            };
        }
        if unary.has_dest() {
            self.plain(op, 0, result);
        } else {
            self.previous_a = 0;
        }
    }

    /// The result for a source, before condition codes and destination.
    fn unary_result(&self, op: UnaryOp, source: u32) -> u32 {
        match op {
            UnaryOp::Ffs if source == 0 => 0,
            UnaryOp::Ffs => source.trailing_zeros(),
            // The third step alone delivers the result that the first two prepare.
            UnaryOp::PopCount1 | UnaryOp::PopCount2 | UnaryOp::PopCount3 => source.count_ones(),
            UnaryOp::CamReadTag => self.cam.tag(source),
            UnaryOp::CamReadState => self.cam.state(source),
        }
    }
}
