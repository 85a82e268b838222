//! The smallest programs: for each row and class a few lines in which the row must be seen to do something.
//! They are made of the rows, so that a new row has its own without being asked for; a new action is asked
//! for by the compiler. Knows no engine.

use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::Class;
use reviver_isa::update::{Action, Direction, Over, Store, TaskBound, Update};

/// By what a step over an instruction can be seen to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Something of the state is another than before, besides where the machine stands.
    Changes,
    /// It traps.
    Refuses,
    /// It leads elsewhere than to the next instruction.
    Jumps,
    /// The run stops, to print a value.
    Shows,
}

/// A row, over one class if there is a choice, and programs in one of which it has an effect.
#[derive(Clone, Debug)]
pub struct Specimen {
    pub row: String,
    /// The update that acts.
    pub update: Update,
    /// What it applies, where that is what the specimen is of.
    pub function: Option<Function>,
    pub class: Option<Class>,
    pub effect: Effect,
    pub texts: Vec<String>,
}

/// Numbers that an instruction's cells begin with: the target's, and those of two sources.
const NUMBERS: [[i64; 3]; 5] = [[3, 2, 1], [1, 2, 2], [5, 1, 2], [7, -1, 3], [2, 6, -1]];

/// Every row.
pub fn all() -> Vec<Specimen> {
    let updates = Update::ALL.iter().flat_map(|&update| of_update(update));
    updates.chain(Function::ALL.iter().flat_map(|&function| of_function(function))).collect()
}

/// The classes of the numbers that there are so far.
fn classes(update: Update) -> Vec<Class> {
    let class = |over: &Over| match over {
        Over::Integers => Some(Class::Int),
        Over::AdditiveReals => Some(Class::Real),
        Over::MultiplicativeReals | Over::ComplexReals => None,
    };
    update.over().iter().filter_map(class).collect()
}

fn of_update(update: Update) -> Vec<Specimen> {
    let name = update.name();
    let of_class = |effect, texts: fn(&str, &str, &str) -> Vec<String>| {
        let specimen = |class: Class| {
            let (kind, undone) = (if class == Class::Int { "" } else { ": real" }, update.inverse().name());
            Specimen {
                row: format!("{name} {}", class.name()),
                update,
                function: None,
                class: Some(class),
                effect,
                texts: texts(name, undone, kind),
            }
        };
        classes(update).into_iter().map(specimen).collect()
    };
    let alone = |effect, texts: Vec<String>| {
        vec![Specimen { row: name.to_owned(), update, function: None, class: None, effect, texts }]
    };
    match update.action() {
        Action::Accumulate | Action::Replace => of_class(Effect::Changes, |name, _, kind| {
            NUMBERS.map(|[y, a, _]| format!(".inout y{kind} = {y}, a{kind} = {a}\n{name} y, a\n")).to_vec()
        }),
        Action::Map | Action::Erase(_) => of_class(Effect::Changes, |name, _, kind| {
            NUMBERS.map(|[y, _, _]| format!(".inout y{kind} = {y}\n{name} y\n")).to_vec()
        }),
        Action::Exchange => of_class(Effect::Changes, |name, _, kind| {
            vec![format!(".inout x{kind} = 1, y{kind} = 2\n{name} x, y\n")]
        }),
        Action::Rotate => of_class(Effect::Changes, |name, _, kind| {
            vec![format!(".inout x{kind} = 1, y{kind} = 2\n{name} x, y, 0.5\n")]
        }),
        Action::Clear => {
            of_class(Effect::Refuses, |name, _, kind| vec![format!(".inout y{kind} = 3\n{name} y\n")])
        }
        Action::Put(Store::Stack | Store::Input | Store::Output) => {
            of_class(Effect::Changes, |name, _, kind| vec![format!(".inout y{kind} = 3\n{name} y\n")])
        }
        Action::Take(Store::Stack | Store::Input | Store::Output) => {
            of_class(Effect::Changes, |name, undone, kind| {
                vec![format!(".inout x{kind} = 3, y{kind}\n{undone} x\n{name} y\n")]
            })
        }
        Action::Show => {
            of_class(Effect::Shows, |name, _, kind| vec![format!(".inout y{kind} = 3\n{name} y\n")])
        }
        Action::Test => alone(Effect::Refuses, vec![format!(".inout a = 1\n{name} a == 2\n")]),
        Action::Jump => alone(
            Effect::Jumps,
            vec![format!(".inout a = 1, b\nx: {name} y, a == 1\nadd b, 1\ny: from x, a == 1\n")],
        ),
        Action::Join => alone(
            Effect::Refuses,
            vec![format!(".inout a = 1, b\nx: br y, a == 2\nadd b, 1\ny: {name} x, a == 1\n")],
        ),
        // Going out of a procedure is where its ends are seen, in either direction.
        Action::Begin => alone(Effect::Changes, vec![calling("uncall p(y)")]),
        Action::End => alone(Effect::Changes, vec![calling("call p(y)")]),
        Action::Call(Direction::Forward | Direction::Backward) => {
            alone(Effect::Changes, vec![calling(&format!("{name} p(y)"))])
        }
        Action::Tasks(TaskBound::Opens) => alone(Effect::Refuses, vec![forking("call share(A, n)")]),
        // Going back, it is the fork.
        Action::Tasks(TaskBound::Closes) => alone(Effect::Refuses, vec![forking("uncall share(A, n)")]),
        Action::Switch(true) => alone(Effect::Changes, vec![format!(".inout y\n{name}\ngrad.off\n")]),
        Action::Switch(false) => alone(Effect::Changes, vec![format!(".inout y\ngrad.on\n{name}\n")]),
    }
}

/// A program that calls a procedure.
fn calling(call: &str) -> String {
    format!(".inout n = 1, y, z\n{call}\n.proc p(inout a)\nadd a, 1\n.end\n")
}

/// A program with tasks that share a cell, which no text tells.
fn forking(call: &str) -> String {
    let tasks = "fork\ncall p(v[i])\ncall p(v[0])\njoin\n";
    format!(
        ".inout n, A[2]\n{call}\n.proc share(inout v[], in i)\n{tasks}.end\n.proc p(inout a)\nadd a, 1\n.end\n"
    )
}

/// What is added is seen in the target.
fn of_function(function: Function) -> Vec<Specimen> {
    // `always` stands in conditions only.
    let forms = function.forms().filter(|_| function.arity() > 0);
    let specimen = |form: Form| Specimen {
        row: format!("{} {form:?}", function.name()),
        update: Update::Add,
        function: Some(function),
        class: Some(form.result()),
        effect: Effect::Changes,
        texts: NUMBERS.map(|numbers| applied(function, form, numbers)).to_vec(),
    };
    forms.map(specimen).collect()
}

fn applied(function: Function, form: Form, [y, a, b]: [i64; 3]) -> String {
    let kind = |class| if class == Class::Int { "" } else { ": real" };
    let (result, first, second) = (kind(form.result()), kind(form.source(0)), kind(form.source(1)));
    // Most domains have a part between 0 and 1.
    let number =
        |n: i64, class| if class == Class::Int { n.to_string() } else { (n as f64 / 4.0).to_string() };
    let (y, a, b) = (y, number(a, form.source(0)), number(b, form.source(1)));
    let sources = ["", ", a", ", a, b"][function.arity().min(2)];
    let name = function.name();
    format!(".inout y{result} = {y}, a{first} = {a}, b{second} = {b}\nadd.{name} y{sources}\n")
}
