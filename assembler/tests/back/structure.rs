//! Tests of the structure in a module: it describes the text, and is rejected if it contradicts the code.

use reviver_flow::tree::StatementTree;
use reviver_isa::Function;
use reviver_isa::instruction::{Base, Operand, Place};
use reviver_isa::module::Module;
use reviver_isa::predicate::PredicatePart;
use reviver_isa::structure::{Block, BlockKind, Structure};
use reviver_isa::text::TextRenderer;
use reviver_isa::verify::verify;

use crate::support::module;

const TEXT: &str = "\
.inout n, x
.macro up(c)
        add c, 1
.endm
        for i in 1..n+2 step 1 reversed
            add x, i
        rof
        if n > 0 and not (x == 3 or x < 1)
            up x
        else
            sub x, 1
        fi x > 2
        compute
            local t = mul(n, 2)
        apply
            add x, t
        uncompute
        from x == 9
            neg n
        loop
            neg x
        until n == x
        add n, x*x + 1
";

/// Returns the words of every seam in order of the code, with their lines and columns.
fn words(module: &Module) -> Vec<String> {
    let renderer = TextRenderer { module, procedure: &module.procedures[0] };
    let seam = |block: &Block, n: usize| {
        let place = block.place(n);
        format!("{}:{}-{} {}", place.line, place.first, place.last, renderer.words(block, n))
    };
    let blocks = module.structure.blocks.iter();
    blocks.flat_map(|block| (0..block.seams.len()).map(|n| seam(block, n)).collect::<Vec<_>>()).collect()
}

#[test]
fn statements_keep_their_text_and_position() {
    assert_eq!(
        words(&module(TEXT)),
        [
            "5:9-39 for i in 1..n+2 reversed",
            "7:9-11 rof",
            "8:9-42 if n > 0 and not (x == 3 or x < 1)",
            "10:9-12 else",
            "12:9-16 fi x > 2",
            "9:13-16 up",
            "9:13-16 up",
            "13:9-15 compute",
            "15:9-13 apply",
            "17:9-17 uncompute",
            "17:9-17 uncompute",
            "14:13-31 local t = n * 2",
            "14:13-31 local t = n * 2",
            "18:9-19 from x == 9",
            "20:9-12 loop",
            "22:9-20 until n == x",
            "23:9-22 x * x",
            "23:9-22 x * x",
        ]
    );
}

#[test]
fn uncomputed_statements_have_their_source_text() {
    let text = ".inout n, x\ncompute\n if n > 2\n  add x, 1\n fi x == 1\napply\n neg n\nuncompute\n";
    let module = module(text);
    let undone: Vec<&Block> = module.structure.blocks.iter().filter(|block| block.undone).collect();
    let [block] = undone.as_slice() else { panic!("{undone:?}") };
    let renderer = TextRenderer { module: &module, procedure: &module.procedures[0] };
    assert_eq!((block.place(0).line, renderer.words(block, 0).as_str()), (5, "fi x == 1"));
    assert_eq!((block.place(1).line, renderer.words(block, 1).as_str()), (3, "if n > 2"));
}

#[test]
fn names_refer_to_the_variable_in_scope() {
    let module = module(".inout s\nlocal t = 1\ndelocal t = 1\nlocal t: real = 1\ndelocal t = 1\nadd s, 1\n");
    let structure = &module.structure;
    assert_eq!(module.procedures[0].frame[1].name, "t$2");
    assert_eq!(structure.source_name(0, 1), Some("t"));
    let meanings: Vec<Option<u32>> = (1..10).map(|at| structure.variable(0, "t", at)).collect();
    let (first, second) = (Some(0), Some(1));
    assert_eq!(meanings, [first, first, first, first, second, second, second, second, None]);
}

#[test]
fn the_innermost_block_is_found() {
    let module = module(TEXT);
    let outline = StatementTree::new(&module.structure);
    for at in 0..module.code.len() as u32 {
        let slow = module.structure.blocks.iter().rev().filter(|b| (b.start()..b.end()).contains(&at));
        let found: Vec<&Block> = outline.around(&module.structure, at).collect();
        assert_eq!(found, slow.collect::<Vec<_>>(), "{at}");
    }
}

