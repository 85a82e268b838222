//! Jacobians, Hessians and Taylor series: text for people, one JSON object for programs. Numbers are
//! spelled as the program's number system writes them.

use std::fmt::Write as _;

use reviver_isa::module::Shape;
use reviver_vm::differentiate::matrices::{Hessian, Jacobian, Sweep};
use reviver_vm::differentiate::{Subject, Trust, Variable};
use reviver_vm::values::{Value, adjoint_name};
use serde_json::{Map, Value as Json, json};

use super::json::{cells_json, number};
use super::text::cells_text;
use super::trust::Said;
use crate::subject::{Selection, variables};

/// Names and numbers of one program.
pub struct Spelling<'a>(pub &'a Subject);

impl Spelling<'_> {
    fn value(&self, number: f64) -> Value {
        Value::Real(self.0.number(number))
    }

    fn text(&self, number: f64) -> String {
        self.0.program.text(self.value(number))
    }

    fn list(&self, numbers: &[f64]) -> String {
        let texts: Vec<String> = numbers.iter().map(|&number| self.text(number)).collect();
        format!("[{}]", texts.join(", "))
    }

    fn bits(&self, bits: u64) -> String {
        self.0.program.text(Value::Real(bits))
    }

    fn names(&self, variables: &[Variable]) -> Vec<String> {
        variables.iter().map(|variable| self.0.name(variable)).collect()
    }

    fn json_list(&self, numbers: &[f64]) -> Json {
        numbers.iter().map(|&value| number(&self.text(value))).collect()
    }

    fn json_rows(&self, rows: &[Vec<f64>]) -> Json {
        rows.iter().map(|row| self.json_list(row)).collect()
    }

    /// A vector with one component for each cell of the selections, by name.
    fn json_vector(&self, selections: &[Selection], components: &[f64]) -> Json {
        let cells = |(selection, values): (&Selection, Vec<Value>)| {
            (selection.name.clone(), cells_json(&self.0.program, selection.shape, &values))
        };
        Json::Object(self.shared_out(selections, components).map(cells).collect())
    }

    fn shared_out<'b>(
        &self,
        selections: &'b [Selection],
        components: &[f64],
    ) -> impl Iterator<Item = (&'b Selection, Vec<Value>)> {
        let mut components = components.iter().map(|&c| self.value(c));
        selections
            .iter()
            .map(move |selection| (selection, components.by_ref().take(selection.variables.len()).collect()))
    }

    /// A line `name = …` for each selection; `spell` makes the name.
    fn vector(&self, selections: &[Selection], components: &[f64], spell: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        for (selection, values) in self.shared_out(selections, components) {
            let cells = cells_text(&self.0.program, selection.shape, &values);
            let _ = writeln!(text, "{} = {cells}", spell(&selection.name));
        }
        text
    }

    /// The names of the columns, then a line for each row.
    fn matrix(&self, rows: &[String], columns: &[String], numbers: &[Vec<f64>]) -> String {
        let mut text = format!("by [{}]:\n", columns.join(", "));
        let width = rows.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, row) in rows.iter().zip(numbers) {
            let _ = writeln!(text, "  {name:width$} {}", self.list(row));
        }
        text
    }

    pub fn jacobian_text(&self, outputs: &[Variable], inputs: &[Variable], jacobian: &Jacobian) -> String {
        let mut text = String::new();
        for (name, &bits) in self.names(outputs).iter().zip(&jacobian.values) {
            let _ = writeln!(text, "{name} = {}", self.bits(bits));
        }
        text + &self.matrix(&self.names(outputs), &self.names(inputs), &jacobian.rows)
    }

    pub fn jacobian_members(
        &self,
        outputs: &[Variable],
        inputs: &[Variable],
        jacobian: &Jacobian,
    ) -> Map<String, Json> {
        let values: Json = jacobian.values.iter().map(|&bits| number(&self.bits(bits))).collect();
        let sweep = match jacobian.sweep {
            Sweep::Reverse => "reverse",
            Sweep::Forward => "forward",
        };
        let mut members = Map::new();
        members.insert("values".into(), values);
        members.insert("jacobian".into(), self.json_rows(&jacobian.rows));
        members.insert("rows".into(), self.names(outputs).into());
        members.insert("columns".into(), self.names(inputs).into());
        members.insert("sweep".into(), sweep.into());
        members.append(&mut self.said(&jacobian.trust).members());
        members
    }

    /// How far derivatives can be trusted.
    pub fn said<'b>(&self, trust: &'b Trust) -> Said<'b> {
        Said::new(&self.0.program, trust)
    }

    pub fn hessian_text(&self, loss: &Variable, inputs: &[Selection], hessian: &Hessian) -> String {
        let names = self.names(&variables(inputs));
        self.first_order(loss, inputs, hessian) + &self.matrix(&names, &names, &hessian.products)
    }

    /// The value and the gradient.
    fn first_order(&self, loss: &Variable, inputs: &[Selection], hessian: &Hessian) -> String {
        let value = format!("{} = {}\n", self.0.name(loss), self.bits(hessian.value));
        value + &self.vector(inputs, &hessian.gradient, adjoint_name)
    }

    pub fn hessian_members(&self, inputs: &[Selection], hessian: &Hessian) -> Map<String, Json> {
        let names = self.names(&variables(inputs));
        let mut object = self.first_order_json(inputs, hessian);
        object.insert("hessian".into(), self.json_rows(&hessian.products));
        object.insert("rows".into(), names.clone().into());
        object.insert("columns".into(), names.into());
        object
    }

    fn first_order_json(&self, inputs: &[Selection], hessian: &Hessian) -> Map<String, Json> {
        let mut object = Map::new();
        object.insert("value".into(), number(&self.bits(hessian.value)));
        object.insert("grad".into(), self.json_vector(inputs, &hessian.gradient));
        object.append(&mut self.said(&hessian.trust).members());
        object
    }

    /// The product of a Hessian with one vector.
    pub fn product_text(&self, loss: &Variable, inputs: &[Selection], hessian: &Hessian) -> String {
        let product = hessian.products.first().map_or(&[][..], |product| &product[..]);
        let spell = |name: &str| format!("product {name}");
        self.first_order(loss, inputs, hessian) + &self.vector(inputs, product, spell)
    }

    pub fn product_members(&self, inputs: &[Selection], hessian: &Hessian) -> Map<String, Json> {
        let product = hessian.products.first().map_or(&[][..], |product| &product[..]);
        let mut object = self.first_order_json(inputs, hessian);
        object.insert("product".into(), self.json_vector(inputs, product));
        object
    }

    /// `series` has the coefficients of one cell after the other.
    pub fn taylor_text(&self, outputs: &[Variable], along: &Variable, series: &[Vec<f64>]) -> String {
        let mut text = format!("coefficients of t⁰, t¹, … with {} + t:\n", self.0.name(along));
        for (name, coefficients) in self.names(outputs).iter().zip(series) {
            let _ = writeln!(text, "{name} = {}", self.list(coefficients));
        }
        text
    }

    /// Arrays are nested by their shape, with a list of coefficients for each cell.
    pub fn taylor_json(&self, outputs: &[Selection], along: &Variable, series: &[Vec<f64>]) -> String {
        let mut series = series.iter().map(|coefficients| self.json_list(coefficients));
        let taylor = outputs.iter().map(|output| {
            let cells: Vec<Json> = series.by_ref().take(output.variables.len()).collect();
            (output.name.clone(), nested(output.shape, cells))
        });
        let taylor = Json::Object(taylor.collect());
        format!("{}\n", json!({ "along": self.0.name(along), "taylor": taylor }))
    }
}

fn nested(shape: Shape, mut cells: Vec<Json>) -> Json {
    match shape {
        Shape::Scalar => cells.pop().unwrap_or(Json::Null),
        Shape::Vector(_) => Json::Array(cells),
        Shape::Matrix(_, columns) => {
            cells.chunks(columns as usize).map(|row| Json::Array(row.to_vec())).collect()
        }
    }
}
