//! Benchmark of second derivatives: the Hessian of the graph embedding by native code and by the interpreter. Run by
//! `cargo bench --bench hessians`.

use std::hint::black_box;
use std::path::Path;

use reviver::{EngineChoice, Executable, LossCell, RealCells, Workspace, open};

use harness::clock::{Best, time};
use harness::measures::measures;

mod harness {
    pub mod clock;
    pub mod measures;
}

/// Number of vertices of the graph. Each vertex also has this number of coordinates in memory.
const VERTICES: usize = 10;

/// Number of Hessians before the measurement: the runtime compiles a function only if it is called often.
const WARM: usize = 20;

/// The embedding in `dimensions` coordinates.
struct Embedding {
    call: Workspace,
    loss: LossCell,
    coordinates: Vec<RealCells>,
}

impl Embedding {
    fn new(dimensions: usize, engine: EngineChoice) -> Embedding {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/graph_embedding.rasm");
        let program: Executable = open(path).and_then(|text| text.compile(engine)).unwrap();
        let loss = program.loss("loss").unwrap();
        let cells = (0..VERTICES).flat_map(|vertex| (0..dimensions).map(move |k| format!("x[{vertex},{k}]")));
        let coordinates = cells.map(|name| program.reals(&name).unwrap()).collect();
        let mut call = program.workspace().unwrap();
        call.give_ints(program.ints("dimensions").unwrap(), &[dimensions as i64]).unwrap();
        Embedding { call, loss, coordinates }
    }

    fn hessian(&mut self) {
        black_box(self.call.hessian(&self.loss, &self.coordinates).unwrap());
    }
}

fn main() {
    if measures() {
        println!("| dimensions, inputs | native code (ms) | interpreter (ms) | ratio |\n|---|---|---|---|");
    }
    for dimensions in [2, 10] {
        let [mut native, mut interpreted] =
            [EngineChoice::Jit, EngineChoice::Interp].map(|engine| Embedding::new(dimensions, engine));
        let rounds = if measures() { WARM } else { 1 };
        (0..rounds).for_each(|_| native.hessian());
        let mut best = Best::none();
        for _ in 0..rounds {
            best.round([time(|| native.hessian()), time(|| interpreted.hessian())]);
        }
        let [native, interpreted] = best.seconds().map(|seconds| seconds * 1e3);
        if measures() {
            let inputs = dimensions * VERTICES;
            println!(
                "| {dimensions}, {inputs} | {native:.3} | {interpreted:.2} | {:.1} |",
                interpreted / native
            );
        }
    }
}
