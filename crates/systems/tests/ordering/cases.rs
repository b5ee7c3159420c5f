//! Schemes, and random cases of each.

use std::fmt;

use npsim_net::load::{Arrivals, Interleave, Load, Prefix, Special, TimeSpan};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::bench::{Bench, Setup};
use crate::verdict::Verdict;

/// How a scheme divides the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Contexts with a slot of TBUF each.
    Slots,
    /// Contexts that take turns.
    Turns,
    /// Buffering, processing, reordering, sending.
    Stages,
    /// Processing, sorting by lanes, sending.
    Sort,
}

/// A scheme.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// The projects: one for each chip.
    pub projects: &'static [&'static str],
    pub shape: Shape,
}

pub const ITS: Scheme = Scheme {
    projects: &["its.toml", "ixp2800-its.toml"],
    shape: Shape::Turns,
};

pub const IN_ORDER: Scheme = Scheme {
    projects: &["in-order.toml", "ixp2800-in-order.toml"],
    shape: Shape::Turns,
};

pub const AISR: Scheme = Scheme {
    projects: &["aisr.toml", "ixp2800-aisr.toml"],
    shape: Shape::Stages,
};

pub const AISR_16: Scheme = Scheme {
    projects: &["aisr-16.toml"],
    shape: Shape::Stages,
};

pub const PACKET_SORT: Scheme = Scheme {
    projects: &["packet-sort.toml", "ixp2800-packet-sort.toml"],
    shape: Shape::Sort,
};

impl Scheme {
    /// A scheme of slots.
    pub const fn slots(projects: &'static [&'static str]) -> Self {
        Self {
            projects,
            shape: Shape::Slots,
        }
    }

    /// The microengines whose program receives.
    pub const fn receiving(self) -> &'static str {
        match self.shape {
            Shape::Slots | Shape::Turns => "forward",
            Shape::Stages => "buffering",
            Shape::Sort => "processing",
        }
    }

    /// Settings for packets of several mpackets of this size.
    pub fn long_packets(self, element: u32) -> Vec<String> {
        let receiving = self.receiving();
        let mut set = vec![
            format!("me.{receiving}.define.ONE_MPACKET=0"),
            format!("media.element_size={element}"),
        ];
        if self.shape == Shape::Slots {
            set.push("me.forward.define.SLOT_BYTES=512".into());
        }
        set
    }
}

/// A scheme under a load.
#[derive(Clone, Debug)]
pub struct Case {
    pub setup: Setup,
    pub load: Load,
}

impl fmt::Display for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.setup.project)?;
        for set in &self.setup.set {
            write!(out, " --set {set}")?;
        }
        for stall in &self.setup.stalls {
            write!(out, " --stall {stall}")?;
        }
        write!(out, "\n{}\n{:?}", self.load, self.load)
    }
}

/// The random draws of a case.
pub struct Draw(TestRunner);

impl Draw {
    pub fn new(number: u64) -> Self {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        Self(TestRunner::new_with_rng(Config::default(), random))
    }

    pub fn from<S: Strategy>(&mut self, strategy: &S) -> S::Value {
        strategy.new_tree(&mut self.0).unwrap().current()
    }

