//! Rules about words: all names are well formed. Other messages quote names, so names are checked first.

use super::{Checker, Site};
use crate::codes::ProblemCode;
use crate::instruction::Class;
use crate::module::{Parameter, Passing, Procedure, Rank, Structure};
use crate::names::{LENGTH_PARAMETER, is_name, is_operand_name, length_parameter};

impl Checker<'_> {
    pub(super) fn names(&mut self) {
        let module = self.module;
        for (n, global) in (0..).zip(&module.globals) {
            self.operand_name(Site::Global(n), &global.name);
        }
        for (n, procedure) in (0..).zip(&module.procedures) {
            self.name(Site::Procedure(n), &procedure.name);
            for variable in &procedure.frame {
                self.operand_name(Site::Procedure(n), &variable.name);
            }
            for parameter in &procedure.parameters {
                self.parameter_name(n, procedure, parameter);
            }
        }
        let Structure { labels, paths, .. } = &module.structure;
        for (at, label) in labels {
            self.name(Site::Instruction(*at), label);
        }
        for path in paths.iter().filter(|path| !Structure::is_path(path)) {
            self.report(
                ProblemCode::MalformedImage,
                Site::Module,
                format!("`{}` can't be the path of a file", path.escape_debug()),
            );
        }
    }

    fn parameter_name(&mut self, number: u32, procedure: &Procedure, parameter: &Parameter) {
        let Parameter { name, class, passing, rank } = parameter;
        if !parameter.is_length() {
            return self.operand_name(Site::Procedure(number), name);
        }
        let is_measured = |measured: &Parameter| match measured.rank {
            Rank::Scalar => false,
            Rank::Vector => *name == length_parameter(&measured.name, None),
            Rank::Matrix => {
                [None, Some(0), Some(1)].iter().any(|d| *name == length_parameter(&measured.name, *d))
            }
        };
        let is_one = (*class, *passing, *rank) == (Class::Int, Passing::In, Rank::Scalar);
        if !is_one || !procedure.parameters.iter().any(is_measured) {
            self.report(
                ProblemCode::MalformedImage,
                Site::Procedure(number),
                format!("`{}` isn't the length of any parameter", name.escape_debug()),
            );
        }
    }

    fn name(&mut self, site: Site, name: &str) {
        self.well_formed(site, name, is_name(name));
    }

    fn operand_name(&mut self, site: Site, name: &str) {
        self.well_formed(site, name, is_operand_name(name));
    }

    fn well_formed(&mut self, site: Site, name: &str, is_name: bool) {
        if name.starts_with(LENGTH_PARAMETER) {
            let name = name.escape_debug();
            self.report(
                ProblemCode::ReservedName,
                site,
                format!("`{name}` is the name of a length: only a parameter can have it"),
            );
        }
        if !is_name {
            self.report(
                ProblemCode::ReservedName,
                site,
                format!("`{}` can't be a name", name.escape_debug()),
            );
        }
    }
}
