//! `asm ∘ disasm = id`: the same module, the same bytes, structure included.

use reviver_assembler::disassemble::disassemble;
use reviver_assembler::image;
use reviver_isa::module::Structure;

use crate::support::{SAMPLES, module};

#[test]
fn every_sample_survives_disassembly() {
    for (name, text) in SAMPLES {
        let first = module(text);
        let flat = disassemble(&first);
        let second = module(&flat);
        assert_eq!(second, first, "{name}:\n{flat}");
        assert_eq!(image::encode(&second), image::encode(&first), "{name}");
        assert_eq!(disassemble(&second), flat, "{name}");
    }
}

#[test]
fn every_sample_survives_its_image() {
    for (name, text) in SAMPLES {
        let first = module(text);
        assert_eq!(image::decode(&image::encode(&first)).as_ref(), Ok(&first), "{name}");
    }
}

#[test]
fn a_module_without_structure_can_be_read() {
    for (name, text) in SAMPLES {
        let mut stripped = module(text);
        stripped.structure = Structure::default();
        let flat = disassemble(&stripped);
        let mut second = module(&flat);
        second.structure = Structure::default();
        assert_eq!(second, stripped, "{name}:\n{flat}");
    }
}

#[test]
fn literals_come_back_bit_for_bit() {
    let text = ".out a[6]: real = {0.1, -0.0, 1e-310, 1.7976931348623157e308, 5e-324, 1e22}\n\
                .out n[2] = {-9223372036854775808, 0xffff_ffff_ffff_ffff}\n\
                \tadd a[0], -0.0\n\tadd n[0], -9223372036854775808\n";
    let first = module(text);
    let second = module(&disassemble(&first));
    // Through the image: `==` does not tell -0.0 from 0.0.
    assert_eq!(image::encode(&second), image::encode(&first));
}
