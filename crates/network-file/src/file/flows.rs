//! Flows of a network file.

use npsim_project::problem::Problem;
use npsim_transport::control::{
    CubicParameters, QuickStartParameters, SrpParameters, XcpLoss, XcpOptionParameters,
    XcpParameters,
};
use npsim_transport::pacing::TimerClock;
use npsim_transport::rcp::RcpParameters;
use npsim_transport::time::Time;
use npsim_transport::{HostParameters, Scheme, Supply, XcpAnswer};

use super::FileReading;
use super::typed::{self, Bytes, PlacedText};
use npsim_network::topology::{Flow, NodeKind, Transport};

/// Bytes of the IPv4 and TCP headers without options.
const HEADERS: u32 = 40;

/// The transports by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Reno,
    Sack,
    Cubic,
    Xcp,
    XcpOption,
    Rcp,
    QuickStart,
    Srp,
    Udp,
}

const NAMES: [(&str, Name); 9] = [
    ("reno", Name::Reno),
    ("sack", Name::Sack),
    ("cubic", Name::Cubic),
    ("xcp", Name::Xcp),
    ("xcp-option", Name::XcpOption),
    ("rcp", Name::Rcp),
    ("quick-start", Name::QuickStart),
    ("srp", Name::Srp),
    ("udp", Name::Udp),
];

/// Kinds of hosts at the ends of a flow or transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// npsim's own end hosts.
    Hosts,
    /// Hosts with a third-party stack.
    Stacks,
}

impl FileReading {
    /// Returns the nodes that a flow or a transfer of the file connects, pair by pair.
    pub(super) fn pairs(
        &self,
        from: &PlacedText,
        to: &PlacedText,
        ends: Ends,
    ) -> Result<Vec<(usize, usize)>, Problem> {
        let places = [from, to];
        let (from, to) = (self.group(from)?, self.group(to)?);
        for (group, placed) in [&from, &to].into_iter().zip(places) {
            let node = group.start;
            let host = matches!(self.topology.nodes[node].kind, NodeKind::Host { .. });
            let name = placed.get_ref();
            let (message, help) = match ends {
                Ends::Hosts if host => continue,
                Ends::Stacks if self.topology.stacks.contains(&node) => continue,
                Ends::Hosts => (
                    format!("`{name}` is not a host that has flows"),
                    "flows begin and end at hosts without a `kind`, transfers at those of the kind `stack`",
                ),
                Ends::Stacks => (
                    format!("`{name}` is not a host with a stack"),
                    "transfers are between hosts with `kind = \"stack\"`, and flows between others",
                ),
            };
            return Err(self.text.problem(placed.span(), message).help(help));
        }
        let [_, place] = places;
        if from == to {
            let what = match ends {
                Ends::Hosts => "flow",
                Ends::Stacks => "transfer",
            };
            let message = format!("the {what} goes from `{}` to itself", place.get_ref());
            return Err(self.text.problem(place.span(), message));
        }
        if from.len() > 1 && to.len() > 1 && from.len() != to.len() {
            let message = format!("{} and {} hosts make no pairs", from.len(), to.len());
            return Err(self.text.problem(place.span(), message));
        }
        let member = |group: &std::ops::Range<usize>, number| group.start + number % group.len();
        let count = from.len().max(to.len());
        Ok((0..count)
            .map(|number| (member(&from, number), member(&to, number)))
            .collect())
    }

