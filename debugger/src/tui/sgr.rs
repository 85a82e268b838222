//! Rewrites the output for terminals with 16 colours: `ESC [ 38;5;4 m`, which older terminals don't
//! understand, becomes `ESC [ 34 m`.

use std::io::{self, Write};

/// A writer that buffers its input until the writer is flushed. It then replaces the escape sequences of the first
/// 16 colours by the older ones, and writes the result.
#[derive(Debug)]
pub struct Sixteen<W> {
    out: W,
    pending: Vec<u8>,
}

impl<W: Write> Sixteen<W> {
    pub fn new(out: W) -> Sixteen<W> {
        Sixteen { out, pending: Vec::new() }
    }
}

impl<W: Write> Write for Sixteen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = respelled(&self.pending);
        self.pending.clear();
        self.out.write_all(&bytes)?;
        self.out.flush()
    }
}

fn respelled(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut left = bytes;
    while let Some(at) = left.windows(2).position(|pair| pair == b"\x1b[") {
        let (before, sequence) = left.split_at(at + 2);
        let end = sequence.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'));
        let (parameters, behind) = sequence.split_at(end.unwrap_or(sequence.len()));
        out.extend_from_slice(before);
        match behind.first() {
            Some(b'm') => out.extend_from_slice(respelled_attributes(parameters).as_bytes()),
            _ => out.extend_from_slice(parameters),
        }
        left = behind;
    }
    out.extend_from_slice(left);
    out
}

/// Rewrites the parameters of an SGR sequence, which are numbers between semicolons.
fn respelled_attributes(parameters: &[u8]) -> String {
    let text = String::from_utf8_lossy(parameters);
    let mut left = text.split(';');
    let mut out: Vec<String> = Vec::new();
    while let Some(number) = left.next() {
        let mut ahead = left.clone();
        match (number, ahead.next(), ahead.next().map(str::parse::<u32>)) {
            ("38" | "48", Some("5"), Some(Ok(colour))) => {
                let ground = if number == "48" { 10 } else { 0 };
                out.push(match colour {
                    0..=7 => (30 + ground + colour).to_string(),
                    8..=15 => (90 + ground + colour - 8).to_string(),
                    _ => format!("{number};5;{colour}"),
                });
                left = ahead;
            }
            // The next three numbers are the channels of a colour, so they aren't attributes.
            ("38" | "48", Some("2"), _) => {
                out.push(number.to_owned());
                out.extend(left.by_ref().take(4).map(str::to_owned));
            }
            _ => out.push(number.to_owned()),
        }
    }
    out.join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sixteen_colours_are_rewritten() {
        let pairs = [
            ("\x1b[38;5;4mblue\x1b[0m", "\x1b[34mblue\x1b[0m"),
            ("\x1b[38;5;12;48;5;8mx", "\x1b[94;100mx"),
            ("\x1b[1;38;5;9m\x1b[48;5;2m", "\x1b[1;91m\x1b[42m"),
            ("\x1b[38;5;234;48;5;16m", "\x1b[38;5;234;48;5;16m"),
            ("\x1b[38;2;38;5;4m", "\x1b[38;2;38;5;4m"),
            ("38;5;4m \x1b[38;5;4H\x1b[m\x1b[?25l", "38;5;4m \x1b[38;5;4H\x1b[m\x1b[?25l"),
            ("\x1b[38;5;4", "\x1b[38;5;4"),
        ];
        for (given, expected) in pairs {
            let mut screen = Sixteen::new(Vec::new());
            screen.write_all(given.as_bytes()).unwrap();
            screen.flush().unwrap();
            assert_eq!(String::from_utf8(screen.out).unwrap(), expected);
        }
    }
}
