//! Jacobians, Hessians and Taylor series: text for users, JSON objects for programs. Numbers are formatted in the
//! program's number system.

use std::io::{self, Write};

use reviver::Selection;
use reviver_isa::module::Shape;
use reviver_isa::names::adjoint_name;
use reviver_vm::differentiate::matrices::{Hessian, Jacobian, JacobianProduct, Sweep, Taylor};
use reviver_vm::differentiate::{Subject, Variable, VerificationReport};
use reviver_vm::values::Value;

use super::json_values::{self, JsonCells, JsonValue, Object};
use super::verification::VerificationText;
use crate::vectors::SelectedNumbers;

/// Path of a Taylor series: one cell that changes, or a direction.
pub enum SeriesPath {
    /// The series in one input cell; the other inputs are constant.
    Cell(Variable),
    Direction(SelectedNumbers),
}

/// Formatter for names and numbers of one program.
pub struct ValueRenderer<'a>(pub &'a Subject);

impl<'a> ValueRenderer<'a> {
    fn text(&self, number: f64) -> String {
        self.0.program.text(Value::Real(self.0.number(number)))
    }

    fn bits(&self, bits: u64) -> String {
        self.0.program.text(Value::Real(bits))
    }

    /// Returns numbers as the cells of a variable with shape `shape`, each formatted in the program's number system.
    fn cells(&self, shape: Shape, numbers: &'a [f64]) -> JsonCells<'a> {
        let spelling = ValueRenderer(self.0);
        JsonCells::new(shape, move |n| numbers.get(n).map(|&number| spelling.text(number)))
            .of_numbers(&self.0.program)
    }

    fn list(&self, numbers: &'a [f64]) -> JsonCells<'a> {
        self.cells(Shape::Vector(u32::try_from(numbers.len()).unwrap_or(u32::MAX)), numbers)
    }

    fn lists(&self, rows: &'a [Vec<f64>]) -> JsonValue<'a> {
        let spelling = ValueRenderer(self.0);
        JsonValue::list(rows.len(), move |n| spelling.list(rows.get(n).map_or(&[], Vec::as_slice)).into())
    }

    fn names(&self, variables: &'a [Variable]) -> JsonCells<'a> {
        let subject = self.0;
        JsonCells::list(variables.len(), move |n| variables.get(n).map_or(String::new(), |v| subject.name(v)))
    }

    /// Returns a vector as a JSON object with an entry for each selection. `components` has a number for each cell of
    /// the selections, in order.
    fn json_vector(&self, selections: &'a [Selection], components: &'a [f64]) -> Object<'a> {
        let shared = self.shared_out(selections, components);
        shared.map(|(selection, cells)| (selection.name.clone(), cells.into())).collect()
    }

    fn shared_out(
        &self,
        selections: &'a [Selection],
        mut components: &'a [f64],
    ) -> impl Iterator<Item = (&'a Selection, JsonCells<'a>)> {
        selections.iter().map(move |selection| {
            let count = selection.variables.len().min(components.len());
            let (own, others) = components.split_at(count);
            components = others;
            (selection, self.cells(selection.shape, own))
        })
    }

    /// Returns a vector as a JSON object: the name of each selection (`x`, `A`, `A[3]`) with its components.
    fn by_selection(&self, vector: &'a SelectedNumbers) -> Object<'a> {
        let mut bits = &vector.bits[..];
        let parts = vector.selections.iter().map(|selection| {
            let (own, others) = bits.split_at(selection.variables.len().min(bits.len()));
            bits = others;
            let spelling = ValueRenderer(self.0);
            let cells = JsonCells::new(selection.shape, move |n| own.get(n).map(|&bits| spelling.bits(bits)));
            (selection.name.clone(), cells.of_numbers(&self.0.program).into())
        });
        parts.collect()
    }

    /// Writes a line `name = …` for each selection; `spell` formats the name.
    fn vector(
        &self,
        selections: &'a [Selection],
        components: &'a [f64],
        spell: impl Fn(&str) -> String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut lines = self.shared_out(selections, components);
        lines.try_for_each(|(selection, cells)| writeln!(out, "{} = {cells}", spell(&selection.name)))
    }

    /// Writes the column names, then a line for each row.
    fn matrix(
        &self,
        rows: &'a [Variable],
        columns: &'a [Variable],
        numbers: &'a [Vec<f64>],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(out, "by {}:", self.names(columns))?;
        let width = rows.iter().map(|row| self.0.name(row).chars().count()).max().unwrap_or(0);
        let mut lines = rows.iter().zip(numbers);
        lines.try_for_each(|(row, numbers)| {
            writeln!(out, "  {:width$} {}", self.0.name(row), self.list(numbers))
        })
    }

    pub fn jacobian_text(
        &self,
        outputs: &'a [Variable],
        inputs: &'a [Variable],
        jacobian: &'a Jacobian,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for (output, &bits) in outputs.iter().zip(&jacobian.values) {
            writeln!(out, "{} = {}", self.0.name(output), self.bits(bits))?;
        }
        self.matrix(outputs, inputs, &jacobian.rows, out)?;
        out.write_all(self.said(&jacobian.verification_report).line().as_bytes())
    }

    pub fn jacobian_members(
        &self,
        outputs: &'a [Variable],
        inputs: &'a [Variable],
        jacobian: &'a Jacobian,
    ) -> Object<'a> {
        let mut members = Object::default();
        members.insert("values", self.values(&jacobian.values));
        members.insert("jacobian", self.lists(&jacobian.rows));
        members.insert("rows", self.names(outputs));
        members.insert("columns", self.names(inputs));
        members.insert("sweep", sweep(jacobian.sweep));
        members.extend(self.said(&jacobian.verification_report).members());
        members
    }

    fn values(&self, values: &'a [u64]) -> JsonCells<'a> {
        let spelling = ValueRenderer(self.0);
        let value = move |n: usize| spelling.bits(values.get(n).copied().unwrap_or_default());
        JsonCells::list(values.len(), value).of_numbers(&self.0.program)
    }

    /// Writes the product of a Jacobian with a vector.
    pub fn jacobian_product_text(
        &self,
        outputs: &'a [Selection],
        found: &'a JacobianProduct,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let cells = outputs.iter().flat_map(|output| &output.variables);
        for (output, &bits) in cells.zip(&found.values) {
            writeln!(out, "{} = {}", self.0.name(output), self.bits(bits))?;
        }
        self.vector(outputs, &found.product, product_name, out)?;
        out.write_all(self.said(&found.verification_report).line().as_bytes())
    }

    pub fn jacobian_product_members(
        &self,
        outputs: &'a [Selection],
        found: &'a JacobianProduct,
    ) -> Object<'a> {
        let mut members = Object::default();
        members.insert("values", self.values(&found.values));
        members.insert("product", self.json_vector(outputs, &found.product));
        members.insert("sweep", sweep(found.sweep));
        members.extend(self.said(&found.verification_report).members());
        members
    }

    /// Returns the report on how far the derivatives are verified, for formatting.
    pub fn said<'b>(&self, verification_report: &'b VerificationReport) -> VerificationText<'b> {
        VerificationText::new(&self.0.program, verification_report)
    }