    pub(super) fn flow(&mut self, flow: &typed::FlowSection) -> Result<(), Problem> {
        let pairs = self.pairs(&flow.from, &flow.to, Ends::Hosts)?;
        let time = |placed: Option<&typed::PlacedText>| placed.map_or(Ok(0), |it| self.time(it));
        let (start, step) = (time(flow.start.as_ref())?, time(flow.step.as_ref())?);
        let spread = flow.spread.as_ref().map(|placed| {
            let spread = self.quantities.spread(placed.get_ref());
            spread.map_err(|message| self.text.problem(placed.span(), message))
        });
        let spread = spread.transpose()?;
        let transport = self.transport(flow)?;
        let ttl = flow.ttl.as_ref().map(|ttl| *ttl.get_ref());
        if let Some(placed) = flow.ttl.as_ref().filter(|_| ttl == Some(0)) {
            let message = "a time to live of 0 leads nowhere";
            return Err(self.text.problem(placed.span(), message));
        }
        let name = flow
            .name
            .clone()
            .unwrap_or_else(|| format!("{}-{}", flow.from.get_ref(), flow.to.get_ref()));
        let count = pairs.len();
        let begin = self.topology.flows.len();
        self.flows.push((name.clone(), begin..begin + count));
        for (number, (from, to)) in pairs.into_iter().enumerate() {
            self.spreads.push(spread);
            self.topology.flows.push(Flow {
                name: if count == 1 {
                    name.clone()
                } else {
                    format!("{name}{number}")
                },
                from,
                to,
                start: start.saturating_add(step.saturating_mul(number as u64)),
                ttl,
                transport: transport.clone(),
            });
        }
        Ok(())
    }

    fn transport(&self, flow: &typed::FlowSection) -> Result<Transport, Problem> {
        let name = self.word(&flow.transport, "transport", &NAMES)?;
        let packet = flow
            .packet
            .as_ref()
            .map_or(1_500, |packet| *packet.get_ref());
        if let Some(placed) = flow
            .packet
            .as_ref()
            .filter(|_| !(100..=9_000).contains(&packet))
        {
            let message = "a full packet has 100 to 9000 bytes";
            return Err(self.text.problem(placed.span(), message));
        }
        if name == Name::Udp {
            return self.udp(flow, packet);
        }
        let rate = flow.rate.as_ref().filter(|_| name != Name::QuickStart);
        let foreign = [("rate", rate), ("until", flow.until.as_ref())];
        if let Some((key, placed)) =
            { foreign.into_iter() }.find_map(|(key, placed)| Some(key).zip(placed))
        {
            let transport = flow.transport.get_ref();
            let message = format!("a [[flow]] of `{transport}` has no `{key}`");
            let problem = self.text.problem(placed.span(), message);
            return Err(problem.help(
                "a flow of `udp` has the keys `rate` and `until`, one of `quick-start` has `rate`; \
                 others end with their `bytes`",
            ));
        }
        if name == Name::Rcp {
            return self.rcp_flow(flow, packet);
        }
        let none = typed::HostKeys::default();
        let keys = { flow.host.as_ref() }.map_or(&none, toml::Spanned::get_ref);
        let scale = self.quantities.scale;
        let host = self.host(keys, name, packet)?;
        let scheme = match name {
            Name::Reno | Name::Sack | Name::Rcp | Name::Udp => Scheme::Reno,
            Name::Cubic => Scheme::Cubic(CubicParameters::default()),
            Name::Xcp => Scheme::Xcp(XcpParameters {
                loss: match &keys.loss {
                    None => XcpLoss::Halve,
                    Some(placed) => self.word(
                        placed,
                        "answer to a loss",
                        &[("halve", XcpLoss::Halve), ("ignore", XcpLoss::Ignore)],
                    )?,
                },
                cap_request: keys
                    .cap_request
                    .as_ref()
                    .is_none_or(|placed| *placed.get_ref()),
                ..XcpParameters::default()
            }),
            Name::XcpOption => Scheme::XcpOption(XcpOptionParameters {
                format: self.format(keys.format.as_ref())?,
                ..XcpOptionParameters::default()
            }),
            Name::QuickStart => Scheme::QuickStart(self.asked(flow)?),
            Name::Srp => Scheme::Srp(SrpParameters::default()),
        };
        if let Some(placed) = keys.loss.as_ref().filter(|_| name != Name::Xcp) {
            let message = "only `xcp` may ignore a loss";
            return Err(self.text.problem(placed.span(), message));
        }
        if let Some(placed) = keys.cap_request.as_ref().filter(|_| name != Name::Xcp) {
            let message = "only `xcp` has a `cap_request`";
            return Err(self.text.problem(placed.span(), message));
        }
        if let Some(placed) = keys.format.as_ref().filter(|_| name != Name::XcpOption) {
            let message = "only the option of `xcp-option` has a format";
            return Err(self.text.problem(placed.span(), message));
        }
        let xcp_option = match &scheme {
            Scheme::XcpOption(option) => Some(XcpAnswer {
                format: option.format,
                first_window: None,
            }),
            _ => None,
        };
        let too_fast = |error: npsim_transport::ScaleError| {
            self.text.problem(flow.transport.span(), error.to_string())
        };
        let supply = self.bytes(flow)?.map_or(Supply::Endless, Supply::Bytes);
        Ok(Transport::Tcp {
            scheme: scheme.scaled(scale).map_err(too_fast)?,
            host,
            supply,
            xcp_option,
        })
    }

