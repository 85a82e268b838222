//! Sets, changes and deletes breakpoints and watchpoints. Also resolves the places that users name: lines,
//! labels, procedures, instructions.

use reviver_isa::instruction::Base;
use reviver_isa::update::Update;

use super::{Session, SessionError};
use crate::cell_set::CellSet;
use crate::expression::{BoundExpression, ConsoleExpression, ExpressionError};
use crate::listing::Line;
use crate::points::{BreakPlace, LogMessage, Point, Trigger, WatchMode, WatchedPlace};

/// Options of a new point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointOptions {
    /// True to delete the point after its first stop.
    pub temporary: bool,
    /// A hit counts only if this expression isn't 0; `None` if every hit counts.
    pub condition: Option<String>,
    /// Message that is printed instead of stopping; `None` if the point stops the run.
    pub log: Option<String>,
}

impl Session {
    /// Resolves a text to places: a line (`12`, `file:12`), a label, a procedure, or an instruction (`*7`). An
    /// empty text means the next instruction of the selected frame. Also returns a name of the place for messages.
    /// Only a line may have several places, one for each way in which control can enter the line.
    ///
    /// # Errors
    /// There is no such place.
    pub fn places(&self, text: &str) -> Result<(Vec<BreakPlace>, String), SessionError> {
        let text = text.trim();
        if let Some(line) = self.line_named(text)? {
            return self.places_of_line(line);
        }
        let place = match text.strip_prefix('*').and_then(|at| at.parse::<u32>().ok()) {
            _ if text.is_empty() => {
                let at = self.next_in_frame();
                Some((BreakPlace::Instruction(at), self.place_name(at)))
            }
            Some(at) if (at as usize) < self.program().module().code.len() => {
                Some((BreakPlace::Instruction(at), self.place_name(at)))
            }
            Some(_) => None,
            None => self.named_place(text),
        };
        let (place, name) = place.ok_or_else(|| self.no_place(text))?;
        Ok((vec![place], name))
    }

    /// Resolves a text to places at which a run can stop.
    ///
    /// # Errors
    /// There is no such place, or it is the beginning of main. Every run starts after the beginning of main.
    pub fn places_to_stop(&self, text: &str) -> Result<(Vec<BreakPlace>, String), SessionError> {
        let (places, name) = self.places(text)?;
        let entry = self.program().module().procedures.first().map(|main| main.entry);
        let is_reached = |place: &BreakPlace| match place {
            BreakPlace::Instruction(at) => Some(*at) != entry,
            BreakPlace::Entry { .. } | BreakPlace::Procedure(_) => true,
        };
        match places.iter().any(is_reached) {
            true => Ok((places, name)),
            false => Err(SessionError::BeforeStart(text.trim().to_owned())),
        }
    }

    /// Returns the line that a text names (`12`, `file:12`), even if the line has no instructions. Returns `None`
    /// if the text names no line.
    ///
    /// # Errors
    /// There is no such file.
    pub fn line_named(&self, text: &str) -> Result<Option<Line>, SessionError> {
        let (file, line) = match text.trim().rsplit_once(':') {
            Some((file, line)) => (Some(file), line),
            None => (None, text.trim()),
        };
        let Ok(line) = line.parse::<u32>() else { return Ok(None) };
        let file = match file {
            Some(file) => self.listing.file(file).ok_or_else(|| self.no_file(text))?,
            None => self.current_file(),
        };
        Ok(Some(Line { file, line }))
    }

    /// Returns the places at which control enters a line, and the line's name. If the line has no instructions,
    /// uses the next line with instructions.
    fn places_of_line(&self, line: Line) -> Result<(Vec<BreakPlace>, String), SessionError> {
        let found = self.listing.with_instructions(line);
        let found = found.ok_or_else(|| SessionError::NoLine(self.listing.name(line)))?;
        let places = [false, true].into_iter().flat_map(|inverted| {
            let entries = self.listing.entries(self.program().module(), found, inverted);
            entries.into_iter().map(move |at| BreakPlace::Entry { at, inverted })
        });
        Ok((places.collect(), self.listing.name(found)))
    }

    fn named_place(&self, name: &str) -> Option<(BreakPlace, String)> {
        let module = self.program().module();
        if let Some(n) = module.procedures.iter().position(|p| p.name == name) {
            return Some((BreakPlace::Procedure(n as u32), name.to_owned()));
        }
        let here = self.program().procedure_of(self.selected_instruction());
        let labels = module.structure.labels.iter().filter(|(_, label)| label == name);
        let nearest = labels.min_by_key(|(at, _)| self.program().procedure_of(*at) != here);
        nearest.map(|(at, _)| (BreakPlace::Instruction(*at), self.place_name(*at)))
    }

    fn no_place(&self, text: &str) -> SessionError {
        let near = reviver_assembler::suggest::nearest(text, self.place_names());
        SessionError::NoPlace { name: text.to_owned(), near: near.map(str::to_owned) }
    }

