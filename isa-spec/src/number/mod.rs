// TEMPORARY while the fixed-point functions are being written: build them with
// RUSTFLAGS='--cfg fixed_wip' so that the other crates compile meanwhile.
#[cfg(fixed_wip)]
pub mod fixed;
