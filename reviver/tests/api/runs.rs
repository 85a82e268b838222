//! Runs in both directions: inputs persist, numbers are those of the program's number system, and threads are
//! independent.

use std::thread;

use reviver::{
    EngineChoice, Error, Executable, FilesInMemory, GivenConstant, LossCell, Machine, Travel, Workspace,
    assemble, assemble_with, open,
};
use reviver_vm::state::TapeEntry;

use crate::support::{ENGINES, compiled};

const FIBONACCI: &str = include_str!("../../../programs/fib.rasm");

#[test]
fn a_run_and_its_backward_run_undo_each_other() {
    for engine in ENGINES {
        let program = compiled(FIBONACCI, engine);
        let [n, a, b] = ["n", "a", "b"].map(|name| program.ints(name).unwrap());
        let mut call = program.workspace().unwrap();
        for (given, pair) in [(10, (55, 89)), (0, (0, 1)), (30, (832_040, 1_346_269))] {
            call.give_ints(n, &[given]).unwrap();
            let steps = call.run().unwrap();
            assert_eq!(
                (call.int(n).unwrap(), call.int(a).unwrap(), call.int(b).unwrap()),
                (0, pair.0, pair.1)
            );
            call.give_result_ints(a, &[pair.0]).unwrap();
            call.give_result_ints(b, &[pair.1]).unwrap();
            assert_eq!(call.run_back().unwrap(), steps);
            assert_eq!(call.int(n).unwrap(), given);
        }
        assert_eq!(call.leftovers().unwrap(), []);
    }
}

