//! Rules about words: what is called something is called by a name. Everything else that is said
//! about a module quotes its names, so they are looked at first.

use super::{Checker, Site};
use crate::module::Structure;
use crate::names::is_name;

impl Checker<'_> {
    pub(super) fn names(&mut self) {
        let module = self.module;
        for (n, global) in (0..).zip(&module.globals) {
            self.name(Site::Global(n), &global.name);
        }
        for (n, procedure) in (0..).zip(&module.procedures) {
            let parameters = procedure.parameters.iter().map(|parameter| &parameter.name);
            let variables = procedure.frame.iter().map(|variable| &variable.name);
            for name in std::iter::once(&procedure.name).chain(parameters).chain(variables) {
                self.name(Site::Procedure(n), name);
            }
        }
        let Structure { labels, paths, .. } = &module.structure;
        for (at, label) in labels {
            self.name(Site::Instruction(*at), label);
        }
        for path in paths.iter().filter(|path| !Structure::is_path(path)) {
            self.report(Site::Module, format!("`{}` can't be the path of a file", path.escape_debug()));
        }
    }

    fn name(&mut self, site: Site, name: &str) {
        if !is_name(name) {
            self.report(site, format!("`{}` can't be a name", name.escape_debug()));
        }
    }
}
