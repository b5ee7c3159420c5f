//! Timed coloured Petri nets, simulated event by event.
//!
//! Tokens that move from place to place have a colour and a step; tokens of a *pool* are
//! indistinguishable and stand for something that is free: a server, an entry of a queue. A
//! transition takes a token from its place and one from each of its pools, keeps them for its
//! firing time, puts the token into a place that depends on its step, and gives back to pools.
//! When several tokens compete for a pool, the transition's [`TokenChoice`] decides.
//!
//! Times are whole ticks. The same net with the same seed makes the same moves everywhere.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use npsim_net::Random;

/// A moment or a span, in ticks.
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
    /// The colour: what it competes for where a pool has one kind of tokens a colour.
    pub colour: usize,
    /// Which of its colour.
    pub number: usize,
    /// Where in its work it is.
    pub step: usize,
}

/// How long a transition fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Always its mean.
    Deterministic,
    /// Exponentially distributed.
    Exponential,
}

/// Which token a transition takes when several may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenChoice {
    /// The one that has waited longest.
    Oldest,
    /// Each with equal probability.
    EqualTokens,
    /// Each colour that waits with equal probability; of a colour, the one that has waited
    /// longest.
    EqualColours,
}

/// The change of a token's step as a transition ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFate {
    /// The step stays.
    Same,
    /// The step grows by one.
    Further,
    /// The step begins again with 0.
    First,
}

/// A transition as it is described.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The place that it takes a token from.
    pub from: Place,
    /// Pools that it takes a token from when it begins.
    pub takes: Vec<Pool>,
    /// Pools that it gives a token to when it ends.
    pub gives: Vec<Pool>,
    /// The mean firing time by the token's step; the last one holds for all further steps.
    pub times: Vec<Tick>,
    /// How firing times are distributed.
    pub service: Service,
    /// Where the token goes, by its step; the last one holds for all further steps.
    pub to: Vec<Place>,
    /// The change of the token's step.
    pub next: TokenFate,
    /// The token that is taken first.
    pub choice: TokenChoice,
}

/// What decides about a net's moves besides its tokens.
pub trait Guard {
    /// Whether a transition may take a token now.
    fn may(&self, transition: Transition, token: &Token) -> bool;
    /// A transition took a token.
    fn begins(&mut self, now: Tick, transition: Transition, token: &Token);
}

impl Guard for () {
    fn may(&self, _: Transition, _: &Token) -> bool {
        true
    }
    fn begins(&mut self, _: Tick, _: Transition, _: &Token) {}
}

/// The end of a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// When.
    pub at: Tick,
    /// What fired.
    pub transition: Transition,
    /// The token as it was taken.
    pub token: Token,
}

struct Free {
    /// Tokens by colour, or one number for all colours.
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
    /// Transitions that may have become possible, each once.
    open: Vec<usize>,
    random: Random,
}

impl Net {
    /// A net without places; `seed` begins its draws.
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

    /// A place with these tokens.
    pub fn place(&mut self, tokens: Vec<Token>) -> Place {
        self.places.push(tokens);
        self.leads_to.push(Vec::new());
        Place(self.places.len() - 1)
    }

    /// A pool with so many tokens of each of so many colours; with one colour, for all.
    pub fn pool(&mut self, colours: usize, each: usize) -> Pool {
        self.pools.push(Free {
            tokens: vec![each; colours.max(1)],
            takers: Vec::new(),
        });
        Pool(self.pools.len() - 1)
    }

    /// A transition.
    pub fn transition(&mut self, rule: Rule) -> Transition {
        let index = self.rules.len();
        self.leads_to[rule.from.0].push(index);
        for pool in &rule.takes {
            self.pools[pool.0].takers.push(index);
        }
        self.rules.push(rule);
        self.busy.push(0);
        self.open.push(index);
        Transition(index)
    }

    /// What the clock says.
    #[must_use]
    pub fn now(&self) -> Tick {
        self.now
    }

