//! Tests that bytes, names and inverses are frozen: images and programs of every release depend on them.

use reviver_isa::{Function, Update};

/// The release that the rows of the tables are from. Until the next release a new row may change; the tables
/// are completed when the version is increased.
const FROZEN_IN: &str = "0.1.0";

const FUNCTIONS: &[(u8, &str)] = &[
    (0x00, "copy"),
    (0x01, "sum"),
    (0x02, "diff"),
    (0x03, "mul"),
    (0x04, "div"),
    (0x05, "rem"),
    (0x06, "pow"),
    (0x07, "powi"),
    (0x08, "min"),
    (0x09, "max"),
    (0x0a, "abs"),
    (0x0b, "square"),
    (0x0c, "relu"),
    (0x0d, "inv"),
    (0x10, "sqrt"),
    (0x11, "exp"),
    (0x12, "log"),
    (0x13, "sin"),
    (0x14, "cos"),
    (0x15, "tan"),
    (0x16, "asin"),
    (0x17, "acos"),
    (0x18, "atan"),
    (0x19, "atan2"),
    (0x1a, "sinh"),
    (0x1b, "cosh"),
    (0x1c, "tanh"),
    (0x1d, "floor"),
    (0x1e, "round"),
    (0x20, "and"),
    (0x21, "or"),
    (0x22, "xor"),
    (0x23, "shl"),
    (0x24, "shr"),
    (0x25, "sar"),
    (0x30, "eq"),
    (0x31, "ne"),
    (0x32, "lt"),
    (0x33, "le"),
    (0x34, "gt"),
    (0x35, "ge"),
    (0x3f, "always"),
    (0x40, "toreal"),
    (0x41, "toint"),
];

/// Byte, mnemonic, mnemonic of the inverse. The bytes 0x27 to 0x2a belonged to calls that no release could
/// run; they are never reused.
const UPDATES: &[(u8, &str, &str)] = &[
    (0x01, "add", "sub"),
    (0x02, "sub", "add"),
    (0x03, "xor", "xor"),
    (0x04, "mul", "div"),
    (0x05, "div", "mul"),
    (0x06, "rol", "ror"),
    (0x07, "ror", "rol"),
    (0x10, "swap", "swap"),
    (0x11, "neg", "neg"),
    (0x12, "not", "not"),
    (0x13, "conj", "conj"),
    (0x14, "rot", "irot"),
    (0x15, "irot", "rot"),
    (0x20, "assert", "assert"),
    (0x21, "br", "from"),
    (0x22, "from", "br"),
    (0x23, "enter", "exit"),
    (0x24, "exit", "enter"),
    (0x25, "call", "uncall"),
    (0x26, "uncall", "call"),
    (0x30, "push", "pop"),
    (0x31, "pop", "push"),
    (0x32, "read", "unread"),
    (0x33, "unread", "read"),
    (0x34, "write", "unwrite"),
    (0x35, "unwrite", "write"),
    (0x36, "vacate", "vacate"),
    (0x37, "show", "show"),
    (0x40, "overwrite", "overwrite"),
    (0x41, "erase", "erase"),
    (0x50, "grad.on", "grad.off"),
    (0x51, "grad.off", "grad.on"),
];

/// Returns true if a release has shipped a function; all of its behaviour must then be tested.
pub fn is_frozen(function: Function) -> bool {
    FUNCTIONS.iter().any(|&(_, name)| name == function.name())
}

#[test]
fn functions_keep_their_bytes() {
    for &(byte, name) in FUNCTIONS {
        assert_eq!(Function::from_byte(byte).map(Function::name), Some(name));
        assert_eq!(Function::from_name(name).map(Function::byte), Some(byte));
    }
}

#[test]
fn updates_keep_their_bytes_and_inverses() {
    for &(byte, name, _) in UPDATES {
        assert_eq!(Update::from_byte(byte).map(Update::name), Some(name));
        assert_eq!(Update::from_name(name).map(Update::byte), Some(byte));
    }
    assert!((0x27..=0x2a).all(|byte| Update::from_byte(byte).is_none()), "a byte is given again");
    check_inverses();
}

/// Checks the inverses that releases have frozen, and that inverting any row twice changes nothing.
pub fn check_inverses() {
    for &(byte, name, inverse) in UPDATES {
        assert_eq!(Update::from_byte(byte).map(|update| update.inverse().name()), Some(inverse), "{name}");
    }
    inverting_twice_is_the_identity();
}

#[test]
fn inverting_twice_is_the_identity() {
    for &update in Update::ALL {
        assert_eq!(update.inverse().inverse(), update);
        assert_eq!(update.inverse().shape(), update.shape());
        assert_eq!(update.inverse().over(), update.over());
    }
}

#[test]
fn a_release_freezes_its_rows() {
    let version = env!("CARGO_PKG_VERSION");
    if version != FROZEN_IN {
        let complete = Function::ALL.len() == FUNCTIONS.len() && Update::ALL.len() == UPDATES.len();
        assert!(complete, "{version} ships rows that the tables of this test lack");
        panic!("every row is frozen: say so by FROZEN_IN = {version:?}");
    }
}

#[test]
fn rows_are_listed_in_the_order_of_their_bytes() {
    assert!(Function::ALL.is_sorted_by_key(|function| function.byte()));
    assert!(Update::ALL.is_sorted_by_key(|update| update.byte()));
}

#[test]
fn all_other_bytes_name_nothing() {
    let functions = (0..=255).filter_map(Function::from_byte);
    assert!(functions.eq(Function::ALL.iter().copied()));
    let updates = (0..=255).filter_map(Update::from_byte);
    assert!(updates.eq(Update::ALL.iter().copied()));
}
