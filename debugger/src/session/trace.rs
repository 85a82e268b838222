//! Tables of the values of expressions, with a row for each visit of a place. To fill a table, the session runs
//! from the first reached step of the branch to the end of the branch. The session then returns to its previous
//! time point.

use reviver_vm::Travel;
use reviver_vm::stops::{Node, Stops};

use super::{Session, SessionError, scene};
use crate::expression::ConsoleExpression;
use crate::format::{self, PrintFormat};
use crate::outcome::{Reason, Trace, TraceRow};
use crate::points::BreakPlace;

/// The request for a table.
struct TraceRequest {
    columns: Vec<ConsoleExpression>,
    places: Vec<BreakPlace>,
    condition: Option<ConsoleExpression>,
    layout: PrintFormat,
    most: usize,
}

impl Session {
    /// Builds a table with the values of expressions at a place. There is a row for each time point at which
    /// a breakpoint at the place would stop and `condition` holds; only the first `most` rows are returned.
    /// Names are resolved in the frame that is innermost at each time point.
    ///
    /// # Errors
    /// There is no such place, an expression or the condition is invalid or contains an unknown name, or
    /// there is no memory for a copy of the state.
    pub fn trace(
        &mut self,
        columns: &[&str],
        place: &str,
        condition: Option<&str>,
        (layout, most): (PrintFormat, usize),
    ) -> Result<Trace, SessionError> {
        let (places, place) = self.places_to_stop(place)?;
        let read = |text: &&str| ConsoleExpression::parse(text);
        let columns: Vec<ConsoleExpression> = columns.iter().map(read).collect::<Result<_, _>>()?;
        let condition = condition.map(ConsoleExpression::parse).transpose()?;
        columns.iter().chain(&condition).try_for_each(|asked| self.check_expression(asked, false))?;
        let mut trace = Trace {
            place,
            columns: columns.iter().map(|column| column.text().to_owned()).collect(),
            condition: condition.as_ref().map(|condition| condition.text().to_owned()),
            ..Trace::default()
        };
        let asked = TraceRequest { columns, places, condition, layout, most };
        self.excursion(|session| trace.ended = session.trace_into(&asked, &mut trace))?;
        Ok(trace)
    }

    /// Fills the table. Returns the reason why the run ended, or `None` if the table has reached the maximum
    /// number of rows.
    fn trace_into(&mut self, asked: &TraceRequest, trace: &mut Trace) -> Option<Reason> {
        let (first, _) = self.timeline.branch().extent();
        match self.travel_to(first, &mut trace.printed) {
            Reason::Arrived => {}
            reason => return Some(reason),
        }
        let nodes = asked.places.iter().flat_map(|place| place.nodes(self.program(), Travel::Forward));
        let plan = Stops::new(self.program(), nodes);
        self.timeline.branch_mut().prepare(Travel::Forward, u64::MAX);
        loop {
            if self.is_row(asked) {
                if trace.rows.len() >= asked.most {
                    trace.is_cut = true;
                    return None;
                }
                trace.rows.push(self.row(asked));
            }
            let left = self.within_reach(Travel::Forward);
            if left == 0 {
                return Some(self.at_limit(Travel::Forward));
            }
            if !self.may_continue(self.step_number()) {
                return Some(Reason::Interrupted);
            }
            let outcome = match plan.contains(Node::of(self.state(), Travel::Forward)) {
                true => self.timeline.run(Travel::Forward, 1),
                false => self.timeline.run_until(Some(&plan), Travel::Forward, left.min(self.slice())),
            };
            if let Some(reason) = self.paused(outcome, Travel::Forward, &mut trace.printed) {
                return Some(reason);
            }
        }
    }

    /// Returns true if the current state gets a row: it is at the place, and the condition holds. A condition
    /// without a value counts as false.
    fn is_row(&self, asked: &TraceRequest) -> bool {
        let innermost = scene(&self.memory, &self.timeline);
        asked.places.iter().any(|place| place.is_at(self.program(), self.state()))
            && asked.condition.as_ref().is_none_or(|condition| condition.holds(innermost).unwrap_or(false))
    }

    fn row(&self, asked: &TraceRequest) -> TraceRow {
        let innermost = scene(&self.memory, &self.timeline);
        let value = |column: &ConsoleExpression| match column.evaluate(innermost) {
            Ok(value) => {
                let bits = format::bits(asked.layout.format, self.program(), value);
                Ok(bits.unwrap_or_else(|| innermost.text(value)))
            }
            Err(error) => Err(error.to_string()),
        };
        TraceRow { at: self.time_point(), values: asked.columns.iter().map(value).collect() }
    }
}
