//! The definitions of a program by name: its procedures, its macros, and its declared cells.

use std::collections::HashMap;
use std::rc::Rc;

use compact_str::CompactString;

use crate::scopes::Names;
use crate::tree::{Body, Directive, Macro, ProcedureNode, Statement};

/// The names of a program, with the procedures and macros that they denote.
pub(crate) struct ProgramNames {
    /// The names that are visible in main.
    pub names: Names,
    pub procedures: HashMap<CompactString, Rc<ProcedureNode>>,
    pub macros: HashMap<CompactString, Rc<Macro>>,
}

impl ProgramNames {
    /// Reads the declarations and definitions of all files.
    pub fn of<'t>(trees: impl Iterator<Item = &'t Body>) -> ProgramNames {
        let mut names = Names::default();
        let (mut procedures, mut macros) = (HashMap::new(), HashMap::new());
        names.begin("", HashMap::new());
        for tree in trees {
            names.declare(tree);
            for node in tree {
                match &node.statement {
                    Statement::Procedure(tree) => {
                        procedures.insert(tree.name.text.clone(), Rc::new((**tree).clone()));
                    }
                    Statement::Macro(tree) => {
                        macros.insert(tree.name.text.clone(), Rc::new((**tree).clone()));
                    }
                    Statement::Directive(Directive::Ancillas(declarations)) => {
                        names.bind_ancillas(declarations);
                    }
                    _ => {}
                }
            }
        }
        ProgramNames { names, procedures, macros }
    }
}