    /// Returns the parameters of a flow with Quick-Start. The rate requested is that of the file,
    /// which the flow's scheme scales.
    fn asked(&self, flow: &typed::FlowSection) -> Result<QuickStartParameters, Problem> {
        let Some(rate) = &flow.rate else {
            let message = "`quick-start` needs the rate that it asks for";
            let problem = self.text.problem(flow.transport.span(), message);
            return Err(problem.help("add for example `rate = \"5Mbps\"`"));
        };
        let bits = self.rate(rate)? / self.quantities.scale;
        Ok(QuickStartParameters::for_rate(bits / 8))
    }

    /// Returns the bytes to send; `None` if unlimited.
    fn bytes(&self, flow: &typed::FlowSection) -> Result<Option<u64>, Problem> {
        match flow.bytes.as_ref().map(toml::Spanned::get_ref) {
            None => Ok(None),
            Some(Bytes::Number(bytes)) => Ok(Some(*bytes)),
            Some(Bytes::Word(word)) if word == "endless" => Ok(None),
            Some(Bytes::Word(word)) => {
                let span = flow.bytes.as_ref().map_or(0..0, toml::Spanned::span);
                let message = format!("`{word}` is neither `endless` nor a number of bytes");
                Err(self.text.problem(span, message))
            }
        }
    }

    fn rcp_flow(&self, flow: &typed::FlowSection, packet: u32) -> Result<Transport, Problem> {
        if let Some(placed) = &flow.host {
            let message = "a [[flow]] of `rcp` has no `host`: its keys are those of TCP";
            let problem = self.text.problem(placed.span(), message);
            return Err(problem.help("it has `bytes` and `packet`; remove `host`"));
        }
        let host = RcpParameters {
            payload: (packet - HEADERS) as u16,
            ..RcpParameters::default()
        };
        let host = host.scaled(self.quantities.scale).map_err(|error| {
            let span = flow.transport.span();
            self.text.problem(span, error.to_string())
        })?;
        Ok(Transport::Rcp {
            host,
            bytes: self.bytes(flow)?,
        })
    }

    fn udp(&self, flow: &typed::FlowSection, packet: u32) -> Result<Transport, Problem> {
        let Some(rate) = &flow.rate else {
            let message = "a [[flow]] of `udp` needs the key `rate`, at which it sends";
            let problem = self.text.problem(flow.transport.span(), message);
            return Err(problem.help("add for example `rate = \"1Mbps\"`"));
        };
        let foreign = [
            ("bytes", flow.bytes.as_ref().map(toml::Spanned::span)),
            ("host", flow.host.as_ref().map(toml::Spanned::span)),
        ];
        if let Some((key, span)) =
            { foreign.into_iter() }.find_map(|(key, span)| Some(key).zip(span))
        {
            let message = format!("a [[flow]] of `udp` has no `{key}`");
            let problem = self.text.problem(span, message);
            return Err(problem.help(
                "it sends packets of `packet` bytes at `rate` until `until`, or until the run ends",
            ));
        }
        if self.rate(rate)? < 8 {
            let message = "`rate` is less than a byte a second";
            return Err(self.text.problem(rate.span(), message));
        }
        if let Some(until) = &flow.until {
            let start = flow
                .start
                .as_ref()
                .map_or(Ok(0), |start| self.time(start))?;
            if self.time(until)? <= start {
                let message = "nothing is sent: the flow ends before it begins";
                let problem = self.text.problem(until.span(), message);
                return Err(problem.help("`until` is a time of the run, as `start` is"));
            }
        }
        let until = flow.until.as_ref().map(|until| self.time(until));
        Ok(Transport::Constant {
            rate: self.rate(rate)? / 8,
            packet,
            until: until.transpose()?,
        })
    }

