//! The text of an operation. Independent of operations.

/// The text of an operation that returns a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OperationText {
    /// Statements that come first.
    pub lines: Vec<String>,
    /// The value: an expression that needs no parentheses. Undefined if the operation fails.
    pub text: String,
    /// An expression of type `bool` that is true if the operation fails; None if it can't fail.
    pub fails: Option<String>,
    /// Upper bound on the iterations of its loops.
    pub iterations: u32,
}

impl OperationText {
    pub fn surely(text: String) -> OperationText {
        OperationText { text, ..OperationText::default() }
    }
}
