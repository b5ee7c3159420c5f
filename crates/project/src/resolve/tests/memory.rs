//! Tests of the placement of rings, queues, buffers, memories and locks.

use npsim_chip::gpp::boot::RingStatus;

use super::{ME, bad, good, value};

#[test]
fn rings_get_numbers_aligned_bases_and_defines() {
    let text = format!(
        "{ME}[[ring]]\nname = \"A\"\nsize = 128\n[[ring]]\nname = \"B\"\nnumber = 0\nsize = 512\nstatus = \"empty\"\n[[ring]]\nname = \"C\"\nnumber = 12\n"
    );
    let plan = good(&text);
    assert_eq!(
        (
            value(&plan, "A").as_str(),
            value(&plan, "A_NUMBER").as_str(),
            value(&plan, "A_SIZE").as_str()
        ),
        ("4", "1", "128")
    );
    assert_eq!(
        (
            value(&plan, "B").as_str(),
            value(&plan, "B_STATUS").as_str()
        ),
        ("0", "SCR_Ring0_Status")
    );
    assert!(
        plan.programs[0]
            .defines
            .iter()
            .all(|(name, _)| name != "C_STATUS"),
        "ring 12 has no status an instruction can test"
    );
    let numbers: Vec<_> = plan.boot.rings.iter().map(|r| r.number).collect();
    assert_eq!(numbers, [0, 1, 12]);
    assert!(
        plan.boot
            .rings
            .iter()
            .all(|r| r.base % (u32::from(r.size) * 4) == 0)
    );
    assert_eq!(plan.boot.rings[0].status, RingStatus::Empty);
}

#[test]
fn invalid_rings_are_refused() {
    assert!(
        bad(&format!("{ME}[[ring]]\nname = \"A\"\nsize = 100\n"), 1)
            .contains("use 128, 256, 512 or 1024")
    );
    let twice =
        format!("{ME}[[ring]]\nname = \"A\"\nnumber = 3\n[[ring]]\nname = \"B\"\nnumber = 3\n");
    assert!(bad(&twice, 1).contains("ring 3 is used twice, by `A` and `B`"));
    assert!(
        bad(&format!("{ME}[[ring]]\nname = \"A\"\nnumber = 16\n"), 1)
            .contains("no scratch ring 16")
    );
    assert!(bad(&format!("{ME}[[ring]]\nname = \"A-B\"\n"), 1).contains("not a name"));
    let many = "[[ring]]\nname = \"R\"\nsize = 1024\n".replace("R\"", "R{}\"");
    let many: String = (0..5).map(|n| many.replace("{}", &n.to_string())).collect();
    assert!(bad(&format!("{ME}{many}"), 1).contains("no room for ring `R4` in scratch"));
}

#[test]
fn given_and_derived_names_must_be_unique() {
    let text = format!("{ME}[[ring]]\nname = \"A\"\n[[counter]]\nname = \"A\"\n");
    assert!(bad(&text, 1).contains("`A` is defined twice: by ring `A` and by counter `A`"));
    let text = format!("{ME}[[ring]]\nname = \"A\"\n[[counter]]\nname = \"A_SIZE\"\n");
    assert!(bad(&text, 1).contains("`A_SIZE` is defined twice"));
    let text = format!("{ME}[[counter]]\nname = \"PORT_COUNT\"\n");
    assert!(bad(&text, 1).contains("the ports"));
}

