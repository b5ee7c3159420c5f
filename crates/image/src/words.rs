//! Words as text and as bytes.

use std::fmt::Write as _;

use npsim_isa::{WORD_BITS, WORD_MASK, parity_bits};

use crate::image::Image;

/// Size of a word in a file, in bytes.
const WORD_BYTES: usize = WORD_BITS as usize / 8;

/// Returns the words of an image, ten hexadecimal digits per line.
#[must_use]
pub fn words_text(image: &Image) -> String {
    let mut text = String::with_capacity(image.words.len() * 11);
    for word in &image.words {
        let _ = writeln!(text, "{word:010x}");
    }
    text
}

/// Returns the words, preceded by their two parity bits, eleven hexadecimal digits per line: bit 40
/// makes the parity of bits 0 to 19 even, bit 41 that of bits 20 to 39.
#[must_use]
pub fn words_text_with_parity(image: &Image) -> String {
    let mut text = String::with_capacity(image.words.len() * 12);
    for &word in &image.words {
        let _ = writeln!(text, "{:011x}", word | parity_bits(word));
    }
    text
}

/// Reads a word of ten digits, or of eleven including its parity bits. A shorter word more likely
/// belongs to another machine than lacks its leading zeros.
fn read_word(digits: &str) -> Result<u64, String> {
    let no_word = || {
        let shown: String = digits.chars().take(40).collect();
        format!(
            "`{shown}` is not a word of ten hexadecimal digits, or of eleven with its parity bits"
        )
    };
    let valid = (10..=11).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let value = u64::from_str_radix(digits, 16)
        .ok()
        .filter(|value| valid && *value < 1 << (WORD_BITS + 2))
        .ok_or_else(no_word)?;
    let word = value & WORD_MASK;
    let parity = parity_bits(word);
    if digits.len() == 11 && value != word | parity {
        return Err(format!(
            "the parity bits of `{digits}` are wrong; with the right ones it is `{:011x}`",
            word | parity
        ));
    }
    Ok(word)
}

impl Image {
    /// Reads words of ten hexadecimal digits, one per line, or of eleven including their parity
    /// bits, which are checked and dropped. Empty lines and comments after `;`, `#` or `//` are
    /// skipped; a `0x` prefix is allowed.
    ///
    /// # Errors
    /// Returns an error that names the line that is not a word or has wrong parity.
    pub fn from_hex(text: &str) -> Result<Self, String> {
        let mut words = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let code = line.split([';', '#']).next().unwrap_or("");
            let code = code.split("//").next().unwrap_or("").trim();
            if code.is_empty() {
                continue;
            }
            let digits = code
                .strip_prefix("0x")
                .or_else(|| code.strip_prefix("0X"))
                .unwrap_or(code);
            let word =
                read_word(digits).map_err(|message| format!("line {}: {message}", number + 1))?;
            words.push(word);
        }
        Ok(Self::from_words("", words))
    }

    /// Reads words of five bytes, the most significant byte first.
    ///
    /// # Errors
    /// Returns an error that gives the offset of the last word if it is incomplete.
    pub fn from_be_bytes(bytes: &[u8]) -> Result<Self, String> {
        let chunks = bytes.chunks_exact(WORD_BYTES);
        let rest = chunks.remainder().len();
        if rest != 0 {
            return Err(format!(
                "offset {}: {rest} bytes are left over; a word has {WORD_BYTES} bytes",
                bytes.len() - rest
            ));
        }
        let words = chunks
            .map(|chunk| {
                chunk
                    .iter()
                    .fold(0, |word, byte| word << 8 | u64::from(*byte))
            })
            .collect();
        Ok(Self::from_words("", words))
    }

    /// Returns the words as five bytes each, the most significant byte first.
    #[must_use]
    pub fn to_be_bytes(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| {
                let bytes = (word & WORD_MASK).to_be_bytes();
                bytes.into_iter().skip(8 - WORD_BYTES)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_and_bytes_round_trip() {
        let image = Image::from_words("x", vec![0xf0000c0300, 0x3300012f20]);
        let again = Image::from_hex(&words_text(&image)).unwrap();
        assert_eq!(again.words, image.words);
        let bytes = image.to_be_bytes();
        assert_eq!(bytes.len(), 10);
        assert_eq!(bytes[..5], [0xf0, 0x00, 0x0c, 0x03, 0x00]);
        assert_eq!(Image::from_be_bytes(&bytes).unwrap().words, image.words);
    }

    #[test]
    fn parse_errors_name_the_line_or_offset() {
        let error = Image::from_hex("f0000c0300 ; nop\n\nxyz\n").unwrap_err();
        assert!(error.starts_with("line 3: `xyz`"), "{error}");
        for wrong in ["123456789012", "d805c000", "0x1", "0xf0000c030"] {
            let error = Image::from_hex(wrong).unwrap_err();
            assert!(
                error.contains("line 1") && error.contains("of ten"),
                "{error}"
            );
        }
        let error = Image::from_be_bytes(&[0; 12]).unwrap_err();
        assert!(error.starts_with("offset 10: 2 bytes"), "{error}");
    }

    #[test]
    fn parity_is_written_and_checked() {
        let image = Image::from_words("x", vec![1, 1 << 20, 1 << 39 | 1, 3]);
        let text = words_text_with_parity(&image);
        assert_eq!(text, "10000000001\n20000100000\n38000000001\n00000000003\n");
        assert_eq!(Image::from_hex(&text).unwrap().words, image.words);
        let error = Image::from_hex("10000000001\n00000000001\n").unwrap_err();
        assert!(error.starts_with("line 2: the parity bits"), "{error}");
        assert!(error.ends_with("it is `10000000001`"), "{error}");
        assert!(Image::from_hex("40000000000").is_err());
    }
}
