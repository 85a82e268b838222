//! The inverse of a program of several files, as one text.
//!
//! An included file that is the same in the inverse stays an include, so that the inverse is as short as the
//! program. The text of any other file is inserted in its place and inverted.

use std::collections::{BTreeMap, HashSet};

use super::body::Inverter;
use super::counterpart::counterparts;
use super::program::stays;
use crate::adjoint::own;
use crate::arrays::roll;
use crate::diagnostic::{Diagnostic, in_order};
use crate::files::Files;
use crate::format::print_with;
use crate::include::{Loaded, include, load};
use crate::source::{FileId, SourceLine, Sources};
use crate::tree::{Body, Directive, Statement};

/// The result of inverting a program.
#[derive(Debug)]
pub struct Inversion {
    /// The program's files; the first one is the program itself.
    pub sources: Sources,
    /// The text of the inverse program, or the errors.
    pub text: Result<String, Vec<Diagnostic>>,
    /// For each line of the program, the line of the inverse text that undoes it, counted from 1. Lines of
    /// files that stay includes have no entry.
    pub counterparts: BTreeMap<SourceLine, u32>,
}

/// Inverts a program. `name` is the name of the program's file; `files` finds includes relative to this name.
/// `inverse_name` is the name of the file for the inverse; the includes of the inverse are written relative to
/// this name.
pub fn invert_text(name: &str, bytes: Vec<u8>, inverse_name: &str, files: &dyn Files) -> Inversion {
    let mut loaded = load(name, bytes, files);
    own::replace_beside_history(&mut loaded);
    let (text, counterparts) = match inverse(&mut loaded, inverse_name, files) {
        Ok(inverse) => {
            let text = print_with(&loaded.sources, &inverse);
            let counterparts = counterparts(&loaded.sources, &inverse, &text);
            (Ok(text), counterparts)
        }
        Err(diagnostics) => (Err(diagnostics), BTreeMap::new()),
    };
    Inversion { sources: loaded.sources, text, counterparts }
}

fn inverse(loaded: &mut Loaded, inverse_name: &str, files: &dyn Files) -> Result<Body, Vec<Diagnostic>> {
    let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
    if !diagnostics.is_empty() {
        in_order(&mut diagnostics);
        return Err(diagnostics);
    }
    loaded.state_classes();
    let mut inverter = Inverter::default();
    inverter.refuse_irreversible(loaded.trees().map(|(_, tree)| tree));
    let stay = staying(loaded);
    let body = loaded.splice(&stay);
    let inverse = inverter.program(&body);
    let mut inverse = roll(inverter.finish(inverse)?);
    redirect(&mut inverse, loaded, inverse_name, files);
    Ok(inverse)
}

/// Returns the files that stay includes, because they and everything that they include are the same in the
/// inverse.
pub(crate) fn staying(loaded: &Loaded) -> HashSet<FileId> {
    let program = FileId(0);
    let is_same = |(file, tree): &(FileId, &Body)| {
        *file != program && stays(tree) && !loaded.with_records.contains(file)
    };
    let mut staying: HashSet<FileId> = loaded.trees().filter(is_same).map(|(file, _)| file).collect();
    loop {
        let brings_another = |(file, tree): &(FileId, &Body)| {
            let mut targets = tree.iter().filter_map(include).map(|(_, place)| loaded.target(place));
            staying.contains(file) && !targets.all(|file| file.is_some_and(|file| staying.contains(&file)))
        };
        let others: Vec<FileId> = loaded.trees().filter(brings_another).map(|(file, _)| file).collect();
        if others.is_empty() {
            return staying;
        }
        staying.retain(|file| !others.contains(file));
    }
}

/// Rewrites the paths of includes, so that they refer to the same files from the folder of the inverse.
pub(crate) fn redirect(inverse: &mut Body, loaded: &Loaded, inverse_name: &str, files: &dyn Files) {
    for node in inverse {
        if let Statement::Directive(Directive::Include { path, path_span }) = &mut node.statement
            && let Some(target) = loaded.target(*path_span)
            && folder(loaded.sources.name(path_span.file)) != folder(inverse_name)
        {
            *path = files.path(loaded.sources.name(target), inverse_name).into();
        }
    }
}

fn folder(name: &str) -> &str {
    name.rsplit_once(['/', std::path::MAIN_SEPARATOR]).map_or("", |(folder, _)| folder)
}
