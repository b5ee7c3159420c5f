//! What the project provides to a program: named values, and tables.

use npsim_project::keys::Spanned;
use npsim_project::resolve::Resolver;

use crate::elf::{Import, Program};
use crate::setup::LoadedTable;

/// The table of frequencies, which only the chip can provide.
pub(crate) const CLOCKS: &str = "CLOCKS";
/// All tables.
const TABLES: [&str; 4] = ["PORTS", "NEIGHBOURS", "ROUTES", CLOCKS];

/// The longwords to set, with values from `own` taking precedence over the project's names. A name without a value
/// is a mistake.
pub(crate) fn values(
    program: &Program,
    own: &[(Spanned<String>, u32)],
    span: &std::ops::Range<usize>,
    resolver: &mut Resolver<'_>,
) -> Vec<(u32, u32)> {
    for (name, _) in own {
        if program.imports.iter().all(|it| it.name != *name.get_ref()) {
            resolver.fail(
                name.span(),
                format!("the program imports no `{}`", name.get_ref()),
                "",
                "remove the key, or declare it in the program: IMPORT(NAME)",
            );
        }
    }
    let mut values = Vec::new();
    for import in &program.imports {
        let given = own.iter().find(|(name, _)| *name.get_ref() == import.name);
        let given = given.map(|(_, value)| *value);
        match given.or_else(|| resolver.value_of_name(&import.name)) {
            Some(value) => values.push((import.address, value)),
            None if import.optional => {}
            None => unknown(import, span, resolver),
        }
    }
    values
}

fn unknown(import: &Import, span: &std::ops::Range<usize>, resolver: &mut Resolver<'_>) {
    let help = match resolver.nearest_name(&import.name) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "give it a value: `import = {{ {} = ... }}` in [gpp.program]",
            import.name
        ),
    };
    resolver.fail(
        span.clone(),
        format!(
            "the program imports `{}`, which the project does not have",
            import.name
        ),
        "",
        &help,
    );
}

/// The tables filled from the project.
pub(crate) fn tables(
    program: &Program,
    span: &std::ops::Range<usize>,
    resolver: &mut Resolver<'_>,
) -> Vec<LoadedTable> {
    let mut loaded = Vec::new();
    for table in &program.tables {
        let (record_words, routers) = match table.name.as_str() {
            "PORTS" => (5, ports(resolver)),
            "NEIGHBOURS" => (4, vec![neighbours(resolver)]),
            "ROUTES" => (3, routes(resolver)),
            CLOCKS => continue,
            other => {
                resolver.fail(
                    span.clone(),
                    format!("the program has a table `{other}`, which the project does not know"),
                    "",
                    &format!("the tables are {}", TABLES.join(", ")),
                );
                continue;
            }
        };
        let most = routers.iter().map(Vec::len).max().unwrap_or(0);
        let room = (table.bytes as usize / 4).saturating_sub(1);
        if most > room {
            let (records, places) = (most / record_words, room / record_words);
            resolver.fail(
                span.clone(),
                format!("the program's table `{}` is too small", table.name),
                format!("it has room for {places} records, and the project has {records}"),
                "make it larger in the program's source",
            );
            continue;
        }
        loaded.push(LoadedTable {
            address: table.address,
            record_words: record_words as u32,
            routers,
        });
    }
    loaded
}

/// For each port: its address, the network's prefix length, both parts of its link-layer address and its rate.
fn ports(resolver: &Resolver<'_>) -> Vec<Vec<u32>> {
    let addresses = resolver.addresses();
    let nodes = addresses.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let rates = &resolver.boot().ports;
    let port = |node: usize, port: usize| {
        let own = addresses.get(port).map_or(&[][..], Vec::as_slice);
        let own = if own.len() == 1 {
            own.first()
        } else {
            own.get(node)
        };
        let [a, b, c, d, e, f] = resolver.macs().get(port).copied().unwrap_or_default();
        let rate = rates.get(port).map_or(0, |it| it.bits_per_second);
        [
            own.map_or(0, |own| own.address.to_bits()),
            own.map_or(0, |own| own.length.into()),
            u32::from_be_bytes([a, b, c, d]),
            u32::from_be_bytes([0, 0, e, f]),
            (rate / 1_000_000) as u32,
        ]
    };
    (0..nodes)
        .map(|node| (0..rates.len()).flat_map(|at| port(node, at)).collect())
        .collect()
}

/// For each next hop to be resolved: its index in the next-hop table, port, address and largest packet.
fn neighbours(resolver: &Resolver<'_>) -> Vec<u32> {
    let all = resolver.gateways().iter();
    all.flat_map(|it| {
        let index = resolver.next_hop_index(it.next_hop().words());
        let (port, mtu) = (u32::from(it.port), u32::from(it.mtu));
        [index, port, it.address.to_bits(), mtu]
    })
    .collect()
}

/// For each route: its prefix, prefix length and next-hop index.
fn routes(resolver: &Resolver<'_>) -> Vec<Vec<u32>> {
    use npsim_chip::gpp::routes::Routes;
    let routes = resolver.boot().task::<Routes>();
    let routers = routes.map_or(&[][..], |it| &it.setup().routers);
    let each = routers.iter().map(|router| {
        let all = router.routes().iter();
        all.flat_map(|route| {
            let index = resolver.next_hop_index(route.next_hop.words());
            [route.prefix, route.length.into(), index]
        })
        .collect()
    });
    each.collect()
}
