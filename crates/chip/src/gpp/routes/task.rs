//! The task that maintains the routing table: it writes the table before the start, and changes it
//! while packets flow if there is a list of changes.
//!
//! A change is a job. It begins with the work of determining what to write, which takes as long as
//! that on an exception packet (`gpp.exception_work`), and continues with the writes of the
//! [`FibWriter`], one access each. A change that needs a block which became free less than the
//! grace time ago is due when that time is over.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::access::{Access, LongwordAddress, Memories};
use super::super::boot::{RouteChangesSetup, RouterRoutes, RoutesSetup, Space};
use super::super::load_error::LoadError;
use super::super::task::{NextAction, Start, StoredTask, Task};
use super::changes::{Change, ChangeError, RouteChange, RoutePrefix};
use super::fib_writer::{FibWriter, Table, TableWrite};
use super::rib::{TableNeeds, needs};
use super::{BLOCK_ENTRIES, NEXT_HOP_LONGWORDS, NextHop, ROOT_ENTRIES};
use crate::Cycle;
use crate::kernel::row::Row;
use crate::kernel::saved_memory::StateError;

/// Bytes that an address in a channel can reach.
const CHANNEL_BYTES: u64 = 1 << 30;

/// Writes a routing table before the start and then, if it has a list of changes, makes them.
#[derive(Clone, Debug)]
pub struct Routes {
    setup: Arc<RoutesSetup>,
    /// The router's position in a chain.
    node: usize,
    /// The changes to make while the chip runs.
    changing: Option<Box<Changing>>,
}

/// The state of the changes being made to the table.
#[derive(Clone, Debug)]
struct Changing {
    progress: Progress,
    /// Derived from the setup and the number of changes that were begun.
    fib: FibWriter,
    /// The writes of the change in progress.
    writes: Vec<TableWrite>,
    /// Blocks that become free once they are made.
    frees: usize,
    /// Number of changes entered in the FIB.
    entered: usize,
}

/// The progress so far, apart from the table itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Progress {
    /// Digest of the list of changes.
    list: u64,
    /// Number of changes made.
    done: usize,
    /// The change in progress.
    current: Option<Current>,
    /// When blocks that were in use before became free; they are the last ones of the FIB's free
    /// blocks.
    free_since: VecDeque<Cycle>,
    /// The cycle from which the core can begin another change.
    free: Cycle,
    tally: Tally,
}

/// A change in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Current {
    began: Cycle,
    /// Number of writes made.
    written: usize,
}

/// Statistics; times in ME cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tally {
    added: u64,
    redirected: u64,
    removed: u64,
    writes: u64,
    longwords: u64,
    took: Cycle,
    took_shortest: Cycle,
    took_longest: Cycle,
    late_longest: Cycle,
    grace_waits: u64,
    grace_waited: Cycle,
}

impl Tally {
    fn change(&mut self, change: &Change, took: Cycle) {
        match change {
            Change::Add(_) => self.added += 1,
            Change::Redirect(_) => self.redirected += 1,
            Change::Remove(_) => self.removed += 1,
        }
        self.took_shortest = match self.took {
            0 => took,
            _ => self.took_shortest.min(took),
        };
        self.took += took;
        self.took_longest = self.took_longest.max(took);
    }
}

impl Changing {
    fn new(router: &RouterRoutes, setup: &RouteChangesSetup) -> Result<Self, LoadError> {
        let fib = FibWriter::new(router, setup.blocks as usize)
            .map_err(|error| refused(0, &ChangeError::Route(error)))?;
        Ok(Self {
            progress: Progress {
                list: digest(router, setup),
                ..Progress::default()
            },
            fib,
            writes: Vec::new(),
            frees: 0,
            entered: 0,
        })
    }

    /// Enters the next change in the FIB and determines what to write.
    fn enter(&mut self, change: &Change) -> Result<(), ChangeError> {
        self.writes.clear();
        self.frees = self.fib.apply(change, &mut self.writes)?;
        self.entered += 1;
        Ok(())
    }

    /// The cycle from which the next change can be made, and how long it waits until then for
    /// blocks that it needs.
    fn ready(&self, next: &RouteChange, free: Cycle, grace: Cycle) -> (Cycle, Cycle) {
        let due = next.at.max(free);
        let takes = self.fib.takes(&next.change);
        let since = &self.progress.free_since;
        let new = self.fib.free_blocks() - since.len();
        let last = takes.checked_sub(new + 1).and_then(|last| since.get(last));
        let ready = last.map_or(0, |since| since + grace);
        (due.max(ready), ready.saturating_sub(due))
    }

    /// Enters again the changes that had begun in a saved state.
    fn replay(&mut self, changes: &[RouteChange], until: usize) -> Result<(), ChangeError> {
        while self.entered < until {
            self.enter(&changes[self.entered].change)?;
        }
        Ok(())
    }
}

