//! Tests that `asm ∘ disasm = id`: the same module, the same bytes, including the structure.

use reviver_assembler::assemble::assemble;
use reviver_assembler::disassemble::{disassemble, disassembly};
use reviver_assembler::files::FilesInMemory;
use reviver_assembler::format::format;
use reviver_assembler::image;
use reviver_assembler::source::Sources;
use reviver_isa::module::Structure;

use crate::support::{Random, SAMPLES, assembly, module, module_of};

#[test]
fn every_sample_survives_disassembly() {
    for (name, text) in SAMPLES {
        let first = module(text);
        let flat = disassemble(&first);
        let second = module(&flat);
        assert_eq!(second, first, "{name}:\n{flat}");
        assert_eq!(image::encode(&second).unwrap(), image::encode(&first).unwrap(), "{name}");
        assert_eq!(disassemble(&second), flat, "{name}");
    }
}

#[test]
fn every_sample_survives_its_image() {
    for (name, text) in SAMPLES {
        let first = module(text);
        assert_eq!(image::decode(&image::encode(&first).unwrap()).as_ref(), Ok(&first), "{name}");
    }
}

#[test]
fn the_files_of_lines_survive() {
    let files = FilesInMemory::new().with("lib/ä b.rasm", ".proc p(inout x)\n\tadd x, 1\n.end\n");
    let text = ".include \"../lib/ä b.rasm\"\n.inout s\n\tcall p(s)\n.proc q(inout x)\n\tneg x\n.end\n";
    let first = module_of(text, &files);
    assert_eq!(first.structure.paths, ["../lib/ä b.rasm"]);
    assert!(first.structure.files.iter().any(|(_, file)| *file == 1));
    assert!(first.structure.files.iter().any(|(_, file)| *file == 0), "back in the program's own");
    let flat = disassemble(&first);
    assert_eq!(module(&flat), first, "{flat}");
    assert_eq!(image::decode(&image::encode(&first).unwrap()), Ok(first));
    let mut sources = Sources::new();
    let file = sources.add("flat.rasm", flat);
    let formatted = format(&sources, file).expect("it has no errors");
    assert!(formatted.contains("\n.path \"../lib/ä b.rasm\"\n.file 3 1\n"), "{formatted}");
}

#[test]
fn a_module_without_structure_can_be_read() {
    for (name, text) in SAMPLES {
        let mut stripped = module(text);
        stripped.structure = Structure::default();
        let flat = disassemble(&stripped);
        assert_eq!(module(&flat), stripped, "{name}:\n{flat}");
    }
}

#[test]
fn literals_round_trip_bit_for_bit() {
    let text = ".out a[6]: real = {0.1, -0.0, 1e-310, 1.7976931348623157e308, 5e-324, 1e22}\n\
                .out n[2] = {-9223372036854775808, 0xffff_ffff_ffff_ffff}\n\
                \tadd a[0], -0.0\n\tadd n[0], -9223372036854775808\n";
    let first = module(text);
    let second = module(&disassemble(&first));
    // The images are compared, because `==` does not distinguish -0.0 from 0.0.
    assert_eq!(image::encode(&second).unwrap(), image::encode(&first).unwrap());
}

/// Shuffles words and lines of the samples. Most results are rejected, none may panic, and the accepted ones
/// must survive a round trip.
#[test]
fn shuffled_texts_are_refused_or_survive() {
    let all: Vec<&str> = SAMPLES.iter().flat_map(|(_, text)| text.lines()).collect();
    let words: Vec<&str> = all.iter().flat_map(|line| line.split_whitespace()).collect();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut accepted = 0;
    for round in 0..6_000 {
        let (_, text) = SAMPLES[round % SAMPLES.len()];
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for _ in 0..=random.below(2) {
            shuffle(&mut lines, &all, &words, &mut random);
        }
        let text = lines.join("\n");
        if let Some(first) = assembly(&text).module {
            accepted += 1;
            let flat = disassemble(&first);
            assert_eq!(module(&flat), first, "{text}\n---\n{flat}");
        }
    }
    assert!(accepted > 500, "only {accepted} texts are accepted");
}

fn shuffle(lines: &mut Vec<String>, all: &[&str], words: &[&str], random: &mut Random) {
    let at = random.below(lines.len());
    match random.below(5) {
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(at, all[random.below(all.len())].to_owned()),
        2 => lines.insert(at, lines[random.below(lines.len())].clone()),
        _ => {
            let mut line: Vec<&str> = lines[at].split_whitespace().collect();
            if !line.is_empty() {
                let word = random.below(line.len());
                line[word] = words[random.below(words.len())];
            }
            lines[at] = line.join(" ");
        }
    }
}

/// Checks that a disassembly reports the lines that assembling it finds. So callers that open an image
/// needn't assemble its text again.
#[test]
fn a_disassembly_reports_the_lines_of_its_instructions() {
    for (name, text) in SAMPLES {
        let first = module(text);
        let reported = disassembly(&first);
        let assembly = assemble("again.rasm", reported.text.clone().into_bytes(), &FilesInMemory::new());
        let lines: Vec<u32> = assembly.lines.iter().map(|line| line.line).collect();
        assert_eq!(reported.lines, lines, "{name}");
    }
}
