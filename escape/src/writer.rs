//! Streams that escape everything written to them, in chunks of any size.

use std::io::{self, Write};
use std::str;

use super::is_no_text;

/// The escape syntax of a stream for characters that must not be printed.
pub trait Escaping {
    fn spell(c: char, out: &mut String);
}

/// Escape syntax of Rust, such as `\u{1b}`, for text that people read.
#[derive(Debug)]
pub struct Lines;

impl Escaping for Lines {
    fn spell(c: char, out: &mut String) {
        super::spelled(c, out);
    }
}

/// Escape syntax of JSON, such as `\u202e`. The characters to be escaped occur only within strings of JSON,
/// so a parser reads the original character.
#[derive(Debug)]
pub struct Strings;

impl Escaping for Strings {
    fn spell(c: char, out: &mut String) {
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
}

/// A writer of text lines that contain no control sequences for a terminal.
pub type TextWriter<W> = EscapingWriter<W, Lines>;

/// A writer of JSON text without unprintable characters. A parser of the output gets the original strings.
pub type JsonWriter<W> = EscapingWriter<W, Strings>;

/// A writer that escapes its input. Bytes that aren't UTF-8 become U+FFFD.
#[derive(Debug)]
pub struct EscapingWriter<W, S> {
    inner: W,
    /// The first bytes of a character that the last chunk left incomplete: at most 3.
    begun: Vec<u8>,
    spelling: std::marker::PhantomData<S>,
}

impl<W: Write, S: Escaping> EscapingWriter<W, S> {
    /// Creates a writer that escapes everything before it reaches `inner`.
    pub fn new(inner: W) -> Self {
        EscapingWriter { inner, begun: Vec::new(), spelling: std::marker::PhantomData }
    }

    fn spell(&mut self, text: &str) -> io::Result<()> {
        if !text.contains(is_no_text) {
            return self.inner.write_all(text.as_bytes());
        }
        let mut out = String::with_capacity(text.len() + text.len() / 4);
        for c in text.chars() {
            match is_no_text(c) {
                true => S::spell(c, &mut out),
                false => out.push(c),
            }
        }
        self.inner.write_all(out.as_bytes())
    }

    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        loop {
            let error = match str::from_utf8(bytes) {
                Ok(text) => return self.spell(text),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            self.spell(str::from_utf8(valid).unwrap_or_default())?;
            let Some(length) = error.error_len() else {
                self.begun.extend_from_slice(rest);
                return Ok(());
            };
            self.spell(UNREADABLE)?;
            bytes = rest.get(length..).unwrap_or_default();
        }
    }
}

/// The replacement for bytes that aren't UTF-8.
const UNREADABLE: &str = "\u{fffd}";

impl<W: Write, S: Escaping> Write for EscapingWriter<W, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_plain = |byte: &u8| matches!(byte, b'\n' | b' '..=b'~');
        if self.begun.is_empty() && bytes.iter().all(is_plain) {
            return self.inner.write(bytes);
        }
        match self.begun.is_empty() {
            true => self.pass(bytes)?,
            false => {
                let joined = [std::mem::take(&mut self.begun).as_slice(), bytes].concat();
                self.pass(&joined)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.begun).is_empty() {
            self.spell(UNREADABLE)?;
        }
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<S: Escaping>(pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut writer = EscapingWriter::<_, S>::new(&mut out);
        pieces.iter().for_each(|piece| writer.write_all(piece).unwrap());
        writer.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn chunks_may_end_within_a_character() {
        let text = "ä\u{9b}31m大\u{202e}\x1b[2J\n";
        let whole = written::<Lines>(&[text.as_bytes()]);
        assert_eq!(whole, "ä\\u{9b}31m大\\u{202e}\\u{1b}[2J\n");
        for at in 0..=text.len() {
            let (first, second) = text.as_bytes().split_at(at);
            assert_eq!(written::<Lines>(&[first, second]), whole, "cut at byte {at}");
        }
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(written::<Lines>(&bytes), whole);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(written::<Lines>(&[b"a\x9bb\xe5\xa4"]), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn json_escapes_keep_the_text() {
        assert_eq!(
            written::<Strings>(&["\"\u{9b}\u{e0041}\x7f\"".as_bytes()]),
            "\"\\u009b\\udb40\\udc41\\u007f\""
        );
    }
}
