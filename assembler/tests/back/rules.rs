//! Tests of the rules that texts and images share: each is violated once, by a text or by a changed module.
//! The complete messages are tested in `diagnostics.rs`.

use reviver_isa::function::Function;
use reviver_isa::instruction::{Argument, Base, Call, Class, Link, Operand, Place, Range, Slice, Term};
use reviver_isa::module::{
    FrameVariable, Global, Module, Passing, Rank, RealSystem, Role, Shape, Values, Word,
};
use reviver_isa::update::Update;
use reviver_isa::verify::verify;

use crate::support::{assembly, module, refusal};

/// Invalid texts, each with the first error.
const TEXTS: &[(&str, &str)] = &[
    (".real fixed 8\n.in x\n", "fixed point has 16 to 56 fraction bits"),
    (".limit depth 16777217\n.in x\n", "`.limit depth` is at most 16777216"),
    (".limit stack 1073741825\n.in x\n", "`.limit stack` is at most 1073741824"),
    (".limit tape 1073741825\n.in x\n", "`.limit tape` is at most 1073741824"),
    (".in x\n mul x, 3\n", "`mul` has no inverse over integers"),
    (".in x: real\n mul x, 3\n", "`mul` has no inverse over f64"),
    (".in x: real\n not x\n", "`not` has no inverse over f64"),
    (".in a, b, c\n rot a, b, c\n", "`rot` takes reals only"),
    (".in x: real\n callvia x()\n.proc p()\n.end\n", "the number of a procedure is an integer"),
    (".in a\n add a', 1\n", "`a` is an integer and has no adjoint"),
    (".in S[]: real, T[]: real\n", "`T` and `S` are both the stack of reals"),
    (".out S[] = 1\n", "the stack `S` has initial values, but a stack begins empty"),
    (
        ".limit stack 2\n.in S[] default {1, 2, 3}\n",
        "`S` has 3 default values, more than `.limit stack 2` allows",
    ),
    (".in A[3]\n.out y\n add y, A\n", "`A` is an array: an element needs an index"),
    (".in a\n add a[1], 1\n", "`a` is a scalar: it has no elements"),
    (".in M[2, 3]\n add M[1], 1\n", "`M` is a matrix: an element has two indices"),
    (".in A[3]\n add A[1, 1], 1\n", "`A` is a vector: an element has one index"),
    (
        ".in A[3], i\n add A[i + 4611686018427387905], 1\n",
        "the offset 4611686018427387905 is beyond every array",
    ),
    (".in A[3], i\n add i, A[i]\n", "`i` is the target and an index of one instruction"),
    (".in A[3], i\n add A[i], A[i]\n", "`A` is the target and a source of one instruction"),
    (".in x: real, y: real\n rot x, x, y\n", "`x` is the target and a source of one instruction"),
    (".in x\n call p(x)\n.proc p(in a)\n add a, 1\n.end\n", "`a` is an `in` parameter and can't be changed"),
    (".in x\n call p(x, x)\n.proc p(inout a, in b)\n.end\n", "two arguments are the same cells"),
    (".in A[3]\n call p(A, A[1])\n.proc p(in v[], inout b)\n.end\n", "two arguments are the same cells"),
    (".in A[3]\n call p(A[1..3], A)\n.proc p(inout v[], in w[])\n.end\n", "two arguments are the same cells"),
    (
        ".in M[2, 3]\n call p(M[0..2])\n.proc p(in v[])\n.end\n",
        "`M` is a matrix: pass `M[i, ..]` or `M[.., j]`",
    ),
    (".in A[3]\n call p(A[0, ..])\n.proc p(in v[])\n.end\n", "`A` is not a matrix"),
    (".in A[3]\n call p(A[0..5])\n.proc p(in v[])\n.end\n", "the index 5 is outside of `A`"),
    (".in M[2, 3]\n call p(M[2, ..])\n.proc p(in v[])\n.end\n", "the index 2 is outside of `M`"),
    (".in M[2, 3]\n call p(M[.., 3])\n.proc p(in v[])\n.end\n", "the index 3 is outside of `M`"),
    (".in x: real\n call p(x')\n.proc p(in a: real)\n.end\n", "an adjoint can't be passed"),
    (
        ".in x\na: br b, always\n add x, 1\nb: from a, x == 1\n",
        "the statement after this `br …, always` can't be reached",
    ),
    (
        ".in x\na: br b, x == 1\n add x, 1\nb: from a, always\n",
        "reaching this `from …, always` from above always traps",
    ),
    (
        ".in x\n call p(x)\n.proc p(in a) rule q\n.end\n.proc q(inout a)\n.end\n",
        "the rule `q` must have the same parameters as `p`",
    ),
];

