//! Disturbances of a run: contexts that stall, and memories that respond late.

use std::ops::Range;

use npsim_chip::kernel::fault_injection::{LAST_CYCLE, Lateness, Stall};

use super::super::disturb::{DisturbSection, MAX_DELAY, NodeStall, StallOption, StallSection};
use super::super::file::ProjectFile;
use super::super::text::{parse_contexts, parse_ids, parse_nodes};
use super::{Overrides, ProgramPlan, Resolver};
use crate::keys::{Ids, Spanned};
use crate::problem::Problem;
use crate::quantity::Time;

/// The origin of a value.
enum Typed<'a> {
    File(Range<usize>),
    Option(&'a StallOption),
}

impl Resolver<'_> {
    pub(super) fn disturbances(
        &mut self,
        file: &ProjectFile,
        overrides: &Overrides,
        programs: &[ProgramPlan],
    ) {
        if let Some(section) = &file.disturb {
            self.boot.disturbances.late = self.lateness(section);
        }
        for section in &file.stall {
            self.stall_section(section, programs);
        }
        for option in &overrides.stalls {
            let who = Typed::Option(option);
            let places = self.places((&option.me, &who), (&option.context, &who), programs);
            let Some(places) = places else { continue };
            let Some(nodes) = &option.nodes else {
                self.stall(&places, (option.from, option.time), &who);
                continue;
            };
            match parse_nodes(nodes) {
                Ok(nodes) => {
                    let stalls = self.stalls(&places, (option.from, option.time), &who);
                    let each = nodes.iter().flat_map(|&node| {
                        let node = usize::from(node);
                        stalls.iter().map(move |&stall| NodeStall { node, stall })
                    });
                    self.node_stalls.extend(each);
                }
                Err(message) => self.refuse(&who, &message, ""),
            }
        }
    }

    fn lateness(&mut self, section: &DisturbSection) -> Lateness {
        let mut cycles = |typed: &Option<Spanned<u32>>| match typed {
            Some(typed) if *typed.get_ref() > MAX_DELAY => {
                let message = format!("completions cannot be {} cycles late", typed.get_ref());
                let help = format!("use 0 to {MAX_DELAY} cycles");
                self.fail(typed.span(), message, "", &help);
                0
            }
            Some(typed) => *typed.get_ref(),
            None => 0,
        };
        Lateness {
            dram: cycles(&section.dram),
            sram: cycles(&section.sram),
            scratch: cycles(&section.scratch),
            seed: section.seed.unwrap_or(1),
        }
    }

    fn stall_section(&mut self, section: &StallSection, programs: &[ProgramPlan]) {
        let (me, context) = (list(&section.me), list(&section.context));
        let places = self.places((&me.0, &me.1), (&context.0, &context.1), programs);
        let from = self.stall_time(&section.from);
        let length = self.stall_time(&section.time);
        if let (Some(places), Some(from), Some(length)) = (places, from, length) {
            self.stall(&places, (from, length), &Typed::File(section.time.span()));
        }
    }

    fn stall_time(&mut self, typed: &Spanned<String>) -> Option<Time> {
        let time: Result<Time, String> = typed.get_ref().parse();
        time.map_err(|message| self.fail(typed.span(), message, "", ""))
            .ok()
    }

    /// Returns the contexts of the microengines that are meant.
    fn places(
        &mut self,
        (me, me_typed): (&str, &Typed<'_>),
        (context, context_typed): (&str, &Typed<'_>),
        programs: &[ProgramPlan],
    ) -> Option<Vec<(u8, u8)>> {
        let contexts = parse_contexts(context)
            .map_err(|message| self.refuse(context_typed, &message, ""))
            .ok();
        let microengines = parse_ids(me, self.capacity.microengines)
            .map_err(|message| self.refuse(me_typed, &message, ""))
            .ok()?;
        let idle = |me: &&u8| programs.iter().all(|program| program.me != **me);
        if let Some(me) = microengines.iter().find(idle) {
            let message = format!("microengine {me} has no program to stall");
            let help = "name microengines to which a [[me]] gives a program";
            self.refuse(me_typed, &message, help);
            return None;
        }
        let contexts = contexts?;
        let all = microengines
            .iter()
            .flat_map(|&me| contexts.iter().map(move |&context| (me, context)));
        Some(all.collect())
    }

    fn stall(&mut self, places: &[(u8, u8)], times: (Time, Time), typed: &Typed<'_>) {
        let stalls = self.stalls(places, times, typed);
        self.boot.disturbances.stalls.extend(stalls);
    }

    fn stalls(
        &mut self,
        places: &[(u8, u8)],
        (from, length): (Time, Time),
        typed: &Typed<'_>,
    ) -> Vec<Stall> {
        let hertz = self.capacity.hertz;
        let (from, length) = (from.cycles(hertz), length.cycles(hertz));
        if length == 0 {
            self.refuse(typed, "a stall must be longer than 0", "");
            return Vec::new();
        }
        let until = from.saturating_add(length).min(LAST_CYCLE);
        let stalls = places.iter().map(|&(me, context)| Stall {
            me,
            context,
            from,
            until,
        });
        stalls.collect()
    }

    fn refuse(&mut self, typed: &Typed<'_>, message: &str, help: &str) {
        match typed {
            Typed::File(span) => self.fail(span.clone(), message, "", help),
            Typed::Option(option) => {
                let mut problem = Problem::new(format!("--stall {option}: {message}"));
                if !help.is_empty() {
                    problem = problem.help(help);
                }
                self.problems.push(problem);
            }
        }
    }
}

fn list<'a>(ids: &Spanned<Ids>) -> (String, Typed<'a>) {
    let text = match ids.get_ref() {
        Ids::One(id) => id.to_string(),
        Ids::List(list) => list.clone(),
    };
    (text, Typed::File(ids.span()))
}

