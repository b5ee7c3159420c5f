//! Timed coloured Petri nets, simulated event by event.
//!
//! Tokens that move from place to place have a colour and a step; tokens of a *pool* are
//! indistinguishable and represent a free resource: a server, an entry of a queue. A transition
//! takes a token from its place and one from each of its pools, holds them for its firing time,
//! puts the token into a place that depends on its step, and returns tokens to pools. If several
//! tokens compete for a pool, the transition's [`TokenChoice`] decides.
//!
//! Times are whole ticks. The same net with the same seed evolves identically everywhere.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use npsim_net::Random;

/// A time or a duration, in ticks.
pub type Tick = u64;

/// A place, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(usize);

/// A pool, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool(usize);

/// A transition, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transition(usize);

/// A token that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token {
    /// The colour: selects the tokens it competes for in a pool with separate tokens for each
    /// colour.
    pub colour: usize,
    /// Its number among the tokens of its colour.
    pub number: usize,
    /// The progress of its work.
    pub step: usize,
}

/// The distribution of a transition's firing time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Constant, equal to its mean.
    Deterministic,
    /// Exponentially distributed.
    Exponential,
}

/// Which of several available tokens a transition takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenChoice {
    /// The one that has waited longest.
    Oldest,
    /// Each with equal probability.
    EqualTokens,
    /// Each waiting colour with equal probability; within a colour, the one that has waited
    /// longest.
    EqualColours,
}

/// The change of a token's step at the end of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFate {
    /// The step stays.
    Keep,
    /// The step increases by one.
    Increment,
    /// The step restarts at 0.
    Reset,
}

/// The definition of a transition.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The place from which it takes a token.
    pub from: Place,
    /// Pools from which it takes a token when it begins.
    pub acquires: Vec<Pool>,
    /// Pools to which it returns a token when it ends.
    pub releases: Vec<Pool>,
    /// Mean firing time by the token's step; the last entry holds for all further steps.
    pub times: Vec<Tick>,
    /// Distribution of firing times.
    pub service: Service,
    /// Destination of the token by its step; the last entry holds for all further steps.
    pub to: Vec<Place>,
    /// The change of the token's step.
    pub next: TokenFate,
    /// Which token is taken first.
    pub choice: TokenChoice,
}

/// Decides about transitions, in addition to the tokens of a net.
pub trait Guard {
    /// Whether a transition may take a token now.
    fn allows(&self, transition: Transition, token: &Token) -> bool;
    /// Called when a transition has taken a token.
    fn started(&mut self, now: Tick, transition: Transition, token: &Token);
}

impl Guard for () {
    fn allows(&self, _: Transition, _: &Token) -> bool {
        true
    }
    fn started(&mut self, _: Tick, _: Transition, _: &Token) {}
}

/// The end of a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// When it ended.
    pub at: Tick,
    /// The transition.
    pub transition: Transition,
    /// The token as it was taken.
    pub token: Token,
}

struct Free {
    /// Tokens by colour, or a single number for all colours.
    tokens: Vec<usize>,
    /// Transitions that take from it.
    takers: Vec<usize>,
}

impl Free {
    fn of(&self, colour: usize) -> usize {
        if self.tokens.len() == 1 { 0 } else { colour }
    }
}

/// A net with its tokens.
pub struct Net {
    now: Tick,
    places: Vec<Vec<Token>>,
    leads_to: Vec<Vec<usize>>,
    pools: Vec<Free>,
    rules: Vec<Rule>,
    busy: Vec<Tick>,
    ends: BinaryHeap<Reverse<(Tick, u64, usize, Token)>>,
    begun: u64,
    /// Transitions that may have become enabled, each once.
    open: Vec<usize>,
    random: Random,
}

