//! Setting, changing and deleting breakpoints and watchpoints, and finding the places that people
//! name: lines, labels, procedures, instructions.

use reviver_isa::update::Update;

use super::{Session, SessionError};
use crate::expression::Expression;
use crate::listing::Line;
use crate::points::{Message, Place, Point, Trigger, Watch};

/// What is to be set besides the place or the cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointOptions {
    pub temporary: bool,
    /// It counts only where this expression is not 0.
    pub condition: Option<String>,
    /// Printed instead of stopping.
    pub log: Option<String>,
}

impl Session {
    /// The place that a text names: a line (`12`, `file:12`), a label, a procedure, or an instruction
    /// (`*7`); nothing means the next instruction. The second half is the place as a person would say it.
    ///
    /// # Errors
    /// No such place.
    pub fn place(&self, text: &str) -> Result<(Place, String), SessionError> {
        let text = text.trim();
        if text.is_empty() {
            let at = self.next_instruction().unwrap_or(self.program().end());
            return Ok((Place::Instruction(at), self.place_name(at)));
        }
        if let Some(at) = text.strip_prefix('*').and_then(|at| at.parse::<u32>().ok()) {
            return match (at as usize) < self.program().module().code.len() {
                true => Ok((Place::Instruction(at), self.place_name(at))),
                false => Err(self.no_place(text)),
            };
        }
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) => (self.listing.file(file).ok_or_else(|| self.no_place(text))?, line),
            None => (self.current_file(), text),
        };
        if let Ok(line) = line.parse::<u32>() {
            return self.place_of_line(Line { file, line });
        }
        self.named_place(text).ok_or_else(|| self.no_place(text))
    }

    /// The first instruction of a line, or of the next one that has any.
    ///
    /// # Errors
    /// Neither it nor a later line of its file has instructions.
    pub fn place_of_line(&self, line: Line) -> Result<(Place, String), SessionError> {
        let found = self.listing.with_instructions(line).ok_or(SessionError::NoLine(line.line))?;
        let first = self.listing.instructions(found).first().copied();
        let at = first.ok_or(SessionError::NoLine(line.line))?;
        Ok((Place::Instruction(at), self.place_name(at)))
    }

    fn named_place(&self, name: &str) -> Option<(Place, String)> {
        let module = self.program().module();
        if let Some(n) = module.procedures.iter().position(|p| p.name == name) {
            return Some((Place::Procedure(n as u32), name.to_owned()));
        }
        let here = self.program().procedure_of(self.state().position);
        let labels = module.structure.labels.iter().filter(|(_, label)| label == name);
        let nearest = labels.min_by_key(|(at, _)| self.program().procedure_of(*at) != here);
        nearest.map(|(at, _)| (Place::Instruction(*at), self.place_name(*at)))
    }

    fn no_place(&self, text: &str) -> SessionError {
        let near = reviver_assembler::suggest::nearest(text, self.place_names());
        SessionError::NoPlace { name: text.to_owned(), near: near.map(str::to_owned) }
    }

    /// Labels and procedures.
    pub fn place_names(&self) -> impl Iterator<Item = &str> {
        let module = self.program().module();
        let procedures = module.procedures.iter().map(|p| p.name.as_str());
        procedures.chain(module.structure.labels.iter().map(|(_, label)| label.as_str()))
    }

    /// The file where the machine stands.
    fn current_file(&self) -> u32 {
        self.listing.line(self.state().position).file
    }

    /// `line 12`, with the file where it isn't the program's own.
    fn place_name(&self, at: u32) -> String {
        let line = self.listing.line(at);
        let update = self.program().module().code.get(at as usize).map(|i| i.update);
        let bound = if update == Some(Update::Exit) { " (the end)" } else { "" };
        match self.listing.files().get(line.file as usize) {
            Some(file) if line.file > 0 => format!("{}:{}{bound}", file.name, line.line),
            _ => format!("line {}{bound}", line.line),
        }
    }

    /// Sets a breakpoint.
    ///
    /// # Errors
    /// No such place, or a condition or message that can't be read or names what isn't there.
    pub fn break_at(&mut self, place: &str, options: &PointOptions) -> Result<&Point, SessionError> {
        let (place, text) = self.place(place)?;
        self.add_point(Trigger::Break(place), text, options)
    }

    /// Sets a watchpoint on a cell. A cell of a call's frame is watched whenever a call of the same
    /// procedure is open at the same depth; what a parameter stands for is watched by its address.
    ///
    /// # Errors
    /// No such cell, or a condition or message that can't be read or names what isn't there.
    pub fn watch(
        &mut self,
        cell: &str,
        watch: Watch,
        options: &PointOptions,
    ) -> Result<&Point, SessionError> {
        let cell = self.cell(cell)?;
        let target = self.memory.target(self.state(), cell);
        let text = self.memory.name(self.state(), cell);
        self.add_point(Trigger::Watch { target, watch }, text, options)
    }

    fn add_point(
        &mut self,
        trigger: Trigger,
        text: String,
        options: &PointOptions,
    ) -> Result<&Point, SessionError> {
        let condition = options.condition.as_deref().map(Expression::parse).transpose()?;
        let log = options.log.as_deref().map(Message::parse).transpose()?;
        let in_message = log.iter().flat_map(Message::expressions);
        condition.iter().chain(in_message).try_for_each(|expression| self.check_names(expression))?;
        let id = self.next_point;
        self.next_point += 1;
        self.points.push(Point {
            id,
            trigger,
            text,
            enabled: true,
            temporary: options.temporary,
            condition,
            ignore: 0,
            hits: 0,
            log,
        });
        self.point(id).map(|point| &*point)
    }

    /// Refuses names that mean nothing anywhere in the program. Others may have a value later.
    ///
    /// # Errors
    /// Such a name.
    pub fn check_names(&self, expression: &Expression) -> Result<(), SessionError> {
        let declared: Vec<&str> = self.declared_names().collect();
        match expression.names().into_iter().find(|name| !declared.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let near = reviver_assembler::suggest::nearest(name, declared).map(str::to_owned);
                Err(SessionError::NoName { name: name.to_owned(), near })
            }
        }
    }

    /// Every name of a cell in the program, whichever procedure knows it.
    fn declared_names(&self) -> impl Iterator<Item = &str> {
        let module = self.program().module();
        let own = module.procedures.iter().flat_map(|procedure| {
            let parameters = procedure.parameters.iter().map(|parameter| parameter.name.as_str());
            parameters.chain(procedure.frame.iter().map(|variable| variable.name.as_str()))
        });
        own.chain(module.globals.iter().map(|global| global.name.as_str())).chain(["mode"])
    }

    fn point(&mut self, id: u32) -> Result<&mut Point, SessionError> {
        self.points.iter_mut().find(|point| point.id == id).ok_or(SessionError::NoPoint(id))
    }

    /// Deletes a point; none deletes all. Returns how many went.
    ///
    /// # Errors
    /// No such point.
    pub fn delete(&mut self, id: Option<u32>) -> Result<usize, SessionError> {
        let before = self.points.len();
        match id {
            Some(id) => {
                self.point(id)?;
                self.points.retain(|point| point.id != id);
            }
            None => self.points.clear(),
        }
        Ok(before - self.points.len())
    }

    /// Gives a point a condition, or takes it away.
    ///
    /// # Errors
    /// No such point, or a condition that can't be read or names what isn't there.
    pub fn condition(&mut self, id: u32, condition: Option<&str>) -> Result<&Point, SessionError> {
        let condition = condition.map(Expression::parse).transpose()?;
        condition.as_ref().map_or(Ok(()), |condition| self.check_names(condition))?;
        let point = self.point(id)?;
        point.condition = condition;
        Ok(point)
    }

    /// Lets a point pass its next `count` hits.
    ///
    /// # Errors
    /// No such point.
    pub fn ignore(&mut self, id: u32, count: u64) -> Result<&Point, SessionError> {
        let point = self.point(id)?;
        point.ignore = count;
        Ok(point)
    }

    /// Switches a point on or off.
    ///
    /// # Errors
    /// No such point.
    pub fn enable(&mut self, id: u32, enabled: bool) -> Result<&Point, SessionError> {
        let point = self.point(id)?;
        point.enabled = enabled;
        Ok(point)
    }
}
