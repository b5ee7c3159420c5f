//! Ports and the interfaces that they are joined to.

use npsim::problem::Problem;
use npsim_live::linux::Interface;
use npsim_live::port_option::PortOption;

/// Opens the interfaces; gives them with the numbers of their ports among those that there are.
///
/// # Errors
/// A port does not exist, a port or an interface is named twice, or an interface cannot be opened.
pub fn join(
    options: &[PortOption],
    ports: &[String],
) -> Result<(Vec<usize>, Vec<Interface>), Problem> {
    let mut numbers = Vec::new();
    for PortOption { port, interface } in options {
        let Some(number) = ports.iter().position(|name| name == port) else {
            return Err(Problem::new(format!("there is no port `{port}`")).help(match ports {
                [] => "a project has a [[port]] for each, a network a [[host]] with `kind = \"interface\"`".to_owned(),
                _ => format!("there are {}", ports.join(", ")),
            }));
        };
        if numbers.contains(&number) {
            return Err(
                Problem::new(format!("port `{port}` is joined to two interfaces"))
                    .help("leave one of them out"),
            );
        }
        numbers.push(number);
        let same = options.iter().filter(|other| {
            let other = &other.interface;
            (&other.name, &other.namespace) == (&interface.name, &interface.namespace)
        });
        if same.count() > 1 {
            return Err(
                Problem::new(format!("two ports are joined to `{interface}`"))
                    .help("each port needs an interface of its own"),
            );
        }
    }
    let opened = options
        .iter()
        .map(|option| Interface::open(&option.interface));
    Ok((numbers, opened.collect::<Result<_, _>>()?))
}
