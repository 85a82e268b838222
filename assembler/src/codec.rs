//! The codec of an image's sections, in one place so that it can be swapped: serde types to bytes
//! and back. Knows nothing of images.

use bincode::config::{self, Config};
use bincode::error::DecodeError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The bytes of a value.
///
/// # Panics
/// Never for the types of a module: writing to memory can't fail, and all their lengths are known.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    bincode::serde::encode_to_vec(value, config::standard()).expect("plain data can be encoded")
}

/// The value that all of these bytes encode.
///
/// What is allocated on the way is bounded by a small multiple of the number of bytes: the codec
/// counts what lengths lay claim to, and refuses more than the limit before it allocates. The limit
/// is a constant of the configuration, hence the steps. A number written in one byte claims eight.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let standard = config::standard();
    match bytes.len().saturating_mul(8) {
        0..=0x4000 => decode_as(bytes, standard.with_limit::<0x4000>()),
        0x4001..=0x4_0000 => decode_as(bytes, standard.with_limit::<0x4_0000>()),
        0x4_0001..=0x40_0000 => decode_as(bytes, standard.with_limit::<0x40_0000>()),
        0x40_0001..=0x400_0000 => decode_as(bytes, standard.with_limit::<0x400_0000>()),
        0x400_0001..=0x4000_0000 => decode_as(bytes, standard.with_limit::<0x4000_0000>()),
        0x4000_0001..=0x4_0000_0000 => decode_as(bytes, standard.with_limit::<0x4_0000_0000>()),
        _ => Err("larger than any section can be".into()),
    }
}

fn decode_as<T: DeserializeOwned, C: Config>(bytes: &[u8], config: C) -> Result<T, String> {
    let (value, used) = bincode::serde::decode_from_slice(bytes, config).map_err(describe)?;
    if used == bytes.len() { Ok(value) } else { Err(format!("{} bytes are left over", bytes.len() - used)) }
}

fn describe(error: DecodeError) -> String {
    match error {
        DecodeError::UnexpectedEnd { .. } => "it ends too early".into(),
        DecodeError::LimitExceeded => "a length in it is larger than the section".into(),
        DecodeError::OtherString(text) => text,
        other => other.to_string(),
    }
}
