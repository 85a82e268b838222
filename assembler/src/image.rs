//! Images: a module as bytes (`.rbc`) and back.
//!
//! ```text
//! 0   8  magic
//! 8   2  format version
//! 10  2  flags, 0
//! 12  4  CRC-32 of the whole image but for these four bytes
//! 16  4  number of sections
//! 20     for each section: id (4), offset (8), length (8)
//!        the sections, in the order of the table, without gaps
//! ```
//!
//! Numbers are little-endian. The sections are in the order of their ids; an empty `structure` is omitted. So
//! every module has exactly one image, and other bytes are rejected. This module only decodes an image; the
//! verifier checks the program.

use reviver_isa::codec::{self, OutOfMemory};
use reviver_isa::instruction::Instruction;
use reviver_isa::module::{Global, Limits, Module, Procedure, RealSystem, Structure, Word};
use reviver_memory::ask;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The first bytes of every image. They are chosen like those of PNG: a transfer that alters line ends or the
/// eighth bit of bytes also alters these bytes, so the loader detects the damage.
pub const MAGIC: [u8; 8] = *b"\x89RBC\r\n\x1a\n";
/// The only format version that this build writes and reads.
pub const VERSION: u16 = 5;

/// The position of the checksum in the header.
const CHECKSUM: std::ops::Range<usize> = 12..16;
const TABLE: usize = 20;
const ENTRY: usize = 20;

/// The reason for rejecting bytes as an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum LoadError {
    #[error("this is not a Reviver image: it does not begin with the magic bytes")]
    NotAnImage,
    #[error("the image has the format version {found}, and this build reads version {VERSION}")]
    Version { found: u16 },
    #[error("the image sets flags ({0:#06x}) that this build does not support")]
    UnknownFlags(u16),
    #[error("the image is truncated: it has {found} bytes of {wanted}")]
    Truncated { found: u64, wanted: u64 },
    #[error("the image is damaged: its checksum is {found:#010x}, not {wanted:#010x}")]
    Checksum { found: u32, wanted: u32 },
    #[error("the image has {0} byte{s} after its last section", s = if *.0 == 1 { "" } else { "s" })]
    TrailingBytes(u64),
    #[error("the section table is wrong: {0}")]
    SectionTable(String),
    #[error("the section `{section}` is malformed: {reason}")]
    Section { section: &'static str, reason: String },
}

/// The sections of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Code,
    Data,
    Procedures,
    Limits,
    Structure,
}

impl Section {
    const ALL: [Section; 5] =
        [Section::Code, Section::Data, Section::Procedures, Section::Limits, Section::Structure];

    fn id(self) -> u32 {
        match self {
            Section::Code => 1,
            Section::Data => 2,
            Section::Procedures => 3,
            Section::Limits => 4,
            Section::Structure => 5,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Section::Code => "code",
            Section::Data => "data",
            Section::Procedures => "procedures",
            Section::Limits => "limits",
            Section::Structure => "structure",
        }
    }
}

/// The content of the section `limits`: the word, the number system, the limits, the tolerance, and a flag that is true
/// for an inverse program.
type LimitsSection = (Word, RealSystem, Limits, Option<f64>, bool);

/// Returns the image of a module.
///
/// # Errors
/// Returns an error if memory is exhausted.
pub fn encode(module: &Module) -> Result<Vec<u8>, OutOfMemory> {
    let mut sections = vec![
        (Section::Code, codec::encode(&module.code)?),
        (Section::Data, codec::encode(&module.globals)?),
        (Section::Procedures, codec::encode(&module.procedures)?),
        (
            Section::Limits,
            codec::encode(&(module.word, module.real, module.limits, module.tolerance, module.inverse))?,
        ),
    ];
    if module.structure != Structure::default() {
        sections.push((Section::Structure, codec::encode(&module.structure)?));
    }
    assemble_image(&sections)
}

fn assemble_image(sections: &[(Section, Vec<u8>)]) -> Result<Vec<u8>, OutOfMemory> {
    let mut offset = TABLE + ENTRY * sections.len();
    let length = offset + sections.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    let mut image = ask::list(length)?;
    image.extend_from_slice(&MAGIC);
    image.extend_from_slice(&VERSION.to_le_bytes());
    image.extend_from_slice(&[0; 6]); // flags, checksum
    image.extend_from_slice(&(sections.len() as u32).to_le_bytes());
    for (section, bytes) in sections {
        image.extend_from_slice(&section.id().to_le_bytes());
        image.extend_from_slice(&(offset as u64).to_le_bytes());
        image.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        offset += bytes.len();
    }
    for (_, bytes) in sections {
        image.extend_from_slice(bytes);
    }
    let checksum = checksum(&image).to_le_bytes();
    image[CHECKSUM].copy_from_slice(&checksum);
    Ok(image)
}

/// Returns the checksum of an image: the CRC-32 of all bytes except the checksum field.
pub fn checksum(image: &[u8]) -> u32 {
    let before = image.get(..CHECKSUM.start).unwrap_or(image);
    codec::checksum([before, image.get(CHECKSUM.end..).unwrap_or_default()])
}