impl Net {
    /// Creates an empty net; `seed` and `stream` determine its random numbers.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self {
            now: 0,
            places: Vec::new(),
            leads_to: Vec::new(),
            pools: Vec::new(),
            rules: Vec::new(),
            busy: Vec::new(),
            ends: BinaryHeap::new(),
            begun: 0,
            open: Vec::new(),
            random: Random::new(seed, stream),
        }
    }

    /// Adds a place with these tokens.
    pub fn place(&mut self, tokens: Vec<Token>) -> Place {
        self.places.push(tokens);
        self.leads_to.push(Vec::new());
        Place(self.places.len() - 1)
    }

    /// Adds a pool with `each` tokens for each of `colours` colours; with one colour, they are for
    /// all.
    pub fn pool(&mut self, colours: usize, each: usize) -> Pool {
        self.pools.push(Free {
            tokens: vec![each; colours.max(1)],
            takers: Vec::new(),
        });
        Pool(self.pools.len() - 1)
    }

    /// Adds a transition.
    pub fn transition(&mut self, rule: Rule) -> Transition {
        let index = self.rules.len();
        self.leads_to[rule.from.0].push(index);
        for pool in &rule.acquires {
            self.pools[pool.0].takers.push(index);
        }
        self.rules.push(rule);
        self.busy.push(0);
        self.open.push(index);
        Transition(index)
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Tick {
        self.now
    }

    /// Returns when the next firing ends.
    #[must_use]
    pub fn next_end(&self) -> Option<Tick> {
        self.ends.peek().map(|Reverse((at, ..))| *at)
    }

    /// Returns the number of tokens in a place.
    #[must_use]
    pub fn tokens(&self, place: Place) -> usize {
        self.places[place.0].len()
    }

    /// Returns the number of tokens in a pool, over all colours.
    #[must_use]
    pub fn free(&self, pool: Pool) -> usize {
        self.pools[pool.0].tokens.iter().sum()
    }

    /// Returns the number of firings in progress.
    #[must_use]
    pub fn firing(&self) -> usize {
        self.ends.len()
    }

    /// Returns the total ticks for which a transition has been firing.
    #[must_use]
    pub fn busy(&self, transition: Transition) -> Tick {
        self.busy[transition.0]
    }

    /// Advances the clock to a time before which no firing ends.
    pub fn wait_until(&mut self, at: Tick) {
        self.now = self.now.max(at);
    }

    /// Reports that something the guard depends on has changed for this transition.
    pub fn recheck(&mut self, transition: Transition) {
        self.reopen(transition.0);
    }

    /// Adds a token to a pool from outside.
    pub fn give(&mut self, pool: Pool, colour: usize) {
        let free = &mut self.pools[pool.0];
        let at = free.of(colour);
        free.tokens[at] += 1;
        let takers = free.takers.clone();
        for taker in takers {
            self.reopen(taker);
        }
    }

    fn reopen(&mut self, transition: usize) {
        if !self.open.contains(&transition) {
            self.open.push(transition);
        }
    }

    /// Begins all firings that can begin now.
    pub fn begin(&mut self, guard: &mut impl Guard) {
        // In numerical order, so that the result does not depend on which one was enabled first.
        while !self.open.is_empty() {
            self.open.sort_unstable();
            for transition in std::mem::take(&mut self.open) {
                while self.begin_one(transition, guard) {}
            }
        }
    }

    fn begin_one(&mut self, index: usize, guard: &mut impl Guard) -> bool {
        let rule = &self.rules[index];
        let has = |pool: &Pool, colour: usize| {
            let free = &self.pools[pool.0];
            free.tokens[free.of(colour)] > 0
        };
        let waiting = &self.places[rule.from.0];
        let possible = |token: &Token| {
            rule.acquires.iter().all(|pool| has(pool, token.colour))
                && guard.allows(Transition(index), token)
        };
        let mut able = (waiting.iter().enumerate()).filter(|(_, token)| possible(token));
        let chosen = match rule.choice {
            TokenChoice::Oldest => able.next().map(|(at, _)| at),
            TokenChoice::EqualTokens => {
                let able: Vec<usize> = able.map(|(at, _)| at).collect();
                draw_one(&mut self.random, &able)
            }
            TokenChoice::EqualColours => {
                // The first one of each colour has waited longest.
                let mut first: Vec<(usize, usize)> = Vec::new();
                for (at, token) in able {
                    if !first.iter().any(|(colour, _)| *colour == token.colour) {
                        first.push((token.colour, at));
                    }
                }
                let able: Vec<usize> = first.into_iter().map(|(_, at)| at).collect();
                draw_one(&mut self.random, &able)
            }
        };
        let Some(at) = chosen else {
            return false;
        };
        let token = self.places[rule.from.0].remove(at);
        for pool in &rule.acquires {
            let free = &mut self.pools[pool.0];
            let of = free.of(token.colour);
            free.tokens[of] -= 1;
        }
        let mean = value_at_step(&rule.times, token.step).unwrap_or(0);
        let time = match rule.service {
            Service::Deterministic => mean,
            Service::Exponential if mean == 0 => 0,
            Service::Exponential => {
                let draw = u128::from(self.random.exponential());
                ((u128::from(mean) * draw) >> 32) as Tick
            }
        };
        self.busy[index] += time;
        self.begun += 1;
        let end = (self.now + time, self.begun, index, token);
        self.ends.push(Reverse(end));
        guard.started(self.now, Transition(index), &token);
        true
    }

    /// Ends the firing that ends next: moves its token to its place and returns the tokens that it
    /// took. No firing begins before [`Net::begin`].
    pub fn end_next(&mut self) -> Option<Fired> {
        let Reverse((at, _, index, token)) = self.ends.pop()?;
        self.now = at;
        let rule = &self.rules[index];
        let mut moved = token;
        moved.step = match rule.next {
            TokenFate::Keep => token.step,
            TokenFate::Increment => token.step + 1,
            TokenFate::Reset => 0,
        };
        let releases = rule.releases.clone();
        if let Some(to) = value_at_step(&rule.to, token.step) {
            self.places[to.0].push(moved);
            for next in self.leads_to[to.0].clone() {
                self.reopen(next);
            }
        }
        for pool in releases {
            self.give(pool, token.colour);
        }
        Some(Fired {
            at,
            transition: Transition(index),
            token,
        })
    }
}

fn value_at_step<T: Copy>(of: &[T], step: usize) -> Option<T> {
    of.get(step).or(of.last()).copied()
}

fn draw_one(random: &mut Random, able: &[usize]) -> Option<usize> {
    match able.len() {
        0 => None,
        // If there is only one, nothing is drawn.
        1 => Some(able[0]),
        several => Some(able[random.below(several as u64) as usize]),
    }
}