/// A digest of everything that determines the table, apart from the progress of the changes
/// (FNV-1a).
fn digest(router: &RouterRoutes, setup: &RouteChangesSetup) -> u64 {
    let words = |hop: &NextHop| hop.words().map(u64::from);
    let routes = router.routes().iter().flat_map(|route| {
        let numbers = [route.prefix.into(), route.length.into()];
        numbers.into_iter().chain(words(&route.next_hop))
    });
    let reserved = router.reserved().iter().flat_map(words);
    let changes = setup.changes.iter().flat_map(|RouteChange { at, change }| {
        let RoutePrefix { prefix, length } = change.network();
        let (kind, hop) = match change {
            Change::Add(route) => (0, Some(route.next_hop)),
            Change::Redirect(route) => (1, Some(route.next_hop)),
            Change::Remove(_) => (2, None),
        };
        let words = hop.map_or([0; NEXT_HOP_LONGWORDS], |hop| hop.words());
        let numbers = [*at, kind, prefix.into(), length.into()];
        numbers.into_iter().chain(words.map(u64::from))
    });
    let counts = [router.routes().len(), router.reserved().len()].map(|count| count as u64);
    let room = setup.open.map(|room| room as u64);
    let numbers = [setup.grace, setup.blocks.into()].into_iter().chain(room);
    let numbers = numbers.chain(counts);
    let numbers = numbers.chain(routes).chain(reserved).chain(changes);
    let bytes = numbers.flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The needs of the changes, if all of them can be made.
fn checked(
    router: &RouterRoutes,
    own: &RouteChangesSetup,
) -> Result<TableNeeds, (usize, ChangeError)> {
    let found = needs(router, &own.changes, own.blocks as usize)?;
    match own.open {
        Some(room) if found.next_hops > room => {
            Err((own.changes.len(), ChangeError::TooManyNextHops { room }))
        }
        _ => Ok(found),
    }
}

fn refused(number: usize, error: &ChangeError) -> LoadError {
    let reason = error.to_string();
    LoadError::RouteChange { number, reason }
}

impl Routes {
    /// The task that maintains a table.
    #[must_use]
    pub fn new(setup: RoutesSetup) -> Self {
        Self {
            setup: Arc::new(setup),
            node: 0,
            changing: None,
        }
    }

    /// The table and its location.
    #[must_use]
    pub fn setup(&self) -> &RoutesSetup {
        &self.setup
    }

    /// Number of changes made.
    #[must_use]
    pub fn changed(&self) -> usize {
        self.changing.as_ref().map_or(0, |it| it.progress.done)
    }

    /// Adds changes to those known before the start, for a table that takes changes while the chip
    /// runs.
    ///
    /// # Errors
    /// Returns an error if the table takes none, or if a change cannot be made; that change is
    /// returned too.
    pub fn plan(
        &mut self,
        changes: &[RouteChange],
    ) -> Result<(), (Option<RouteChange>, ChangeError)> {
        let setup = Arc::make_mut(&mut self.setup);
        let own = setup.changes.as_mut().filter(|own| own.open.is_some());
        let own = own.ok_or((None, ChangeError::Closed))?;
        own.changes.extend(changes);
        own.changes.sort_by_key(|change| change.at);
        for router in &setup.routers {
            let found = checked(router, own);
            found.map_err(|(place, error)| (own.changes.get(place).copied(), error))?;
        }
        Ok(())
    }

    /// Takes one more change. Returns when the task's next job is due, if that has changed.
    ///
    /// # Errors
    /// Returns an error, with nothing changed, if the table takes no changes while the chip runs or
    /// the change cannot be made among the others.
    pub(crate) fn append(&mut self, change: RouteChange) -> Result<Option<Cycle>, ChangeError> {
        let router = self.setup.router(self.node);
        let (Some(it), Some(router)) = (&mut self.changing, router) else {
            return Err(ChangeError::Closed);
        };
        let Some(own) = { self.setup.changes.as_ref() }.filter(|own| own.open.is_some()) else {
            return Err(ChangeError::Closed);
        };
        let next = it.progress.done + usize::from(it.progress.current.is_some());
        let place = own.changes.partition_point(|other| other.at <= change.at);
        let mut own = own.clone();
        own.changes.insert(place.max(next), change);
        checked(router, &own).map_err(|(_, error)| error)?;
        it.progress.list = digest(router, &own);
        let mut due = None;
        if place <= it.progress.done && it.progress.current.is_none() {
            let (free, grace) = (it.progress.free, own.grace);
            // The change that was next now waits behind the new one.
            if let Some(behind) = own.changes.get(it.progress.done + 1) {
                let (_, waits) = it.ready(behind, free, grace);
                it.progress.tally.grace_waits -= u64::from(waits > 0);
                it.progress.tally.grace_waited -= waits;
            }
            let (ready, waits) = it.ready(&change, free, grace);
            it.progress.tally.grace_waits += u64::from(waits > 0);
            it.progress.tally.grace_waited += waits;
            due = Some(ready);
        }
        Arc::make_mut(&mut self.setup).changes = Some(own);
        Ok(due)
    }

    fn place(&self, table: Table, longword: usize) -> LongwordAddress {
        let first = match table {
            Table::Trie => self.setup.root,
            Table::NextHops => self.setup.next_hops,
        };
        LongwordAddress {
            space: Space::Sram(self.setup.channel),
            address: first.wrapping_add(longword as u32 * 4),
        }
    }

    /// Begins the next change: determines what to write.
    fn begin(&mut self, now: Cycle, work: Cycle) -> (&'static str, NextAction) {
        const DOING: &str = "work out a change";
        let over = (DOING, NextAction::Exit(work));
        let Self {
            setup, changing, ..
        } = self;
        let (Some(it), Some(own)) = (changing, &setup.changes) else {
            return over;
        };
        let Some(next) = own.changes.get(it.progress.done) else {
            return over;
        };
        if let Some(takes) = it.fib.takes(&next.change).checked_sub(1) {
            let new = it.fib.free_blocks() - it.progress.free_since.len();
            let known = (takes + 1).saturating_sub(new);
            it.progress.free_since.drain(..known);
        }
        // Every change was tried before the start.
        if it.enter(&next.change).is_err() {
            return over;
        }
        let tally = &mut it.progress.tally;
        tally.late_longest = tally.late_longest.max(now - next.at.min(now));
        it.progress.current = Some(Current {
            began: now,
            written: 0,
        });
        if it.writes.is_empty() {
            return (DOING, self.end(now, work));
        }
        (DOING, NextAction::After(work))
    }

    /// Makes a write of the change in progress.
    fn write(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let now = access.now();
        let under_way = self.changing.as_ref().and_then(|it| {
            let current = it.progress.current?;
            it.writes.get(current.written).copied()
        });
        let Some(write) = under_way else {
            return ("nothing", NextAction::Exit(0));
        };
        let doing = match write.table {
            Table::Trie => "write entries",
            Table::NextHops => "write a next hop",
        };
        let place = self.place(write.table, write.first);
        let cost = access.write(place, write.words());
        let mut last = true;
        if let Some(it) = &mut self.changing
            && let Some(current) = &mut it.progress.current
        {
            it.progress.tally.writes += 1;
            it.progress.tally.longwords += write.words().len() as u64;
            current.written += 1;
            last = current.written == it.writes.len();
        }
        let next = if last {
            self.end(now, cost)
        } else {
            NextAction::After(cost)
        };
        (doing, next)
    }

    /// Ends a change with its last access, which lasts `cost` cycles.
    fn end(&mut self, now: Cycle, cost: Cycle) -> NextAction {
        let Self {
            setup, changing, ..
        } = self;
        let (Some(it), Some(own)) = (changing, &setup.changes) else {
            return NextAction::Exit(cost);
        };
        let free = now + cost;
        it.progress.free = free.max(now + 1);
        let progress = &mut it.progress;
        if let (Some(current), Some(made)) =
            (progress.current.take(), own.changes.get(progress.done))
        {
            progress.tally.change(&made.change, free - current.began);
        }
        progress.done += 1;
        let since = std::iter::repeat_n(now, it.frees);
        progress.free_since.extend(since);
        let Some(next) = own.changes.get(progress.done) else {
            return NextAction::Exit(cost);
        };
        let (due, waits) = it.ready(next, free, own.grace);
        if waits > 0 {
            it.progress.tally.grace_waits += 1;
            it.progress.tally.grace_waited += waits;
        }
        NextAction::Done { cost, due }
    }

    /// Checks the changes, and that there is memory for everything they need.
    fn prepare_changes(
        &mut self,
        start: &Start<'_>,
        router: &RouterRoutes,
        own: &RouteChangesSetup,
    ) -> Result<Option<Cycle>, LoadError> {
        let TableNeeds { next_hops, .. } =
            checked(router, own).map_err(|(number, error)| refused(number, &error))?;
        let next_hops = own.open.unwrap_or(next_hops);
        let entries = ROOT_ENTRIES as u64 + u64::from(own.blocks) * BLOCK_ENTRIES as u64;
        // More than a channel can address is as wrong as more than it has.
        let bytes = (entries * 4).min(CHANNEL_BYTES - u64::from(self.setup.root));
        start.check(self.place(Table::Trie, 0), bytes as u32)?;
        let hops = (next_hops + 1) * NEXT_HOP_LONGWORDS;
        start.check(self.place(Table::NextHops, 0), hops as u32 * 4)?;
        self.changing = Some(Box::new(Changing::new(router, own)?));
        let first = own.changes.first().map(|first| first.at);
        Ok(first.or(own.open.map(|_| Cycle::MAX)))
    }
}

impl Task for Routes {
    fn name(&self) -> &'static str {
        "routes"
    }

    fn is_directed(&self) -> bool {
        let own = self.setup.changes.as_ref();
        own.is_some_and(|own| own.open.is_some())
    }

    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        let setup = Arc::clone(&self.setup);
        self.node = start.node();
        let Some(router) = setup.router(self.node) else {
            return Err(LoadError::Refused {
                task: "routes",
                reason: format!(
                    "the ports have the addresses of {} routers, and there is a router {}",
                    setup.routers.len(),
                    self.node + 1
                ),
            });
        };
        let (space, table) = (Space::Sram(setup.channel), router.table());
        start.write_table(space, setup.root, table.trie())?;
        start.write_table(space, setup.next_hops, table.next_hops())?;
        match &setup.changes {
            Some(changes) => self.prepare_changes(start, router, changes),
            None => Ok(None),
        }
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let under_way = self.changing.as_ref();
        if under_way.is_some_and(|it| it.progress.current.is_some()) {
            self.write(access)
        } else {
            self.begin(access.now(), access.costs().work)
        }
    }

    /// A single row for all changes; times in ME cycles.
    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        let (Some(it), Some(own)) = (&self.changing, &self.setup.changes) else {
            return Vec::new();
        };
        let Progress { done, tally, .. } = &it.progress;
        let row = Row::default()
            .with("changes", *done as u64)
            .with("pending", (own.changes.len() - done) as u64)
            .with("added", tally.added)
            .with("changed", tally.redirected)
            .with("removed", tally.removed)
            .with("writes", tally.writes)
            .with("words", tally.longwords)
            .with("took", tally.took)
            .with("took_shortest", tally.took_shortest)
            .with("took_longest", tally.took_longest)
            .with("late_longest", tally.late_longest)
            .with("grace_waits", tally.grace_waits)
            .with("grace_waited", tally.grace_waited)
            .with("routes", it.fib.routes() as u64)
            .with("blocks", it.fib.blocks() as u64)
            .with("free_blocks", it.fib.free_blocks() as u64);
        vec![row]
    }

    fn summary(&self, _memories: Memories<'_>) -> Vec<String> {
        let (Some(it), Some(own)) = (&self.changing, &self.setup.changes) else {
            return Vec::new();
        };
        let Progress { done, tally, .. } = &it.progress;
        let mean = tally.took / (*done as u64).max(1);
        let under_way = it.progress.current.map_or("", |_| ", one in progress");
        vec![format!(
            "{done} of {} changes made{under_way}   {} added, {} changed, {} removed   {mean} cycles each, {} at most   {} routes",
            own.changes.len(),
            tally.added,
            tally.redirected,
            tally.removed,
            tally.took_longest,
            it.fib.routes()
        )]
    }
}

