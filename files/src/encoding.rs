//! Guesses the encoding of a text that isn't UTF-8, and tells the user how to convert the text.

/// The guessed encoding of a text that isn't UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-16, with or without a byte order mark.
    Utf16,
    /// Windows-1252, or Latin-1, which has the same letters.
    Windows1252,
    /// Binary data, or an encoding that isn't recognized.
    Unknown,
}

/// The number of bytes at the start of a text from which the encoding is guessed.
const SAMPLE: usize = 4096;

/// Guesses the encoding of bytes that aren't UTF-8 or that contain NUL bytes.
#[must_use]
pub fn guess_encoding(bytes: &[u8]) -> Encoding {
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    if sample.starts_with(&[0xff, 0xfe]) || sample.starts_with(&[0xfe, 0xff]) || alternates(sample) {
        return Encoding::Utf16;
    }
    let is_letter = |byte: &u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let is_foreign = |byte: &u8| *byte >= 0x80 && !matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
    let letters = sample.iter().filter(|byte| is_letter(byte)).count();
    let foreign = sample.iter().filter(|byte| is_foreign(byte)).count();
    let is_text = letters + foreign == sample.len() && letters >= 2 * foreign;
    if is_text { Encoding::Windows1252 } else { Encoding::Unknown }
}

/// Returns true if bytes look like ASCII text in UTF-16: nearly every second byte is 0, and few others are.
fn alternates(sample: &[u8]) -> bool {
    let zeros = |first: usize| sample.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), sample.len() / 2);
    let (more, less) = (even.max(odd), even.min(odd));
    pairs >= 2 && more * 10 >= pairs * 7 && less * 10 <= pairs
}

impl Encoding {
    /// Returns the end of the message "this is not UTF-8", for example " but UTF-16".
    #[must_use]
    pub fn instead(self) -> &'static str {
        match self {
            Encoding::Utf16 => " but UTF-16",
            Encoding::Windows1252 => " but most likely Windows-1252",
            Encoding::Unknown => "",
        }
    }

    /// Returns a help text: how to convert the text to UTF-8.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Encoding::Utf16 => {
                "save it as UTF-8 in the editor, or convert it: `iconv -f UTF-16 -t UTF-8 OLD > NEW`; PowerShell writes UTF-8 with `Out-File -Encoding utf8`"
            }
            Encoding::Windows1252 => {
                "save it as UTF-8 in the editor, or convert it: `iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW`"
            }
            Encoding::Unknown => {
                "choose a text file instead of an image or another binary file, and save the text as UTF-8"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, mark: &[u8], big: bool) -> Vec<u8> {
        let units =
            text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        mark.iter().copied().chain(units).collect()
    }

    #[test]
    fn encodings_are_recognized() {
        let text = ".in n ; Größe\r\nadd n, 1\r\n";
        for (mark, big) in [(&[0xff, 0xfe][..], false), (&[0xfe, 0xff], true), (&[], false), (&[], true)] {
            assert_eq!(guess_encoding(&utf16(text, mark, big)), Encoding::Utf16, "{mark:?} {big}");
        }
        assert_eq!(guess_encoding(b"; Gr\xf6\xdfe\n.in n\n"), Encoding::Windows1252);
        assert_eq!(guess_encoding(b"\x93quoted\x94 and 5 \x80\n"), Encoding::Windows1252);
        for bytes in
            [&b"\x7fELF\x02\x01\xff"[..], b"PK\x03\x04\xff", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff"]
        {
            assert_eq!(guess_encoding(bytes), Encoding::Unknown, "{bytes:?}");
        }
    }
}
