//! Explanations of plain instructions: the failed operation, with the operands that caused the failure.

use reviver_isa::fault::Fault;
use reviver_isa::instruction::{Argument, Class, Index, Instruction, Link, Operand, Place, Slice, Term};
use reviver_isa::module::Parameter;
use reviver_isa::structure::TextPlace;
use reviver_isa::update::Update;
use reviver_isa::verify::MAX_CELLS;

use super::{Explainer, ExplanationText, because, listed};
use crate::allocation::AllocationPurpose;
use crate::no_derivative;
use crate::state::values::plural;
use crate::state::{Part, TapeEntry};
use crate::trap::Cause;
use crate::travel::Travel;

impl Explainer<'_> {
    /// Explains a trap of an instruction that belongs to no larger statement.
    pub(super) fn flat(&self) -> ExplanationText {
        match self.trap.cause {
            Cause::UnexpectedFall => self.fall(),
            Cause::UnexpectedJump { partner } => self.jump(partner),
            Cause::Index { operand, dimension, index, length } => {
                self.index(operand, dimension, index, length)
            }
            Cause::ArgumentsOverlap { first, second } => self.overlap(first, second),
            Cause::TasksShare { first, second } => self.tasks_share(first, second),
            Cause::SliceBounds { argument, from, to, length } => {
                let said = self.argument_text(argument);
                let message = format!("{said} is the slice {from}..{to} of an array with {length} elements");
                let help = "the bounds of a slice must satisfy 0 <= from <= to <= length".to_owned();
                ExplanationText {
                    message,
                    label: format!("{from}..{to} of {length}"),
                    help: Some(help),
                    ..ExplanationText::default()
                }
            }
            Cause::ReferenceChanged { argument } => {
                let said = self.argument_text(argument);
                let message = format!("{said} refers to another cell than when the call was entered");
                let help = "change the cells that index an argument only outside of the call";
                ExplanationText { message, help: Some(help.to_owned()), ..ExplanationText::default() }
            }
            Cause::AssertFailed => self.assertion(),
            Cause::Fault(fault) => self.fault(fault),
            Cause::NoDerivative { source, fault } => self.no_derivative(source.into(), fault),
            Cause::DerivativeOutOfRange(_) => ExplanationText {
                message: no_derivative::OUT_OF_RANGE.into(),
                values: self.values_here(),
                ..ExplanationText::default()
            },
            _ => self.stores(),
        }
    }

    fn operands(&self) -> &[Operand] {
        &self.instruction(self.trap.at).operands
    }

    fn values_here(&self) -> Vec<(String, String)> {
        self.named_values(self.operands())
    }

    /// Formats a place in the code, for example "`again: br top, always` (line 12)" or "the beginning of
    /// `main`".
    fn place_of(&self, at: u32) -> String {
        let procedure = &self.procedure(at).name;
        match self.instruction(at).update {
            Update::Enter => return format!("the beginning of `{procedure}`"),
            Update::Exit => return format!("the end of `{procedure}`"),
            _ => {}
        }
        let label = self.known_label(at).filter(|_| self.program.seam(at).is_none());
        let label = label.map_or(String::new(), |label| format!("{label}: "));
        let words = self.program.statement(at);
        match (self.place(at), self.place(self.trap.at)) {
            (Some(place), here) => {
                format!("`{label}{words}` ({})", self.line(place, here.unwrap_or_default()))
            }
            (None, _) => format!("`{label}{words}`"),
        }
    }

    fn fall(&self) -> ExplanationText {
        let at = self.trap.at;
        let message = if self.instruction(at).update == Update::From {
            "reached a `from` from above, but its condition says that its `br` was taken"
        } else {
            "a backward run reached a `br` whose condition says that the `br` was taken"
        };
        let values = self.values_here();
        let mut notes: Vec<String> =
            values.iter().map(|(name, value)| format!("{name} is {value}")).collect();
        let mut others = Vec::new();
        if let Link::Partner(partner) = self.instruction(at).link {
            let before = if self.is_backward() { at + 1 } else { at.saturating_sub(1) };
            notes.push(format!("the partner is {}", self.place_of(partner)));
            notes.push(format!("control came from {} instead", self.place_of(before)));
            others.extend(self.other_at(partner, "its partner"));
        }
        let condition = self.condition_text(at, true);
        ExplanationText {
            message: message.to_owned(),
            label: condition,
            others,
            values,
            notes,
            ..ExplanationText::default()
        }
    }

    fn jump(&self, partner: u32) -> ExplanationText {
        let at = self.trap.at;
        let message = if self.instruction(at).update == Update::Br {
            "the `br` is taken, but the condition of its `from` says that it isn't"
        } else {
            "in a backward run, the `from` leads to its `br`, whose condition says that the `br` wasn't taken"
        };
        let both = self.operands().iter().chain(&self.instruction(partner).operands);
        let values = self.named_values(both);
        let mut notes = vec![format!("the pair is {} and {}", self.place_of(at), self.place_of(partner))];
        notes.extend(values.iter().map(|(name, value)| format!("{name} is {value}")));
        let others = self.other_at(partner, &self.condition_text(partner, false)).into_iter().collect();
        let label = self.condition_text(at, true);
        ExplanationText {
            message: message.to_owned(),
            label,
            others,
            values,
            notes,
            ..ExplanationText::default()
        }
    }

    /// Formats a condition and its value, for example "`a != 0` is true".
    fn condition_text(&self, at: u32, holds: bool) -> String {
        let condition = self.renderer().condition(self.instruction(at));
        format!("`{condition}` is {holds}")
    }

    fn other_at(&self, at: u32, label: &str) -> Option<super::OtherPlace> {
        let place: TextPlace = self.place(at)?;
        self.other(place, self.program.statement(at), label)
    }

    /// Explains an index out of bounds, in an operand or in an argument.
    fn index(&self, operand: u32, dimension: u32, index: i64, length: u32) -> ExplanationText {
        let which = ["index", "second index"].get(dimension as usize).copied().unwrap_or("index");
        let indexed = self.indexed(operand as usize, dimension);
        let (of, cell) = match &indexed {
            Some((text, cell)) => (format!(" of `{text}`"), cell.clone()),
            None => (String::new(), None),
        };
        let values = self.named_values(&cell);
        let message = format!("the {which}{of} is {index}, outside of 0..{length}{}", because(&values));
        let elements = if length == 1 { "element" } else { "elements" };
        ExplanationText {
            message,
            label: format!("{index} is outside of 0..{length}"),
            values,
            help: Some(format!("there are {length} {elements}, counted from 0")),
            ..ExplanationText::default()
        }
    }

    /// Returns the indexed operand or argument as text, and the cell that the index is computed from.
    fn indexed(&self, operand: usize, dimension: u32) -> Option<(String, Option<Operand>)> {
        let scalar = |term: &Term| term.cell.map(|base| Operand::Place(Place::scalar(base)));
        let of_place = |operand: &Operand| {
            let Operand::Place(Place { index: Some(index), .. }) = operand else { return None };
            let term = match (&**index, dimension) {
                (Index::One(term), _) | (Index::Two(term, _), 0) | (Index::Two(_, term), _) => term,
            };
            Some((self.renderer().operand(operand), scalar(term)))
        };
        let instruction = self.instruction(self.trap.at);
        if let Link::Calls(calls) = &instruction.link {
            let argument = calls.iter().flat_map(|call| &call.arguments).nth(operand)?;
            return match argument {
                Argument::Scalar(operand) => of_place(operand),
                Argument::Slice(_) => Some((self.renderer().argument(argument), self.first_term(argument))),
            };
        }
        instruction.operands.get(operand).and_then(of_place)
    }

    fn first_term(&self, argument: &Argument) -> Option<Operand> {
        use reviver_isa::instruction::Range;
        let Argument::Slice(Slice { range, .. }) = argument else { return None };
        let term = match range {
            Range::Row(term) | Range::Column(term) => term,
            Range::Span { from, .. } => from,
            Range::Whole => return None,
        };
        term.cell.map(|base| Operand::Place(Place::scalar(base)))
    }

    /// Formats an argument, for example "the argument `A[0..3]` (for `x` of `p`)".
    fn argument_text(&self, number: u32) -> String {
        match self.argument(number) {
            Some((text, Some((parameter, procedure)))) => {
                format!("the argument `{text}` (for `{}` of `{procedure}`)", parameter.name)
            }
            Some((text, None)) => format!("the argument `{text}`"),
            None => format!("argument {}", number + 1),
        }
    }

    /// Returns an argument of the trapped call as text, with its parameter and the name of the callee.
    fn argument(&self, number: u32) -> Option<(String, Option<(&Parameter, &str)>)> {
        self.argument_of(self.trap.at, number)
    }

    /// Returns an argument of the call at `site` as text, with its parameter and the name of the callee.
    pub(super) fn argument_of(&self, site: u32, number: u32) -> Option<(String, Option<(&Parameter, &str)>)> {
        let Link::Calls(calls) = &self.instruction(site).link else { return None };
        let call = calls.first()?;
        let text = self.renderer().argument(call.arguments.get(number as usize)?);
        let callee = self.program.module().procedures.get(call.procedure as usize);
        let parameter = callee.and_then(|p| Some((p.parameters.get(number as usize)?, p.name.as_str())));
        Some((text, parameter))
    }

    fn overlap(&self, first: u32, second: u32) -> ExplanationText {
        let [a, b] = [first, second].map(|n| match self.argument(n) {
            Some((text, Some((parameter, _)))) => format!("`{text}` (for `{}`)", parameter.name),
            Some((text, None)) => format!("`{text}`"),
            None => format!("argument {}", n + 1),
        });
        ExplanationText {
            message: format!("the arguments {a} and {b} share cells, and not both are `in`"),
            label: "two names for one cell".to_owned(),
            values: self.argument_values(),
            help: Some("pass cells that differ, or a copy: `local c = …`".to_owned()),
            ..ExplanationText::default()
        }
    }

    /// Returns the integers that index the call's arguments, with their values.
    fn argument_values(&self) -> Vec<(String, String)> {
        let Link::Calls(calls) = &self.instruction(self.trap.at).link else { return Vec::new() };
        let arguments = calls.iter().flat_map(|call| &call.arguments);
        let terms: Vec<Operand> = arguments
            .flat_map(|argument| match argument {
                Argument::Scalar(Operand::Place(Place { index: Some(index), .. })) => {
                    index.terms().filter_map(|term| term.cell).collect::<Vec<_>>()
                }
                _ => Vec::new(),
            })
            .map(|base| Operand::Place(Place::scalar(base)))
            .collect();
        self.named_values(&terms)
    }

    fn assertion(&self) -> ExplanationText {
        let condition = self.renderer().condition(self.instruction(self.trap.at));
        let values = self.values_here();
        ExplanationText {
            message: format!("the assertion `{condition}` does not hold{}", because(&values)),
            label: if values.is_empty() { "is false".to_owned() } else { listed(&values) },
            values,
            ..ExplanationText::default()
        }
    }

    fn fault(&self, fault: Fault) -> ExplanationText {
        let instruction: &Instruction = self.instruction(self.trap.at);
        let values = self.named_values(instruction.operands.iter().skip(1));
        let values = if values.is_empty() { self.values_here() } else { values };
        let divisor = instruction.operands.last().filter(|_| fault == Fault::DivisionByZero);
        let blamed = match divisor {
            Some(divisor) => self.named_values([divisor]),
            None => values.clone(),
        };
        ExplanationText {
            message: format!("{fault}{}", because(&blamed)),
            label: if blamed.is_empty() { fault.to_string() } else { listed(&blamed) },
            values,
            ..ExplanationText::default()
        }
    }

    /// Explains a derivative that doesn't exist at the arguments of a function.
    fn no_derivative(&self, source: usize, fault: Fault) -> ExplanationText {
        let instruction = self.instruction(self.trap.at);
        let found = instruction.operands.iter().map(|operand| self.resolve(operand));
        let values: Vec<Option<String>> =
            found.map(|cell| cell.map(|(class, cell)| self.value(class, cell))).collect();
        let message = no_derivative::message(instruction, &self.renderer(), &values, source, fault);
        let values = self.values_here();
        ExplanationText { message, label: listed(&values), values, ..ExplanationText::default() }
    }

    /// Returns the description of a stack: its name, or its class if it has no name.
    fn stack(&self, class: Class) -> String {
        match self.program.module().stack(class) {
            Some((_, global)) => format!("stack `{}`", global.name),
            None => format!("{} stack", class_word(class)),
        }
    }

    /// Explains traps of stacks, tapes, calls and modes, with messages that need no operands.
    fn stores(&self) -> ExplanationText {
        let words = self.program.statement(self.trap.at);
        let (message, help): (String, Option<&str>) = match self.trap.cause {
            Cause::Alias { .. } => (
                "a target is also a source or an index of the instruction".into(),
                Some("use different cells: this instruction couldn't be undone"),
            ),
            Cause::StackEmpty { class } => (
                format!("the {} is empty: `{words}` finds no value", self.stack(class)),
                Some(
                    "write an earlier `push` of the same class for each `pop`, or give the stack initial values",
                ),
            ),
            Cause::StackFull { limit } => (
                format!("the stack is full: it holds at most {limit} value{}", plural(limit.into(), "", "s")),
                Some("raise the limit by `.limit stack`, or by `.limit history` for procedures with `.strategy`"),
            ),
            Cause::DepthExceeded { limit } => (
                format!("more than {limit} call{} open", plural(limit.into(), " is", "s are")),
                Some("end the recursion earlier, or raise the limit by `.limit depth`"),
            ),
            Cause::FramesFull => (
                format!(
                    "the frames of open calls take more cells than a program may have: at most {MAX_CELLS} of each class"
                ),
                None,
            ),
            Cause::NoMemory(purpose) => {
                (format!("memory ran out: there is none for {}", allocation_words(purpose)), Some(allocation_cure(purpose)))
            }
            Cause::TapeFull { output, limit } => (
                format!(
                    "the {} tape is full: it holds at most {limit} value{}",
                    tape_word(output),
                    plural(limit.into(), "", "s")
                ),
                Some("raise the limit by `.limit tape`"),
            ),
            Cause::TapeEmpty { output } => (
                format!("the {} tape is empty: `{words}` finds no value", tape_word(output)),
                (!output).then_some("write all values that the program reads, for example `--tape 1,2,3`"),
            ),
            Cause::TapeClass { output, wanted } => (self.tape_class(output, wanted), None),
            Cause::Irreversible if self.is_in_rule() => (
                format!("`{words}` can't be undone without a history: it has lost information"),
                Some(
                    "a rule runs backward where its procedure was uncalled, for example by `uncompute`: in the rule, \
                     add to an adjoint instead of overwriting it, or call the procedure outside of `compute`",
                ),
            ),
            Cause::Irreversible => (
                format!("`{words}` can't be undone without a history: it has lost information"),
                (self.travel() == Travel::Forward).then_some(
                    "the program itself undoes the statement, and keeps no history for that: `push` the value \
                     before it is lost, rewrite the whole program by `reviver bennett`, or remove `grad.on` and \
                     `grad.off` and run `reviver grad`, which keeps a history if one is needed",
                ),
            ),
            Cause::ModeIs { on: true } => ("gradient mode is on already".into(), None),
            Cause::ModeIs { on: false } => ("gradient mode is off already".into(), None),
            // All other causes are explained by other functions.
            other => (format!("{other:?}"), None),
        };
        let notes = match self.trap.cause {
            Cause::Irreversible => {
                vec!["only a history of the lost bits could undo the statement".to_owned()]
            }
            _ => Vec::new(),
        };
        ExplanationText {
            message,
            values: self.values_here(),
            notes,
            help: help.map(str::to_owned),
            ..ExplanationText::default()
        }
    }

    /// Returns true if the instruction belongs to a derivative rule, or to a procedure that a rule calls.
    fn is_in_rule(&self) -> bool {
        self.state.calls.iter().any(|call| call.part == Part::Rule)
    }

    fn tape_class(&self, output: bool, wanted: Class) -> String {
        let tape = if output { &self.state.output } else { &self.state.input };
        let found = match tape.last() {
            Some(TapeEntry::Int(value)) => format!("the integer {value}"),
            Some(TapeEntry::Real(bits)) => {
                format!("the real {}", self.program.text(crate::state::values::Value::Real(*bits)))
            }
            None => "nothing".to_owned(),
        };
        let wanted = match wanted {
            Class::Int => "an integer",
            Class::Real => "a real",
        };
        format!("the next value of the {} tape is {found}, not {wanted}", tape_word(output))
    }
}

