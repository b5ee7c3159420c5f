//! `--port 0=tap:NAME@NETNS`: the host interface that a port is joined to.

use std::fmt;
use std::str::FromStr;

/// The maximum length of an interface name on Linux, in bytes.
const MAX_NAME: usize = 15;

/// The kind of interface that joins a port to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceKind {
    /// A TAP, connected to the host's own stack. It is created if it does not exist.
    Tap,
    /// An existing interface, such as an end of a veth pair: frames are read from and written to
    /// its line.
    Existing,
}

/// An interface of the host, optionally in a network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceName {
    /// The kind of interface.
    pub kind: InterfaceKind,
    /// The name of the interface.
    pub name: String,
    /// The network namespace that it is in; that of the command if absent.
    pub namespace: Option<String>,
}

impl fmt::Display for InterfaceName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            InterfaceKind::Tap => "tap",
            InterfaceKind::Existing => "if",
        };
        write!(out, "{kind}:{}", self.name)?;
        match &self.namespace {
            Some(namespace) => write!(out, "@{namespace}"),
            None => Ok(()),
        }
    }
}

impl FromStr for InterfaceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = "write `tap:NAME` or `if:NAME`, followed by `@NAMESPACE` for one in a network namespace";
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let kind = match kind {
            "tap" => InterfaceKind::Tap,
            "if" => InterfaceKind::Existing,
            _ => return Err(format!("`{text}` names no interface: {form}")),
        };
        let (name, namespace) = match rest.split_once('@') {
            Some((name, namespace)) => (name, Some(namespace)),
            None => (rest, None),
        };
        if name.is_empty() || namespace == Some("") {
            return Err(format!("`{text}` names no interface: {form}"));
        }
        let usable = |it: &str| !it.contains(['/', ' ', ':', '\0']) && it != "." && it != "..";
        if name.len() > MAX_NAME || !usable(name) {
            return Err(format!(
                "`{name}` cannot be the name of an interface, which has at most {MAX_NAME} bytes and neither slashes, colons nor spaces"
            ));
        }
        if name.contains('%') {
            return Err(format!(
                "`{name}` cannot be the name of an interface: the kernel makes a pattern of a percent sign, so that the name would be another; leave it out, as in `{kind}:{}`",
                name.replace("%d", "0").replace('%', ""),
                kind = text.split(':').next().unwrap_or(text),
            ));
        }
        if let Some(namespace) = namespace.filter(|it| !usable(it)) {
            return Err(format!(
                "`{namespace}` cannot be the name of a network namespace; `ip netns list` lists those that exist"
            ));
        }
        Ok(Self {
            kind,
            name: name.to_owned(),
            namespace: namespace.map(ToOwned::to_owned),
        })
    }
}

/// A port of the system, and the interface that it is joined to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortOption {
    /// The number of the port, or the name of an open end of a network.
    pub port: String,
    /// The interface.
    pub interface: InterfaceName,
}

impl FromStr for PortOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((port, interface)) = text.split_once('=').filter(|(port, _)| !port.is_empty())
        else {
            return Err(format!(
                "`{text}` is not PORT=INTERFACE, such as `0=tap:np0` or `1=if:veth0@lab`"
            ));
        };
        Ok(Self {
            port: port.to_owned(),
            interface: interface.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{InterfaceKind, PortOption};

    #[test]
    fn port_options_parse_and_print_back() {
        let port: PortOption = "2=tap:np0@left".parse().unwrap();
        assert_eq!(
            (port.port.as_str(), port.interface.kind),
            ("2", InterfaceKind::Tap)
        );
        assert_eq!(port.interface.namespace.as_deref(), Some("left"));
        assert_eq!(port.interface.to_string(), "tap:np0@left");
        let port: PortOption = "uplink=if:veth0".parse().unwrap();
        assert_eq!(port.port, "uplink");
        assert_eq!(port.interface.to_string(), "if:veth0");
    }

    #[test]
    fn invalid_interface_names_are_refused() {
        for wrong in [
            "", "0", "=tap:a", "0=", "0=tap", "0=tap:", "0=tap:a@", "0=tun:a",
        ] {
            assert!(wrong.parse::<PortOption>().is_err(), "{wrong}");
        }
        for wrong in [
            "0=tap:a/b",
            "0=if:0123456789abcdef",
            "0=tap:a@../x",
            "0=tap:a b",
            "0=tap:zz%d",
            "0=if:a%",
        ] {
            let told = wrong.parse::<PortOption>().unwrap_err();
            assert!(told.contains("cannot be the name"), "{told}");
        }
    }
}
