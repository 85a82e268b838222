use reviver_lab::{campaign::subject, coverage::Coverage, generate::Profile, run::LONGEST, pairing::*, rng::Rng};
use reviver_vm::history::Residues;
fn main() {
    let mut cov = Coverage::default();
    let (mut g, mut garr, mut skipped, mut compared, mut drops, mut rules) = (0, 0, 0, 0, 0, 0);
    let (mut kept, mut keptf, mut total, mut n) = (0u64, 0u64, 0u64, 0u64);
    for seed in 0..1500u64 {
        let s = subject(seed);
        let end = cov.watch(s.machine(true), LONGEST);
        if Profile::of_seed(seed).gradient {
            g += 1;
            garr += u64::from(end.arrived());
            let tape = s.tape_texts();
            match reviver_oracle::Case::of(&s.text).with(reviver_oracle::Inputs { values: &[], tape: &tape, gradient: false }).compare() {
                Ok(a) => if matches!(a.forward.there, reviver_oracle::Ending::Skipped(_)) { skipped += 1 } else { compared += 1 },
                Err(e) => println!("{seed}: {e}"),
            }
            let mut m = s.machine(true);
            reviver_lab::run::travel(&mut m, reviver_vm::Travel::Forward, LONGEST);
            drops += u64::from(m.state().counters.drops > 0);
            rules += u64::from(s.has_rules());
        } else {
            n += 1;
            let start = s.machine(true).state().clone();
            let m = reviver_vm::Machine::resume(s.program.clone(), start, Some(Residues::default()));
            let mut f = m.clone();
            reviver_lab::run::travel(&mut f, reviver_vm::Travel::Forward, LONGEST);
            total += f.state().step as u64;
            kept += kept_on_the_way_back(&s.program, m.clone(), &mut Rng::new(1)).unwrap();
            keptf += kept_on_the_way_forward(&s.program, m, &mut Rng::new(1)).unwrap();
        }
    }
    println!("gradient {g} arrived {garr} skipped {skipped} compared {compared} drops {drops} rules {rules} percent {}", cov.percent_in_gradient_mode());
    println!("plain {n} steps {total} paired back {kept} forward {keptf}");
}