    /// Builds the error for a place in an unknown file. The error suggests the same line in a file with a similar
    /// name.
    fn no_file(&self, text: &str) -> SessionError {
        let (wanted, line) = text.rsplit_once(':').unwrap_or((text, ""));
        let names = self.listing.files().iter().flat_map(|file| {
            let name = file.name.as_str();
            [name, name.rsplit('/').next().unwrap_or(name)]
        });
        let near = reviver_assembler::suggest::nearest(wanted, names).map(|name| format!("{name}:{line}"));
        SessionError::NoPlace { name: text.to_owned(), near }
    }

    /// Returns the names of procedures and labels.
    pub fn place_names(&self) -> impl Iterator<Item = &str> {
        let module = self.program().module();
        let procedures = module.procedures.iter().map(|p| p.name.as_str());
        procedures.chain(module.structure.labels.iter().map(|(_, label)| label.as_str()))
    }

    /// Returns the file of the selected frame's instruction, to which lines without a file name refer.
    pub fn current_file(&self) -> u32 {
        self.listing.line(self.selected_instruction()).file
    }

    /// Returns the name of an instruction's line.
    fn place_name(&self, at: u32) -> String {
        let update = self.program().module().code.get(at as usize).map(|i| i.update);
        let bound = if update == Some(Update::Exit) { " (the end)" } else { "" };
        format!("{}{bound}", self.listing.name(self.listing.line(at)))
    }

    /// Sets a breakpoint.
    ///
    /// # Errors
    /// There is no such place, or the condition or the message is invalid or contains an unknown name.
    pub fn break_at(&mut self, place: &str, options: &PointOptions) -> Result<&Point, SessionError> {
        let (places, text) = self.places_to_stop(place)?;
        self.add_point(Trigger::Break(places), text, options)
    }

    /// Sets a watchpoint on a cell, an array, a slice, or an expression. An expression can be watched only
    /// for changes of its value.
    ///
    /// A cell of a frame is watched whenever a call of the same procedure is open at the same depth. A parameter is
    /// resolved when the watchpoint is set: the cell that the parameter refers to is watched. Names in the
    /// condition and the message are resolved in the frame that was selected then. If that frame isn't open any
    /// more, they are resolved in the procedure that writes.
    ///
    /// # Errors
    /// - There are no such cells, or they are constant.
    /// - The expression never changes, or `watch` isn't [`WatchMode::Change`] for an expression.
    /// - The condition or the message is invalid or contains an unknown name.
    pub fn watch(
        &mut self,
        text: &str,
        watch: WatchMode,
        options: &PointOptions,
    ) -> Result<&Point, SessionError> {
        let (watched, name) = self.watchable(text)?;
        if watch != WatchMode::Change && matches!(watched, WatchedPlace::Value(_)) {
            return Err(SessionError::NoCells { text: name, command: watch.name() });
        }
        let scope = self.memory.scope(self.state(), self.depth());
        self.add_point(Trigger::Watch { watched, watch, scope }, name, options)
    }

    /// Returns the cells or the expression that would be watched by a watchpoint for `text`.
    ///
    /// # Errors
    /// The text can't be watched.
    pub fn watched(&self, text: &str) -> Result<WatchedPlace, SessionError> {
        self.watchable(text).map(|(watched, _)| watched)
    }

    /// Returns the cells or the expression that would be watched by a watchpoint for `text`, and a name for
    /// messages.
    fn watchable(&self, text: &str) -> Result<(WatchedPlace, String), SessionError> {
        let expression = ConsoleExpression::parse(text)?;
        if let Some((cells, name)) = self.cells_of(&expression)? {
            return Ok((WatchedPlace::Cells(cells), name));
        }
        let name = expression.text().to_owned();
        self.check_expression(&expression, false)?;
        let bound = BoundExpression::bind(expression, self.scene())?;
        Ok((WatchedPlace::Value(Box::new(bound)), name))
    }

    /// Returns the cells that an expression names in the selected frame, and a name for messages. Returns `None`
    /// unless the expression is a single name, with or without indices.
    ///
    /// # Errors
    /// There are no such cells, or they are constant.
    pub(super) fn cells_of(
        &self,
        expression: &ConsoleExpression,
    ) -> Result<Option<(CellSet, String)>, SessionError> {
        let Some(cells) = expression.cells(self.scene())? else { return Ok(None) };
        let typed = expression.text();
        let Some(found) = cells.resolve(&self.memory, self.state()) else { return Ok(None) };
        if self.memory.is_constant(found.first()) {
            return Err(SessionError::Constant(typed.to_owned()));
        }
        let name = |cell| self.memory.name(self.state(), cell);
        let own = match cells.single() {
            Some(_) => name(found.first()),
            None if expression.is_fixed() && !self.is_parameter(expression) => typed.to_owned(),
            None => format!("{} to {}", name(found.first()), name(found.last())),
        };
        // Parameters and variable indices are resolved now. The name for messages is that of the cell; the user's
        // text follows if it differs.
        let name = if typed == own { own } else { format!("{own} (`{typed}` here)") };
        Ok(Some((cells, name)))
    }

