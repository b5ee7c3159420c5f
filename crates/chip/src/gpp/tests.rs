use super::boot::{
    CounterSetup, ExceptionsSetup, MemoryImage, PortSetup, QueueSetup, RingSetup, RingStatus,
    RouterRoutes, RoutesSetup, Space,
};
use super::exceptions::Exceptions;
use super::routes::{NextHop, Route, Routes};
use super::*;
use crate::kernel::buffers::BufferSetup;
use crate::units::Units;
use crate::units::msf::MediaSetup;

mod appended_changes;
mod route_changes;

/// A chip without microengines.
struct Bench {
    pub fabric: Fabric,
    pub units: Units,
    pub gpp: Gpp,
}

const BUFFERS: BufferSetup = BufferSetup {
    channel: 0,
    entry: 3,
    first_descriptor: 0x40,
    descriptor_longwords: 4,
    count: 16,
    size: 2048,
    shift: 9,
};

fn plan() -> BootPlan {
    BootPlan {
        rings: vec![RingSetup {
            number: 2,
            base: 0x400,
            size: 128,
            status: RingStatus::Empty,
        }],
        queues: vec![QueueSetup {
            channel: 0,
            entry: 3,
            descriptor: 0x20,
        }],
        buffers: Some(BUFFERS),
        memory: vec![MemoryImage {
            space: Space::Dram,
            address: 0x8000,
            words: vec![0x0102_0304],
        }],
        ports: vec![PortSetup {
            bits_per_second: 1_000_000_000,
        }],
        element_size: 64,
        tasks: vec![Box::new(Exceptions::new(ExceptionsSetup {
            ring: 2,
            period: 1200,
            reasons: vec![String::new(), "ttl".to_owned()],
            buffers: BUFFERS,
        }))],
        counters: vec![CounterSetup {
            name: "DROPS".into(),
            address: 0x10,
            drop: true,
            text: String::new(),
        }],
        locks: Vec::new(),
        ..BootPlan::default()
    }
}

fn load(boot: &BootPlan) -> Result<Bench, LoadError> {
    let profile = Profile::load("ixp2400").unwrap();
    let mut bench = Bench {
        units: Units::new(&profile, &MediaSetup::default()),
        gpp: Gpp::new(&profile, boot),
        fabric: Fabric::new(profile.clone(), Units::inlets),
    };
    let b = &mut bench;
    boot.load(
        &profile,
        &mut b.fabric,
        &mut b.units.scratch,
        &mut b.units.sram,
        &mut b.units.dram,
        &mut b.gpp,
    )?;
    Ok(bench)
}

impl Bench {
    pub fn counts(&self, now: Cycle) -> TaskCounts {
        self.gpp.counts(0, now)
    }

    fn exceptions(&self) -> &Exceptions {
        self.gpp.task().unwrap()
    }

    fn packets(&self) -> u64 {
        self.exceptions().packets()
    }

    pub fn run_until(&mut self, until: Cycle) {
        while self.fabric.events.next_time() < until {
            if let Some((time, Event::Gpp(task) | Event::Directed(task))) = self.fabric.events.pop()
            {
                self.fabric.now = time;
                let b = &mut *self;
                b.gpp.event(task, &mut b.fabric, &mut b.units);
            }
        }
        self.fabric.now = until;
    }
}

#[test]
fn boot_plan_is_applied_before_the_start() {
    let mut bench = load(&plan()).unwrap();
    assert_eq!(bench.units.dram.read_word(0x8000), Some(0x0102_0304));
    assert_eq!(bench.units.scratch.ring(2).size(), 128);
    assert!(
        bench.fabric.ring_status(2, 0),
        "an empty ring with the empty status"
    );
    let free: Vec<u32> = (0..17)
        .map(|_| bench.units.sram.dequeue(0, 3).unwrap() & 0xff_ffff)
        .collect();
    let want: Vec<u32> = (0..16).map(|i| 0x40 + 4 * i).chain([0]).collect();
    assert_eq!(free, want);
}

#[test]
fn routes_in_sram_match_the_microcode_lookup() {
    let hop = NextHop {
        port: 1,
        mtu: 1500,
        local: false,
        discard: false,
        destination: [2; 6],
        source: [4; 6],
    };
    let routes = [
        Route {
            prefix: 0x0a01_0200,
            length: 24,
            next_hop: hop,
        },
        Route {
            prefix: 0,
            length: 0,
            next_hop: NextHop { port: 0, ..hop },
        },
    ];
    let router = RouterRoutes::new(routes.to_vec(), Vec::new()).unwrap();
    let (root, next_hops) = (0x10_0000, 0x20_0000);
    let mut boot = plan();
    boot.tasks.push(Box::new(Routes::new(RoutesSetup {
        channel: 1,
        root,
        next_hops,
        routers: vec![router],
        changes: None,
    })));
    let bench = load(&boot).unwrap();
    let word = |address: u32| bench.units.sram.read_word(1 << 30 | address).unwrap();
    let walk = |address: u32| {
        let mut entry = word(root + 4 * (address >> 16));
        for shift in [8, 0] {
            if entry >> 31 == 1 {
                entry = word(root + (entry & 0x7fff_fffc) + 4 * (address >> shift & 0xff));
            }
        }
        word(next_hops + 16 * entry) & 0xff
    };
    assert_eq!(
        [walk(0x0a01_0203), walk(0x0a01_0303), walk(0x0b00_0000)],
        [1, 0, 0]
    );
    assert_eq!(bench.gpp.route_words, 65536 + 256 + 12);
}