/// Returns the description of the data that no memory was available for.
fn allocation_words(purpose: AllocationPurpose) -> &'static str {
    match purpose {
        AllocationPurpose::Frame => "the frame of this call",
        AllocationPurpose::Stack => "another value on the stack",
        AllocationPurpose::Tape => "another value on the tape",
        AllocationPurpose::History => "the history of this step",
        AllocationPurpose::Adjoints => "an adjoint for each real",
        AllocationPurpose::Tasks => "the comparison of the cells that tasks use",
        AllocationPurpose::Copy => "a copy of the state, from which the backward run starts",
    }
}

/// Returns advice on how to reduce the memory use.
fn allocation_cure(purpose: AllocationPurpose) -> &'static str {
    match purpose {
        AllocationPurpose::Frame => {
            "set a smaller `.limit depth`, which stops a recursion before memory runs out"
        }
        AllocationPurpose::Stack => {
            "set a smaller `.limit stack`, which stops the program before memory runs out"
        }
        AllocationPurpose::Tape => {
            "set a smaller `.limit tape`, which stops the program before memory runs out"
        }
        AllocationPurpose::History => {
            "leave `--exact` out, so that no history is kept, or end the run earlier by `--max-steps`"
        }
        AllocationPurpose::Tasks => "start fewer tasks, or pass them parts of arrays instead of whole arrays",
        AllocationPurpose::Adjoints => {
            "declare smaller arrays: in gradient mode each real takes twice the memory"
        }
        AllocationPurpose::Copy => "declare smaller arrays: an integer or a real takes 8 bytes",
    }
}

fn class_word(class: Class) -> &'static str {
    match class {
        Class::Int => "integer",
        Class::Real => "real",
    }
}

fn tape_word(output: bool) -> &'static str {
    if output { "output" } else { "input" }
}
