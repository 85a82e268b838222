//! What a name means at an instruction, where the text gives one name to several cells: a local may hide a
//! global, or follow another local of its name. Such variables of a frame bear a number, `t$2`, which no
//! text contains. Knows a program, no state.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use reviver_isa::instruction::{Base, Operand};
use reviver_isa::module::{Module, Procedure};
use reviver_isa::update::Update;

/// Variables that share a name with another one.
#[derive(Debug)]
pub struct Scopes {
    /// By procedure and name.
    shared: HashMap<(usize, String), Vec<Scoped>>,
}

/// A variable of a frame, and where it is open.
#[derive(Debug)]
struct Scoped {
    variable: u32,
    extent: RangeInclusive<u32>,
}

impl Scopes {
    pub fn new(module: &Module) -> Scopes {
        let mut shared: HashMap<(usize, String), Vec<Scoped>> = HashMap::new();
        for (number, procedure) in module.procedures.iter().enumerate() {
            let named = || (0..).zip(procedure.frame.iter().map(|variable| variable.name.as_str()));
            for (_, name) in named().filter_map(|(n, name)| Some((n, unnumbered(name)?))) {
                let same = named().filter(|(_, other)| *other == name || unnumbered(other) == Some(name));
                let scoped = same.map(|(variable, _)| Scoped {
                    variable,
                    extent: extent(module, procedure, Base::Frame(variable)),
                });
                shared.entry((number, name.to_owned())).or_insert_with(|| scoped.collect());
            }
        }
        Scopes { shared }
    }

    /// The variable of a procedure's frame that a name means at an instruction: of those that are open there
    /// the innermost. None where no variable shares the name, or none of them is open.
    pub fn variable(&self, procedure: usize, name: &str, at: u32) -> Option<u32> {
        let scoped = self.shared.get(&(procedure, name.to_owned()))?;
        let open = scoped.iter().filter(|scoped| scoped.extent.contains(&at));
        open.min_by_key(|scoped| scoped.extent.end() - scoped.extent.start()).map(|scoped| scoped.variable)
    }
}

/// The name that the text has for a numbered one.
fn unnumbered(name: &str) -> Option<&str> {
    let (name, number) = name.rsplit_once('$')?;
    number.bytes().all(|digit| digit.is_ascii_digit()).then_some(name)
}

/// Where a variable is open: a local is vacated where it begins and where it ends; others are open in the
/// whole procedure.
fn extent(module: &Module, procedure: &Procedure, base: Base) -> RangeInclusive<u32> {
    let vacates = |at: &u32| {
        let instruction = module.code.get(*at as usize);
        let vacated = instruction.filter(|i| i.update == Update::Vacate).and_then(|i| i.operands.first());
        matches!(vacated, Some(Operand::Place(place)) if place.base == base)
    };
    let whole = procedure.entry..=procedure.exit;
    match (whole.clone().find(vacates), whole.clone().rev().find(vacates)) {
        (Some(first), Some(last)) => first..=last,
        _ => whole,
    }
}
