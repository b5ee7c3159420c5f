//! Transfers of a network file: exchanges between hosts with a stack.

use npsim_project::problem::Problem;
use npsim_stack::{Exchange, MAX_TRANSFERS};
use toml::Spanned;

use super::FileReading;
use super::flows::Ends;
use super::quantities;
use super::typed::{self, Size};
use npsim_network::topology::Transfer;

/// Default size of a socket's buffer, in bytes.
const BUFFER: u64 = 256_000;
/// Range of buffer sizes, in bytes.
const BUFFERS: std::ops::RangeInclusive<u64> = 2_000..=16_000_000;
/// Most bytes of a transfer in one direction.
const MAX_BYTES: u64 = 1_000_000_000_000;

impl FileReading {
    pub(super) fn transfer(&mut self, transfer: &typed::TransferSection) -> Result<(), Problem> {
        let pairs = self.pairs(&transfer.from, &transfer.to, Ends::Stacks)?;
        let (start, step) = (transfer.start.as_ref(), transfer.step.as_ref());
        let time = |placed: Option<&typed::PlacedText>| placed.map_or(Ok(0), |it| self.time(it));
        let (start, step) = (time(start)?, time(step)?);
        let gap = time(transfer.gap.as_ref())?;
        let requests = transfer.requests.as_ref().map_or(1, |it| *it.get_ref());
        if let Some(placed) = transfer.requests.as_ref().filter(|_| requests == 0) {
            let message = "a transfer without a request does nothing";
            return Err(self.text.problem(placed.span(), message));
        }
        let message = |placed: &Spanned<Size>| {
            let bytes = self.size(placed)?;
            let why = match bytes.checked_mul(requests) {
                Some(0) => "a request or response has at least one byte".to_owned(),
                Some(all) if all <= MAX_BYTES => return Ok(bytes),
                _ => format!("a transfer has {MAX_BYTES} bytes in one direction at most"),
            };
            Err(self.text.problem(placed.span(), why))
        };
        let (request, response) = (message(&transfer.request)?, message(&transfer.response)?);
        let buffer = transfer.buffer.as_ref();
        let bytes = buffer.map_or(Ok(BUFFER), |placed| self.size(placed))?;
        if let Some(placed) = buffer.filter(|_| !BUFFERS.contains(&bytes)) {
            let (least, most) = (BUFFERS.start(), BUFFERS.end());
            let message = format!("a buffer has {least} to {most} bytes");
            return Err(self.text.problem(placed.span(), message));
        }
        let name = transfer
            .name
            .clone()
            .unwrap_or_else(|| format!("{}-{}", transfer.from.get_ref(), transfer.to.get_ref()));
        let count = pairs.len();
        if self.topology.transfers.len() + count > MAX_TRANSFERS {
            let message = format!("a network has {MAX_TRANSFERS} transfers at most");
            return Err(self.text.problem(transfer.from.span(), message));
        }
        for (number, (from, to)) in pairs.into_iter().enumerate() {
            self.topology.transfers.push(Transfer {
                name: if count == 1 {
                    name.clone()
                } else {
                    format!("{name}{number}")
                },
                from,
                to,
                exchange: Exchange {
                    start: start.saturating_add(step.saturating_mul(number as u64)),
                    request,
                    response,
                    requests,
                    gap,
                    buffer: bytes as u32,
                },
            });
        }
        Ok(())
    }

    fn size(&self, placed: &Spanned<Size>) -> Result<u64, Problem> {
        match placed.get_ref() {
            Size::Number(bytes) => Ok(*bytes),
            Size::Text(text) => {
                quantities::bytes(text).map_err(|message| self.text.problem(placed.span(), message))
            }
        }
    }
}
