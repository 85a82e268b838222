//! Runs the tests of the Python package, with the native module that cargo has built.
//!
//! They need a Python with NumPy and pytest. The variable `REVIVER_PYTHON` names it; otherwise `python3` is used, and
//! nothing is tested if it lacks one of these packages. Tests of other packages (JAX, PyTorch, pyarrow, polars) are
//! skipped where the package is missing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Returns the native module, which cargo puts beside the tests or into the folder above.
fn native_module() -> PathBuf {
    let test = env::current_exe().unwrap();
    let name = format!("{}_native{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let folders = test.ancestors().skip(1).take(2);
    let found: Vec<PathBuf> =
        folders.map(|folder| folder.join(&name)).filter(|path| path.is_file()).collect();
    // Cargo may leave an older build in one of the folders.
    let newest = found.into_iter().max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    newest.expect("cargo has built the native module")
}

/// Copies the package, with the native module.
fn package(folder: &Path) {
    let package = folder.join("reviver_vm");
    fs::create_dir_all(&package).unwrap();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("reviver_vm")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, package.join(path.file_name().unwrap())).unwrap();
        }
    }
    fs::copy(native_module(), package.join("_native.abi3.so")).unwrap();
}

#[test]
fn tests_in_python_pass() {
    let (python, is_required) = match env::var("REVIVER_PYTHON") {
        Ok(python) => (python, true),
        Err(_) => ("python3".to_owned(), false),
    };
    let imports = Command::new(&python).args(["-c", "import numpy, pytest"]).output();
    if !imports.is_ok_and(|imports| imports.status.success()) {
        assert!(!is_required, "{python} has no NumPy or no pytest");
        eprintln!("not tested: {python} has no NumPy or no pytest");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    package(&folder);
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"];
    let mut pytest = Command::new(&python);
    pytest
        .args(arguments)
        .arg(tests)
        .env("PYTHONPATH", &folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(&folder);
    let outcome = pytest.output().unwrap();
    let text = String::from_utf8_lossy(&outcome.stdout);
    assert!(outcome.status.success(), "{text}{}", String::from_utf8_lossy(&outcome.stderr));
    println!("{text}");
}
