//! The codec of everything that is stored, images and state files alike: plain serde types to bytes
//! and back, and the checksum over them. In one place so that it can be swapped, and so that both
//! are held to the same bounds. Knows nothing of what is stored.

use bincode::config::{self, Config};
use bincode::enc::write::Writer;
use bincode::error::{DecodeError, EncodeError};
use reviver_memory::ask;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use reviver_memory::OutOfMemory;

/// The bytes of a value.
///
/// # Errors
/// Memory ran out.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, OutOfMemory> {
    let mut bytes = Vec::new();
    encode_into(value, &mut bytes)?;
    Ok(bytes)
}

/// Adds the bytes of a value.
///
/// # Errors
/// Memory ran out.
pub fn encode_into<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), OutOfMemory> {
    // Plain data knows all its lengths, so that nothing but the writer can fail.
    bincode::serde::encode_into_writer(value, Growing(bytes), config::standard()).map_err(|_| OutOfMemory)
}

/// The value that all of these bytes encode.
///
/// What is allocated on the way is bounded by 4 MiB, or by 128 times the number of bytes where that is more: the codec
/// counts what lengths lay claim to, and refuses more than the limit before it allocates. The limit is a constant of the
/// configuration, hence the steps, each of which is compiled for every type. A number written in one byte claims eight.
///
/// # Errors
/// The bytes encode no such value, or encode it in another way than [`encode`] does.
pub fn decode<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let standard = config::standard();
    match bytes.len().saturating_mul(8) {
        0..=0x40_0000 => decode_as(bytes, standard.with_limit::<0x40_0000>()),
        0x40_0001..=0x400_0000 => decode_as(bytes, standard.with_limit::<0x400_0000>()),
        0x400_0001..=0x4000_0000 => decode_as(bytes, standard.with_limit::<0x4000_0000>()),
        0x4000_0001..=0x4_0000_0000 => decode_as(bytes, standard.with_limit::<0x4_0000_0000>()),
        _ => Err("larger than anything that is stored can be".into()),
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
    // A number may be written in more bytes than it needs: what is stored has one form.
    bincode::serde::encode_into_writer(&value, Expecting(bytes), config::standard())
        .map_err(|_| "a number in it is longer than need be".to_owned())?;
    Ok(value)
}

fn describe(error: DecodeError) -> String {
    match error {
        DecodeError::UnexpectedEnd { .. } => "it ends too early".into(),
        DecodeError::LimitExceeded => "a length in it is larger than all of it".into(),
        DecodeError::OtherString(text) => text,
        other => other.to_string(),
    }
}

/// The checksum of bytes in several parts.
pub fn checksum<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.into_iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// Writes into memory that may run out.
struct Growing<'a>(&'a mut Vec<u8>);

impl Writer for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        ask::more(self.0, bytes.len()).map_err(|_| EncodeError::UnexpectedEnd)?;
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writes nothing: fails unless what is written is what was expected.
struct Expecting<'a>(&'a [u8]);

impl Writer for Expecting<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0 = self.0.strip_prefix(bytes).ok_or(EncodeError::UnexpectedEnd)?;
        Ok(())
    }
}