    fn host(
        &self,
        keys: &typed::HostKeys,
        name: Name,
        packet: u32,
    ) -> Result<HostParameters, Problem> {
        let usual = HostParameters::default();
        let within = |placed: &toml::Spanned<u8>, most: u8| {
            let number = *placed.get_ref();
            if (1..=most).contains(&number) {
                return Ok(number);
            }
            let message = format!("{number} is not between 1 and {most}");
            Err(self.text.problem(placed.span(), message))
        };
        let mut host = HostParameters {
            mss: (packet - HEADERS) as u16,
            sack: match &keys.sack {
                None => name != Name::Reno,
                Some(placed) if *placed.get_ref() && name == Name::Reno => {
                    let message = "`reno` is TCP without selective acknowledgements";
                    let problem = self.text.problem(placed.span(), message);
                    return Err(problem.help("`sack` is TCP with them"));
                }
                Some(placed) => *placed.get_ref(),
            },
            window_limit: keys.window_limit,
            receive_buffer: keys.receive_buffer.unwrap_or(64 << 20),
            limited_transmit: keys.limited_transmit.unwrap_or(usual.limited_transmit),
            restart_after_idle: keys.restart_after_idle.unwrap_or(usual.restart_after_idle),
            ..usual
        };
        if let Some(placed) = &keys.initial_window {
            host.initial_window = within(placed, 10)?;
        }
        if let Some(placed) = &keys.sack_blocks {
            host.sack_blocks = within(placed, 4)?;
        }
        // Defaults are divided here; times of the file were divided when they were read.
        let mut host = host.scaled(self.quantities.scale).map_err(|error| {
            let span = keys.min_rto.as_ref().map_or(0..0, toml::Spanned::span);
            self.text.problem(span, error.to_string())
        })?;
        if let Some(placed) = &keys.min_rto {
            host.rto.floor = self.time(placed)?;
        }
        if let Some(placed) = &keys.delayed_ack {
            host.delayed_ack = match placed.get_ref().as_str() {
                "off" => None,
                _ => Some(self.time(placed)?),
            };
        }
        if let Some(placed) = &keys.pacing {
            host.clock = self.clock(placed)?;
        }
        Ok(host)
    }

    fn clock(&self, placed: &typed::PlacedText) -> Result<TimerClock, Problem> {
        let scale = self.quantities.scale;
        let divided = |tick: Time| (tick / scale).max(1);
        let ring = |clock| match clock {
            TimerClock::Ring { tick, ahead } => TimerClock::Ring {
                tick: divided(tick),
                ahead,
            },
            other => other,
        };
        if let Some(hz) = placed.get_ref().strip_suffix("Hz") {
            return match hz.trim().parse() {
                Ok(hz @ 1..=1_000_000) => match TimerClock::jiffies(hz) {
                    TimerClock::Jiffies { tick } => Ok(TimerClock::Jiffies {
                        tick: divided(tick),
                    }),
                    other => Ok(other),
                },
                _ => Err(self.text.problem(
                    placed.span(),
                    "a timer interrupt comes 1 to 1000000 times a second",
                )),
            };
        }
        self.word(
            placed,
            "clock of timers",
            &[
                ("exact", TimerClock::Exact),
                ("ring", ring(TimerClock::PAPER)),
                ("ring-sdk", ring(TimerClock::SDK)),
            ],
        )
    }
}