    /// True once in the given number of times, on average.
    fn once_in(&mut self, times: u32) -> bool {
        self.from(&(0..times)) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.from(&(0..of.len()))]
    }

    /// Random numbers of consecutive microengines, at most the given ones; returns the settings and the number of
    /// microengines that take part.
    fn arrangement(&mut self, scheme: Scheme, microengines: u32) -> (Vec<String>, u32) {
        let contexts = self.from(&(1..=8u32));
        let list = |first: u32, count: u32| format!("{first}-{}", first + count - 1);
        match scheme.shape {
            Shape::Slots | Shape::Turns => {
                let count = self.from(&(1..=microengines));
                let set = vec![
                    format!("me.forward.id={}", list(0, count)),
                    format!("me.forward.define.CONTEXTS={contexts}"),
                ];
                (set, count)
            }
            Shape::Stages => {
                let buffering = self.from(&(1..=2u32));
                let processing = self.from(&(1..=microengines / 2));
                let sending = self.from(&(1..microengines / 2 - buffering));
                let reorder = buffering + processing;
                let set = vec![
                    format!("me.buffering.id={}", list(0, buffering)),
                    format!("me.processing.id={}", list(buffering, processing)),
                    format!("me.reorder.id={reorder}"),
                    format!("me.transmit.id={}", list(reorder + 1, sending)),
                ];
                (set, reorder + 1 + sending)
            }
            Shape::Sort => {
                let processing = self.from(&(1..=microengines / 2));
                let sending = self.from(&(1..microengines / 2));
                let lanes = 1 << self.from(&(0..=6u32));
                let set = vec![
                    format!("me.processing.id={}", list(0, processing)),
                    format!("me.processing.define.CONTEXTS={contexts}"),
                    format!("me.processing.define.LANES={lanes}"),
                    format!("me.sort.id={processing}"),
                    format!("me.sort.define.LANES={lanes}"),
                    format!("me.transmit.id={}", list(processing + 1, sending)),
                ];
                (set, processing + 1 + sending)
            }
        }
    }

    /// Late answers and hanging contexts.
    fn disturbances(&mut self, setup: &mut Setup, microengines: u32, microseconds: u64) {
        if !self.once_in(4) {
            let most = [("dram", 1500), ("sram", 800), ("scratch", 400)];
            for (unit, most) in most {
                if !self.once_in(3) {
                    let late = self.from(&(1..=most));
                    setup.set.push(format!("disturb.{unit}={late}"));
                }
            }
            let seed = self.from(&(0..1_000_000u32));
            setup.set.push(format!("disturb.seed={seed}"));
        }
        for _ in 0..self.pick(&[0, 0, 1, 1, 2, 5]) {
            let me = self.from(&(0..microengines));
            let context = self.from(&(0..8u32));
            let from = self.from(&(0..microseconds));
            let time = self.pick(&[1, 3, 10, 30, 100, 250]);
            let stall = format!("{me}.{context}@{from}us+{time}us");
            setup.stalls.push(stall);
        }
    }

    /// Packet sizes, and whether they include packets of several mpackets.
    fn sizes(&mut self, shape: Shape) -> (String, bool) {
        match self.from(&(0..8)) {
            0..5 => ("64".into(), false),
            _ if shape == Shape::Slots => ("64:5,200:2,508:1".into(), true),
            5 => ("imix".into(), true),
            6 => (self.from(&(64..=1518u32)).to_string(), true),
            _ => {
                let mix = self.from(&[(64..=1518u32, 1..9u32), (64..=256, 1..9), (64..=128, 1..9)]);
                let mix = mix.map(|(bytes, weight)| format!("{bytes}:{weight}"));
                (mix.join(","), true)
            }
        }
    }

    fn load(&mut self, size: &str, long: bool, microseconds: u64) -> Load {
        let rate = self.from(&(15..=100u32)).max(self.from(&(10..=100u32)));
        let mut share = |most: u32| {
            let percent = if self.once_in(4) {
                self.from(&(0..=most))
            } else {
                0
            };
            format!("{percent}%").parse().unwrap()
        };
        let special = Special {
            ttl: share(10),
            checksum: share(10),
            icmp: share(30),
            fragment: share(20),
            arp: share(10),
            multicast: share(10),
            // Both are longer than 64 bytes.
            tcp: share(if long { 30 } else { 0 }),
            ipv6: share(if long { 10 } else { 0 }),
            ..Special::default()
        };
        let mut destinations = Vec::new();
        if self.once_in(4) {
            // The second has no route; the third is never a destination of forwarding.
            let some = ["10.0.0.0/16", "10.77.0.0/16", "127.0.0.0/24"];
            destinations.extend(some.map(|prefix| prefix.parse::<Prefix>().unwrap()));
        }
        Load {
            rate: Some(format!("{rate}%").parse().unwrap()),
            arrivals: self.pick(&[Arrivals::Constant, Arrivals::Poisson, Arrivals::Bursts]),
            burst: self.from(&(2..80u32)),
            size: size.parse().unwrap(),
            flows: self.pick(&[1, 2, 3, 10, 40, 200]),
            flow_packets: self.pick(&[0, 1, 7, 100, 1000]),
            interleave: self.pick(&[Interleave::Turn, Interleave::Random]),
            destinations,
            special,
            time: TimeSpan::from_picoseconds(microseconds * 1_000_000),
            seed: self.from(&(0..u64::MAX)),
            ..Load::default()
        }
    }
}

impl Case {
    /// The case of this number, of this length.
    pub fn draw(scheme: Scheme, number: u64, microseconds: u64) -> Self {
        let mut draw = Draw::new(number);
        // Most of the work is on the slower chip, whose contexts are busier.
        let chip = usize::from(draw.once_in(4)) % scheme.projects.len();
        let (set, microengines) = draw.arrangement(scheme, [8, 16][chip]);
        let mut setup = Setup {
            project: scheme.projects[chip].into(),
            set,
            stalls: Vec::new(),
            edits: Vec::new(),
        };
        draw.disturbances(&mut setup, microengines, microseconds);
        let (size, long) = draw.sizes(scheme.shape);
        if long {
            setup
                .set
                .extend(scheme.long_packets(draw.pick(&[128, 256])));
        }
        let load = draw.load(&size, long, microseconds);
        Self { setup, load }
    }

    pub fn run(&self) -> Verdict {
        Bench::new(&self.setup).run(&self.load)
    }
}
