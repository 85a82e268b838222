//! Refused calls, and their messages.

use reviver::{
    Batch, Device, EngineChoice, Error, FilesInMemory, GivenConstant, LaneInputs, assemble, assemble_with,
    open,
};

use crate::support::{compiled, said};

const TEXT: &str = ".word 8\n.in n\n.in speed: real\n.inout M[2, 2]: real\n.out y: real\n.var p\n.var trail[]\n\
                    add y, speed\nadd y, M[0, 0]\nadd p, n\nsub p, n\npush p\npop p\n";

#[test]
fn unknown_names_are_refused() {
    let program = compiled(TEXT, EngineChoice::Interp);
    for (name, expected) in [
        ("sped", "the program has no cell `sped`; did you mean `speed`?"),
        ("n", "`n` is an integer, but reals were requested; the program's reals are `speed`, `M`, `y`"),
        (
            "M[2,0]",
            "there is no cell `M[2,0]`: the index 2 is outside of 0..2; it is declared as `M[2, 2]`, and indices start at 0",
        ),
        (
            "M[1]",
            "there is no cell `M[1]`: a matrix takes two indices; it is declared as `M[2, 2]`, and indices start at 0",
        ),
        ("y[0]", "there is no cell `y[0]`: a scalar takes no index"),
    ] {
        assert_eq!(said(program.reals(name)), expected);
    }
    for (name, expected) in [
        ("quantity", "the program has no cell `quantity`; choose one of `n`, `p`, `trail`"),
        ("y", "`y` is a real, but integers were requested; the program's integers are `n`, `p`"),
        (
            "trail",
            "`trail` is a stack, which has no cells; copy the value to a cell in the program, and name this cell",
        ),
    ] {
        assert_eq!(said(program.ints(name)), expected);
    }
    for name in ["M[", "M[]", "M[a,b]", "M[1,1]]", "M[1,1"] {
        assert!(said(program.reals(name)).contains("write an element as `A[3]`"), "{name}");
    }
    assert!(said(program.loss("M")).contains("`M` has 4 cells"));
    assert!(said(program.loss("n")).contains("is an integer"));
}

#[test]
fn reals_that_are_named_twice_are_refused() {
    let program = compiled(".inout x[2]: real\n.out y: real\nadd y, x[0] * x[1]\n", EngineChoice::Interp);
    let [whole, second] = ["x", "x[1]"].map(|name| program.reals(name).unwrap());
    let (call, loss) = (program.workspace().unwrap(), program.loss("y").unwrap());
    let twice = "`x[1]` is named twice; leave one of the two out";
    assert_eq!(said(call.hessian(&loss, &[whole, second])), twice);
    let lanes = LaneInputs::new(1).reals("x[0]", &[1.0]).reals("x[1]", &[2.0]);
    let batch = Batch::new(&program, Device::cpu());
    assert_eq!(said(batch.gradient(&loss, &[second, whole], &lanes)), twice);
    assert_eq!(said(batch.hessian(&loss, &[second, second], &lanes)), twice);
}

#[test]
fn slices_and_numbers_that_do_not_fit_are_refused_and_change_nothing() {
    let program = compiled(TEXT, EngineChoice::Interp);
    let (n, m, y) = (program.ints("n").unwrap(), program.reals("M").unwrap(), program.reals("y").unwrap());
    let mut call = program.workspace().unwrap();
    call.give_ints(n, &[5]).unwrap();
    call.give_reals(m, &[1.0, 2.0, 3.0, 4.0]).unwrap();
    assert_eq!(said(call.give_reals(m, &[1.0; 3])), "`M` has 4 cells, and the slice has 3");
    assert_eq!(
        said(call.give_ints(n, &[128])),
        "`n`: 128, at index 0 of the slice, is not an integer of 8 bits"
    );
    assert_eq!(
        said(call.give_reals(m, &[9.0, 9.0, f64::NAN, 9.0])),
        "`M`: NaN, at index 2 of the slice, is not a number that fits into f64"
    );
    assert!(said(call.give_reals(y, &[1.0])).starts_with("`y` can't be given: it is `.out`; give a run"));
    let speed = program.reals("speed").unwrap();
    assert!(said(call.give_result_reals(speed, &[1.0])).starts_with("`speed` can't be given: it is `.in`"));
    call.run().unwrap();
    let mut values = [0.0; 4];
    call.reals(m, &mut values).unwrap();
    assert_eq!((call.int(n).unwrap(), values), (5, [1.0, 2.0, 3.0, 4.0]));
    assert_eq!(said(call.real(m)), "`M` has 4 cells, and the slice has 1");
    assert_eq!(said(call.reals(m, &mut [0.0; 5])), "`M` has 4 cells, and the slice has 5");
}