/// An error message, and a change of a structure that causes this error.
type Lie = (&'static str, fn(&mut Structure));

fn kind(structure: &mut Structure, wanted: fn(&BlockKind) -> bool) -> &mut Block {
    structure.blocks.iter_mut().find(|block| wanted(&block.kind)).expect("the text has one")
}

fn if_parts(structure: &mut Structure) -> &mut Vec<PredicatePart> {
    match &mut kind(structure, |kind| matches!(kind, BlockKind::If { .. })).kind {
        BlockKind::If { entry, .. } => &mut entry.parts,
        _ => unreachable!(),
    }
}

const LIES: &[Lie] = &[
    ("a block reaches outside", |s| s.blocks[0].seams[1].end = 10_000),
    ("a block reaches outside", |s| s.blocks[0].seams[0].start = 0),
    ("the blocks are out of order", |s| s.blocks.swap(0, 1)),
    ("the blocks are out of order", |s| s.blocks[0].seams[0].end = s.blocks[0].seams[1].start + 1),
    ("the instructions of a block don't match", |s| s.blocks[0].seams[0].end -= 1),
    ("the instructions of a block don't match", |s| s.blocks[0].seams.truncate(1)),
    ("the instructions of a block don't match", |s| {
        kind(s, |kind| matches!(kind, BlockKind::Local)).kind = BlockKind::Delocal;
    }),
    ("two blocks overlap, and neither is", |s| {
        let seam = kind(s, |kind| matches!(kind, BlockKind::If { .. })).seams[1];
        let inner = kind(s, |kind| matches!(kind, BlockKind::Macro { .. }));
        inner.seams[1].start = seam.end;
        inner.seams[1].end = seam.end;
    }),
    ("a block is in a file", |s| s.blocks[0].seams[0].place.file = 1),
    ("a recorded condition is malformed", |s| if_parts(s).push(PredicatePart::And)),
    ("a recorded condition is malformed", |s| if_parts(s).clear()),
    ("a recorded condition has operands", |s| {
        let nowhere = Operand::Place(Place::scalar(Base::Global(99)));
        if_parts(s)[0] = PredicatePart::Compare(reviver_isa::Function::Eq, nowhere, Operand::Int(0));
    }),
    ("a recorded condition has operands", |s| {
        if_parts(s)[0] = PredicatePart::Compare(reviver_isa::Function::Mul, Operand::Int(1), Operand::Int(0));
    }),
    ("a recorded condition has operands", |s| {
        if let BlockKind::For(counting) = &mut s.blocks[0].kind {
            counting.to = Operand::Place(Place::scalar(Base::Frame(77)));
        }
    }),
    ("the instructions of a block don't match", |s| {
        if let BlockKind::For(counting) = &mut s.blocks[0].kind {
            counting.counter = 77;
        }
    }),
    ("a recorded loop counts in steps of 0", |s| {
        if let BlockKind::For(counting) = &mut s.blocks[0].kind {
            counting.step = 0;
        }
    }),
    ("`a b` can't be a name", |s| {
        if let BlockKind::Macro { name, .. } =
            &mut kind(s, |kind| matches!(kind, BlockKind::Macro { .. })).kind
        {
            "a b".clone_into(name);
        }
    }),
    ("the scope of `i` is malformed", |s| s.scopes[0].variable = 99),
    ("the scope of `i` is malformed", |s| s.scopes[0].end = s.scopes[0].start),
    ("the scope of `i` is malformed", |s| s.scopes[0].end = 10_000),
    ("the scope of `i` is malformed", |s| s.scopes[0].place.file = 1),
    ("the scope of `i\\n` is malformed", |s| s.scopes[0].name = "i\n".into()),
    ("the expression of a temporary is too long, or never ends", |s| {
        s.temporaries[0].sources[0] = Operand::Place(Place::scalar(Base::Frame(s.temporaries[0].variable)));
    }),
    ("the expression of a temporary is malformed", |s| s.temporaries[0].function = Function::Exp),
    ("the expression of a temporary is malformed", |s| {
        s.temporaries.last_mut().unwrap().procedure = 9;
    }),
    ("the instructions of a block don't match", |s| {
        s.temporaries[1].sources[1] = Operand::Int(7);
    }),
    ("the instructions of a block don't match", |s| {
        kind(s, |kind| matches!(kind, BlockKind::Temporaries)).seams[1].start += 1;
    }),
    ("the expressions of temporaries are out of order", |s| {
        let twice = s.temporaries[0].clone();
        s.temporaries.insert(0, twice);
    }),
    ("blocks, names or expressions are recorded, but no line numbers", |s| s.lines.clear()),
];

#[test]
fn a_structure_that_contradicts_the_code_is_refused() {
    let honest = module(TEXT);
    assert_eq!(verify(&honest), []);
    for (n, (reason, lie)) in LIES.iter().enumerate() {
        let mut module = honest.clone();
        lie(&mut module.structure);
        let said: Vec<String> = verify(&module).into_iter().map(|violation| violation.message).collect();
        assert!(said.iter().any(|message| message.starts_with(reason)), "lie {n}: {reason}: {said:?}");
    }
}

#[test]
fn a_compound_assertion_is_one_assertion() {
    let honest = module(".inout n, x\n assert n > 0 or x > 0\n add x, 1\n");
    assert_eq!(verify(&honest), []);
    let shifted: [fn(&mut Block); 2] = [|block| block.seams[0].end -= 5, |block| block.seams[0].end -= 1];
    for shift in shifted {
        let mut module = honest.clone();
        shift(&mut module.structure.blocks[0]);
        let said: Vec<String> = verify(&module).into_iter().map(|violation| violation.message).collect();
        assert!(said.iter().any(|message| message.starts_with("the instructions of a block")), "{said:?}");
    }
}

/// Checks that a structure which refers to a shadowed global is rejected, because a text couldn't name that
/// global.
#[test]
fn a_structure_names_no_shadowed_global() {
    let text = ".inout n, y\n call p(n, y)\n.proc p(in n, inout y)\n add y, n*n + 1\n if y > n\n neg y\n fi y < n\n.end\n";
    let honest = module(text);
    assert_eq!(verify(&honest), []);
    let hidden = || Operand::Place(Place::scalar(Base::Global(0)));
    let lies: [fn(&mut Structure, Operand); 2] = [
        |s, hidden| s.temporaries[0].sources[0] = hidden,
        |s, hidden| {
            let is_if = |kind: &BlockKind| matches!(kind, BlockKind::If { .. });
            if let BlockKind::If { entry, .. } = &mut kind(s, is_if).kind {
                entry.parts[0] = PredicatePart::Compare(Function::Gt, Operand::Int(1), hidden);
            }
        },
    ];
    for lie in lies {
        let mut module = honest.clone();
        lie(&mut module.structure, hidden());
        let said: Vec<String> = verify(&module).into_iter().map(|violation| violation.message).collect();
        assert!(said.iter().any(|message| message.contains("a global that a parameter hides")), "{said:?}");
    }
}
