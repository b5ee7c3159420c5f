//! What tasks need that answer packets: rings, buffers, the routing table.

use npsim_chip::gpp::lookup::TablePlace;
use npsim_chip::gpp::packets::Sender;
use npsim_chip::gpp::routes::{NEXT_HOP_LONGWORDS, Routes};

use super::{Resolver, suggestion};
use crate::keys::Spanned;

impl Resolver<'_> {
    /// The number of a `[[ring]]` of the project.
    pub fn ring_number(&mut self, name: &Spanned<String>) -> Option<u8> {
        let number = |define: &str| self.defines.get(define)?.value.parse().ok();
        if let Some(number) = number(&format!("{}_NUMBER", name.get_ref())) {
            return Some(number);
        }
        let known: Vec<String> = { self.defines.iter() }
            .filter(|(_, define)| define.owner.starts_with("ring `"))
            .filter_map(|(name, _)| name.strip_suffix("_NUMBER").map(str::to_owned))
            .collect();
        let help = suggestion(name.get_ref(), known.iter().map(String::as_str), "[[ring]]");
        self.fail(
            name.span(),
            format!("there is no ring `{}`", name.get_ref()),
            "",
            &help,
        );
        None
    }

    /// Where a task takes buffers, and the ring by which it sends them.
    pub fn sender(&mut self, ring: &Spanned<String>) -> Option<Sender> {
        let number = self.ring_number(ring)?;
        let Some(buffers) = self.boot.buffers else {
            self.fail(
                ring.span(),
                "the task needs [buffers], in which packets of the core lie",
                "",
                "",
            );
            return None;
        };
        Some(Sender {
            ring: number,
            buffers,
        })
    }

    /// Where the routing table is; `span` is the section of who needs it.
    pub fn table_place(&mut self, span: std::ops::Range<usize>) -> Option<TablePlace> {
        if let Some(routes) = self.boot.task::<Routes>() {
            return Some(TablePlace::of(routes.setup()));
        }
        if self.problems.is_empty() {
            self.fail(
                span,
                "the task needs the routing table, by which its packets leave",
                "",
                "add \"routes\" to `tasks` in [gpp]",
            );
        }
        None
    }

    /// The index of a next hop by its longwords, the same in each router of a chain; 0, which
    /// stands for none, if the table does not have it.
    #[must_use]
    pub fn next_hop_index(&self, words: [u32; NEXT_HOP_LONGWORDS]) -> u32 {
        let routes = self.boot.task::<Routes>();
        let Some(router) = routes.and_then(|routes| routes.setup().router(0)) else {
            return 0;
        };
        let hops = router.table().next_hops().chunks(NEXT_HOP_LONGWORDS);
        // The first one stands for no route.
        let mut hops = hops.enumerate().skip(1);
        hops.find(|(_, hop)| *hop == words)
            .map_or(0, |(at, _)| at as u32)
    }
}
