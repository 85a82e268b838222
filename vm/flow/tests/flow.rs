//! Tests of the flow. The graph has the same edges in both directions, the blocks cover the code, and guards
//! are set exactly where slots may alias.

use std::path::Path;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::{Disk, FilesInMemory};
use reviver_flow::access::Made;
use reviver_flow::graph::{BlockEnd, CodeDirection, Edge};
use reviver_flow::{Access, Flow, Guards};
use reviver_isa::Module;
use reviver_isa::effects::Effects;
use reviver_isa::instruction::Class;
use reviver_isa::update::Store;

fn module(text: &str) -> Module {
    let assembly = assemble("flow.rasm", text.into(), &FilesInMemory::new());
    assembly.module.unwrap_or_else(|| panic!("{text}: {:?}", assembly.diagnostics))
}

/// Assembles all shipped programs.
fn programs() -> Vec<(String, Module)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = entries.filter(|path| path.extension().is_some_and(|extension| extension == "rasm"));
    let found = texts.map(|path| {
        let name = path.display().to_string();
        let module = assemble(&name, std::fs::read(&path).unwrap(), &Disk).module;
        (name, module.unwrap())
    });
    found.collect()
}

/// The kind of control transfer between two blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Jump,
    Fall,
    Call,
    Switch,
}

/// Returns the edges of a block: the target of each, and its kind.
fn edges(flow: &Flow, block: u32, direction: CodeDirection) -> Vec<(u32, By)> {
    let to = |Edge { to, .. }: Edge, by| (to, by);
    match flow.end(block, direction).unwrap() {
        BlockEnd::Go { next } => vec![to(next, By::Fall)],
        BlockEnd::Branch { taken, next, .. } => vec![to(taken, By::Jump), to(next, By::Fall)],
        BlockEnd::Call { next, .. } => vec![to(next, By::Call)],
        BlockEnd::Switch { next, .. } => vec![to(next, By::Switch)],
        BlockEnd::Leave { .. } => Vec::new(),
    }
}

#[test]
fn reversing_a_program_flips_its_edges() {
    let mut jumps = 0;
    for (name, module) in programs() {
        let flow = Flow::of(&module);
        let blocks = 0..flow.graph().blocks().len() as u32;
        let all = |direction| {
            let edges = blocks.clone().flat_map(|from| {
                edges(&flow, from, direction).into_iter().map(move |(to, by)| (from, to, by))
            });
            edges.collect::<Vec<_>>()
        };
        let mut along = all(CodeDirection::Forward);
        let mut against: Vec<_> =
            all(CodeDirection::Backward).into_iter().map(|(to, from, by)| (from, to, by)).collect();
        along.sort_unstable();
        against.sort_unstable();
        assert_eq!(along, against, "{name}");
        jumps += along.iter().filter(|(.., by)| *by == By::Jump).count();
    }
    assert!(jumps > 300, "only {jumps} jumps in all programs");
}

#[test]
fn jump_targets_are_joins() {
    for (name, module) in programs() {
        let flow = Flow::of(&module);
        for block in 0..flow.graph().blocks().len() as u32 {
            for direction in [CodeDirection::Forward, CodeDirection::Backward] {
                let Some(BlockEnd::Branch { at, taken, next }) = flow.end(block, direction) else { continue };
                assert_eq!(next.join, None, "{name}: falling past {at} passes no join");
                let join = taken.join.unwrap();
                let back = if direction == CodeDirection::Forward {
                    CodeDirection::Backward
                } else {
                    CodeDirection::Forward
                };
                let from = flow.end(taken.to, back);
                let is_back = |end| matches!(end, Some(BlockEnd::Branch { at, taken: Edge { to, .. }, .. }) if at == join && to == block);
                assert!(is_back(from), "{name}: {at} leads to {join}, which leads back to {from:?}");
            }
        }
    }
}

#[test]
fn blocks_and_gates_cover_the_code() {
    for (name, module) in programs() {
        let flow = Flow::of(&module);
        let mut passed = vec![0; module.code.len()];
        for steps in flow.graph().blocks() {
            steps.clone().for_each(|at| passed[at as usize] += 1);
        }
        let mut procedures = module.procedures.iter();
        passed[0] += 1; // the opening bound of main
        procedures.next();
        procedures.for_each(|procedure| passed[procedure.entry as usize] += 1);
        for block in 0..flow.graph().blocks().len() as u32 {
            let at = match flow.end(block, CodeDirection::Forward).unwrap() {
                BlockEnd::Go { next } => next.join.unwrap(),
                BlockEnd::Branch { at, .. }
                | BlockEnd::Call { at, .. }
                | BlockEnd::Switch { at, .. }
                | BlockEnd::Leave { at } => at,
            };
            passed[at as usize] += 1;
        }
        assert_eq!(passed, vec![1; module.code.len()], "{name}");
    }
}

/// Returns the guards of the last instruction of a procedure `p` that has these lines.
fn guards(lines: &str) -> Guards {
    let head = ".inout g\n.inout n\n.inout A[8]\n.inout M[2,4]\n.inout B[8]\n";
    let call = "call p(g, n, A, B)\n";
    let module = module(&format!("{head}{call}.proc p(inout x, in y, inout S[], in T[])\n{lines}\n.end\n"));
    let last = module.procedures[1].exit - 1;
    Flow::of(&module).step(last).unwrap().guards
}

