//! Writes seeds of the fuzz targets to a folder: `seeds tests/fuzz/corpus`. The repository has only texts; images and
//! states depend on their formats, so they are generated.

use std::path::Path;

use reviver_assembler::image;
use reviver_lab::{campaign, fuzz};

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: seeds FOLDER");
        std::process::exit(2);
    };
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    for target in ["text", "program", "image", "state"] {
        std::fs::create_dir_all(Path::new(&folder).join(target))?;
    }
    for entry in std::fs::read_dir(seeds)? {
        let entry = entry?;
        for target in ["text", "program"] {
            std::fs::copy(entry.path(), Path::new(&folder).join(target).join(entry.file_name()))?;
        }
    }
    for seed in 0..40 {
        let subject = campaign::subject(seed);
        std::fs::write(Path::new(&folder).join(format!("program/{seed}.rasm")), &subject.text)?;
        let image = image::encode(subject.program.module()).unwrap();
        std::fs::write(Path::new(&folder).join(format!("image/{seed}.rbc")), image)?;
    }
    for (n, state) in fuzz::sample_states().into_iter().enumerate() {
        std::fs::write(Path::new(&folder).join(format!("state/{n}")), state)?;
    }
    Ok(())
}
