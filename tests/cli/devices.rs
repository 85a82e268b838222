//! Lanes on a device and on the CPU: available devices, identical files from both, and undecided lanes.

use crate::support::reviver;
#[cfg(feature = "gpu")]
use crate::support::{Folder, command, ran, root};

/// Returns a part of an available device's name. Prints a note and returns `None` if no device is requested.
#[cfg(feature = "gpu")]
fn device() -> Option<String> {
    let is_wanted =
        ["REVIVER_DEVICE", "REVIVER_NEEDS_DEVICE"].map(std::env::var_os).iter().any(Option::is_some);
    if !is_wanted {
        eprintln!(
            "SKIPPED: no device is named. Set REVIVER_NEEDS_DEVICE=1, or set REVIVER_DEVICE to a part of a device's name."
        );
        return None;
    }
    let found = reviver("devices --json").expect(0).json();
    let devices = found["devices"].as_array().unwrap();
    let wanted = std::env::var("REVIVER_DEVICE").unwrap_or_default();
    let fits = |device: &&serde_json::Value| {
        device["kind"] != "processor"
            && device["unusable"].is_null()
            && device["name"].as_str().unwrap().contains(&wanted)
    };
    let name = devices.iter().find(fits).map(|device| device["name"].as_str().unwrap());
    assert!(name.is_some(), "there is no device: {found}");
    name?.split(' ').next().map(str::to_owned)
}

#[test]
fn the_cpu_is_a_device() {
    let ran = reviver("devices").expect(0);
    assert!(ran.stdout.starts_with("cpu (processor)\n  cores"), "{ran:?}");
    let object = reviver("devices --json").expect(0).json();
    assert_eq!(
        (&object["devices"][0]["name"], &object["devices"][0]["kind"]),
        (&"cpu".into(), &"processor".into())
    );
}

#[test]
fn missing_devices_are_reported() {
    let lanes = "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv";
    let ran = reviver(&format!("{lanes} --device abacus")).expect(2).says("--device abacus: ");
    ran.says("`reviver devices` lists");
    reviver(&format!("{lanes} --device gpu --threads 2"))
        .expect(2)
        .says("`--threads` applies to the CPU only");
}

#[cfg(not(feature = "gpu"))]
#[test]
fn a_build_without_devices_is_reported() {
    let lanes = "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv";
    reviver(&format!("{lanes} --device gpu")).expect(2).says("build it with the feature `gpu`");
}

#[cfg(feature = "gpu")]
#[test]
fn device_and_cpu_write_the_same_files() {
    let Some(device) = device() else { return };
    let batches = [
        "programs/bessel_grid.rasm --lanes programs/bessel_grid.csv",
        "programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --grad out",
        "programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --grad out --unchecked",
        "programs/reprojection.rasm --lanes programs/reprojection.csv --grad cost",
        "programs/reprojection.rasm --lanes programs/reprojection.csv --jacobian cost",
        "programs/reprojection.rasm --lanes programs/reprojection.csv --seed cost=-2.5",
        "programs/xtea_blocks.rasm --lanes programs/xtea_blocks.csv",
        "programs/xtea_blocks.rasm --lanes programs/xtea_blocks.csv --check",
        "programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --real f32",
        "programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --real q32.32 --check",
        "programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --hessian out",
        "programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --hessian out --real q32.32",
        "programs/reprojection.rasm --lanes programs/reprojection.csv --jacobian cost --times focal=1",
        "programs/reprojection.rasm --lanes programs/reprojection.csv --hessian cost --times focal=1",
    ];
    for batch in batches {
        let wanted = reviver(&format!("batch {batch} --device cpu --json"));
        let found = reviver(&format!("batch {batch} --device {device} --json"));
        assert_eq!(found.code, wanted.code, "{batch}: {found:?}");
        let (mut wanted, mut found) = (wanted.json(), found.json());
        if wanted.get("error").is_some() {
            continue;
        }
        assert_ne!(found["device"], wanted["device"]);
        assert_eq!(found["by_processor"], 0, "{batch}");
        for object in [&mut wanted, &mut found] {
            let members = object.as_object_mut().unwrap();
            for name in ["device", "by_processor"] {
                members.remove(name);
            }
        }
        assert_eq!(found, wanted, "{batch}");
    }
}