#[test]
fn only_operands_that_may_alias_are_guarded() {
    // Each case: a line, whether the target may be the second operand, and whether the target may be an
    // index.
    let cases = [
        ("add x, y", false, false),
        ("add x, g", true, false),
        ("add g, y", true, false),
        ("add g, n", false, false),
        ("add x, 5", false, false),
        ("add S[y], x", false, false),
        ("add S[y], S[y+1]", false, false),
        ("add S[y], T[y]", false, false),
        ("add S[y], S[n]", true, true),
        ("add A[n], A[y]", true, true),
        ("add A[n], A[n+1]", false, false),
        ("add A[n], B[n]", false, false),
        ("add A[n], g", false, false),
        ("add A[n], S[n]", true, false),
        ("add A[n], A[3]", true, false),
        ("add M[0,n], M[1,n]", false, false),
        ("add M[0,n], M[n,0]", true, false),
        ("add x, T[g]", false, true),
        ("add x, T[y]", false, false),
        ("neg A[y]", false, true),
        ("neg S[y]", false, false),
        ("swap x, A[g]", false, true),
    ];
    for (line, same, index) in cases {
        let found = guards(line);
        assert_eq!(found.contains(Guards::FIRST_SECOND), same, "{line}: one cell");
        assert_eq!(found.contains(Guards::FIRST_NO_INDEX), index, "{line}: an index");
    }
}

#[test]
fn read_only_parameters_may_share_an_adjoint() {
    let text = ".inout a: real\ncall p(a, a)\n.proc p(in x: real, in y: real)\nadd x', y'\n.end\n";
    let module = module(text);
    let last = module.procedures[1].exit - 1;
    assert_eq!(Flow::of(&module).step(last).unwrap().guards, Guards::FIRST_SECOND);
}

/// Returns the names of the globals that a step reads, and of those that it writes.
fn accesses(module: &Module, flow: &Flow, at: u32) -> (Vec<String>, Vec<String>) {
    let name = |address: u32| {
        let global = flow.layout().globals.iter().position(|&first| first == address);
        global.map_or_else(|| format!("cell {address}"), |n| module.globals[n].name.clone())
    };
    let (mut read, mut written) = (Vec::new(), Vec::new());
    flow.visit_accesses(at, |access, slot| {
        let name = slot.address().map_or_else(|| "an element".to_owned(), name);
        if access == Access::Read { &mut read } else { &mut written }.push(name);
    });
    (read, written)
}

#[test]
fn steps_list_their_reads_and_writes() {
    let text = ".inout a\n.inout b\n.inout i\n.inout A[4]\nadd a, b\nswap a, b\nadd a, A[i]\nneg A[i+1]\nassert a > b\n";
    let module = module(text);
    let flow = Flow::of(&module);
    let found: Vec<_> = (1..=5).map(|at| accesses(&module, &flow, at)).collect();
    let both = |read: &[&str], written: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        (owned(read), owned(written))
    };
    assert_eq!(found[0], both(&["b"], &["a"]));
    assert_eq!(found[1], both(&[], &["a", "b"]));
    assert_eq!(found[2], both(&["an element", "i"], &["a"]));
    assert_eq!(found[3], both(&["i"], &["an element"]));
    assert_eq!(found[4], both(&["a", "b"], &[]));
    let made = |at| flow.step(at).unwrap().made();
    assert_eq!([made(1), made(2), made(4)], [Made::OfAll, Made::OfOther, Made::OfItself]);
}

#[test]
fn calls_have_the_effects_of_their_callees() {
    let text = ".inout a\n.inout b\n.inout c\ncall outer()\ncall takes(c)\n\
        .proc outer()\ncall inner()\n.end\n.proc inner()\nadd a, 1\n.end\n.proc takes(inout x)\nadd x, b\n.end\n";
    let module = module(text);
    let effects = Effects::within(&module, &mut 1_000).unwrap();
    let of = |at: usize| effects.of_instruction(&module, &module.code[at]).collect::<Vec<_>>();
    assert_eq!(of(1), [0], "through two calls");
    assert_eq!(of(2), [2], "through a parameter");
    assert!(Effects::within(&module, &mut 3).is_none(), "more work than is allowed");
}

#[test]
fn callees_access_stacks_and_tapes_and_may_lose_information() {
    let text = ".inout a\n.var r: real\ncall outer()\ncall loses(a)\n.proc outer()\ncall inner()\nread a\n.end\n\
        .proc inner()\npush a\npop a\npush r\n.end\n.proc loses(inout x)\nerase x\n.end\n";
    let effects = Effects::of(&module(text)).unwrap();
    let stores = |procedure| {
        let mut found = effects.stores_of(procedure).to_vec();
        found.sort_by_key(|(store, class)| (format!("{store:?}"), *class));
        found
    };
    let stacks = [(Store::Stack, Class::Int), (Store::Stack, Class::Real)];
    assert_eq!(
        stores(1),
        [&[(Store::Input, Class::Int)], &stacks[..]].concat(),
        "its own, and those of a callee"
    );
    assert_eq!(stores(2), stacks);
    assert_eq!(stores(3), []);
    assert_eq!([0, 1, 2, 3].map(|n| effects.has_no_inverse(n)), [true, false, false, true]);
}
