//! The exercises of the course are part of the program: a new file among them makes it build anew.

fn main() {
    println!("cargo:rerun-if-changed=course/exercises");
}
