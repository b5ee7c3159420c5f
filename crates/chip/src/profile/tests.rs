use super::*;

fn text() -> &'static str {
    Profile::text("ixp2400").unwrap()
}

#[test]
fn the_ixp2400_is_complete() {
    let profile = Profile::load("ixp2400").unwrap();
    assert_eq!(profile.microengines(), 8);
    assert_eq!(profile.number_of(5), 0x11);
    assert_eq!(profile.index_of(0x11), Some(5));
    assert_eq!(profile.index_of(0x04), None);
    assert_eq!(profile.index_of(0x20), None);
    assert_eq!(profile.scratch_read(), 60);
    assert_eq!(profile.erratum(69).unwrap().elements[0], [9, 18, 27]);
    assert_eq!(
        profile.foundations().iter().map(|(_, n)| n).sum::<usize>(),
        profile.parameters().count()
    );
}

#[test]
fn every_unit_of_measure_and_basis_is_kept() {
    let profile = Profile::load("ixp2400").unwrap();
    let read = profile
        .parameters()
        .find(|p| p.group == "dram" && p.name == "read")
        .unwrap();
    assert_eq!(
        (read.value, read.unit, read.foundation),
        (120, "ME cycles", Foundation::Likely)
    );
    assert!(
        profile
            .parameters()
            .all(|p| !p.basis.is_empty() && !p.meaning.is_empty())
    );
}

#[test]
fn an_unknown_name_lists_the_known() {
    let error = Profile::load("ixp1200").unwrap_err().to_string();
    assert!(
        error.contains("ixp1200") && error.contains("ixp2400"),
        "{error}"
    );
}

#[test]
fn every_parameter_is_missed_by_name() {
    for schema in schema::SCHEMA {
        let mut table: Table = text().parse().unwrap();
        table
            .get_mut(schema.group)
            .unwrap()
            .as_table_mut()
            .unwrap()
            .remove(schema.name)
            .unwrap();
        let key = format!("{}.{}", schema.group, schema.name);
        match Profile::from_toml(&table.to_string()) {
            Err(ProfileError::Missing { key: missing, .. }) => assert_eq!(missing, key),
            other => panic!("{key}: {other:?}"),
        }
    }
}

#[test]
fn an_unknown_parameter_or_group_is_refused() {
    let more = text().replace(
        "[hash]",
        "[hash]\nspeed = { value = 1, unit = \"x\", source = \"y\" }",
    );
    assert_eq!(
        Profile::from_toml(&more),
        Err(ProfileError::Surplus {
            key: "hash.speed".into()
        })
    );
    let more = format!("{}\n[turbo]\nx = 1\n", text());
    assert_eq!(
        Profile::from_toml(&more),
        Err(ProfileError::Surplus {
            key: "turbo".into()
        })
    );
}

#[test]
fn a_number_without_a_foundation_is_refused() {
    let bare = text().replace(
        "me_mhz = { value = 600, unit = \"MHz\", mark = \"likely\", basis =",
        "me_mhz = { value = 600, unit = \"MHz\", why =",
    );
    let error = Profile::from_toml(&bare).unwrap_err().to_string();
    assert!(
        error.contains("clock.me_mhz") && error.contains("source"),
        "{error}"
    );
    let odd = text().replace(
        "mark = \"likely\", basis = \"IXP2400 data",
        "mark = \"guessed\", basis = \"IXP2400 data",
    );
    let error = Profile::from_toml(&odd).unwrap_err().to_string();
    assert!(error.contains("guessed"), "{error}");
}

#[test]
fn ranges_and_units_are_checked() {
    let profile = Profile::load("ixp2400").unwrap();
    let error = profile
        .with("clock", "bus_cycle", 0)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("clock.bus_cycle") && error.contains("1 to 64"),
        "{error}"
    );
    let error = profile.with("scratch", "read", 10).unwrap_err().to_string();
    assert!(
        error.contains("scratch.read") && error.contains("the way takes"),
        "{error}"
    );
    let odd = text().replace("unit = \"MHz\"", "unit = \"kHz\"");
    assert!(
        Profile::from_toml(&odd)
            .unwrap_err()
            .to_string()
            .contains("MHz")
    );
    assert_eq!(
        profile.with("scratch", "read", 80).unwrap().scratch_read(),
        80
    );
}

#[test]
fn no_text_panics_the_loader() {
    for bad in [
        "",
        "name = 3",
        "[",
        "name = \"x\"\ntitle = \"y\"\nproduct_id = -1",
        "erratum = 3",
    ] {
        assert!(Profile::from_toml(bad).is_err(), "{bad}");
    }
}