    /// Writes a Hessian; `variables` are the cells of the selections, in order.
    pub fn hessian_text(
        &self,
        loss: &Variable,
        (inputs, variables): (&'a [Selection], &'a [Variable]),
        hessian: &'a Hessian,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.first_order(loss, inputs, hessian, out)?;
        self.matrix(variables, variables, &hessian.products, out)
    }

    /// Writes the value and the gradient.
    fn first_order(
        &self,
        loss: &Variable,
        inputs: &'a [Selection],
        hessian: &'a Hessian,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let value = hessian.values.first().copied().unwrap_or_default();
        writeln!(out, "{} = {}", self.0.name(loss), self.bits(value))?;
        self.vector(inputs, &hessian.gradient, adjoint_name, out)
    }

    pub fn hessian_members(
        &self,
        (inputs, variables): (&'a [Selection], &'a [Variable]),
        hessian: &'a Hessian,
    ) -> Object<'a> {
        let mut object = self.first_order_json(inputs, hessian);
        object.insert("hessian", self.lists(&hessian.products));
        object.insert("rows", self.names(variables));
        object.insert("columns", self.names(variables));
        object
    }

    fn first_order_json(&self, inputs: &'a [Selection], hessian: &'a Hessian) -> Object<'a> {
        let mut object = Object::default();
        let value = hessian.values.first().copied().unwrap_or_default();
        object.insert("value", json_values::value(&self.0.program, Value::Real(value)));
        object.insert("grad", self.json_vector(inputs, &hessian.gradient));
        object.extend(self.said(&hessian.verification_report).members());
        object
    }

    /// Writes the product of a Hessian with a vector.
    pub fn product_text(
        &self,
        loss: &Variable,
        inputs: &'a [Selection],
        hessian: &'a Hessian,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let product = hessian.products.first().map_or(&[][..], |product| &product[..]);
        self.first_order(loss, inputs, hessian, out)?;
        self.vector(inputs, product, product_name, out)
    }

    pub fn product_members(&self, inputs: &'a [Selection], hessian: &'a Hessian) -> Object<'a> {
        let product = hessian.products.first().map_or(&[][..], |product| &product[..]);
        let mut object = self.first_order_json(inputs, hessian);
        object.insert("product", self.json_vector(inputs, product));
        object
    }

    /// Writes the series of each cell in a line.
    pub fn taylor_text(
        &self,
        outputs: &[Selection],
        path: &SeriesPath,
        series: &'a Taylor,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let moved = match path {
            SeriesPath::Cell(cell) => format!("{} + t", self.0.name(cell)),
            SeriesPath::Direction(vector) => {
                let numbers = vector.numbers(self.0);
                let spelling = ValueRenderer(self.0);
                let parts = spelling.shared_out(&vector.selections, &numbers);
                let parts = parts.map(|(selection, cells)| format!("{} + {cells}·t", selection.name));
                parts.collect::<Vec<_>>().join(", ")
            }
        };
        writeln!(out, "coefficients of t⁰, t¹, … with {moved}:")?;
        let variables = outputs.iter().flat_map(|output| &output.variables);
        let mut lines = variables.zip(&series.coefficients);
        lines.try_for_each(|(variable, coefficients)| {
            writeln!(out, "{} = {}", self.0.name(variable), self.list(coefficients))
        })
    }

    /// Returns Taylor series as JSON; arrays are nested by shape, with a list of coefficients for each cell.
    pub fn taylor_members(
        &self,
        outputs: &[Selection],
        path: &'a SeriesPath,
        series: &'a Taylor,
    ) -> Object<'a> {
        let mut lists = series.coefficients.as_slice();
        let taylor = outputs.iter().map(|output| {
            let count = output.variables.len().min(lists.len());
            let (own, others) = lists.split_at(count);
            lists = others;
            let spelling = ValueRenderer(self.0);
            let coefficients = move |n: usize| own.get(n).map_or(&[][..], Vec::as_slice);
            let reported = JsonValue::shaped(output.shape, move |n| spelling.list(coefficients(n)).into());
            (output.name.clone(), reported)
        });
        let taylor: Object = taylor.collect();
        let mut object = Object::default();
        match path {
            SeriesPath::Cell(cell) => object.insert("along", self.0.name(cell)),
            SeriesPath::Direction(vector) => object.insert("along", self.by_selection(vector)),
        }
        object.insert("taylor", taylor);
        object.insert("sweep", sweep(series.sweep));
        let said = self.said(&series.verification_report);
        match series.sweep {
            Sweep::Reverse => object.extend(said.members()),
            Sweep::Forward => object.insert("reported", said.reported()),
        }
        object
    }
}

/// Returns the label of a component of the product, such as `product y` for the result `y`.
fn product_name(name: &str) -> String {
    format!("product {name}")
}

fn sweep(sweep: Sweep) -> &'static str {
    match sweep {
        Sweep::Reverse => "reverse",
        Sweep::Forward => "forward",
    }
}