#[test]
fn inputs_persist_and_defaults_fill_the_rest() {
    let text = ".in a default 2\n.in b[2] default {3, 4}\n.out sum\nadd sum, a\nadd sum, b[0]\nadd sum, b[1]\n\
                sub a, 2\nsub b[0], 3\nsub b[1], 4\n";
    for engine in ENGINES {
        let program = compiled(text, engine);
        let [a, b, sum] = ["a", "b", "sum"].map(|name| program.ints(name).unwrap());
        let mut call = program.workspace().unwrap();
        let mut summed = || {
            call.run().unwrap();
            call.int(sum).unwrap()
        };
        assert_eq!(summed(), 9);
        call.give_ints(a, &[100]).unwrap();
        call.run().unwrap();
        assert_eq!(call.int(sum).unwrap(), 107);
        call.give_ints(b, &[10, 20]).unwrap();
        call.give_ints(program.ints("b[1]").unwrap(), &[30]).unwrap();
        call.run().unwrap();
        assert_eq!(call.int(sum).unwrap(), 140);
        let left = call.leftovers().unwrap();
        assert_eq!(left.iter().map(|garbage| garbage.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}

#[test]
fn numbers_are_those_of_the_program() {
    for (real, third) in
        [("f64", 1.0 / 3.0), ("f32", f64::from(1.0f32 / 3.0)), ("fixed 16", 21845.0 / 65536.0)]
    {
        let text = format!(".real {real}\n.inout x: real\n.out y: real\nadd y, x\n");
        for engine in ENGINES {
            let program = compiled(&text, engine);
            let [x, y] = ["x", "y"].map(|name| program.reals(name).unwrap());
            let mut call = program.workspace().unwrap();
            call.give_reals(x, &[1.0 / 3.0]).unwrap();
            call.run().unwrap();
            assert_eq!((call.real(x).unwrap(), call.real(y).unwrap()), (third, third), "{real}");
        }
    }
}

/// Inputs given as bits may have more digits than an `f64`.
#[test]
fn fixed_point_is_exact_as_bits() {
    let program = compiled(".real fixed 43\n.inout x: real\n.out y: real\nadd y, x\n", EngineChoice::Jit);
    let [x, y] = ["x", "y"].map(|name| program.reals(name).unwrap());
    let mut call = program.workspace().unwrap();
    let long = (1u64 << 62) + 1;
    call.give_real_bits(x, &[long]).unwrap();
    call.run().unwrap();
    let mut bits = [0];
    call.real_bits(y, &mut bits).unwrap();
    assert_eq!(bits, [long]);
    call.give_result_bits(x, &bits).unwrap();
    call.give_result_bits(y, &bits).unwrap();
    call.run_back().unwrap();
    call.real_bits(x, &mut bits).unwrap();
    assert_eq!(bits, [long]);
    assert_eq!(call.real(x).unwrap(), (1u64 << 19) as f64);
    let single = compiled(".real f32\n.inout x: real\nadd x, 1.0\n", EngineChoice::Jit);
    let cell = single.reals("x").unwrap();
    let mut call = single.workspace().unwrap();
    assert!(call.give_real_bits(cell, &[1 << 40]).is_err(), "these are the bits of no f32");
    call.give_real_bits(cell, &[u64::from(2.5f32.to_bits())]).unwrap();
    call.run().unwrap();
    assert_eq!(call.real(cell).unwrap(), 3.5);
}

#[test]
fn elements_of_matrices_have_names() {
    let text = ".inout m[2, 3]: real\nadd m[1, 2], m[0, 1]\n";
    let program = compiled(text, EngineChoice::Jit);
    let (all, one) = (program.reals("m").unwrap(), program.reals("m[1, 2]").unwrap());
    assert_eq!((all.len(), one.len()), (6, 1));
    let mut call = program.workspace().unwrap();
    call.give_reals(all, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    call.run().unwrap();
    let mut values = [0.0; 6];
    call.reals(all, &mut values).unwrap();
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 8.0]);
    assert_eq!(call.real(one).unwrap(), 8.0);
}

/// After a trap in a procedure, the machine still has open frames, which the next call ignores.
#[test]
fn a_workspace_can_be_reused_after_an_error() {
    let text = ".in n default 1\n.out q\ncall work(q, n)\n.proc work(inout q, in n)\n.ancilla k[4]\n\
                add k[1], n\nadd.div q, 12, k[1]\nsub k[1], n\n.end\n";
    for engine in ENGINES {
        let program = compiled(text, engine);
        let [n, q] = ["n", "q"].map(|name| program.ints(name).unwrap());
        let mut call = program.workspace().unwrap();
        for _ in 0..3 {
            call.give_ints(n, &[0]).unwrap();
            let said = call.run().unwrap_err().to_string();
            assert!(said.starts_with("test.rasm:7") && said.contains("zero"), "{said}");
            assert!(call.int(q).is_err(), "nothing is read where nothing has arrived");
            call.give_ints(n, &[4]).unwrap();
            call.run().unwrap();
            assert_eq!(call.int(q).unwrap(), 3);
        }
    }
}

#[test]
fn steps_have_a_limit_if_one_is_set() {
    for engine in ENGINES {
        let program = compiled(FIBONACCI, engine);
        let n = program.ints("n").unwrap();
        let mut call = program.workspace().unwrap();
        call.give_ints(n, &[100]).unwrap();
        let steps = call.run().unwrap();
        for limit in [0, 1, 17, steps - 1] {
            call.limit_steps(limit);
            let said = call.run().unwrap_err().to_string();
            let plural = if limit == 1 { "" } else { "s" };
            assert!(said.contains(&format!("stopped after {limit} step{plural}, before the end")), "{said}");
        }
        call.limit_steps(steps);
        assert_eq!(call.run().unwrap(), steps);
    }
}

#[test]
fn threads_share_a_program_with_equal_results() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../programs/norm.rasm");
    let program = open(path).unwrap().compile(EngineChoice::Jit).unwrap();
    let (v, length) = (program.reals("v").unwrap(), program.reals("length").unwrap());
    let loss = program.loss("length").unwrap();
    let work = |first: usize| {
        let mut call = program.workspace().unwrap();
        let each = (0..200).map(|n| {
            let point: Vec<f64> = (0..v.len()).map(|i| 1.0 + ((n + first) % 200 * 7 + i) as f64).collect();
            call.give_reals(v, &point).unwrap();
            call.run().unwrap();
            let norm = call.real(length).unwrap();
            let mut slope = vec![0.0; v.len()];
            let found = call.gradient_at(&loss, v, &point, &mut slope).unwrap();
            assert_eq!(found.value, norm);
            (norm.to_bits(), slope.iter().map(|g| g.to_bits()).collect::<Vec<_>>())
        });
        let mut found: Vec<_> = each.collect();
        found.rotate_right(first);
        found
    };
    let expected = work(0);
    thread::scope(|scope| {
        let threads: Vec<_> =
            [0, 50, 100].map(|first| scope.spawn(move || work(first))).into_iter().collect();
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), expected));
    });
}

