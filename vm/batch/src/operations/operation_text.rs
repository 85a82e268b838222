//! The text of one operation on values, for insertion into a shader.

/// The text of an operation that returns a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OperationText {
    /// Statements that must precede the uses of `text` and `fails`.
    pub lines: Vec<String>,
    /// The result: an expression that needs no parentheses. Its value is undefined if the operation fails.
    pub text: String,
    /// A condition that is true if the operation fails; `None` if it can't fail.
    pub fails: Option<String>,
    /// Upper bound on the iterations of each loop that the operation executes.
    pub iterations: u32,
}

impl OperationText {
    pub fn surely(text: String) -> OperationText {
        OperationText { text, ..OperationText::default() }
    }
}
