//! Two hosts on a wire that alters, loses and delays frames as a test requires.

use npsim_protocols::time::{MICROSECOND, MILLISECOND, SECOND, Time};
use npsim_stack::{EndCounters, Exchange, Host, HostAddress, Role, Task};

/// Time from one host to the other.
const DELAY: Time = 250 * MICROSECOND + 7;

const EXCHANGE: Exchange = Exchange {
    start: 3 * MILLISECOND + 1,
    request: 200,
    response: 300_000,
    requests: 4,
    gap: 10 * MILLISECOND,
    buffer: 65_536,
};

fn host(last: u8, tasks: &[Task]) -> Host {
    let address = HostAddress {
        mac: [2, 0, 0, 0, 0, last],
        address: [10, 0, 0, last].into(),
        prefix: 24,
        gateway: None,
        permanent: Vec::new(),
    };
    Host::new(&address, tasks, 1)
}

fn task(role: Role, peer: u8) -> Task {
    Task {
        number: 5,
        role,
        exchange: EXCHANGE,
        peer: [10, 0, 0, peer].into(),
    }
}

/// The final state of both ends, the time at which nothing was left to do, and the number of polls
/// of hosts.
struct RunResult {
    client: EndCounters,
    server: Option<EndCounters>,
    end: Time,
    polls: u64,
}

/// Runs until nothing is left to do. `wire` gets each frame with its number and may alter it; the frame is lost if it
/// returns false.
fn run(mut hosts: [Host; 2], wire: &mut dyn FnMut(u64, &mut Vec<u8>) -> bool) -> RunResult {
    let mut due = [hosts[0].due(), hosts[1].due()];
    let mut flying: Vec<(Time, usize, Vec<u8>)> = Vec::new();
    let (mut end, mut polls, mut frames) = (0, 0, 0);
    loop {
        let next = flying.iter().map(|(at, ..)| *at);
        let Some(now) = next.chain(due.into_iter().flatten()).min() else {
            break;
        };
        assert!(now >= end && now < 600 * SECOND, "{now}");
        end = now;
        let (coming, rest) = flying.into_iter().partition(|(at, ..)| *at == now);
        flying = rest;
        let mut called = due.map(|due| due == Some(now));
        for (_, to, frame) in coming {
            hosts[to].receive(frame);
            called[to] = true;
        }
        for (number, host) in hosts.iter_mut().enumerate() {
            if !called[number] {
                continue;
            }
            let mut out = Vec::new();
            polls += 1;
            due[number] = host.poll(now, &mut out);
            assert!(due[number].is_none_or(|due| due > now), "{due:?} at {now}");
            for mut frame in out {
                frames += 1;
                if wire(frames, &mut frame) {
                    flying.push((now + DELAY, 1 - number, frame));
                }
            }
        }
    }
    let counters = |host: &Host| host.ends().next().map(|(.., counters)| counters);
    RunResult {
        client: counters(&hosts[0]).expect("a client"),
        server: counters(&hosts[1]),
        end,
        polls,
    }
}

fn pair() -> [Host; 2] {
    [
        host(1, &[task(Role::Client, 2)]),
        host(2, &[task(Role::Server, 1)]),
    ]
}

fn assert_complete(ran: &RunResult) {
    let server = ran.server.expect("a server");
    let client = &ran.client;
    assert_eq!((client.messages, server.messages), (4, 4));
    assert_eq!(client.received, server.sent);
    assert_eq!(server.received, client.sent);
    assert_eq!(client.received.bytes, 1_200_000);
    assert_eq!((client.broken, server.broken), (false, false));
}

#[test]
fn hosts_complete_the_exchange_and_fall_silent() {
    let ran = run(pair(), &mut |_, _| true);
    assert_complete(&ran);
    let opened = ran.client.opened_at.expect("opened");
    // ARP there and back, and the handshake.
    assert_eq!(
        opened / MICROSECOND,
        (EXCHANGE.start + 4 * DELAY) / MICROSECOND
    );
    // Four gaps less one; the sockets wait for ten seconds before they are removed.
    let completed = ran.client.completed_at.expect("completed");
    assert!(
        completed > 3 * EXCHANGE.gap && completed < 100 * MILLISECOND,
        "{completed}"
    );
    assert!(ran.end < completed + 11 * SECOND, "{}", ran.end);
    // About one for each frame: 830 segments, and acknowledgements of every other.
    assert!(ran.polls < 3_000, "{}", ran.polls);
}

#[test]
fn host_traffic_is_deterministic() {
    let log = || {
        let mut log = Vec::new();
        run(pair(), &mut |_, frame| {
            log.push(frame.clone());
            true
        });
        log
    };
    assert_eq!(log(), log());
}

#[test]
fn hosts_survive_the_loss_of_any_early_frame() {
    for lost in 1..=30 {
        let ran = run(pair(), &mut |number, _| number != lost);
        assert_complete(&ran);
    }
}

#[test]
fn corruption_missed_by_the_checksum_is_detected() {
    // Two words of a payload are swapped, which no sum of words detects.
    let ran = run(pair(), &mut |number, frame| {
        if number == 40 && frame.len() > 1_000 {
            frame.swap(600, 700);
            frame.swap(601, 701);
        }
        true
    });
    let received = ran.client.received;
    assert_eq!((ran.client.messages, received.bytes), (4, 1_200_000));
    assert!((2..=4).contains(&received.wrong), "{received:?}");
    assert!(received.first_wrong.is_some());
    assert_ne!(received.digest, ran.server.expect("a server").sent.digest);
}

#[test]
fn corruption_caught_by_the_checksum_is_retransmitted() {
    let ran = run(pair(), &mut |number, frame| {
        if number == 40 && frame.len() > 1_000 {
            frame[600] ^= 1;
        }
        true
    });
    assert_complete(&ran);
}

#[test]
fn host_without_server_breaks_the_connection() {
    let ran = run(
        [host(1, &[task(Role::Client, 2)]), host(2, &[])],
        &mut |_, _| true,
    );
    assert!(ran.client.broken);
    assert_eq!((ran.client.messages, ran.client.opened_at), (0, None));
}