#[test]
fn buffer_addresses_are_derived_from_descriptors() {
    let text = format!(
        "{ME}[[queue]]\nname = \"Q\"\nchannel = 1\nentry = 3\n[buffers]\ncount = 16\nsize = 2048\nqueue = \"Q\"\n"
    );
    let plan = good(&text);
    assert_eq!(value(&plan, "Q"), "0x43000000");
    assert_eq!(
        (
            value(&plan, "BUFFER_SHIFT").as_str(),
            value(&plan, "BUFFER_CHANNEL_BASE").as_str()
        ),
        ("9", "0x40000000")
    );
    let buffers = plan.boot.buffers.unwrap();
    assert!(buffers.first_descriptor > 0);
    assert_eq!(
        buffers.data(buffers.descriptor(1)) - buffers.data(buffers.descriptor(0)),
        2048
    );
    let dram = plan.spaces.iter().find(|s| s.name == "dram").unwrap();
    assert_eq!(
        dram.regions()[0].start,
        u64::from(buffers.data(buffers.descriptor(0)))
    );
    assert_eq!(
        dram.regions()[0].end,
        u64::from(buffers.data(buffers.descriptor(15))) + 2048
    );
}

#[test]
fn invalid_buffers_are_refused() {
    let queue = "[[queue]]\nname = \"Q\"\n";
    assert!(
        bad(&format!("{ME}{queue}[buffers]\nqueue = \"P\"\n"), 1).contains("there is no queue `P`")
    );
    assert!(
        bad(
            &format!("{ME}{queue}[buffers]\nqueue = \"Q\"\nsize = 1500\n"),
            1
        )
        .contains("power of two")
    );
    assert!(
        bad(
            &format!("{ME}{queue}[buffers]\nqueue = \"Q\"\nchannel = 1\n"),
            1
        )
        .contains("their queue is in channel 0")
    );
    assert!(
        bad(
            &format!("{ME}{queue}[buffers]\nqueue = \"Q\"\ncount = 4096\n"),
            1
        )
        .contains("dram")
    );
    assert!(
        bad(
            &format!("{ME}{queue}[buffers]\nqueue = \"Q\"\ncount = 4000000000\n"),
            1
        )
        .contains("no room for the buffers")
    );
}

#[test]
fn memory_is_placed_around_fixed_addresses() {
    let text = format!(
        "{ME}[[memory]]\nname = \"F\"\nspace = \"sram1\"\naddress = 0x100\nsize = 64\n[[memory]]\nname = \"M\"\nspace = \"sram1\"\nwords = [7, 8]\nsize = 512\n[[memory]]\nname = \"D\"\nspace = \"dram\"\nsize = 16\nalign = 4096\n"
    );
    let plan = good(&text);
    assert_eq!(value(&plan, "F"), "0x40000100");
    assert_eq!(value(&plan, "M"), "0x40000140");
    assert_eq!(value(&plan, "M_SIZE"), "512");
    let m = &plan.boot.memory[1];
    assert_eq!(
        (m.address, m.words.len(), &m.words[..3]),
        (0x140, 128, &[7, 8, 0][..])
    );
}

#[test]
fn invalid_memories_are_refused() {
    let at = |name: &str, address: &str| {
        format!(
            "[[memory]]\nname = \"{name}\"\nspace = \"scratch\"\nsize = 64\naddress = {address}\n"
        )
    };
    assert!(
        bad(&format!("{ME}{}{}", at("A", "0"), at("B", "32")), 1)
            .contains("memory `B` overlaps memory `A`")
    );
    assert!(bad(&format!("{ME}{}", at("A", "0x3fe0")), 1).contains("beyond the end of scratch"));
    assert!(bad(&format!("{ME}{}", at("A", "3")), 1).contains("not a multiple of 4"));
    assert!(
        bad(
            &format!("{ME}[[memory]]\nname = \"A\"\nspace = \"sram2\"\nsize = 4\n"),
            1
        )
        .contains("scratch, sram0, sram1, dram")
    );
    assert!(
        bad(
            &format!("{ME}[[memory]]\nname = \"A\"\nspace = \"dram\"\nsize = 4\nwords = [1, 2]\n"),
            1
        )
        .contains("cannot have 4 bytes")
    );
}

