//! The appearance of a screen, separate from its session. Pictures are drawn with the appearance of the screen. A
//! script has no screen, so its pictures show a newly opened screen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use reviver_vm::allocation::OutOfMemory;

use super::arrangement::Arrangement;
use super::background::Task;
use super::messages::Messages;
use super::plots::Plotted;
use super::{App, Effect, SessionPlace};
use crate::command::table::Command;
use crate::command::{CommandError, Console, Painter};
use crate::session::SessionError;
use crate::timeline::TimePoint;
use crate::tui::keys::KeyMap;
use crate::tui::panes::Choices;
use crate::tui::picture::{self, LEAST, MOST, Paper};
use crate::tui::theme::{Theme, ThemeName};
use crate::tui::tour::reading::Tour;

/// The appearance of a screen. To draw a picture, the appearance is combined with a copy of a session.
#[derive(Clone, Debug)]
pub struct Face {
    /// Columns and rows of the screen.
    pub size: Size,
    /// Colours and attributes of the screen.
    pub theme: Theme,
    keys: KeyMap,
    panes: Arrangement,
    choices: Choices,
    messages: Messages,
    tour: Option<Tour>,
    plotted: Plotted,
    /// The time point at which the screen showed the session last; `None` if there was no screen.
    seen_at: Option<TimePoint>,
}

impl Default for Face {
    /// The appearance of a newly opened screen that is large enough for every slot.
    fn default() -> Face {
        Face {
            size: Size { width: 120, height: 40 },
            theme: Theme::new(ThemeName::Dark),
            keys: KeyMap::default(),
            panes: Arrangement::new(),
            choices: Choices::default(),
            messages: Messages::default(),
            tour: None,
            plotted: Plotted::default(),
            seen_at: None,
        }
    }
}

impl Face {
    /// Draws a copy of the console's session as SVG.
    fn drawn(&self, console: &Console) -> Result<String, OutOfMemory> {
        let mut app = App::with_face(self, console.try_clone()?);
        let area = Rect::from((Position::ORIGIN, self.size));
        // The frame is drawn twice: the first drawing determines the number of plot columns, which sampling needs.
        app.draw_on(&mut Buffer::empty(area));
        app.rest();
        let mut buffer = Buffer::empty(area);
        app.draw_on(&mut buffer);
        let session = &console.session;
        let program = session.listing().files().first().map_or("", |file| &file.name);
        let title = format!("{program} in the debugger, at step {}", session.step_number());
        let paper = Paper::new(self.theme.ground, self.theme.name.ground());
        Ok(picture::svg(&buffer, paper, &title))
    }
}

impl Painter for Face {
    fn picture(
        &self,
        console: &Console,
        command: &'static Command,
        options: &str,
    ) -> Result<String, CommandError> {
        let mut face = self.clone();
        for word in options.split_whitespace() {
            choose(&mut face, command, word)?;
        }
        Ok(face.drawn(console).map_err(SessionError::NoMemory)?)
    }

    fn unseen(&self) -> Box<dyn Painter> {
        Box::new(Face::default())
    }
}

/// Applies an option: a size or a theme.
fn choose(face: &mut Face, command: &'static Command, word: &str) -> Result<(), CommandError> {
    if let Some(theme) = ThemeName::ALL.into_iter().find(|theme| theme.name() == word) {
        face.theme = Theme::new(theme);
        return Ok(());
    }
    let Some((width, height)) = word.split_once('x') else {
        let names = ThemeName::ALL.map(ThemeName::name).join(", ");
        return Err(command.wrong(format!("`{word}` is neither a size, such as 120x40, nor one of {names}")));
    };
    let size = Size { width: command.number(width)?, height: command.number(height)? };
    let fits = (LEAST.width..=MOST.width).contains(&size.width)
        && (LEAST.height..=MOST.height).contains(&size.height);
    if !fits {
        return Err(command.wrong(format!("a picture has from {LEAST} to {MOST} cells")));
    }
    face.size = size;
    Ok(())
}

impl App {
    /// Returns the appearance with which a task draws pictures. Returns `None` for a task that executes no command
    /// of the user.
    pub(super) fn face_for(&self, task: &Task) -> Option<Box<Face>> {
        let Task::Command { is_quiet: false, .. } = task else { return None };
        let session = self.session()?;
        Some(Box::new(Face {
            size: self.picture.area.as_size(),
            theme: self.theme.clone(),
            keys: self.keys.clone(),
            panes: self.panes.clone(),
            choices: self.choices.clone(),
            messages: self.messages.clone(),
            tour: self.tour.clone(),
            plotted: self.plotted,
            seen_at: Some(session.time_point()),
        }))
    }

    /// Creates an application with a given appearance, which shows the session of a console.
    fn with_face(face: &Face, console: Console) -> App {
        let face = face.clone();
        let is_seen = face.seen_at == Some(console.session.time_point());
        let is_trap = console.session.trap().is_some();
        let mut app = App::with(SessionPlace::Here(Box::new(console)), face.keys, face.theme);
        (app.panes, app.choices, app.messages) = (face.panes, face.choices, face.messages);
        (app.tour, app.plotted) = (face.tour, face.plotted);
        app.look_once();
        if !is_seen {
            app.follow();
            app.show_failure(is_trap);
        }
        app
    }

    /// Updates the views: performs a background task that executes no command.
    fn look_once(&mut self) {
        if let Some(Effect::Run(background_task)) = self.send(Task::Look) {
            self.returned(background_task.perform());
        }
    }

    /// Samples the plotted cells, as the screen does when the user is idle.
    fn rest(&mut self) {
        if let Some(Effect::Run(background_task)) = self.sample() {
            self.returned(background_task.perform());
        }
    }
}
