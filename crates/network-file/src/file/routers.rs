//! Routers of a network file.

use npsim_project::problem::Problem;
use npsim_protocols::{rcp, xcp};
use npsim_transport::time::{MILLISECOND, SECOND, Time};
use npsim_transport::wire::PacketFormat;

use super::FileReading;
use super::typed::{self, PlacedText};
use npsim_network::topology::{FeedbackPoint, NodeKind, RouterLaw};

/// The router models by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Model {
    Fifo,
    Xcp,
    XcpOption,
    Rcp,
    QuickStart,
}

const MODELS: [(&str, Model); 5] = [
    ("fifo", Model::Fifo),
    ("xcp", Model::Xcp),
    ("xcp-option", Model::XcpOption),
    ("rcp", Model::Rcp),
    ("quick-start", Model::QuickStart),
];

impl FileReading {
    /// Creates the router whose node is next.
    pub(super) fn router(&mut self, router: &typed::RouterSection) -> Result<NodeKind, Problem> {
        let place = router.name.span();
        let model = match (&router.model, &router.system) {
            (Some(model), None) => model,
            (None, Some(system)) => return self.system(router, system),
            (Some(_), Some(system)) => {
                let message = "a router is a model or a system, not both";
                return Err(self.text.problem(system.span(), message));
            }
            (None, None) => {
                let message = "the router has neither a model nor a system";
                let problem = self.text.problem(place, message);
                return Err(problem.help(
                    "write `model = \"fifo\"`, or `system = \"FILE\"` for a chip with its microcode",
                ));
            }
        };
        let settings = [
            router.routes.as_ref().map(toml::Spanned::span),
            router.set.as_ref().map(toml::Spanned::span),
            router.scaled.as_ref().map(toml::Spanned::span),
        ];
        if let Some(span) = settings.into_iter().flatten().next() {
            let message = "a model has no project whose keys could be set";
            return Err(self.text.problem(span, message));
        }
        let (placed, model) = (model, self.word(model, "model of a router", &MODELS)?);
        let tables = [
            (Model::Xcp, router.xcp.is_some()),
            (Model::Rcp, router.rcp.is_some()),
            (Model::QuickStart, router.quick_start.is_some()),
        ];
        // Both kinds of XCP have the same table.
        let of_tables = if model == Model::XcpOption {
            Model::Xcp
        } else {
            model
        };
        if let Some((other, _)) = { tables.iter() }.find(|(of, given)| *given && *of != of_tables) {
            let name = MODELS
                .iter()
                .find(|(_, it)| it == other)
                .map_or("", |it| it.0);
            let message = format!("a `{}` router has no keys of `{name}`", placed.get_ref());
            return Err(self.text.problem(placed.span(), message));
        }
        let law = match model {
            Model::Fifo => RouterLaw::None,
            Model::Xcp => self.xcp(router.xcp.as_ref(), false)?,
            Model::XcpOption => self.xcp(router.xcp.as_ref(), true)?,
            Model::Rcp => self.rcp(router.rcp.as_ref())?,
            Model::QuickStart => self.quick_start(router.quick_start.as_ref())?,
        };
        let delay = self.time_or(router.delay.as_ref(), 0)?;
        Ok(NodeKind::Router { law, delay })
    }

    /// Returns a time of the file, or a default, which is divided as well.
    fn time_or(&self, placed: Option<&PlacedText>, usual: Time) -> Result<Time, Problem> {
        match placed {
            Some(placed) => self.time(placed),
            None => Ok(usual / self.quantities.scale),
        }
    }

    /// Rejects a recurring time of 0.
    fn positive(&self, placed: Option<&PlacedText>, time: Time) -> Result<Time, Problem> {
        match placed {
            Some(placed) if time == 0 => {
                let message = "a time of 0 would recur endlessly";
                Err(self.text.problem(placed.span(), message))
            }
            _ => Ok(time.max(1)),
        }
    }

    fn share_or(&self, placed: Option<&toml::Spanned<f64>>, usual: u32) -> Result<u32, Problem> {
        placed.map_or(Ok(usual), |placed| self.share(placed, 10.0))
    }