#[test]
fn texts_include_others_and_take_constants() {
    let files = FilesInMemory::new().with("lib.rasm", ".const N = 2\n");
    let text = b".include \"lib.rasm\"\n.inout x[N]\nadd x[0], N\n".to_vec();
    let three = GivenConstant::parse("N", "3").unwrap();
    for (constants, cells) in [(vec![], 2), (vec![three], 3)] {
        let assembled = assemble_with("main.rasm", text.clone(), &files, &constants).unwrap();
        let program = assembled.compile(EngineChoice::Auto).unwrap();
        assert_eq!(program.ints("x").unwrap().len(), cells);
    }
}

#[test]
fn warnings_are_kept() {
    let assembled = assemble("spare.rasm", ".inout x\n.var spare\nadd x, 1\n").unwrap();
    assert_eq!(assembled.warnings().len(), 1);
    assert!(assembled.rendered_warnings().contains("nothing uses the cell `spare`"));
}

#[test]
fn shared_types_are_send_and_sync() {
    fn is_shared<T: Send + Sync + Clone + 'static>() {}
    fn is_sent<T: Send + 'static>() {}
    fn is_thrown<T: std::error::Error + Send + Sync + 'static>() {}
    is_shared::<Executable>();
    is_shared::<LossCell>();
    is_sent::<Workspace>();
    is_thrown::<Error>();
}

/// Native code doesn't access adjoints if their memory isn't allocated.
#[test]
fn programs_that_name_adjoints_can_be_called() {
    for engine in ENGINES {
        let program = compiled(".inout x: real\n.out y: real\nadd y, x'\nadd x', 2.5\nadd y, x'\n", engine);
        let mut call = program.workspace().unwrap();
        for _ in 0..3 {
            call.run().unwrap();
            assert_eq!(call.real(program.reals("y").unwrap()).unwrap(), 2.5, "{engine}");
        }
    }
}

#[test]
fn an_invalid_initial_state_is_refused() {
    let program = compiled(".word 8\n.inout n, x: real\nadd n, 1\n", EngineChoice::Interp);
    let begin = || Machine::at_begin(program.program().clone()).unwrap().into_state();
    let mut call = program.workspace().unwrap();
    call.begin_with(Travel::Forward, begin()).unwrap();
    let mut wide = begin();
    wide.ints[1] = 1000;
    let mut endless = begin();
    endless.reals[0] = f64::INFINITY.to_bits();
    let mut carrying = begin();
    carrying.adjoints_mut().cells[0] = 1.0_f64.to_bits();
    for state in [wide, endless, carrying] {
        assert!(matches!(call.begin_with(Travel::Forward, state), Err(Error::NoBeginning)));
    }
    assert_eq!(call.run().unwrap(), 1);
}

/// Tapes have no names, so a test sets their values in a state.
#[test]
fn a_run_can_begin_with_a_state_that_has_a_tape() {
    let text = ".in n\nread r0\nadd n, r0\nwrite n\nwrite r0\n";
    for engine in ENGINES {
        let program = compiled(text, engine);
        let n = program.ints("n").unwrap();
        let mut start = Machine::at_begin(program.program().clone()).unwrap().into_state();
        start.input = vec![TapeEntry::Int(30)];
        let mut call = program.workspace().unwrap();
        assert!(matches!(call.run(), Err(Error::Trap { .. })), "there is no tape");
        call.begin_with(Travel::Forward, start.try_clone().unwrap()).unwrap();
        call.give_ints(n, &[12]).unwrap();
        for _ in 0..2 {
            call.run().unwrap();
            assert_eq!(call.state().unwrap().output, [TapeEntry::Int(42), TapeEntry::Int(30)]);
        }
        let arrived = call.state().unwrap().try_clone().unwrap();
        call.begin_with(Travel::Backward, arrived).unwrap();
        call.run_back().unwrap();
        assert_eq!(call.state().unwrap().input, [TapeEntry::Int(30)]);
        assert_eq!(call.int(n).unwrap(), 12);
        // A state at the other end, or with other cells, is refused.
        assert!(matches!(
            call.begin_with(Travel::Backward, start.try_clone().unwrap()),
            Err(Error::NoBeginning)
        ));
        start.ints.push(0);
        assert!(matches!(call.begin_with(Travel::Forward, start), Err(Error::NoBeginning)));
        call.run().unwrap();
        assert_eq!(call.state().unwrap().output.len(), 2);
    }
}
