//! The three forms of image files, each read, written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use npsim_image::{Image, disassemble, listing, words_text};

fuzz_target!(|input: &[u8]| {
    match Image::from_file_bytes(input) {
        Ok(mut image) => {
            let bytes = image.to_file_bytes();
            assert_eq!(Image::from_file_bytes(&bytes).as_ref(), Ok(&image));
            display_image(&image);
            let values: Vec<(String, u32)> = image
                .imports
                .iter()
                .map(|import| (import.name.clone(), u32::from(import.address)))
                .collect();
            if image.link(&values).is_ok() {
                display_image(&image);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(text) = std::str::from_utf8(input)
        && let Ok(image) = Image::from_hex(text)
    {
        let again = Image::from_hex(&words_text(&image)).expect("what was written reads");
        assert_eq!(again.words, image.words);
        display_image(&image);
    }
    if let Ok(image) = Image::from_be_bytes(input) {
        assert_eq!(image.to_be_bytes(), input);
        display_image(&image);
    }
});

/// Everything that displays an image.
fn display_image(image: &Image) {
    let _ = disassemble(image);
    let _ = listing(image);
    for address in 0..=image.words.len() {
        let address = address as u16;
        let _ = image.place(address);
        for used in image.registers_used(address) {
            let _ = image.register_at(used).count();
        }
        for used in image.signals_used(address) {
            let _ = image.signal_at(used);
        }
    }
}
