//! Link types other than Ethernet.

use pcap_file::DataLink;

use super::CaptureError;
use super::data::Data;

pub(super) fn refusal(data: &Data, interface: &str, link: DataLink) -> CaptureError {
    CaptureError::LinkType {
        path: data.path().to_path_buf(),
        interface: interface.to_string(),
        found: match link {
            DataLink::Unknown(number) => format!("{number} (without a name)"),
            named => format!("{named:?} ({})", u32::from(named)),
        },
        hint: hint(link).to_string(),
    }
}

fn hint(link: DataLink) -> &'static str {
    match link {
        DataLink::LINUX_SLL | DataLink::LINUX_SLL2 => {
            "the \"any\" device of Linux gives this: capture again on one Ethernet interface (`tcpdump -i eth0`), or put Ethernet headers on with `tcprewrite --dlt=enet`"
        }
        DataLink::IEEE802_11
        | DataLink::IEEE802_11_RADIOTAP
        | DataLink::IEEE802_11_PRISM
        | DataLink::IEEE802_11_AVS => {
            "a wireless interface in monitor mode gives this: capture again without monitor mode or on a wired interface"
        }
        DataLink::NULL | DataLink::LOOP => {
            "a loopback or tunnel interface gives this: capture again on an Ethernet interface, or put Ethernet headers on with `tcprewrite --dlt=enet`"
        }
        _ => {
            "capture again on an Ethernet interface, or put Ethernet headers on with `tcprewrite --dlt=enet` (with --enet-dmac and --enet-smac)"
        }
    }
}
