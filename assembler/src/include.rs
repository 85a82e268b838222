//! Includes: the files of a program are loaded first, then their trees are spliced into one.
//!
//! Each file is included at most once, even if several files include it. A file that includes itself,
//! directly or through others, is an error.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use reviver_isa::codes::ProblemCode;
use reviver_isa::module::Structure;

use crate::diagnostic::Diagnostic;
use crate::files::Files;
use crate::parser::parse;
use crate::source::{FileId, Sources, Span};
use crate::tree::{Body, Directive, Statement, StatementNode};
use crate::{abbreviations, history, stated_classes};

/// The maximum depth of nested includes.
const DEEPEST: usize = 64;

/// The files of a program, each with its own tree. The first one is the program itself.
#[derive(Default)]
pub(crate) struct Loaded {
    pub(crate) sources: Sources,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The path of each file, indexed by the number of the file. A path is relative to the program's folder,
    /// and spelled as in the includes, so it doesn't depend on the current directory. The path of the program
    /// itself is empty.
    pub(crate) paths: Vec<String>,
    /// The tree of each file by its number, with unexpanded includes.
    trees: Vec<Body>,
    /// The files that have records. Their texts differ from their trees.
    pub(crate) with_records: HashSet<FileId>,
    /// True if the program's own gradients were replaced, so that its names aren't those of the texts.
    pub(crate) is_replaced: bool,
    /// True if a procedure keeps a history, by `.strategy`.
    pub(crate) has_history: bool,
    /// The file to which each include refers. The key is the span of the include's path.
    targets: HashMap<Span, FileId>,
    /// The files being loaded, outermost first, each with the place of its include.
    open: Vec<(FileId, Option<Span>)>,
}

/// Loads a program and the files that it includes. Abbreviations are replaced in the trees.
pub(crate) fn load(name: &str, bytes: Vec<u8>, files: &dyn Files) -> Loaded {
    let mut loaded = Loaded { paths: vec![String::new()], ..Loaded::default() };
    match loaded.sources.add_bytes(name, bytes) {
        Ok(file) => loaded.parse(file, None, files),
        Err(diagnostic) => loaded.broken(*diagnostic),
    }
    if loaded.diagnostics.is_empty() {
        loaded.has_history = history::has_strategies(&loaded.trees);
        let (changed, diagnostics) = abbreviations::replace_all(&mut loaded.trees);
        // A history changes calls in all files.
        let changed = if loaded.has_history { (0..loaded.trees.len()).collect() } else { changed };
        loaded.with_records = changed.into_iter().map(|n| FileId(n as u32)).collect();
        loaded.diagnostics = diagnostics;
    }
    loaded
}

impl Loaded {
    /// Parses the file that was added last, then loads its includes.
    fn parse(&mut self, file: FileId, place: Option<Span>, files: &dyn Files) {
        let (tree, diagnostics) = parse(&self.sources, file);
        self.diagnostics.extend(diagnostics);
        let includes: Vec<(String, Span)> =
            tree.iter().filter_map(include).map(|(path, place)| (path.to_owned(), place)).collect();
        self.trees.push(tree);
        self.open.push((file, place));
        for (path, place) in includes {
            self.include(&path, place, files);
        }
        self.open.pop();
    }

    /// Records the file that was added last with an empty tree, because its bytes are not valid text.
    fn broken(&mut self, diagnostic: Diagnostic) {
        self.trees.push(Body::new());
        self.diagnostics.push(diagnostic);
    }

