//! Specimens: for each row and class, short programs in which the row must have an observable effect. They are
//! generated from the instruction table, so a new row has specimens at once. A new action doesn't compile until this
//! module handles it. Specimens don't depend on an engine.

use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;
use reviver_isa::update::{Action, Direction, Over, Store, TaskBound, Update};

/// Observable effect of executing an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The step changes the state, apart from the machine's position.
    Changes,
    /// The step ends in a trap.
    Refuses,
    /// The step doesn't continue at the next instruction.
    Jumps,
    /// The run stops to print a value.
    Shows,
}

/// A row of the instruction table, with a class if several are possible. At least one of its programs must show the
/// effect.
#[derive(Clone, Debug)]
pub struct Specimen {
    pub row: String,
    /// Update of the row.
    pub update: Update,
    /// Function of the row, if the specimen tests a function.
    pub function: Option<Function>,
    pub class: Option<Class>,
    pub effect: Effect,
    pub texts: Vec<String>,
}

/// Initial values of a specimen's cells: target, first source and second source. Each entry gives one program.
const NUMBERS: [[i64; 3]; 5] = [[3, 2, 1], [1, 2, 2], [5, 1, 2], [7, -1, 3], [2, 6, -1]];

/// Returns the specimens of every row.
pub fn all() -> Vec<Specimen> {
    let updates = Update::ALL.iter().flat_map(|&update| of_update(update));
    updates.chain(Function::ALL.iter().flat_map(|&function| of_function(function))).collect()
}

/// Returns the classes of numbers on which the machine supports an update.
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
        // A procedure's entry and exit have no separate step; leaving the procedure shows their effect. In an uncall,
        // the entry is executed last.
        Action::Begin => alone(Effect::Changes, vec![calling("uncall p(y)")]),
        Action::End => alone(Effect::Changes, vec![calling("call p(y)")]),
        Action::Call(Direction::Forward | Direction::Backward) => {
            alone(Effect::Changes, vec![calling(&format!("{name} p(y)"))])
        }
        Action::Tasks(TaskBound::Opens) => alone(Effect::Refuses, vec![forking("call share(A, n)")]),
        // In a backward run, `join` opens the region of tasks, so it traps there.
        Action::Tasks(TaskBound::Closes) => alone(Effect::Refuses, vec![forking("uncall share(A, n)")]),
        Action::Switch(true) => alone(Effect::Changes, vec![format!(".inout y\n{name}\ngrad.off\n")]),
        Action::Switch(false) => alone(Effect::Changes, vec![format!(".inout y\ngrad.on\n{name}\n")]),
    }
}

/// Returns a program that calls a procedure.
fn calling(call: &str) -> String {
    format!(".inout n = 1, y, z\n{call}\n.proc p(inout a)\nadd a, 1\n.end\n")
}

/// Returns a program with tasks that share a cell. The indices hide that from the assembler.
fn forking(call: &str) -> String {
    let tasks = "fork\ncall p(v[i])\ncall p(v[0])\njoin\n";
    format!(
        ".inout n, A[2]\n{call}\n.proc share(inout v[], in i)\n{tasks}.end\n.proc p(inout a)\nadd a, 1\n.end\n"
    )
}

/// Returns specimens that add a function's value to a target.
fn of_function(function: Function) -> Vec<Specimen> {
    // The function `always` is left out, because it occurs only in conditions.
    let signatures = function.signatures().filter(|_| function.arity() > 0);
    let specimen = |signature: Signature| Specimen {
        row: format!("{} {signature:?}", function.name()),
        update: Update::Add,
        function: Some(function),
        class: Some(signature.result()),
        effect: Effect::Changes,
        texts: NUMBERS.map(|numbers| applied(function, signature, numbers)).to_vec(),
    };
    signatures.map(specimen).collect()
}

fn applied(function: Function, signature: Signature, [y, a, b]: [i64; 3]) -> String {
    let kind = |class| if class == Class::Int { "" } else { ": real" };
    let (result, first, second) =
        (kind(signature.result()), kind(signature.source(0)), kind(signature.source(1)));
    // Most functions of reals have a value somewhere between 0 and 1.
    let number =
        |n: i64, class| if class == Class::Int { n.to_string() } else { (n as f64 / 4.0).to_string() };
    let (y, a, b) = (y, number(a, signature.source(0)), number(b, signature.source(1)));
    let sources = ["", ", a", ", a, b"][function.arity().min(2)];
    let name = function.name();
    format!(".inout y{result} = {y}, a{first} = {a}, b{second} = {b}\nadd.{name} y{sources}\n")
}