/// The table follows from the progress of the changes, so only that is saved.
impl StoredTask for Routes {
    fn clone_box(&self) -> Box<dyn Task> {
        Box::new(self.clone())
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        let progress = self.changing.as_ref().map(|it| &it.progress);
        Ok(postcard::to_allocvec(&progress)?)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        let other = || StateError::OtherChip("route changes");
        let progress: Option<Progress> = postcard::from_bytes(state)?;
        let Some(progress) = progress else {
            self.changing = None;
            return Ok(());
        };
        let own = self.setup.changes.as_ref().ok_or_else(other)?;
        let router = self.setup.router(self.node).ok_or_else(other)?;
        let begun = progress.done + usize::from(progress.current.is_some());
        if begun > own.changes.len() || progress.list != digest(router, own) {
            return Err(other());
        }
        // The changes can only be replayed forwards.
        let near = self.changing.as_ref().filter(|it| it.entered <= begun);
        let mut changing = match near {
            Some(near) => near.clone(),
            None => Box::new(Changing::new(router, own).map_err(|_| other())?),
        };
        changing.replay(&own.changes, begun).map_err(|_| other())?;
        let frees = progress.current.map_or(0, |_| changing.frees);
        let written = progress.current.map_or(0, |it| it.written);
        let known = progress.free_since.len() + frees;
        if known > changing.fib.free_blocks() || written > changing.writes.len() {
            return Err(other());
        }
        changing.progress = progress;
        self.changing = Some(changing);
        Ok(())
    }
}