#[test]
fn numbers_outside_the_number_system_are_refused() {
    for (real, value) in [("f32", 1e39), ("fixed 43", 1e7), ("fixed 16", f64::INFINITY)] {
        let program = compiled(&format!(".real {real}\n.inout x: real\nadd x, 1.0\n"), EngineChoice::Interp);
        let x = program.reals("x").unwrap();
        let mut call = program.workspace().unwrap();
        assert!(said(call.give_reals(x, &[value])).contains("is not a number that fits into"), "{real}");
        call.run().unwrap();
        assert_eq!(call.real(x).unwrap(), 1.0);
    }
}

#[test]
fn handles_of_another_program_are_refused() {
    let [one, other] = [TEXT, TEXT].map(|text| compiled(text, EngineChoice::Interp));
    let (n, y, loss) = (one.ints("n").unwrap(), one.reals("y").unwrap(), one.loss("y").unwrap());
    let mut call = other.workspace().unwrap();
    assert!(matches!(call.give_ints(n, &[1]), Err(Error::Foreign)));
    assert!(matches!(call.give_result_reals(y, &[1.0]), Err(Error::Foreign)));
    assert!(matches!(call.gradient(&loss), Err(Error::Foreign)));
    assert!(matches!(call.hessian(&loss, &[]), Err(Error::Foreign)));
    call.run().unwrap();
    assert!(matches!(call.real(y), Err(Error::Foreign)));
    assert!(matches!(call.adjoints(y, &mut [0.0]), Err(Error::Foreign)));
    // A handle of a program is valid for a clone of the program.
    assert!(one.clone().workspace().unwrap().give_ints(n, &[1]).is_ok());
}

#[test]
fn results_are_refused_before_a_run_ends() {
    let program = compiled(TEXT, EngineChoice::Interp);
    let (n, y) = (program.ints("n").unwrap(), program.reals("y").unwrap());
    let call = program.workspace().unwrap();
    assert!(said(call.int(n)).contains("no run has reached"));
    assert!(said(call.adjoints(y, &mut [0.0])).contains("no gradient was found"));
    assert!(said(call.leftovers()).contains("no run has reached"));
}

#[test]
fn running_backward_needs_every_result_and_detects_impossible_ones() {
    let text = ".in n\n.out a[2], b\nadd a[0], n\nadd b, a[0]\nsub n, a[0]\n";
    let program = compiled(text, EngineChoice::Jit);
    let [n, a, b, first] = ["n", "a", "b", "a[0]"].map(|name| program.ints(name).unwrap());
    let mut call = program.workspace().unwrap();
    assert_eq!(
        said(call.run_back()),
        "running backward needs every result; give these, each array in one call: `a`, `b`"
    );
    call.give_result_ints(first, &[3]).unwrap();
    call.give_result_ints(b, &[3]).unwrap();
    assert_eq!(
        said(call.run_back()),
        "running backward needs every result; give these, each array in one call: `a`"
    );
    call.give_result_ints(a, &[3, 0]).unwrap();
    call.run_back().unwrap();
    assert_eq!(call.int(n).unwrap(), 3);
    call.give_result_ints(b, &[4]).unwrap();
    let error = call.run_back().unwrap_err();
    assert!(matches!(error, Error::NoSuchResults { .. }));
    assert_eq!(
        error.to_string(),
        "these are not results of the program, or rounding has made the backward run diverge (fixed point loses nothing): \
         the backward run left b: 1, must be 0"
    );
    assert!(call.int(n).is_err());
}

#[test]
fn invalid_texts_files_and_images_are_refused_with_places() {
    let error = assemble("wrong.rasm", ".inout x\nadd x, y\n").unwrap_err();
    let Error::Text { diagnostics, rendered } = &error else { panic!("{error}") };
    assert_eq!(diagnostics.len(), 1);
    assert!(rendered.contains("wrong.rasm:2:8") && error.to_string().contains("`y`"), "{rendered}");
    let missing = said(open("there/is/no.rasm"));
    assert!(missing.starts_with("there/is/no.rasm: "), "{missing}");
    let files = FilesInMemory::new();
    assert!(matches!(assemble_with("a.rbc", b"nothing".to_vec(), &files, &[]), Err(Error::Image { .. })));
    let one = GivenConstant::parse("M", "1").unwrap();
    let text = b".const N = 2\n.inout x\nadd x, N\n".to_vec();
    let error = said(assemble_with("c.rasm", text, &files, &[one]));
    assert_eq!(error, "the text has no constant `M`; its constants are `N`");
}

#[test]
fn programs_that_cannot_be_differentiated_are_reported() {
    let program = compiled(".out y: real\ngrad.on\ngrad.off\nadd y, 1.0\n", EngineChoice::Interp);
    assert!(said(program.loss("y")).contains("switches gradient mode itself"));
}
