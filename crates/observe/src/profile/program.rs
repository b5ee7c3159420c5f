//! Where the cycles of a program of the general-purpose core went, by function and call stack.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::gpp::{ProgramView, Task};
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::ProgramState;

use crate::names;

/// Cycles of the chip by the program's use of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramCycleBreakdown {
    /// It executed instructions.
    pub instructions: Cycle,
    /// An instruction waited for an access beyond the processor and its caches.
    pub accesses: Cycle,
    /// It repeated a loop in which nothing changed.
    pub polling: Cycle,
    /// It waited for an interrupt.
    pub waiting: Cycle,
    /// It had work, but the core was executing another task.
    pub held: Cycle,
    /// It had ended.
    pub ended: Cycle,
}

impl ProgramCycleBreakdown {
    /// Cycles in which the program worked.
    #[must_use]
    pub const fn busy(&self) -> Cycle {
        self.instructions + self.accesses
    }

    /// All cycles.
    #[must_use]
    pub const fn total(&self) -> Cycle {
        self.busy() + self.polling + self.waiting + self.held + self.ended
    }

    /// Adds the cycles of another count.
    pub const fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.accesses += other.accesses;
        self.polling += other.polling;
        self.waiting += other.waiting;
        self.held += other.held;
        self.ended += other.ended;
    }

    const fn of(&mut self, doing: ProgramState) -> &mut Cycle {
        match doing {
            ProgramState::Runs => &mut self.instructions,
            ProgramState::Accesses => &mut self.accesses,
            ProgramState::Polls => &mut self.polling,
            ProgramState::Waits => &mut self.waiting,
            ProgramState::Held => &mut self.held,
            ProgramState::Ended => &mut self.ended,
        }
    }

    const fn each_mut(&mut self) -> [&mut Cycle; 6] {
        [
            &mut self.instructions,
            &mut self.accesses,
            &mut self.polling,
            &mut self.waiting,
            &mut self.held,
            &mut self.ended,
        ]
    }
}

/// A function called through a particular stack of callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackCycles {
    /// The index of the caller's stack.
    pub caller: Option<usize>,
    /// The function.
    pub function: String,
    /// Number of calls through this stack.
    pub calls: u64,
    /// Its own cycles, without those of functions that it called.
    pub own: ProgramCycleBreakdown,
}

/// A function, over all of its callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCycles {
    /// The name.
    pub function: String,
    /// Number of calls.
    pub calls: u64,
    /// Its own cycles.
    pub own: ProgramCycleBreakdown,
    /// Its cycles including those of functions that it called.
    pub all: ProgramCycleBreakdown,
}

/// The profile of a program.
#[derive(Clone, Debug)]
pub struct ProgramProfile {
    /// Its task.
    pub task: u16,
    /// The name of its file.
    pub name: String,
    /// Cycles by call stack, callers before callees.
    pub stacks: Vec<StackCycles>,
}

impl ProgramProfile {
    /// Cycles of all functions together.
    #[must_use]
    pub fn spent(&self) -> ProgramCycleBreakdown {
        let mut all = ProgramCycleBreakdown::default();
        self.stacks.iter().for_each(|it| all.add(&it.own));
        all
    }

    /// The functions of a stack, outermost first.
    #[must_use]
    pub fn path(&self, stack: usize) -> Vec<&str> {
        let mut path = Vec::new();
        let mut at = self.stacks.get(stack);
        while let Some(it) = at {
            path.push(it.function.as_str());
            at = it.caller.and_then(|caller| self.stacks.get(caller));
        }
        path.reverse();
        path
    }

    /// Cycles by function, sorted by name. A function that is on a stack twice counts its cycles
    /// once.
    #[must_use]
    pub fn functions(&self) -> Vec<FunctionCycles> {
        let mut functions: BTreeMap<&str, FunctionCycles> = BTreeMap::new();
        for (index, stack) in self.stacks.iter().enumerate() {
            let mut path = self.path(index);
            path.sort_unstable();
            path.dedup();
            for name in path {
                let it = functions.entry(name).or_insert_with(|| FunctionCycles {
                    function: name.to_owned(),
                    calls: 0,
                    own: ProgramCycleBreakdown::default(),
                    all: ProgramCycleBreakdown::default(),
                });
                it.all.add(&stack.own);
                if name == stack.function {
                    it.own.add(&stack.own);
                    it.calls += stack.calls;
                }
            }
        }
        functions.into_values().collect()
    }
}

