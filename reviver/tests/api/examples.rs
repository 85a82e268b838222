//! Runs the examples, and checks their assertions and their output.

#[path = "../../examples/newton.rs"]
mod newton;
#[path = "../../examples/two_threads.rs"]
mod two_threads;
#[path = "../../examples/value_and_gradient.rs"]
mod value_and_gradient;

#[test]
fn the_value_and_the_gradient_are_correct() {
    value_and_gradient::main().unwrap();
}

#[test]
fn newtons_method_converges() {
    newton::main().unwrap();
}

#[test]
fn two_threads_have_equal_results() {
    two_threads::main().unwrap();
}
