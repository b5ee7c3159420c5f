//! The simulator of nets against results computed by hand.

use npsim_petri::net::{Net, Place, Rule, Service, Tick, Token, TokenChoice, TokenFate};

fn token(colour: usize, number: usize) -> Token {
    Token {
        colour,
        number,
        step: 0,
    }
}

fn rule(from: Place, to: Place, time: Tick, service: Service) -> Rule {
    Rule {
        from,
        acquires: Vec::new(),
        releases: Vec::new(),
        times: vec![time],
        service,
        to: vec![to],
        next: TokenFate::Keep,
        choice: TokenChoice::Oldest,
    }
}

/// The mean time from a customer's arrival to its departure, in service times, at a server with
/// this utilisation.
fn sojourn(share: f64, service: Service, customers: usize) -> f64 {
    const SERVICE: Tick = 1_000_000;
    let mut net = Net::new(7, 1);
    let between = (SERVICE as f64 / share) as Tick;
    let source = net.place(vec![token(0, 0)]);
    let server = net.place(vec![token(0, 1)]);
    let customers_waiting = net.pool(1, 0);
    let comes = net.transition(Rule {
        releases: vec![customers_waiting],
        ..rule(source, source, between, Service::Exponential)
    });
    let serves = net.transition(Rule {
        acquires: vec![customers_waiting],
        ..rule(server, server, SERVICE, service)
    });
    // By Little's law, their time is their number divided by their arrival rate.
    let (mut inside, mut area, mut last, mut came) = (0_u64, 0_u128, 0, 0);
    while came < customers {
        net.begin(&mut ());
        let Some(fired) = net.end_next() else { break };
        area += u128::from(fired.at - last) * u128::from(inside);
        last = fired.at;
        if fired.transition == comes {
            came += 1;
            inside += 1;
        } else if fired.transition == serves {
            inside -= 1;
        }
    }
    area as f64 / came as f64 / SERVICE as f64
}

#[test]
fn single_server_sojourn_times_match_queueing_theory() {
    // M/M/1: 1 / (1 - rho); M/D/1: 1 + rho / (2 (1 - rho)).
    for (share, tolerance) in [(0.3, 0.02), (0.5, 0.03), (0.7, 0.05)] {
        let exponential = sojourn(share, Service::Exponential, 200_000);
        let expected = 1.0 / (1.0 - share);
        assert!(
            (exponential / expected - 1.0).abs() < tolerance,
            "{exponential} {expected}"
        );
        let constant = sojourn(share, Service::Deterministic, 200_000);
        let expected = 1.0 + share / (2.0 * (1.0 - share));
        assert!(
            (constant / expected - 1.0).abs() < tolerance,
            "{constant} {expected}"
        );
    }
}

#[test]
fn tokens_are_conserved() {
    let mut net = Net::new(3, 1);
    let all: Vec<Token> = (0..20).map(|n| token(n % 4, n / 4)).collect();
    let places: Vec<Place> = std::iter::once(net.place(all))
        .chain((0..2).map(|_| net.place(Vec::new())))
        .collect();
    let one = net.pool(1, 2);
    let each = net.pool(4, 1);
    for (at, pool, service) in [
        (0, one, Service::Exponential),
        (1, each, Service::Deterministic),
        (2, one, Service::Exponential),
    ] {
        net.transition(Rule {
            acquires: vec![pool],
            releases: vec![pool],
            choice: TokenChoice::EqualColours,
            ..rule(places[at], places[(at + 1) % 3], 100 + at as Tick, service)
        });
    }
    for _ in 0..10_000 {
        net.begin(&mut ());
        let standing: usize = places.iter().map(|&place| net.tokens(place)).sum();
        assert_eq!(standing + net.firing(), 20);
        // Each firing token has one token of a pool.
        assert_eq!(net.free(one) + net.free(each) + net.firing(), 2 + 4);
        assert!(net.end_next().is_some());
    }
}

/// Two colours compete for a server, one with nine tokens and one with one.
fn shares(choice: TokenChoice) -> f64 {
    let mut net = Net::new(5, 1);
    let mut all: Vec<Token> = (0..9).map(|n| token(0, n)).collect();
    all.push(token(1, 0));
    let place = net.place(all);
    let server = net.pool(1, 1);
    net.transition(Rule {
        acquires: vec![server],
        releases: vec![server],
        choice,
        ..rule(place, place, 10, Service::Deterministic)
    });
    let mut of_the_one = 0;
    for _ in 0..20_000 {
        net.begin(&mut ());
        of_the_one += net.end_next().map_or(0, |fired| fired.token.colour);
    }
    of_the_one as f64 / 20_000.0
}

#[test]
fn token_choice_is_fair_among_tokens_or_colours() {
    assert!((shares(TokenChoice::Oldest) - 0.1).abs() < 0.001);
    assert!((shares(TokenChoice::EqualTokens) - 0.1).abs() < 0.01);
    // The one just served arrives again at once, so each colour always waits.
    assert!((shares(TokenChoice::EqualColours) - 0.5).abs() < 0.02);
}
