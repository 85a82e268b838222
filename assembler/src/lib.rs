//! The assembler: `.rasm` text ↔ module ↔ image bytes.
//!
//! The crate does no I/O itself: files are read through [`files::Files`]. The crate doesn't run programs, and
//! is independent of machine states.
//!
//! | module | purpose |
//! |---|---|
//! | [`source`], [`lexer`], [`parser`], [`tree`] | a text as a syntax tree |
//! | [`assemble`](mod@assemble), [`files`] | from a text and its includes to a verified module |
//! | [`certain`] | certain errors, found without running the program |
//! | [`diagnostic`], [`render`], [`suggest`] | errors and warnings, and how they are shown |
//! | [`mod@format`], [`invert`] | a tree in the canonical layout; the inverse program as a tree |
//! | [`abbreviations`] | whole arrays, records and views, and the loops and cells that replace them |
//! | [`adjoint`], [`optimize`] | the gradient of a program as a program; an equivalent program with fewer steps |
//! | [`image`], [`disassemble`](mod@disassemble) | a module as bytes; as flat assembly |
//! | [`expand`](mod@expand) | a text next to its instructions |
//! | [`below`], [`used`] | the files of one folder only; the words of the language in a text |
//!
//! A text becomes a module, an image, and the same module again:
//!
//! ```
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory, image};
//!
//! let text = ".in a default 2\n.out b\nadd b, a\nsub a, b\n";
//! let module = assemble("double.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let bytes = image::encode(&module).unwrap();
//! assert_eq!(image::decode(&bytes).unwrap(), module);
//! ```
//!
//! Errors are reported at their places:
//!
//! ```
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory, render};
//!
//! let assembly = assemble("wrong.rasm", b".out b\nadd b, b\n".to_vec(), &FilesInMemory::new());
//! assert!(assembly.has_errors());
//! let words = render::render(&assembly.sources, &assembly.diagnostics, false);
//! assert!(words.contains("wrong.rasm:2"));
//! ```
//!
//! The inverse program is a text, too:
//!
//! ```
//! use reviver_assembler::{files::FilesInMemory, invert::invert_text};
//!
//! let inversion = invert_text("add.rasm", b".inout a\n.inout b\nadd a, b\n".to_vec(), "", &FilesInMemory::new());
//! let text = inversion.text.unwrap();
//! assert!(text.contains("sub") && !text.contains("add"));
//! ```
//!
//! A module without its text can be disassembled:
//!
//! ```
//! use reviver_assembler::{assemble::assemble, disassemble::disassemble, files::FilesInMemory};
//!
//! let text = ".inout n\nfor i in 0..3\nadd n, i\nrof\n";
//! let module = assemble("loop.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let flat = disassemble(&module);
//! assert!(flat.contains("br ") && flat.contains("from "), "{flat}");
//! ```

#![deny(missing_docs)]

pub mod abbreviations;
pub mod adjoint;
mod arrays;
pub mod assemble;
pub mod below;
mod build;
pub mod certain;
mod comparison;
pub mod constants;
mod definitions;
pub mod depths;
pub mod diagnostic;
pub mod disassemble;
pub mod expand;
pub mod files;
pub mod format;
mod fresh;
mod history;
pub mod image;
mod include;
pub mod invert;
pub mod keep;
pub mod lexer;
pub mod limits;
mod lint;
mod lower;
pub mod optimize;
pub mod parser;
mod places;
mod records;
pub mod render;
mod rewrite;
mod scopes;
pub mod source;
mod span;
mod stated_classes;
pub mod suggest;
pub mod tree;
pub mod used;
mod views;
mod visit;