/// Returns the module in an image, which is not verified yet.
pub fn decode(image: &[u8]) -> Result<Module, LoadError> {
    header(image)?;
    let entries = table(image)?;
    intact(image, &entries)?;
    let sections = locate(image, &entries)?;
    let (word, real, limits, tolerance, inverse): LimitsSection = sections.required(Section::Limits)?;
    let code: Vec<Instruction> = sections.required(Section::Code)?;
    let globals: Vec<Global> = sections.required(Section::Data)?;
    let procedures: Vec<Procedure> = sections.required(Section::Procedures)?;
    let structure = sections.optional(Section::Structure)?;
    if structure == Some(Structure::default()) {
        let reason = "it is empty, and an empty section must be omitted".into();
        return Err(LoadError::Section { section: Section::Structure.name(), reason });
    }
    let structure = structure.unwrap_or_default();
    Ok(Module { word, real, limits, tolerance, inverse, globals, procedures, code, structure })
}

/// Checks the fields before the section table: the magic bytes, the version and the flags. Returns the first
/// error.
fn header(image: &[u8]) -> Result<(), LoadError> {
    let magic = image.get(..MAGIC.len()).unwrap_or(image);
    if magic.is_empty() || !MAGIC.starts_with(magic) {
        return Err(LoadError::NotAnImage);
    }
    match read_u16(image, 8)? {
        VERSION => {}
        found => return Err(LoadError::Version { found }),
    }
    match read_u16(image, 10)? {
        0 => Ok(()),
        flags => Err(LoadError::UnknownFlags(flags)),
    }
}

/// An entry of the section table: the id of a section, its offset and its length in bytes.
struct TableLine {
    id: u32,
    offset: u64,
    length: u64,
}

fn table(image: &[u8]) -> Result<Vec<TableLine>, LoadError> {
    let count = u32::from_le_bytes(read(image, 16)?) as usize;
    let end = count.saturating_mul(ENTRY).saturating_add(TABLE);
    if end > image.len() {
        return Err(truncated(image, end as u64));
    }
    let entry = |n: usize| {
        let at = TABLE + n * ENTRY;
        Ok(TableLine {
            id: u32::from_le_bytes(read(image, at)?),
            offset: u64::from_le_bytes(read(image, at + 4)?),
            length: u64::from_le_bytes(read(image, at + 12)?),
        })
    };
    (0..count).map(entry).collect()
}

/// Checks the checksum of the image, and returns an error if it differs. A truncated image has a separate
/// error.
fn intact(image: &[u8], entries: &[TableLine]) -> Result<(), LoadError> {
    let found = checksum(image);
    let wanted = u32::from_le_bytes(read(image, CHECKSUM.start)?);
    if found == wanted {
        return Ok(());
    }
    let end = entries.iter().map(|entry| entry.offset.saturating_add(entry.length)).max().unwrap_or(0);
    if end > image.len() as u64 {
        return Err(truncated(image, end));
    }
    Err(LoadError::Checksum { found, wanted })
}

/// The sections of an image, with their bytes.
struct Sections<'a>(Vec<(Section, &'a [u8])>);

/// Returns the sections with their bytes. Returns an error unless they cover the rest of the image without
/// gaps and overlaps.
fn locate<'a>(image: &'a [u8], entries: &[TableLine]) -> Result<Sections<'a>, LoadError> {
    let mut next = (TABLE + ENTRY * entries.len()) as u64;
    let mut sections: Vec<(Section, &[u8])> = Vec::new();
    for entry in entries {
        let wrong = |what: &str| LoadError::SectionTable(format!("the section {:#04x} {what}", entry.id));
        match entry.offset.cmp(&next) {
            std::cmp::Ordering::Less => return Err(wrong("overlaps the section before it")),
            std::cmp::Ordering::Greater => return Err(wrong("leaves a gap before it")),
            std::cmp::Ordering::Equal => {}
        }
        let end = entry.offset.checked_add(entry.length).filter(|end| *end <= image.len() as u64);
        let Some(end) = end else { return Err(wrong("reaches outside of the image")) };
        let bytes = image.get(next as usize..end as usize).unwrap_or_default();
        next = end;
        match Section::ALL.into_iter().find(|section| section.id() == entry.id) {
            Some(section) if sections.last().is_some_and(|(before, _)| before.id() >= section.id()) => {
                return Err(wrong("is out of order, or listed twice"));
            }
            Some(section) => sections.push((section, bytes)),
            None => return Err(wrong("is unknown to this build")),
        }
    }
    match image.len() as u64 - next {
        0 => Ok(Sections(sections)),
        rest => Err(LoadError::TrailingBytes(rest)),
    }
}

impl Sections<'_> {
    fn optional<T: Serialize + DeserializeOwned>(&self, section: Section) -> Result<Option<T>, LoadError> {
        let Some((_, bytes)) = self.0.iter().find(|(s, _)| *s == section) else { return Ok(None) };
        let name = section.name();
        codec::decode(bytes).map(Some).map_err(|reason| LoadError::Section { section: name, reason })
    }

    fn required<T: Serialize + DeserializeOwned>(&self, section: Section) -> Result<T, LoadError> {
        let missing = || LoadError::SectionTable(format!("the section `{}` is missing", section.name()));
        self.optional(section)?.ok_or_else(missing)
    }
}

fn truncated(image: &[u8], wanted: u64) -> LoadError {
    LoadError::Truncated { found: image.len() as u64, wanted }
}

/// Reads `N` bytes of the header or the table.
fn read<const N: usize>(image: &[u8], at: usize) -> Result<[u8; N], LoadError> {
    let bytes = image.get(at..at + N).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| truncated(image, (at + N) as u64))
}

fn read_u16(image: &[u8], at: usize) -> Result<u16, LoadError> {
    read(image, at).map(u16::from_le_bytes)
}
