//! Schemes that do not keep the order: the same checks find no losses, and find packets out of order.

use rayon::prelude::*;

use crate::bench::{Bench, Setup};
use crate::cases::{Case, Scheme};
use crate::order::three_gigabits;

const CONTIGUOUS: Scheme = Scheme::slots(&["contiguous.toml", "ixp2800-contiguous.toml"]);
const STRIDED: Scheme = Scheme::slots(&["strided.toml", "ixp2800-strided.toml"]);
const LOCAL: Scheme = Scheme::slots(&["local.toml", "ixp2800-local.toml"]);
const GLOBAL: Scheme = Scheme::slots(&["global.toml", "ixp2800-global.toml"]);

/// Runs random cases, which must conserve packets; returns the number of cases with packets out of
/// order.
fn reordered(scheme: Scheme) -> usize {
    let verdicts = (0..10).into_par_iter().map(|number| {
        let case = Case::draw(scheme, number, 400);
        let verdict = case.run();
        assert_eq!(verdict.loss(), None, "case {number}\n{case}");
        verdict
    });
    verdicts.filter(|it| it.reordered.is_some()).count()
}

#[test]
fn per_context_slots_reorder_without_loss() {
    assert!(reordered(CONTIGUOUS) >= 3);
    assert!(reordered(STRIDED) >= 3);
}

#[test]
fn local_and_global_slots_lose_nothing() {
    assert!(reordered(LOCAL) >= 3);
    reordered(GLOBAL);
}

/// Slots shared by the contexts of a microengine, on any number of microengines.
#[test]
fn local_slots_reorder_on_any_number_of_microengines() {
    (1..=8).into_par_iter().for_each(|microengines| {
        let bench = Bench::new(&Setup {
            project: "local.toml".into(),
            set: vec![format!("me.forward.id=0-{}", microengines - 1)],
            stalls: Vec::new(),
            edits: Vec::new(),
        });
        let verdict = bench.run(&three_gigabits(500));
        assert_eq!(verdict.loss(), None);
        let order = &verdict.order;
        assert!(
            order.reordered > 0,
            "{microengines} microengines: {order:?}"
        );
    });
}