#[test]
fn exception_packets_are_read_counted_and_freed() {
    let mut bench = load(&plan()).unwrap();
    let buffers: Vec<u32> = (0..3)
        .map(|_| bench.units.sram.dequeue(0, 3).unwrap() & 0xff_ffff)
        .collect();
    bench.units.dram.write_bytes(buffers[1] << 9, &[0x5a; 64]);
    bench.units.sram.write_word(buffers[1] * 4 + 4, 99);
    for (buffer, reason) in buffers.iter().zip([1, 1, 7]) {
        bench
            .units
            .scratch
            .ring_put(2, reason << 24 | buffer, &mut bench.fabric);
    }
    bench.run_until(1201);
    assert_eq!(bench.packets(), 1, "the first poll is after one period");
    // Ring, descriptor, header and work, free list: then the next packet.
    let each = 60 + 4 * 144 + 2 * 180 + 1200 + 144;
    bench.run_until(1201 + each);
    let last = bench.exceptions().last().unwrap();
    assert_eq!((last.cycle, last.buffer), (1200 + each, buffers[1]));
    bench.run_until(1200 + 2 * each);
    let last = bench.exceptions().last().unwrap();
    assert_eq!(
        (last.descriptor[1], &last.header[..]),
        (99, &[0x5a; 64][..])
    );
    bench.run_until(1200 + 3 * each + 1);
    let by_reason: Vec<_> = bench.exceptions().by_reason().collect();
    assert_eq!(
        by_reason,
        [("ttl".to_owned(), 2), ("reason 7".to_owned(), 1)]
    );
    assert_eq!(bench.counts(bench.fabric.now).busy, 3 * each + 60);
    let mut free = Vec::new();
    while let Some(buffer @ 1..) = bench.units.sram.dequeue(0, 3).map(|b| b & 0xff_ffff) {
        free.push(buffer);
    }
    assert_eq!(free.len(), 16);
    assert_eq!(free[13..], buffers);
    assert!(bench.fabric.checks.fault().is_none());
}

#[test]
fn interrupt_brings_the_next_poll_forward() {
    let mut bench = load(&plan()).unwrap();
    bench.run_until(100);
    bench.gpp.interrupt(InterruptLine::A, 70, &mut bench.fabric);
    bench.run_until(400);
    assert_eq!(bench.counts(bench.fabric.now).jobs, 0);
    bench.run_until(401);
    assert_eq!(bench.counts(bench.fabric.now).jobs, 1);
    assert_eq!(bench.gpp.interrupt_status(InterruptLine::A), [0; 4]);
    // The poll that was due at 1200 has moved to one period after this one.
    bench.run_until(1600);
    assert_eq!(bench.counts(bench.fabric.now).jobs, 1);
    bench.run_until(1601);
    assert_eq!(bench.counts(bench.fabric.now).jobs, 2);
}

#[test]
fn idle_core_posts_no_events_but_counts_polls() {
    let mut bench = load(&plan()).unwrap();
    bench.run_until(1201);
    assert!(
        bench.fabric.events.is_empty(),
        "the first poll found nothing"
    );
    // It polls every 1200 cycles: at 1200, 2400, ... 12,000.
    bench.run_until(12_000);
    assert_eq!(bench.counts(12_000).jobs, 9);
    assert_eq!(bench.counts(12_001).jobs, 10);
    // A word that arrives at 12,500 is found by the poll at 13,200.
    bench.run_until(12_500);
    bench
        .units
        .scratch
        .ring_put(2, 1 << 24 | 0x40, &mut bench.fabric);
    assert!(bench.units.scratch.take_ring_written());
    bench
        .gpp
        .wake_pollers(&bench.units.scratch, &mut bench.fabric);
    assert_eq!(bench.fabric.events.next_time(), 13_200);
    bench.run_until(13_201);
    assert_eq!((bench.counts(13_201).jobs, bench.packets()), (11, 1));
}

#[test]
fn invalid_buffer_handle_on_the_ring_is_a_fault() {
    let mut bench = load(&plan()).unwrap();
    bench
        .units
        .scratch
        .ring_put(2, 1 << 24 | 0x41, &mut bench.fabric);
    bench.run_until(1201);
    let fault = bench.fabric.checks.fault().unwrap();
    assert!(fault.message.contains("0x01000041"), "{}", fault.message);
}

#[test]
fn invalid_boot_plans_are_refused_with_their_reason() {
    let refused = |change: fn(&mut BootPlan)| {
        let mut boot = plan();
        change(&mut boot);
        load(&boot).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(refused(|b| b.rings[0].size = 200).contains("200"));
    assert!(refused(|b| b.rings[0].base = 0x80).contains("multiple of its size"));
    assert!(refused(|b| b.rings[0].base = 0x4000).contains("beyond the scratchpad"));
    assert!(refused(|b| b.element_size = 100).contains("100"));
    assert!(refused(|b| b.ports[0].bits_per_second = 0).contains("line rate"));
    assert!(refused(|b| b.queues[0].entry = 64).contains("entries 0 to 63"));
    assert!(refused(|b| b.memory[0].address = 3).contains("0x3"));
    assert!(refused(|b| b.counters[0].address = 0x0010_0000).contains("DROPS"));
    assert!(
        refused(|b| b.buffers.iter_mut().for_each(|s| s.first_descriptor = 0))
            .contains("no buffer")
    );
    assert!(refused(|b| b.buffers.iter_mut().for_each(|s| s.shift = 24)).contains("beyond DRAM"));
}