    /// When the next firing ends.
    #[must_use]
    pub fn next_end(&self) -> Option<Tick> {
        self.ends.peek().map(|Reverse((at, ..))| *at)
    }

    /// Tokens in a place.
    #[must_use]
    pub fn tokens(&self, place: Place) -> usize {
        self.places[place.0].len()
    }

    /// Tokens of a pool, of all colours.
    #[must_use]
    pub fn free(&self, pool: Pool) -> usize {
        self.pools[pool.0].tokens.iter().sum()
    }

    /// Tokens that are on their way.
    #[must_use]
    pub fn firing(&self) -> usize {
        self.ends.len()
    }

    /// Ticks that firings of a transition have lasted, added up.
    #[must_use]
    pub fn busy(&self, transition: Transition) -> Tick {
        self.busy[transition.0]
    }

    /// Lets the clock go on to a moment before which nothing ends.
    pub fn wait_until(&mut self, at: Tick) {
        self.now = self.now.max(at);
    }

    /// Something that the guard looks at has changed for this transition.
    pub fn look_again(&mut self, transition: Transition) {
        self.reopen(transition.0);
    }

    /// Gives a token to a pool from outside.
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

    /// Begins all that can begin now.
    pub fn begin(&mut self, guard: &mut impl Guard) {
        // In the order of their numbers, so that it does not depend on which became possible
        // first.
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
            rule.takes.iter().all(|pool| has(pool, token.colour))
                && guard.may(Transition(index), token)
        };
        let mut able = (waiting.iter().enumerate()).filter(|(_, token)| possible(token));
        let chosen = match rule.choice {
            TokenChoice::Oldest => able.next().map(|(at, _)| at),
            TokenChoice::EqualTokens => {
                let able: Vec<usize> = able.map(|(at, _)| at).collect();
                drawn(&mut self.random, &able)
            }
            TokenChoice::EqualColours => {
                // The first of each colour has waited longest.
                let mut first: Vec<(usize, usize)> = Vec::new();
                for (at, token) in able {
                    if !first.iter().any(|(colour, _)| *colour == token.colour) {
                        first.push((token.colour, at));
                    }
                }
                let able: Vec<usize> = first.into_iter().map(|(_, at)| at).collect();
                drawn(&mut self.random, &able)
            }
        };
        let Some(at) = chosen else {
            return false;
        };
        let token = self.places[rule.from.0].remove(at);
        for pool in &rule.takes {
            let free = &mut self.pools[pool.0];
            let of = free.of(token.colour);
            free.tokens[of] -= 1;
        }
        let mean = by_step(&rule.times, token.step).unwrap_or(0);
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
        guard.begins(self.now, Transition(index), &token);
        true
    }

    /// Ends the firing that ends next: its token is in its place, what it took is given
    /// back. Nothing begins before [`Net::begin`].
    pub fn end_next(&mut self) -> Option<Fired> {
        let Reverse((at, _, index, token)) = self.ends.pop()?;
        self.now = at;
        let rule = &self.rules[index];
        let mut moved = token;
        moved.step = match rule.next {
            TokenFate::Same => token.step,
            TokenFate::Further => token.step + 1,
            TokenFate::First => 0,
        };
        let gives = rule.gives.clone();
        if let Some(to) = by_step(&rule.to, token.step) {
            self.places[to.0].push(moved);
            for next in self.leads_to[to.0].clone() {
                self.reopen(next);
            }
        }
        for pool in gives {
            self.give(pool, token.colour);
        }
        Some(Fired {
            at,
            transition: Transition(index),
            token,
        })
    }
}

fn by_step<T: Copy>(of: &[T], step: usize) -> Option<T> {
    of.get(step).or(of.last()).copied()
}

fn drawn(random: &mut Random, able: &[usize]) -> Option<usize> {
    match able.len() {
        0 => None,
        // Without a choice nothing is drawn.
        1 => Some(able[0]),
        several => Some(able[random.below(several as u64) as usize]),
    }
}
