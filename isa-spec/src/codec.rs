//! The codec of all stored data, in images and in state files. The codec converts plain serde types to bytes
//! and back, and computes checksums. One module contains the whole codec, so that the codec can be replaced,
//! and all files obey the same size limits. The codec is independent of the stored types.

use bincode::config::{self, Config};
use bincode::enc::write::Writer;
use bincode::error::{DecodeError, EncodeError};
use reviver_memory::ask;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use reviver_memory::OutOfMemory;

/// Serializes a value.
///
/// # Errors
/// Returns [`OutOfMemory`] if memory is refused.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, OutOfMemory> {
    let mut bytes = Vec::new();
    encode_into(value, &mut bytes)?;
    Ok(bytes)
}

/// Serializes a value and appends its bytes.
///
/// # Errors
/// Returns [`OutOfMemory`] if memory is refused.
pub fn encode_into<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), OutOfMemory> {
    // The only possible error is the writer's: plain data has no sequences of unknown length, which the codec
    // would reject.
    bincode::serde::encode_into_writer(value, Growing(bytes), config::standard()).map_err(|_| OutOfMemory)
}

/// Deserializes the value that all of these bytes encode.
///
/// While it decodes, the codec allocates at most 4 MiB or 128 times the number of bytes, whichever is
/// greater. Before each allocation, the codec adds the size that a stored length claims to the sum of the sizes
/// so far. If the sum exceeds a limit, the codec returns an error. The limit is at least 8 times the number of
/// bytes, because a number of eight bytes may be stored in one byte. The codec takes the limit as a
/// compile-time constant, so there are four limits, and decoding is compiled for each of them.
///
/// # Errors
/// Returns a message if the bytes encode no such value, or if [`encode`] would write the value in a different
/// form.
pub fn decode<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let standard = config::standard();
    match bytes.len().saturating_mul(8) {
        0..=0x40_0000 => decode_as(bytes, standard.with_limit::<0x40_0000>()),
        0x40_0001..=0x400_0000 => decode_as(bytes, standard.with_limit::<0x400_0000>()),
        0x400_0001..=0x4000_0000 => decode_as(bytes, standard.with_limit::<0x4000_0000>()),
        0x4000_0001..=0x4_0000_0000 => decode_as(bytes, standard.with_limit::<0x4_0000_0000>()),
        _ => Err("it is longer than the maximum size of stored data".into()),
    }
}

fn decode_as<T: Serialize + DeserializeOwned, C: Config>(bytes: &[u8], config: C) -> Result<T, String> {
    let (value, used) = bincode::serde::decode_from_slice(bytes, config).map_err(describe)?;
    if used != bytes.len() {
        return Err(match bytes.len() - used {
            1 => "a byte is left over".to_owned(),
            left => format!("{left} bytes are left over"),
        });
    }
    // A number could be stored in more bytes than necessary. Only the shortest form is accepted, so that each
    // value has exactly one encoding. So the value is encoded again and compared with the input.
    bincode::serde::encode_into_writer(&value, Expecting(bytes), config::standard())
        .map_err(|_| "a number is stored in more bytes than necessary".to_owned())?;
    Ok(value)
}

fn describe(error: DecodeError) -> String {
    match error {
        DecodeError::UnexpectedEnd { .. } => "it ends too early".into(),
        DecodeError::LimitExceeded => "a stored length exceeds the size of the data".into(),
        DecodeError::OtherString(text) => text,
        other => other.to_string(),
    }
}

/// Returns the checksum (CRC-32) of the concatenated parts.
pub fn checksum<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.into_iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// A writer that appends to a vector, and fails if the system refuses more memory.
struct Growing<'a>(&'a mut Vec<u8>);

impl Writer for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        ask::more(self.0, bytes.len()).map_err(|_| EncodeError::UnexpectedEnd)?;
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// A writer that compares instead of storing: writing fails unless the written bytes are equal to the next
/// expected bytes.
struct Expecting<'a>(&'a [u8]);

impl Writer for Expecting<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0 = self.0.strip_prefix(bytes).ok_or(EncodeError::UnexpectedEnd)?;
        Ok(())
    }
}