#[cfg(test)]
mod tests {
    use npsim_chip::kernel::fault_injection::{LAST_CYCLE, Lateness, Stall};

    use super::super::tests::{ME, bad, good, resolved};
    use super::super::{Overrides, ProjectText};
    use crate::settings;

    fn section(me: &str, context: &str, from: &str, time: &str) -> String {
        format!(
            "{ME}[[stall]]\nme = \"{me}\"\ncontext = \"{context}\"\nfrom = \"{from}\"\nfor = \"{time}\"\n"
        )
    }

    #[test]
    fn microengine_and_context_lists_are_expanded() {
        let stall = |context, from, until| Stall {
            me: 0,
            context,
            from,
            until,
        };
        let stalls = |text: &str| good(text).boot.disturbances.stalls;
        assert_eq!(
            stalls(&section("0", "1-2", "1us", "100")),
            [stall(1, 600, 700), stall(2, 600, 700)]
        );
        assert_eq!(
            stalls(&section("0", "7", "0", "10000000s")),
            [stall(7, 0, 6_000_000_000_000_000)]
        );
        let most = section("0", "7", "1", &u64::MAX.to_string());
        assert_eq!(stalls(&most), [stall(7, 1, LAST_CYCLE)]);
    }

    #[test]
    fn stall_options_are_added_after_those_of_the_file() {
        let text = section("0", "0", "0", "1");
        let with = |stall: &str| {
            let overrides = Overrides {
                stalls: vec![stall.parse().unwrap()],
                ..Overrides::default()
            };
            resolved(&text, &overrides)
        };
        let all = with("0.5@10+20").unwrap().boot.disturbances.stalls;
        assert_eq!(all.len(), 2);
        assert_eq!((all[1].context, all[1].from, all[1].until), (5, 10, 30));
        for (stall, expected) in [
            (
                "1.5@10+20",
                "--stall 1.5@10cycles+20cycles: microengine 1 has no program",
            ),
            ("8.5@10+20", "there is no microengine 8"),
            ("0.8@10+20", "there is no context 8"),
            ("0.5@10+0ns", "a stall must be longer than 0"),
        ] {
            let message = with(stall).unwrap_err().to_string();
            assert!(message.contains(expected), "{stall}: {message}");
        }
    }

    #[test]
    fn invalid_stalls_are_refused() {
        for (text, expected) in [
            (
                section("1", "0", "0", "1us"),
                "microengine 1 has no program",
            ),
            (section("9", "0", "0", "1us"), "this chip has 0 to 7"),
            (section("0", "8", "0", "1us"), "a microengine has 0 to 7"),
            (section("0", "2,2", "0", "1us"), "context 2 is listed twice"),
            (section("0", "0", "then", "1us"), "then"),
            (section("0", "0", "0", "0us"), "longer than 0"),
        ] {
            let message = bad(&text, 1);
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn disturb_section_sets_completion_lateness() {
        let late = |text: &str| good(&format!("{ME}{text}")).boot.disturbances.late;
        assert!(late("").is_none());
        assert!(late("[disturb]\n").is_none());
        let expected = Lateness {
            seed: 1,
            dram: 400,
            sram: 0,
            scratch: 7,
        };
        assert_eq!(late("[disturb]\ndram = 400\nscratch = 7\n"), expected);
        let text = format!("{ME}[disturb]\nsram = 1000001\n");
        assert!(bad(&text, 1).contains("use 0 to 1000000 cycles"));
    }

    #[test]
    fn settings_apply_to_disturb_section() {
        let set = |setting: &str| {
            let text = ProjectText {
                path: "npsim.toml".into(),
                folder: ".".into(),
                text: ME.into(),
                files: Vec::new(),
                source_map: None,
            };
            let changed = settings::apply(
                &text,
                &[setting.parse().unwrap()],
                None,
                &crate::Registry::default(),
            );
            changed
                .map(|(text, _)| text.text.to_string())
                .map_err(|problem| problem.to_string())
        };
        let changed = set("disturb.dram=400").unwrap();
        assert_eq!(good(&changed).boot.disturbances.late.dram, 400);
        for (setting, expected) in [
            (
                "disturb.dram=-1",
                "must be a whole number from 0 to 4294967295",
            ),
            ("disturb.dam=1", "did you mean `dram`?"),
            ("stall.0.for=1us", "the project has no [[stall]]"),
        ] {
            let message = set(setting).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