#[derive(Debug)]
struct Node {
    caller: Option<usize>,
    function: u32,
    calls: u64,
    own: ProgramCycleBreakdown,
    called: BTreeMap<u32, usize>,
}

/// Counts the cycles of a task's program.
#[derive(Debug)]
pub(super) struct ProgramTally {
    task: u16,
    view: ProgramView,
    nodes: Vec<Node>,
    /// The node of each active function, outermost first.
    stack: Vec<usize>,
    doing: ProgramState,
    since: Cycle,
}

impl ProgramTally {
    /// A tally for each task with a program, starting at a cycle.
    pub fn all(tasks: &[Box<dyn Task>], now: Cycle) -> Vec<Self> {
        let programs = (0..).zip(tasks);
        let programs = programs.filter_map(|(task, it)| Some((task, it.program()?)));
        let tally = |(task, view): (u16, ProgramView)| {
            let mut tally = Self {
                task,
                nodes: Vec::new(),
                stack: Vec::new(),
                doing: view.doing,
                since: now,
                view,
            };
            for function in tally.view.stack.clone() {
                tally.enter(function);
            }
            tally
        };
        programs.map(tally).collect()
    }

    pub const fn is_of(&self, task: u16) -> bool {
        self.task == task
    }

    /// Enters a function called by the innermost one.
    fn enter(&mut self, function: u32) {
        let caller = self.stack.last().copied();
        let known = match caller {
            Some(caller) => self.nodes[caller].called.get(&function).copied(),
            None => {
                { self.nodes.iter() }.position(|it| it.caller.is_none() && it.function == function)
            }
        };
        let node = known.unwrap_or_else(|| {
            let node = self.nodes.len();
            self.nodes.push(Node {
                caller,
                function,
                calls: 0,
                own: ProgramCycleBreakdown::default(),
                called: BTreeMap::new(),
            });
            if let Some(caller) = caller {
                self.nodes[caller].called.insert(function, node);
            }
            node
        });
        self.stack.push(node);
    }

    pub fn change(&mut self, at: Cycle, doing: ProgramState, depth: u16, function: u32) {
        self.count(at);
        self.doing = doing;
        let depth = usize::from(depth);
        let is_call = self.stack.len() <= depth;
        let innermost = self.stack.get(depth).map(|it| self.nodes[*it].function);
        if innermost == Some(function) {
            self.stack.truncate(depth + 1);
            return;
        }
        self.stack.truncate(depth);
        self.enter(function);
        if let Some(node) = self.stack.last() {
            self.nodes[*node].calls += u64::from(is_call);
        }
    }

    /// Counts the cycles up to a cycle.
    fn count(&mut self, until: Cycle) {
        let cycles = until.saturating_sub(self.since);
        self.since = self.since.max(until);
        if let Some(node) = self.stack.last() {
            *self.nodes[*node].own.of(self.doing) += cycles;
        }
    }

    /// Visits the state that events change.
    pub fn visit_state(&mut self, state: &mut RecurringState<'_>) {
        state.value(self.nodes.len() as u64);
        state.value(self.doing as u64);
        state.time(&mut self.since);
        for node in &self.stack {
            state.value(*node as u64);
        }
        for node in &mut self.nodes {
            state.count(&mut node.calls);
            node.own
                .each_mut()
                .into_iter()
                .for_each(|it| state.count(it));
        }
    }

    pub fn finish(mut self, end: Cycle) -> ProgramProfile {
        self.count(end);
        let view = &self.view;
        let stack = |node: Node| StackCycles {
            caller: node.caller,
            function: names::function(view, node.function),
            calls: node.calls,
            own: node.own,
        };
        ProgramProfile {
            task: self.task,
            name: view.name.clone(),
            stacks: self.nodes.into_iter().map(stack).collect(),
        }
    }
}
