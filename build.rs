//! The course is part of the program: a new file of the exercises, of the book, or of the programs that it lists, makes
//! it build anew.

fn main() {
    for folder in ["course/book/programs", "course/book/src", "course/exercises", "programs"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
