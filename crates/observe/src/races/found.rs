//! The races found, each pair of places once.

use npsim_chip::Cycle;

use super::race::{Race, Update};

/// Maximum number of distinct pairs of places.
const MAX_PAIRS: usize = 256;

/// Races by their places, in the order of their first occurrence.
#[derive(Clone, Debug, Default)]
pub struct FoundRaces {
    races: Vec<FoundRace>,
}

#[derive(Clone, Debug)]
struct FoundRace {
    race: Race,
    /// The cycles of the two most recently counted writes.
    last: (Cycle, Cycle),
}

impl FoundRaces {
    /// Adds a race between two updates. Longwords written by one command are one update.
    pub fn add(&mut self, race: Race) {
        let places = |race: &Race| {
            let pc = |update: &Update| (update.me, update.read.map(|it| it.1), update.written.1);
            (race.longword.memory, pc(&race.first), pc(&race.second))
        };
        let last = (race.first.written.0, race.second.written.0);
        let room = self.races.len() < MAX_PAIRS;
        match { self.races.iter_mut() }.find(|it| places(&it.race) == places(&race)) {
            Some(known) => {
                let count = known.race.count + u64::from(known.last != last);
                known.last = last;
                // A lost update is better evidence than a possible one.
                if race.has_lost_update() && !known.race.has_lost_update() {
                    known.race = race;
                }
                known.race.count = count;
            }
            None if room => self.races.push(FoundRace { race, last }),
            None => {}
        }
    }

    pub fn into_races(self) -> impl Iterator<Item = Race> {
        self.races.into_iter().map(|it| it.race)
    }
}