    fn include(&mut self, path: &str, place: Span, files: &dyn Files) {
        if self.open.len() > DEEPEST {
            let message = format!("includes nest more than {DEEPEST} deep");
            self.diagnostics.push(Diagnostic::error(ProblemCode::TooMuch, message, place, "included here"));
            return;
        }
        let shown = self.path_of(path, place.file);
        if !Structure::is_path(&shown) {
            let message = "this path is too long, or has control characters";
            self.diagnostics.push(Diagnostic::error(
                ProblemCode::FileNotIncluded,
                message,
                place,
                "included here",
            ));
            return;
        }
        let from = self.sources.name(place.file);
        let (name, bytes) = match files.read(path, from) {
            Ok(read) => read,
            Err(reason) => {
                let help = format!("write the path relative to the folder of `{from}`");
                self.diagnostics.push(
                    Diagnostic::error(ProblemCode::FileNotIncluded, reason, place, "included here")
                        .help(help),
                );
                return;
            }
        };
        if let Some(file) = self.sources.find(&name) {
            self.targets.insert(place, file);
            self.refuse_cycle(file, place);
            return;
        }
        self.paths.push(shown);
        match self.sources.add_bytes(name, bytes) {
            Ok(file) => {
                self.targets.insert(place, file);
                self.parse(file, Some(place), files);
            }
            Err(diagnostic) => self.broken(diagnostic.with(place, "included here")),
        }
    }

    /// Returns the path of an included file, relative to the program's folder. `..` is preserved, because
    /// after a symbolic link it may lead to another folder.
    fn path_of(&self, path: &str, from: FileId) -> String {
        let from = self.paths.get(from.0 as usize).map_or("", String::as_str);
        match from.rsplit_once('/') {
            Some((folder, _)) if !Path::new(path).is_absolute() => format!("{folder}/{path}"),
            _ => path.to_owned(),
        }
    }

    /// Reports a file that is included while it is being loaded, with the chain of includes.
    fn refuse_cycle(&mut self, file: FileId, place: Span) {
        let Some(start) = self.open.iter().position(|(open, _)| *open == file) else { return };
        let message = format!("`{}` includes itself", self.sources.name(file));
        let mut diagnostic =
            Diagnostic::error(ProblemCode::IncludesItself, message, place, "included here again");
        for (_, place) in self.open.iter().skip(start + 1) {
            diagnostic = place.iter().fold(diagnostic, |d, place| d.with(*place, "included here"));
        }
        self.diagnostics
            .push(diagnostic.help("move the declarations that both files need into a third file"));
    }

    /// States the classes of closed variables, before the program is inverted.
    pub(crate) fn state_classes(&mut self) {
        stated_classes::state(&mut self.trees);
    }

    /// Replaces the program by a single tree. The files remain as sources of messages.
    pub(crate) fn set_program(&mut self, body: Body) {
        self.targets.clear();
        self.is_replaced = true;
        self.trees.iter_mut().for_each(Body::clear);
        if let Some(first) = self.trees.first_mut() {
            *first = body;
        }
    }

    /// Returns every file with its tree.
    pub(crate) fn trees(&self) -> impl Iterator<Item = (FileId, &Body)> {
        self.sources.files().zip(&self.trees)
    }

    /// Returns the file that an include refers to.
    pub(crate) fn target(&self, path: Span) -> Option<FileId> {
        self.targets.get(&path).copied()
    }

    /// Returns the program's tree, in which each include is replaced by the tree of its file. Includes of the
    /// files in `stay` are preserved. The trees are moved out of `self`.
    pub(crate) fn splice(&mut self, stay: &HashSet<FileId>) -> Body {
        self.spliced(FileId(0), stay)
    }

    /// Returns the tree of a file, with its includes replaced. Later calls for the same file return an empty
    /// tree, because each file is included at most once.
    fn spliced(&mut self, file: FileId, stay: &HashSet<FileId>) -> Body {
        let Some(tree) = self.trees.get_mut(file.0 as usize) else { return Body::new() };
        let tree = std::mem::take(tree);
        if !tree.iter().any(|node| include(node).is_some()) {
            return tree;
        }
        let mut body = Body::with_capacity(tree.len());
        for node in tree {
            match include(&node).map(|(_, place)| self.target(place)) {
                None => body.push(node),
                Some(Some(target)) if stay.contains(&target) => body.push(node),
                Some(target) => body.extend(target.map(|file| self.spliced(file, stay)).unwrap_or_default()),
            }
        }
        body
    }
}

/// Returns the path of an include with its span; `None` for other statements.
pub(crate) fn include(node: &StatementNode) -> Option<(&str, Span)> {
    match &node.statement {
        Statement::Directive(Directive::Include { path, path_span }) => Some((path, *path_span)),
        _ => None,
    }
}