    fn xcp(
        &self,
        keys: Option<&typed::XcpSection>,
        per_option: bool,
    ) -> Result<RouterLaw, Problem> {
        let none = typed::XcpSection::default();
        let keys = keys.unwrap_or(&none);
        let usual = xcp::XcpSettings::for_capacity(1);
        let ticks =
            |placed: Option<&PlacedText>, usual: u32| {
                let Some(placed) = placed else {
                    let usual = u64::from(usual) / self.quantities.scale;
                    return Ok(usual.max(1) as u32);
                };
                let time = self.time(placed)?;
                let ticks = u128::from(time) * u128::from(xcp::SECOND) / u128::from(SECOND);
                u32::try_from(ticks).ok().filter(|ticks| *ticks > 0).ok_or_else(|| {
                let message =
                    "XCP counts times of 4 ns to 16 s, after they were divided by the scale";
                self.text.problem(placed.span(), message)
            })
            };
        let capacity = keys.capacity.as_ref().map(|placed| self.rate(placed));
        let capacity = capacity.transpose()?.map(|bits| bits / 8);
        let parameters = xcp::XcpSettings {
            capacity: 1,
            alpha: self.share_or(keys.alpha.as_ref(), usual.alpha)?,
            beta: self.share_or(keys.beta.as_ref(), usual.beta)?,
            gamma: self.share_or(keys.gamma.as_ref(), usual.gamma)?,
            initial_interval: ticks(keys.initial_interval.as_ref(), usual.initial_interval)?,
            min_interval: ticks(keys.min_interval.as_ref(), usual.min_interval)?,
            max_interval: ticks(keys.max_interval.as_ref(), usual.max_interval)?,
            allowed_queue: ticks(keys.allowed_queue.as_ref(), usual.allowed_queue)?,
        };
        if per_option {
            if let Some(placed) = &keys.stamp {
                let message = "`xcp-option` gives feedback behind the queue";
                return Err(self.text.problem(placed.span(), message));
            }
            return Ok(RouterLaw::XcpOption {
                parameters,
                capacity,
                format: self.format(keys.format.as_ref())?,
                rtt_unit: (MILLISECOND / self.quantities.scale).max(1),
            });
        }
        if let Some(placed) = &keys.format {
            let message = "the header of `xcp` has one format; only `xcp-option` has several";
            return Err(self.text.problem(placed.span(), message));
        }
        Ok(RouterLaw::Xcp {
            parameters,
            capacity,
            stamp: match &keys.stamp {
                None => FeedbackPoint::default(),
                Some(placed) => self.word(
                    placed,
                    "place of the stamp",
                    &[
                        ("arrival", FeedbackPoint::Arrival),
                        ("departure", FeedbackPoint::Departure),
                    ],
                )?,
            },
        })
    }

    /// Returns the encoding of packet counts in XCP's option.
    pub(super) fn format(&self, placed: Option<&PlacedText>) -> Result<PacketFormat, Problem> {
        let formats = [
            ("mantissa-exponent", PacketFormat::MantissaExponent),
            ("integer", PacketFormat::Integer),
        ];
        placed.map_or(Ok(PacketFormat::MantissaExponent), |placed| {
            self.word(placed, "format of the option", &formats)
        })
    }

    fn rcp(&self, keys: Option<&typed::RcpSection>) -> Result<RouterLaw, Problem> {
        /// Capacity in bytes per second for which shares have a resolution of one millionth.
        const WHOLE: u64 = 1_000_000;
        let none = typed::RcpSection::default();
        let keys = keys.unwrap_or(&none);
        let usual = rcp::RcpSettings::for_capacity(WHOLE);
        let nanoseconds = |placed: Option<&PlacedText>, usual: u64| {
            let time = self.time_or(placed, usual * 1_000)?;
            self.positive(placed, time / 1_000)
        };
        let part = |placed: Option<&toml::Spanned<f64>>, usual: u32| match placed {
            None => Ok(usual),
            Some(placed) => match self.share(placed, 1.0)? {
                0 => Err(self
                    .text
                    .problem(placed.span(), "a share of 0 is not possible")),
                share => Ok(share),
            },
        };
        let first = part(keys.initial_rate.as_ref(), usual.initial_rate)?;
        Ok(RouterLaw::Rcp {
            parameters: rcp::RcpSettings {
                capacity: WHOLE,
                target: part(keys.eta.as_ref(), WHOLE as u32)?.into(),
                alpha: self.share_or(keys.alpha.as_ref(), usual.alpha)?,
                beta: self.share_or(keys.beta.as_ref(), usual.beta)?,
                period: nanoseconds(keys.period.as_ref(), usual.period)?,
                initial_rate: first,
                initial_rtt: nanoseconds(keys.initial_rtt.as_ref(), usual.initial_rtt)?,
            },
        })
    }

    fn quick_start(&self, keys: Option<&typed::QuickStartSection>) -> Result<RouterLaw, Problem> {
        let none = typed::QuickStartSection::default();
        let keys = keys.unwrap_or(&none);
        Ok(RouterLaw::QuickStart {
            threshold: match &keys.threshold {
                Some(placed) => self.share(placed, 1.0)?,
                None => 900_000,
            },
            window: {
                let window = self.time_or(keys.window.as_ref(), 150 * MILLISECOND)?;
                self.positive(keys.window.as_ref(), window)?
            },
            samples: keys.samples.unwrap_or(4),
        })
    }
}
