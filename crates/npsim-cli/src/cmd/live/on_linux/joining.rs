//! Joins ports to interfaces.

use npsim::problem::Problem;
use npsim_live::linux::control::ControlSocket;
use npsim_live::linux::{Interface, drop_privileges};
use npsim_live::port_option::PortOption;

use super::super::Arguments;
use crate::output;

/// What a system is joined to, and its control socket.
pub struct Joined {
    /// For each interface, the number of the port joined to it.
    pub ports: Vec<usize>,
    pub interfaces: Vec<Interface>,
    pub control: Option<ControlSocket>,
}

impl Joined {
    /// Opens the interfaces and the control socket given by the arguments, for a system with these
    /// ports, and then drops privileges, before any other thread is started that would keep them.
    ///
    /// # Errors
    /// Returns an error if something cannot be opened, or is given twice.
    pub fn open(arguments: &Arguments, ports: &[String]) -> Result<Self, Problem> {
        let (numbers, interfaces) = join(&arguments.ports, ports)?;
        if numbers.is_empty() {
            output::line(&format!(
                "note: no port is joined to an interface, so nothing comes in: join one by `--port NAME=tap:INTERFACE`; the ports are {}",
                ports.join(", ")
            ));
        }
        let control = arguments.control.as_deref();
        let control = control.map(ControlSocket::open).transpose()?;
        drop_privileges()
            .map_err(|error| Problem::new(format!("cannot drop privileges: {error}")))?;
        Ok(Self {
            ports: numbers,
            interfaces,
            control,
        })
    }
}

/// Opens the interfaces; returns them with the numbers of their ports in `ports`.
///
/// # Errors
/// Returns an error if a port does not exist, a port or an interface is given twice, or an
/// interface cannot be opened.
fn join(options: &[PortOption], ports: &[String]) -> Result<(Vec<usize>, Vec<Interface>), Problem> {
    let mut numbers = Vec::new();
    for PortOption { port, interface } in options {
        let Some(number) = ports.iter().position(|name| name == port) else {
            return Err(Problem::new(format!("there is no port `{port}`")).help(match ports {
                [] => "a project has a [[port]] for each, a network a [[host]] with `kind = \"interface\"`".to_owned(),
                _ => format!("choose one of {}", ports.join(", ")),
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
