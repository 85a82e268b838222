//! Arrays of the program that keep copies of cells while a segment is undone.

use compact_str::CompactString;
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;

use crate::build;
use crate::keep::make::{self, node};
use crate::tree::{DeclarationNode, Directive, Expression, ShapeNode, Statement, StatementNode};

/// An array of the program that keeps copies of cells for a while, with their number.
#[derive(Clone, Debug)]
pub(super) struct CopyStore {
    pub class: Class,
    pub array: CompactString,
    pub count: CompactString,
}

impl CopyStore {
    /// Returns the first free element.
    pub fn next(&self) -> Expression {
        make::element(&self.array, [build::cell(&self.count)])
    }

    /// Returns the declarations of the array and of the number of copies.
    pub fn declared(&self, capacity: u64) -> [StatementNode; 2] {
        let globals = |name: &str, lengths: Vec<Expression>, class: Class| {
            let declaration = DeclarationNode {
                name: build::name(name),
                shape: ShapeNode::Lengths(lengths),
                class: Some(class),
                record: None,
                initial: None,
                is_shared: false,
                default: None,
            };
            node(Statement::Directive(Directive::Globals {
                role: Role::Private,
                declarations: vec![declaration],
            }))
        };
        [
            globals(&self.array, vec![build::int(capacity)], self.class),
            globals(&self.count, Vec::new(), Class::Int),
        ]
    }
}
