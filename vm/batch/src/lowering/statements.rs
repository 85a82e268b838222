//! Rewrites the statements of a function in order. This module is independent of operations.

use naga::valid::FunctionInfo;
use naga::{AtomicFunction, Block, Expression, Function, Handle, Statement, SwitchCase, SwitchValue};

use super::expressions::Expressions;
use super::types::{LoweredTypes, function_name, refused};
use crate::error::BatchError;

/// Emitter of the body of a rewritten function.
pub(super) struct FunctionWriter<'a> {
    types: &'a LoweredTypes<'a>,
    function: &'a Function,
    expressions: Expressions<'a>,
    text: String,
    depth: usize,
}

impl<'a> FunctionWriter<'a> {
    pub fn new(types: &'a LoweredTypes<'a>, function: &'a Function, info: &'a FunctionInfo) -> Self {
        let expressions = Expressions::new(types, function, info);
        Self { types, function, expressions, text: String::new(), depth: 1 }
    }

    pub fn text(self) -> String {
        self.text
    }

    pub fn line(&mut self, text: &str) {
        self.text.push_str(&"    ".repeat(self.depth));
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Writes the whole body of the function.
    ///
    /// # Errors
    ///
    /// Fails if a construct has no lowering.
    pub fn body(&mut self) -> Result<(), BatchError> {
        let function = self.function;
        for (handle, local) in function.local_variables.iter() {
            let of = self.types.name(local.ty)?;
            let first = match local.init {
                Some(init) => format!(" = {}", self.expressions.text(init)?),
                None => String::new(),
            };
            self.line(&format!("var l{}: {of}{first};", handle.index()));
        }
        for (handle, expression) in function.expressions.iter() {
            let is_constant = matches!(
                expression,
                Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_)
            );
            if is_constant {
                let text = self.types.constant_of(expression)?;
                self.name(handle, &text);
            }
        }
        self.block(&function.body)
    }

    fn name(&mut self, handle: Handle<Expression>, text: &str) {
        let name = self.expressions.name(handle);
        self.line(&format!("let {name} = {text};"));
    }

    fn inner(&mut self, block: &Block) -> Result<(), BatchError> {
        self.depth += 1;
        let done = self.block(block);
        self.depth -= 1;
        done
    }

    fn block(&mut self, block: &Block) -> Result<(), BatchError> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), BatchError> {
        match statement {
            Statement::Emit(range) => range.clone().try_for_each(|handle| self.emit(handle))?,
            Statement::Block(block) => {
                self.line("{");
                self.inner(block)?;
                self.line("}");
            }
            Statement::If { condition, accept, reject } => {
                let condition = self.expressions.text(*condition)?;
                self.line(&format!("if ({condition}) {{"));
                self.inner(accept)?;
                if !reject.is_empty() {
                    self.line("} else {");
                    self.inner(reject)?;
                }
                self.line("}");
            }
            Statement::Switch { selector, cases } => self.switch(*selector, cases)?,
            Statement::Loop { body, continuing, break_if } => self.repeat(body, continuing, *break_if)?,
            Statement::Break => self.line("break;"),
            Statement::Continue => self.line("continue;"),
            Statement::Return { value: None } => self.line("return;"),
            Statement::Return { value: Some(value) } => {
                let value = self.expressions.text(*value)?;
                self.line(&format!("return {value};"));
            }
            Statement::Store { pointer, value } => self.store(*pointer, *value)?,
            Statement::Atomic { pointer, fun, value, result } => {
                self.atomic(*pointer, fun, *value, *result)?;
            }
            Statement::Call { function, arguments, result } => {
                let name = function_name(self.types.module, *function);
                let arguments = arguments.iter().map(|&argument| self.expressions.text(argument));
                let call = format!("{name}({})", arguments.collect::<Result<Vec<_>, _>>()?.join(", "));
                self.result(*result, &call);
            }
            other => return Err(refused(&format!("the statement {other:?}"))),
        }
        Ok(())
    }

    /// Writes a call as a statement. If the call has a result, the statement gives the result a name.
    fn result(&mut self, result: Option<Handle<Expression>>, call: &str) {
        match result {
            Some(result) => self.name(result, call),
            None => self.line(&format!("{call};")),
        }
    }

    fn emit(&mut self, handle: Handle<Expression>) -> Result<(), BatchError> {
        let text = self.expressions.made(handle)?;
        if self.expressions.is_pointer(handle) {
            self.expressions.place(handle, text);
        } else {
            self.name(handle, &text);
        }
        Ok(())
    }

    fn store(&mut self, pointer: Handle<Expression>, value: Handle<Expression>) -> Result<(), BatchError> {
        if self.expressions.is_part_of_pairs(pointer) {
            return Err(refused("storing one component of a vector of 64-bit integers"));
        }
        let (place, value) = (self.expressions.text(pointer)?, self.expressions.text(value)?);
        self.line(&match self.expressions.is_atomic(pointer) {
            true => format!("atomicStore(&{place}, {value});"),
            false => format!("{place} = {value};"),
        });
        Ok(())
    }

    fn atomic(
        &mut self,
        pointer: Handle<Expression>,
        function: &AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<(), BatchError> {
        let name = match function {
            AtomicFunction::Add => "atomicAdd",
            other => return Err(refused(&format!("an atomic {other:?}"))),
        };
        let (place, value) = (self.expressions.text(pointer)?, self.expressions.text(value)?);
        self.result(result, &format!("{name}(&{place}, {value})"));
        Ok(())
    }

    fn switch(&mut self, selector: Handle<Expression>, cases: &[SwitchCase]) -> Result<(), BatchError> {
        let selector = self.expressions.text(selector)?;
        self.line(&format!("switch {selector} {{"));
        self.depth += 1;
        let mut values = Vec::new();
        for case in cases {
            values.push(match case.value {
                SwitchValue::I32(value) => format!("{value}i"),
                SwitchValue::U32(value) => format!("{value}u"),
                SwitchValue::Default => "default".to_owned(),
            });
            // If several cases share a body, naga lists them one after another. All of them except the last have an
            // empty body, and fall through.
            match (case.fall_through, case.body.is_empty()) {
                (true, true) => continue,
                (true, false) => return Err(refused("a case that falls through to the next one")),
                (false, _) => {}
            }
            self.line(&format!("case {}: {{", std::mem::take(&mut values).join(", ")));
            self.inner(&case.body)?;
            self.line("}");
        }
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    fn repeat(
        &mut self,
        body: &Block,
        continuing: &Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<(), BatchError> {
        self.line("loop {");
        self.inner(body)?;
        if !continuing.is_empty() || break_if.is_some() {
            self.depth += 1;
            self.line("continuing {");
            self.inner(continuing)?;
            if let Some(condition) = break_if {
                let condition = self.expressions.text(condition)?;
                self.line(&format!("    break if {condition};"));
            }
            self.line("}");
            self.depth -= 1;
        }
        self.line("}");
        Ok(())
    }
}