/// Returns a text with a procedure `p` that has the rule `q`, and the bodies of both.
fn with_rule(body: &str, rule: &str) -> String {
    format!(
        ".inout x: real, n\n.var G: real\n call p(x, n)\n\
         .proc p(inout v: real, inout k) rule q\n{body}.end\n\
         .proc q(inout v: real, inout k)\n.ancilla t: real\n{rule}.end\n\
         .proc moves()\n add G, 1\n.end\n\
         .proc adds(inout w: real)\n add w, 1\n.end\n\
         .proc reads(in w: real)\n.ancilla u: real\n add u, w\n sub u, w\n.end\n\
         .proc switches()\n grad.on\n grad.off\n.end\n"
    )
}

#[test]
fn a_rule_changes_adjoints_and_its_own_frame_only() {
    for rule in [
        " add v, 1\n",
        " add k, 1\n",
        " add G, 1\n",
        " call moves()\n",
        " call adds(v)\n",
        " uncall adds(G)\n",
        " push t\n pop t\n",
    ] {
        let said = refusal(&with_rule("", rule));
        assert!(
            said.starts_with("`q` is a rule: it may change only its own frame and adjoints ["),
            "{rule}: {said}"
        );
    }
    for rule in [
        " add v', 1\n",
        " add G', v\n",
        " add t, v\n sub t, v\n",
        " call adds(t)\n uncall adds(t)\n",
        " call reads(v)\n",
    ] {
        let assembly = assembly(&with_rule("", rule));
        assert!(assembly.module.is_some(), "{rule}: {:?}", assembly.diagnostics);
    }
}

#[test]
fn procedures_with_a_rule_cannot_switch_gradient_mode() {
    let switch = " grad.on\n grad.off\n";
    for (body, rule) in [(switch, ""), ("", switch), (" call switches()\n", ""), ("", " call switches()\n")] {
        let said = refusal(&with_rule(body, rule));
        assert!(said.starts_with("`p` has a rule, so gradient mode can't be switched inside ["), "{said}");
    }
}

#[test]
fn texts_with_invalid_rules_are_refused() {
    for (text, reason) in TEXTS {
        let said = refusal(text);
        assert!(said.starts_with(reason), "{reason}\n{text}\n{said}");
    }
}

/// The text from which the changed modules below are made.
const TEXT: &str = "\
.in n, x: real default 0.5
.inout A[4] = 7, M[2, 3]
        add   n, 1
        if    n == 3
            add x, 0.1
        fi    n == 3
        call  p(n, A)
        call  p(n, A[0..3 step 2])
.proc p(inout a, in B[]) rule q
.ancilla t, u
        add   a, B[0]
.end
.proc q(inout a, in B[])
.end
";

/// Returns the last call of the text.
fn call(module: &mut Module) -> &mut Call {
    let site = module.code.iter_mut().rfind(|instruction| instruction.update == Update::Call);
    match &mut site.expect("the text has one").link {
        Link::Calls(calls) => &mut calls[0],
        _ => unreachable!("a call has callees"),
    }
}

/// Returns the array part that the call passes.
fn span(module: &mut Module) -> &mut Range {
    match &mut call(module).arguments[1] {
        Argument::Slice(slice) => &mut slice.range,
        Argument::Scalar(_) => unreachable!(),
    }
}

/// Changes the vector parameters of the procedures to matrices.
fn matrix_parameters(module: &mut Module) {
    module.procedures[1..].iter_mut().for_each(|procedure| procedure.parameters[1].rank = Rank::Matrix);
}

fn index(cell: Option<Base>, offset: i64) -> Term {
    Term { cell, offset }
}

