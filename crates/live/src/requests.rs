//! The requests that an operator can make of a live run, one per line.

use std::path::PathBuf;

use npsim_project::problem::Problem;

use crate::system::ObservationKind;

/// All requests, for people.
pub(crate) const REQUESTS: &str = "\
status                 clocks, lateness and ports
inside [ROUTER]        what each context does; of a network which queues hold packets, or what
                       the contexts of a router do
counters [NAME]        drops, slow path and the project's counters; or one of these, a part of the
                       statistics such as `media.drops`, or `all`; in a network behind the name
                       of the router: `counters r1`, `counters r1.media.drops`
route add PREFIX port=N mac=ADDRESS      or next_hop=ADDRESS, local, discard
route change PREFIX port=N mac=ADDRESS
route remove PREFIX    in a network with the router: `route r1 remove PREFIX`
timeline start FILE    write what happens when from now on (`--timeline` of `npsim run`)
timeline stop          the file is whole
packets start FILE     write the fate of each packet that comes from now on (`--packets`)
packets stop           the file is whole
checkpoint FILE        how a checkpoint of this moment is made of the recording
stop                   end the run
help                   these";

/// A request of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Status,
    Inside(String),
    Help,
    Stop,
    Counters(String),
    Checkpoint(PathBuf),
    Start(ObservationKind, PathBuf),
    End(ObservationKind),
    /// A change, which the system itself interprets.
    Change(String),
}

impl Request {
    /// Parses a line. A line that is not a general request may be a change specific to the system.
    pub fn of(line: &str) -> Result<Self, Problem> {
        let (word, rest) = split(line);
        let form = |form: &str| {
            Problem::new(format!("`{line}` is not `{form}`"))
                .help("`npsim live --ask SOCKET help` lists the requests")
        };
        let alone = |request: Self| {
            if rest.is_empty() {
                Ok(request)
            } else {
                Err(form(word))
            }
        };
        match word {
            "status" => alone(Self::Status),
            "inside" => match split(rest) {
                (name, "") => Ok(Self::Inside(name.to_owned())),
                _ => Err(form("inside [ROUTER]")),
            },
            "help" => alone(Self::Help),
            "stop" => alone(Self::Stop),
            "counters" => match split(rest) {
                (name, "") => Ok(Self::Counters(name.to_owned())),
                _ => Err(form("counters [NAME]")),
            },
            "checkpoint" if rest.is_empty() => Err(form("checkpoint FILE")),
            "checkpoint" => Ok(Self::Checkpoint(rest.into())),
            "timeline" => Self::observation(ObservationKind::Timeline, rest)
                .ok_or_else(|| form("timeline start FILE` or `timeline stop")),
            "packets" => Self::observation(ObservationKind::Packets, rest)
                .ok_or_else(|| form("packets start FILE` or `packets stop")),
            _ => Ok(Self::Change(line.to_owned())),
        }
    }

    fn observation(kind: ObservationKind, rest: &str) -> Option<Self> {
        match split(rest) {
            ("stop", "") => Some(Self::End(kind)),
            // Standard output is reserved for the run itself.
            ("start", file) if !file.is_empty() && file != "-" => {
                Some(Self::Start(kind, file.into()))
            }
            _ => None,
        }
    }
}

/// The first word, and the rest.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::{REQUESTS, Request};
    use crate::system::ObservationKind::{Packets, Timeline};

    #[test]
    fn requests_are_parsed_with_their_arguments() {
        let read = |line: &str| Request::of(line).unwrap();
        assert_eq!(read("status"), Request::Status);
        assert_eq!(read("counters"), Request::Counters(String::new()));
        assert_eq!(read("counters  gpp "), Request::Counters("gpp".to_owned()));
        let file = "a b.json.gz".into();
        assert_eq!(
            read("timeline start a b.json.gz"),
            Request::Start(Timeline, file)
        );
        assert_eq!(read("packets stop"), Request::End(Packets));
        assert_eq!(
            read("checkpoint x.ckpt"),
            Request::Checkpoint("x.ckpt".into())
        );
        let change = "route remove 10.2.0.0/16";
        assert_eq!(read(change), Request::Change(change.to_owned()));
    }

    #[test]
    fn malformed_requests_are_refused_with_the_expected_form() {
        for (line, form) in [
            ("status now", "`status`"),
            ("stop it", "`stop`"),
            ("counters a b", "counters [NAME]"),
            ("inside a b", "inside [ROUTER]"),
            ("checkpoint", "checkpoint FILE"),
            ("timeline", "timeline start FILE"),
            ("timeline start", "timeline start FILE"),
            ("timeline start -", "timeline start FILE"),
            ("packets stop x", "packets stop"),
        ] {
            let problem = Request::of(line).unwrap_err();
            assert!(problem.message.contains(form), "{}", problem.message);
        }
    }

    #[test]
    fn the_help_names_every_request() {
        let words = "status inside counters route timeline packets checkpoint stop help";
        for word in words.split(' ') {
            let named = REQUESTS
                .lines()
                .any(|line| line.split(' ').next() == Some(word));
            assert!(named, "{word}");
        }
    }
}