    /// Returns the cells that an expression names in the selected frame, and a name for messages.
    ///
    /// # Errors
    /// There are no such cells, they are constant, or the expression is more than a name. In the last case, the
    /// error says that `command` takes only cells.
    pub(super) fn cells_named(
        &self,
        expression: &ConsoleExpression,
        command: &'static str,
    ) -> Result<(CellSet, String), SessionError> {
        let no_cells = || SessionError::NoCells { text: expression.text().to_owned(), command };
        self.cells_of(expression)?.ok_or_else(no_cells)
    }

    /// Returns true if an expression begins with the name of a parameter.
    fn is_parameter(&self, expression: &ConsoleExpression) -> bool {
        let name = expression.names().first().copied().unwrap_or_default();
        let base = self.memory.base(self.state(), self.depth(), name);
        matches!(base, Some(Base::Parameter(_)))
    }

    fn add_point(
        &mut self,
        trigger: Trigger,
        text: String,
        options: &PointOptions,
    ) -> Result<&Point, SessionError> {
        let condition = options.condition.as_deref().map(ConsoleExpression::parse).transpose()?;
        let log = options.log.as_deref().map(LogMessage::parse).transpose()?;
        let in_message = log.iter().flat_map(LogMessage::expressions);
        let has_write = matches!(trigger, Trigger::Watch { .. });
        condition
            .iter()
            .chain(in_message)
            .try_for_each(|expression| self.check_expression(expression, has_write))?;
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

    /// Returns an error for an expression that can't have a value anywhere in the program. A name that is unknown
    /// in the current procedure may be known in another one.
    ///
    /// # Errors
    /// The expression contains a name that no procedure knows, or it contains `$old` or `$new` although
    /// `has_write` is false.
    pub fn check_expression(
        &self,
        expression: &ConsoleExpression,
        has_write: bool,
    ) -> Result<(), SessionError> {
        match expression.written().filter(|_| !has_write) {
            Some(name) => Err(ExpressionError::NoWrite(name).into()),
            None => self.check_names(expression),
        }
    }

    /// Returns an error for an expression with a name that no procedure of the program knows. A name that is
    /// unknown only in the current procedure may have a value later.
    ///
    /// # Errors
    /// The expression contains a name that is unknown in the whole program.
    fn check_names(&self, expression: &ConsoleExpression) -> Result<(), SessionError> {
        let declared: Vec<&str> = self.declared_names().collect();
        match expression.names().into_iter().find(|name| !declared.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let near = reviver_assembler::suggest::nearest(name, declared).map(str::to_owned);
                Err(SessionError::NoName { name: name.to_owned(), near })
            }
        }
    }

    /// Returns every name of a cell in the program, in any procedure.
    fn declared_names(&self) -> impl Iterator<Item = &str> {
        let module = self.program().module();
        let own = module.procedures.iter().enumerate().flat_map(|(number, procedure)| {
            let parameters = procedure.parameters.iter().map(|parameter| parameter.name.as_str());
            parameters.chain(self.program().written_names(number).map(|(_, name)| name))
        });
        own.chain(module.globals.iter().map(|global| global.name.as_str())).chain(["mode"])
    }

    fn point(&mut self, id: u32) -> Result<&mut Point, SessionError> {
        self.points.iter_mut().find(|point| point.id == id).ok_or(SessionError::NoPoint(id))
    }

    /// Deletes a point.
    ///
    /// # Errors
    /// There is no such point.
    pub fn delete(&mut self, id: u32) -> Result<(), SessionError> {
        self.point(id)?;
        self.points.retain(|point| point.id != id);
        Ok(())
    }

    /// Sets or removes the condition of a point.
    ///
    /// # Errors
    /// There is no such point, or the condition is invalid or contains an unknown name.
    pub fn condition(&mut self, id: u32, condition: Option<&str>) -> Result<&Point, SessionError> {
        let condition = condition.map(ConsoleExpression::parse).transpose()?;
        let has_write = matches!(self.point(id)?.trigger, Trigger::Watch { .. });
        condition.iter().try_for_each(|condition| self.check_expression(condition, has_write))?;
        let point = self.point(id)?;
        point.condition = condition;
        Ok(point)
    }

    /// Sets the number of further hits at which a point doesn't stop the run.
    ///
    /// # Errors
    /// There is no such point.
    pub fn ignore(&mut self, id: u32, count: u64) -> Result<&Point, SessionError> {
        let point = self.point(id)?;
        point.ignore = count;
        Ok(point)
    }

    /// Enables or disables a point.
    ///
    /// # Errors
    /// There is no such point.
    pub fn enable(&mut self, id: u32, enabled: bool) -> Result<&Point, SessionError> {
        let point = self.point(id)?;
        point.enabled = enabled;
        Ok(point)
    }
}