/// A stored capability probe is reused, unless it belongs to another device or is unreadable.
#[cfg(feature = "gpu")]
#[test]
fn capability_probes_are_stored() {
    let Some(device) = device() else { return };
    let folder = Folder::new();
    let run = |code: i32| {
        let lanes = "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv";
        ran(
            command()
                .args(lanes.split(' '))
                .args(["--device", &device])
                .env("XDG_CACHE_HOME", folder.path("")),
            b"",
        )
        .expect(code)
    };
    run(0);
    let kept = || {
        let files = std::fs::read_dir(folder.path("reviver")).unwrap();
        let paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        assert_eq!(paths.len(), 1, "{paths:?}");
        paths[0].clone()
    };
    let truth = std::fs::read_to_string(kept()).unwrap();
    assert!(truth.contains("\nexact 1 1 1\n"), "{truth}");
    let reported = |text: String| std::fs::write(kept(), text).unwrap();
    reported(truth.replace("exact 1 1 1", "exact 0 1 1"));
    run(2).says("f64");
    for wrong in [truth.replace("\nof ", "\nof another "), truth.replace("exact", "about"), String::new()] {
        reported(wrong);
        run(0);
        assert_eq!(std::fs::read_to_string(kept()).unwrap(), truth);
    }
    // A file that isn't a capability probe isn't replaced.
    reported("dear diary".to_owned());
    run(0);
    assert_eq!(std::fs::read_to_string(kept()).unwrap(), "dear diary");
}

#[cfg(feature = "gpu")]
#[test]
fn undecided_lanes_run_on_the_cpu() {
    let Some(device) = device() else { return };
    let folder = Folder::new();
    folder.file("picky.rasm", ".inout n\n.out y\nassert n != 3\nadd.mul y, n, n\n");
    folder.file("in.csv", "n\n1\n2\n3\n4\n3\n");
    let both = |options: &str, code: i32| {
        let batch = format!("batch picky.rasm --lanes in.csv {options}");
        let wanted = folder.reviver(&format!("{batch} --device cpu")).expect(code);
        let found = folder.reviver(&format!("{batch} --device {device}")).expect(code);
        assert_eq!(found.stdout, wanted.stdout, "{options}");
        found
    };
    both("", 4).says(" of lane 2 (in.csv:4), after 0 steps: ");
    both("--keep-going", 1).says("2 lanes ran on the CPU").says("2 of 5 lanes failed");
    folder.file("loop.rasm", ".inout n\n.out y\nfor i in 0..n\nadd y, i\nrof\n");
    folder.file("long.csv", "n\n1\n1000000\n7\n");
    let batch = format!("batch loop.rasm --lanes long.csv --device {device}");
    folder.reviver(&batch).expect(0).prints("n,y\n1,0\n1000000,499999500000\n7,21\n");
    folder.reviver(&format!("{batch} --max-steps 1000")).expect(5).says("lane 1 (long.csv:3)");
    // If a device was requested, a program that devices can't execute is an error.
    folder.file("shown.rasm", ".inout n\n.out y\nadd y, n\nshow y\n");
    let shown = "batch shown.rasm --lanes in.csv";
    folder.reviver(&format!("{shown} --device cpu")).expect(0);
    let ran = folder.reviver(&format!("{shown} --device {device}")).expect(2);
    ran.says("devices can't execute `show`").says("use `--device cpu`, which executes");
}

/// Calls that aren't inlined have a limited depth on devices; irreducible loops are reported.
#[cfg(feature = "gpu")]
#[test]
fn recursions_and_irreducible_loops_run_on_devices() {
    let Some(device) = device() else { return };
    let folder = Folder::new();
    folder.file("n.csv", "n\n0\n5\n90\n3000\n");
    let recursive = format!("batch {}/programs/fib_recursive.rasm --lanes n.csv", root().display());
    let wanted = folder.reviver(&format!("{recursive} --device cpu")).expect(0);
    let found = folder.reviver(&format!("{recursive} --device {device}")).expect(0);
    assert_eq!(found.stdout, wanted.stdout);
    found.says("1 lane ran on the CPU");
    folder.file(
        "entered.rasm",
        ".inout n, odd\n.out sum, j, k\nentry: br mid, odd == 1\ntop: from again, k > 0\nadd sum, 7\nadd j, 1\n\
         mid: from entry, j == 0\nadd k, 1\nadd sum, k\nagain: br top, k < n\n",
    );
    folder.file("entered.csv", "n,odd\n3,0\n3,1\n1,1\n");
    let entered = "batch entered.rasm --lanes entered.csv --stats";
    let both = [format!("{entered} --device cpu --json"), format!("{entered} --device {device} --json")];
    let [wanted, found] = both.map(|batch| folder.reviver(&batch).expect(0).json());
    assert_eq!(found["results"], wanted["results"]);
    assert_eq!((&found["switched_loops"], &found["by_processor"]), (&1.into(), &0.into()));
    assert!(wanted["switched_loops"].is_null());
    let reported = folder.reviver(&format!("{entered} --device {device} -o results.csv")).expect(0);
    reported.prints_part("a switch executes 1 loop with several entries, and the rest is structured");
}

