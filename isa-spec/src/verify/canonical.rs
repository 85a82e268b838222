//! Rules about canonical form. Of all modules with the same text, only one is valid. So the disassembly of an
//! image assembles to the same image, byte for byte.

use crate::codes::ProblemCode;
use std::collections::{HashMap, HashSet};

use super::{Checker, Site};
use crate::instruction::{Base, Operand};
use crate::module::{Procedure, Role, Shape, Values};
use crate::names::register_class;
use crate::structure::{Block, BlockKind, Counting};
use crate::update::OperandShape;

impl<'a> Checker<'a> {
    pub(super) fn canonical(&mut self) {
        self.zeros();
        self.garbage_of_inverses();
        self.labels_of_branches();
        let globals: HashMap<&str, u32> =
            self.module.globals.iter().map(|global| global.name.as_str()).zip(0..).collect();
        for (n, procedure) in (0..).zip(&self.module.procedures) {
            self.shared_names(n, procedure, &globals);
            self.hidden_uses(n, procedure, &globals);
        }
    }

    /// Reports garbage globals in an inverse program, in which they must be inputs.
    fn garbage_of_inverses(&mut self) {
        let module = self.module;
        let garbage = (0..).zip(&module.globals).filter(|(_, global)| global.role == Role::Garbage);
        for (n, global) in garbage.filter(|_| module.inverse) {
            let message =
                format!("`{}` is garbage in an inverse program, where it must be an input", global.name);
            self.report(ProblemCode::MalformedImage, Site::Global(n), message);
        }
    }

    /// Reports a list of values that are all 0, because it must be stored as an empty list.
    fn zeros(&mut self) {
        let module = self.module;
        // Stacks are excluded: for a stack, the list of zeros is the only record of the number of entries.
        let cells = (0..).zip(&module.globals).filter(|(_, global)| global.shape != Shape::Stack);
        for (n, global) in cells {
            for values in std::iter::once(&global.initial).chain(&global.default) {
                let written_out = match values {
                    Values::Ints(ints) => !ints.is_empty() && ints.iter().all(|&v| v == 0),
                    Values::Reals(reals) => !reals.is_empty() && reals.iter().all(|v| v.to_bits() == 0),
                };
                if written_out {
                    self.report(
                        ProblemCode::MalformedImage,
                        Site::Global(n),
                        format!("the zeros of `{}` are recorded, although they are the default", global.name),
                    );
                }
            }
        }
    }

    /// Reports labels that are recorded for some branch halves but not for all, or for other instructions.
    fn labels_of_branches(&mut self) {
        let labels = &self.module.structure.labels;
        let is_half =
            |at: usize| self.module.code.get(at).is_some_and(|i| i.update.shape() == OperandShape::Branch);
        let is_labelled = |at: &usize| labels.binary_search_by_key(&(*at as u32), |(at, _)| *at).is_ok();
        let bare = (0..self.module.code.len()).find(|at| is_half(*at) && !is_labelled(at));
        let strays: Vec<u32> = labels.iter().map(|(at, _)| *at).filter(|&at| !is_half(at as usize)).collect();
        for at in strays {
            self.report(
                ProblemCode::MalformedImage,
                Site::Instruction(at),
                "a label is recorded for an instruction other than `br` and `from`",
            );
        }
        if let Some(at) = bare.filter(|_| !labels.is_empty()) {
            self.report(
                ProblemCode::MalformedImage,
                Site::Instruction(at as u32),
                "other branches have labels, and this one has none",
            );
        }
    }

    /// Reports a frame variable with the name of a global, or of a register (which may become a global
    /// later). In a valid module, the variable has a name with a number, such as `t$2`.
    fn shared_names(&mut self, n: u32, procedure: &'a Procedure, globals: &HashMap<&str, u32>) {
        let is_shared = |name: &str| globals.contains_key(name) || register_class(name).is_some();
        for variable in procedure.frame.iter().filter(|variable| is_shared(&variable.name)) {
            let message =
                format!("the variable `{}` of `{}` has the name of a global", variable.name, procedure.name);
            self.report(ProblemCode::MalformedImage, Site::Procedure(n), message);
        }
    }

    /// Reports the use of a global in a procedure that has a parameter with the same name, because the
    /// procedure's text couldn't name the global.
    fn hidden_uses(&mut self, number: u32, procedure: &'a Procedure, globals: &HashMap<&str, u32>) {
        let names = procedure.parameters.iter().map(|parameter| parameter.name.as_str());
        let hidden: HashSet<u32> = names.filter_map(|name| globals.get(name).copied()).collect();
        if hidden.is_empty() {
            return;
        }
        for at in procedure.entry + 1..procedure.exit {
            let Some(instruction) = self.module.code.get(at as usize) else { return };
            let mut named = None;
            instruction.visit_bases(|base| match base {
                Base::Global(n) if hidden.contains(&n) => named = Some(n),
                _ => {}
            });
            let Some(global) = named.and_then(|n| self.module.globals.get(n as usize)) else { continue };
            let message = format!(
                "this names the global `{}`, which a parameter of `{}` hides",
                global.name, procedure.name
            );
            self.report(ProblemCode::GlobalBehindParameter, Site::Instruction(at), message).help =
                Some("give the parameter another name".into());
        }
        let recorded = self.recorded_operands(number, procedure);
        let mut is_hidden = false;
        let mut look = |base| is_hidden |= matches!(base, Base::Global(n) if hidden.contains(&n));
        recorded.into_iter().for_each(|operand| operand.visit_bases(&mut look));
        if is_hidden {
            let message = "a record names a global that a parameter hides";
            self.report(ProblemCode::MalformedImage, Site::Procedure(number), message);
        }
    }

    /// Returns the operands in all conditions, bounds and expressions that are recorded for a procedure.
    fn recorded_operands(&self, number: u32, procedure: &Procedure) -> Vec<&'a Operand> {
        let structure = &self.module.structure;
        let before = |end: u32| structure.blocks.partition_point(|block| block.start() < end);
        let own = before(procedure.entry)..before(procedure.exit);
        let own = structure.blocks.get(own).unwrap_or_default();
        let of_block = |block: &'a Block| match &block.kind {
            BlockKind::If { entry, exit } | BlockKind::Loop { entry, exit } => {
                [entry.operands(), exit.operands()].concat()
            }
            BlockKind::Assert { condition } => condition.operands(),
            BlockKind::For(Counting { from, to, .. }) => vec![from, to],
            BlockKind::Local
            | BlockKind::Delocal
            | BlockKind::Compute
            | BlockKind::Macro { .. }
            | BlockKind::Temporaries => Vec::new(),
        };
        let temporaries = structure.temporaries_of(number).iter();
        let sources = temporaries.flat_map(|temporary| &temporary.sources);
        own.iter().flat_map(of_block).chain(sources).collect()
    }
}
