use reviver_lab::generate::{Profile, program};
use reviver_lab::{run, subject::Subject, laws};
fn main() {
    let a: Vec<u64> = std::env::args().skip(1).map(|s| s.parse().unwrap()).collect();
    for (what, text) in reviver_lab::corners::ALL {
        let s = match Subject::new(text) { Ok(s) => s, Err(e) => { println!("CORNER {what}: {e}"); continue } };
        let t = run::trace(&s, false);
        println!("{what}: {:?} {}", t.end, t.steps());
        for law in laws::ALL { if let Err(e) = (law.check)(&s) { println!("CORNER {what} LAW {}: {}", law.name, &e[..e.len().min(300)]); } }
    }
    let (mut bad, mut ok, mut trap, mut budget) = (0, 0, 0, 0);
    let mut steps = vec![];
    for seed in a[0]..a[1] {
        let p = Profile::of_seed(seed);
        let text = program(seed, &p);
        let s = match Subject::new(&text) { Ok(s) => s, Err(e) => { bad += 1; if bad < 6 { println!("seed {seed}\n{e}"); } continue } };
        let t = run::trace(&s, false);
        match t.end { run::End::Bound => ok += 1, run::End::Budget => budget += 1, run::End::Trap(tr) => { trap += 1; 
            if p.risk == 0 && trap < 40 { let e = reviver_vm::explain::explain(&s.program, t.machine.state(), tr); println!("seed {seed} {:?} {:?}: {} | {} line {:?} {:?}", p.word, p.real, e.message, e.instruction, e.line, e.notes.first()); } } }
        steps.push(t.steps());
        if a.len() > 3 { let tape = s.tape_texts(); let c = reviver_oracle::Case::of(&s.text).with(reviver_oracle::Inputs{values:&[],tape:&tape}).compare(); match c { Ok(ag) => println!("AG {:?} {:?} | {:?} {:?}", ag.forward.there, ag.forward.back, ag.backward.there, ag.backward.back), Err(e) => println!("seed {seed} {e}") } continue }
        if a.len() > 2 { for law in laws::ALL { if let Err(e) = (law.check)(&s) { println!("seed {seed} LAW {}: {}", law.name, &e[..e.len().min(300)]); } } }
    }
    steps.sort();
    println!("bad {bad} ok {ok} trap {trap} budget {budget} steps {:?} {:?} {:?}", steps.get(steps.len()/2), steps.get(steps.len()*9/10), steps.last());
}
