//! Connects the tour with the application: starts the tour, turns its pages, and ends it. Informs the tour of
//! executed lines and of the last step.

use super::messages::Tone;
use super::{App, Effect};
use crate::command::Outcome;
use crate::command::screen::TourTurn;
use crate::tui::tour::reading::Tour;
use crate::view::card::CardView;
use crate::view::motion::described;

impl App {
    /// Returns the application with the tour started, if there is a session.
    #[must_use]
    pub fn on_tour(mut self) -> App {
        self.begin_tour();
        self
    }

    fn begin_tour(&mut self) {
        self.tour = self.session().map(|session| Tour::of(session.program()));
    }

    pub(super) fn turn_tour(&mut self, turn: TourTurn) -> Option<Effect> {
        let goes_on = match (&mut self.tour, turn) {
            (_, TourTurn::Begin) | (None, TourTurn::Next) => {
                self.begin_tour();
                true
            }
            (None, TourTurn::Back | TourTurn::Leave) => {
                let begin = self.keys.input_for("tour next");
                return self.note_why(&format!("there is no tour at present: {begin} begins one"));
            }
            (Some(tour), TourTurn::Next) => tour.further(),
            (Some(tour), TourTurn::Back) => tour.back(),
            (Some(_), TourTurn::Leave) => false,
        };
        if !goes_on {
            self.tour = None;
            let [again, keys] = ["tour next", "keys"].map(|line| self.keys.input_for(line));
            let over = format!("the tour is over: {again} begins it again, {keys} shows all keys");
            self.say(Tone::Note, &over);
        }
        None
    }

    /// Informs the tour that a line was executed.
    pub(super) fn notice(&mut self, line: &str) {
        self.tour.iter_mut().for_each(|tour| tour.notice(line));
    }

    /// Shows a description of the executed step in the tour. `before` is the card at the time point before the
    /// step.
    pub(super) fn describe_step(&mut self, before: Option<&CardView>, outcome: &Outcome) {
        let Some(tour) = &mut self.tour else { return };
        match outcome {
            Outcome::Motion(motion) => {
                tour.reported = described(motion, before, self.card.as_ref()).unwrap_or_default()
            }
            outcome if outcome.moves() => tour.reported.clear(),
            _ => {}
        }
    }
}