/// An error message, and a change of a module that causes this error.
type Change = (&'static str, fn(&mut Module));

/// Returns a declared stack that is an input.
fn stack(name: &str, class: Class) -> Global {
    let (name, initial) = (name.to_owned(), Values::zero(class));
    Global { name, class, role: Role::In, shape: Shape::Stack, initial, default: None, is_shared: false }
}

const NOWHERE: Base = Base::Global(99);

const CHANGES: &[Change] = &[
    ("fixed point has 16 to 56 fraction bits, not 8", |m| m.real = RealSystem::Fixed(8)),
    ("the tolerance must be a finite number, 0 or above", |m| m.tolerance = Some(f64::NAN)),
    ("the tolerance must be a finite number, 0 or above", |m| m.tolerance = Some(-1.0)),
    ("the name `x` is declared twice", |m| m.globals[0].name = "x".into()),
    ("`len$B` is the name of a length", |m| m.globals[0].name = "len$B".into()),
    ("`len$t` is the name of a length", |m| m.procedures[1].frame[0].name = "len$t".into()),
    ("`len$B` is the name of a length", |m| m.procedures[1].name = "len$B".into()),
    ("`len$a` isn't the length of any parameter", |m| m.procedures[1].parameters[1].name = "len$a".into()),
    ("`len$B` isn't the length of any parameter", |m| m.procedures[1].parameters[0].name = "len$B".into()),
    ("`len$1$B` isn't the length of any parameter", |m| {
        let length = &mut m.procedures[1].parameters[0];
        (length.name, length.passing) = ("len$1$B".into(), Passing::In);
    }),
    ("the array `A` has no cells", |m| m.globals[2].shape = Shape::Vector(0)),
    ("the array `t` has no cells", |m| m.procedures[1].frame[0].shape = Shape::Matrix(3, 0)),
    ("the values of `A` do not fit its declaration", |m| m.globals[2].initial = Values::Ints(vec![1; 3])),
    ("the values of `A` do not fit its declaration", |m| m.globals[2].initial = Values::Reals(vec![1.0; 4])),
    ("the values of `x` do not fit its declaration", |m| m.globals[1].default = Some(Values::Ints(vec![1]))),
    ("`x` has a default but is not an input", |m| m.globals[1].role = Role::Out),
    ("1000 does not fit into 8 bits", |m| {
        m.globals[2].initial = Values::Ints(vec![1000; 4]);
        m.word = Word::W8;
    }),
    ("NaN does not fit into the number system (f64)", |m| {
        m.globals[1].default = Some(Values::Reals(vec![f64::NAN]))
    }),
    ("more than 16777216 cells have initial values other than 0", |m| {
        m.globals[2].shape = Shape::Vector(1 << 24);
        m.globals[2].initial = Values::Ints(vec![1; 1 << 24]);
    }),
    ("`S` is a stack: only `push` and `pop` reach it", |m| {
        m.globals.push(stack("S", Class::Int));
        m.code[1].operands[0] = Operand::Place(Place::scalar(Base::Global(4)));
    }),
    ("`S` is a stack: only `push` and `pop` reach it", |m| {
        m.globals.push(stack("S", Class::Int));
        call(m).arguments[1] = Argument::Slice(Slice { base: Base::Global(4), range: Range::Whole });
    }),
    ("`S` is a stack: only `push` and `pop` reach it", |m| {
        m.globals.push(stack("S", Class::Int));
        call(m).arguments[0] = Argument::Slice(Slice { base: Base::Global(4), range: Range::Whole });
    }),
    ("the stack `t` is declared in a frame", |m| m.procedures[1].frame[0].shape = Shape::Stack),
    ("the stack `S` is empty by default, so an empty default is not recorded", |m| {
        m.globals.push(Global { default: Some(Values::Ints(Vec::new())), ..stack("S", Class::Int) });
    }),
    ("the values of `S` do not fit its declaration", |m| {
        m.globals.push(Global { default: Some(Values::Reals(vec![1.0])), ..stack("S", Class::Int) });
    }),
    ("the procedure `p` is declared twice", |m| m.procedures[2].name = "p".into()),
    ("the name `t` is declared twice in `p`", |m| m.procedures[1].frame[1].name = "t".into()),
    ("the name `a` is declared twice in `p`", |m| m.procedures[1].parameters[1].name = "a".into()),
    ("the first procedure must be `main`, without parameters or rule", |m| m.procedures[0].name = "m".into()),
    ("the first procedure must be `main`, without parameters or rule", |m| m.procedures[0].rule = Some(1)),
    ("`n` in main's frame hides a global", |m| {
        m.procedures[0].frame.push(FrameVariable {
            name: "n".into(),
            class: Class::Int,
            shape: Shape::Scalar,
        });
    }),
    ("the rule of `p` does not exist", |m| m.procedures[1].rule = Some(99)),
    ("the rule `main` must have the same parameters as `p`", |m| m.procedures[1].rule = Some(0)),
    ("the procedure `p` is not laid out from `enter` to `exit`", |m| m.procedures[1].entry += 1),
    ("the procedure `p` is not laid out from `enter` to `exit`", |m| m.procedures[1].exit = u32::MAX),
    ("there are instructions outside of every procedure", |m| m.code.push(m.code[1].clone())),
    ("there are instructions outside of every procedure", |m| drop(m.procedures.pop())),
    ("`enter` is allowed only at the bounds of a procedure", |m| m.code[1].update = Update::Enter),
    ("`add.mul` is not an instruction with these operands", |m| m.code[1].function = Function::Mul),
    ("`add.always` is not an instruction with these operands", |m| m.code[1].function = Function::Always),
    ("`add.copy` is not an instruction with these operands", |m| m.code[1].link = Link::Partner(2)),
    ("`add.copy` is not an instruction with these operands", |m| drop(m.code[1].operands.pop())),
    ("`call.copy` is not an instruction with these operands", |m| {
        let call = call(m).clone();
        let site = m.code.iter_mut().rfind(|instruction| instruction.update == Update::Call);
        site.expect("the text has one").link = Link::Calls(Box::new([call.clone(), call].into()));
    }),
    ("this operand refers to no declaration", |m| {
        m.code[1].operands[0] = Operand::Place(Place::scalar(NOWHERE));
    }),
    ("a target must be a cell, not a constant", |m| m.code[1].operands[0] = Operand::Int(1)),
    ("this `br` and its partner don't name each other", |m| m.code[2].link = Link::Partner(1)),
    ("this `br` and its partner don't name each other", |m| m.code[2].link = Link::Partner(u32::MAX)),
    ("`main` can't be called", |m| call(m).procedure = 0),
    ("the called procedure does not exist", |m| call(m).procedure = 99),
    ("`p` takes 2 arguments, found 1", |m| drop(call(m).arguments.pop())),
    ("`a` takes one cell: expected a cell, found an array", |m| call(m).arguments.swap(0, 1)),
    ("`B` takes an array or a part of an array", |m| {
        call(m).arguments[1] = Argument::Scalar(Operand::Int(1))
    }),
    ("`B` takes a matrix", |m| {
        matrix_parameters(m);
        call(m).arguments[1] = Argument::Scalar(Operand::Int(1));
    }),
    ("`B` takes a whole matrix", matrix_parameters),
    ("`B` takes a whole matrix", |m| {
        matrix_parameters(m);
        let row = Range::Row(index(None, 0));
        call(m).arguments[1] = Argument::Slice(Slice { base: Base::Global(3), range: row });
    }),
    ("`a` is `inout`: expected a cell, found a constant", |m| {
        call(m).arguments[0] = Argument::Scalar(Operand::Int(1));
    }),
    ("`a` is `int`, and the argument is `real`", |m| {
        call(m).arguments[0] = Argument::Scalar(Operand::Place(Place::scalar(Base::Global(1))));
    }),
    ("this argument refers to no declaration", |m| {
        call(m).arguments[1] = Argument::Slice(Slice { base: NOWHERE, range: Range::Whole });
    }),
    ("`n` is a scalar, not an array", |m| {
        call(m).arguments[1] = Argument::Slice(Slice { base: Base::Global(0), range: Range::Whole });
    }),
    ("the step of a slice is at least 1", |m| {
        *span(m) = Range::Span { from: index(None, 0), to: index(None, 3), step: 0 };
    }),
    ("the index -1 is outside of `A`", |m| {
        *span(m) = Range::Span { from: index(None, -1), to: index(None, 3), step: 1 };
    }),
    ("an index is a constant, an integer scalar, or the sum of both", |m| {
        *span(m) = Range::Span { from: index(Some(Base::Global(1)), 0), to: index(None, 3), step: 1 };
    }),
    ("the labels are out of order", |m| m.structure.labels.reverse()),
    ("is declared twice in a procedure", |m| {
        m.structure.labels[1].1 = m.structure.labels[0].1.clone();
    }),
    ("is outside of the code", |m| m.structure.labels[1].0 = 10_000),
    ("a label is recorded for an instruction other than `br` and `from`", |m| m.structure.labels[0].0 = 1),
    ("the line numbers do not belong to this code", |m| m.structure.lines.truncate(2)),
    ("files are recorded, but no line numbers", |m| {
        m.structure.files = vec![(0, 0)];
        m.structure.lines.clear();
    }),
    ("the scopes of names are out of order", |m| m.structure.scopes.reverse()),
];

#[test]
fn modules_with_invalid_rules_are_refused() {
    let honest = module(TEXT);
    let said = |module: &Module| -> Vec<String> {
        verify(module).into_iter().map(|violation| violation.message).collect()
    };
    assert_eq!(said(&honest), [""; 0]);
    for (n, (reason, change)) in CHANGES.iter().enumerate() {
        let mut module = honest.clone();
        change(&mut module);
        let said = said(&module);
        assert!(said.iter().any(|message| message.contains(reason)), "change {n}: {reason}: {said:?}");
    }
}