/// Driver messages stay off standard error. Driver compilation counts as compilation time, even at the first
/// dispatch.
#[cfg(feature = "gpu")]
#[test]
fn driver_messages_are_hidden_and_compilation_time_is_reported() {
    let Some(device) = device() else { return };
    let folder = Folder::new();
    let lanes = "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --grad out --json --stats";
    let mut batch = command();
    batch.args(lanes.split(' ')).args(["--device", &device]);
    batch.env("XDG_CACHE_HOME", folder.path("")).env_remove("XDG_RUNTIME_DIR");
    let ran = ran(batch.env("MESA_SHADER_CACHE_DISABLE", "true"), b"").expect(0);
    assert!(!ran.stderr.contains("XDG_RUNTIME_DIR"), "{ran:?}");
    let seconds = &ran.json()["seconds"];
    assert!(seconds["compile"].as_f64().unwrap() > seconds["run"].as_f64().unwrap(), "{seconds}");
}

/// A driver's compiler can't be interrupted; the command ends without waiting for it.
#[cfg(all(feature = "gpu", unix))]
#[test]
fn a_signal_ends_a_driver_that_compiles() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let Some(device) = device() else { return };
    let lanes = "batch tests/cases/slow_shader.rasm --lanes tests/cases/slow_shader.csv --grad f7 --device";
    let mut batch = command();
    batch
        .args(lanes.split(' '))
        .arg(&device)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let child = batch.env("MESA_SHADER_CACHE_DISABLE", "true").spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let sent = Instant::now();
    let kill = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        eprintln!("SKIPPED: this device compiles the program within seconds.");
        return;
    }
    assert_eq!(output.status.code(), Some(143), "{stderr}");
    assert!(stderr.contains("stopped while the program was compiled for the lanes, by SIGTERM"), "{stderr}");
    assert!(sent.elapsed() < Duration::from_secs(5), "{:?}", sent.elapsed());
}

/// A child process loads the drivers first, so a driver that crashes doesn't end the command.
#[cfg(all(feature = "gpu", unix))]
#[test]
fn a_crashing_driver_does_not_end_the_command() {
    if device().is_none() {
        return;
    }
    let folder = Folder::new();
    folder.file(
        "driver.c",
        "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) {\n    \
         fputs(\"out of luck\\n\", stderr);\n    abort();\n}\n",
    );
    if !folder.shell("cc -shared -fPIC driver.c -o driver.so").stderr.is_empty() {
        eprintln!("SKIPPED: there is no C compiler to make a driver with.");
        return;
    }
    let manifest = format!(
        r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "{}", "api_version": "1.3.0"}}}}"#,
        folder.at("driver.so")
    );
    let manifest = folder.file("driver.json", manifest);
    let run = |arguments: &str| {
        let mut command = command();
        command.args(arguments.split(' ')).env("XDG_CACHE_HOME", folder.path(""));
        ran(command.env("VK_DRIVER_FILES", &manifest).env("VK_ICD_FILENAMES", &manifest), b"")
    };
    let crashed = "a driver crashed while it was probed (SIGABRT)";
    let listed = run("devices").expect(1).says(crashed).says("the driver wrote: out of luck");
    listed.prints_part("cpu (processor)");
    let object = run("devices --json").expect(1).json();
    assert_eq!(object["devices"].as_array().unwrap().len(), 1);
    assert_eq!(object["error"]["message"], crashed);
    let lanes = "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv";
    run(&format!("{lanes} --device gpu")).expect(2).says(&format!("--device gpu: {crashed}"));
    run(&format!("{lanes} --device cpu")).expect(0);
}