#[test]
fn descriptor_length_is_configurable() {
    let with = |longwords: &str| {
        format!(
            "{ME}[[queue]]\nname = \"Q\"\n[buffers]\ncount = 16\nsize = 2048\ndescriptor = {longwords}\nqueue = \"Q\"\n"
        )
    };
    for (longwords, shift) in [("4", "9"), ("8", "8"), ("16", "7")] {
        let plan = good(&with(longwords));
        assert_eq!(value(&plan, "BUFFER_DESCRIPTOR"), longwords);
        assert_eq!(value(&plan, "BUFFER_SHIFT"), shift);
        let buffers = plan.boot.buffers.unwrap();
        let apart = buffers.descriptor(1) - buffers.descriptor(0);
        assert_eq!(apart.to_string(), longwords);
        assert_eq!(
            buffers.data(buffers.descriptor(1)) - buffers.data(buffers.descriptor(0)),
            2048
        );
    }
    assert!(bad(&with("6"), 1).contains("cannot have 6 longwords"));
    assert!(bad(&with("2"), 1).contains("use 4, 8 or 16"));
}

#[test]
fn several_queues_have_consecutive_entries() {
    let queues = |first: &str, second: &str| {
        format!("{ME}[[queue]]\nname = \"A\"\n{first}\n[[queue]]\nname = \"B\"\n{second}\n")
    };
    let plan = good(&queues("count = 12", "entry = 3"));
    assert_eq!(
        (value(&plan, "A_ENTRY"), value(&plan, "A_COUNT")),
        ("4".into(), "12".into())
    );
    assert_eq!(plan.boot.queues.len(), 13);
    let many: Vec<_> = plan.boot.queues.iter().filter(|q| q.entry >= 4).collect();
    assert_eq!(many.len(), 12);
    assert!(
        many.windows(2)
            .all(|q| (q[1].entry, q[1].descriptor) == (q[0].entry + 1, q[0].descriptor + 16))
    );
    assert!(bad(&queues("count = 0", ""), 1).contains("at least one queue"));
    assert!(bad(&queues("entry = 60\ncount = 5", ""), 1).contains("no Q-array entry 64"));
    assert!(
        bad(&queues("entry = 2\ncount = 4", "entry = 5"), 1)
            .contains("entry 5 of channel 0 is used twice")
    );
    assert!(bad(&queues("count = 64", ""), 1).contains("left in channel 0"));
    assert!(bad(&queues("count = 65", ""), 1).contains("no 65 consecutive"));
}

#[test]
fn locks_are_longwords_of_named_memory() {
    let memory = "[[memory]]\nname = \"STATE\"\nspace = \"sram1\"\nsize = 32\naddress = 256\n";
    let lock = "[[lock]]\nname = \"L\"\nmemory = \"STATE\"\n";
    let resolved = good(&format!("{ME}{memory}{lock}offset = 16\n"));
    let [setup] = &resolved.boot.locks[..] else {
        panic!("{:?}", resolved.boot.locks);
    };
    assert_eq!((setup.name.as_str(), setup.address), ("L", 272));
    assert_eq!(setup.space, npsim_chip::gpp::boot::Space::Sram(1));
    for (text, expected) in [
        (format!("{lock}offset = 32\n"), "a multiple of 4 below 32"),
        (format!("{lock}offset = 2\n"), "no longword at offset 2"),
        (format!("{lock}{lock}"), "the lock `L` is given twice"),
        (
            format!("{lock}[[lock]]\nname = \"M\"\nmemory = \"STATE\"\n"),
            "the same longword as `L`",
        ),
        (lock.replace("STATE", "STATES"), "did you mean `STATE`?"),
        (lock.replace("\"L\"", "\"1\""), "not a name"),
    ] {
        let message = bad(&format!("{ME}{memory}{text}"), 1);
        assert!(message.contains(expected), "{message}");
    }
    let dram = memory.replace("sram1", "dram");
    assert!(bad(&format!("{ME}{dram}{lock}"), 1).contains("put the memory there"));
}
