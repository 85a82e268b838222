//! The commands of the screen. Their table has the format of the session's command table. So these commands, too,
//! can be typed, bound to keys and looked up. The function in a row returns a screen action.

use reviver_vm::Travel::{Backward, Forward};

use super::arguments::split_word;
use super::console::{ArgumentKind, Command, CommandError, CommandRow, commands};
use super::screen::{
    ArrayChoice, FocusTarget, MOVE_WORDS, MOVES, ScreenAction, TOGGLED, TOGGLED_WORDS, TURN_WORDS, TURNS,
    TimeZoom, TourTurn,
};

/// Result of a row's action.
type ParsedAction = Result<ScreenAction, CommandError>;

commands! {
    Screen
    /// Every command of the screen, in the order of the help.
    SCREEN_COMMANDS ""
    Travel {
    "play" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Play(Some(Forward))),
        "Play forward, or pause.";
    "reverse-play" as "play back" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Play(Some(Backward))),
        "Play backward, or pause.";
    "play-pause" as "pause" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Play(None)),
        "Continue playing in the last direction, or pause.";
    "faster" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Faster),
        "Play twice as fast.";
    "slower" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Slower),
        "Play half as fast.";
    "scrub" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Scrub(Forward)),
        "Go forward by a fiftieth of the steps that the time bar shows.";
    "reverse-scrub" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Scrub(Backward)),
        "Go backward by a fiftieth of the steps that the time bar shows.";
    }
    Points {
    "toggle" [] " break PLACE | watch CELL | plot CELL | fence" ArgumentKind::OneOf(TOGGLED_WORDS) => toggle,
        "Set a point, a plot or a fence, or remove it if it is set."
        {"break": "Set a breakpoint, or remove it",
         "watch": "Watch a cell, or stop watching it",
         "plot": "Plot a cell over the known steps, or stop plotting it",
         "fence": "Set a fence at the current step, or remove it"};
    }
    Values {
    "adjoint" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Adjoint),
        "Select the adjoint of the selected cell, or if the adjoint is selected, the value.";
    }
    Panes {
    "open" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Open),
        "Open the item under the cursor: set a breakpoint in the code, ask `why` in the cells, select the frame in the calls, go to the step in the timeline, go to the time point in an answer.";
    "close" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Close),
        "Close the answer.";
    "focus" [] " PANE | next | previous" ArgumentKind::Pane => focus,
        "Go to a pane."
        {"next": "Go to the next pane",
         "previous": "Go to the previous pane"};
    "cursor" [] " up | down | left | right | page-up | page-down | top | bottom" ArgumentKind::OneOf(MOVE_WORDS) => cursor,
        "Move the cursor in the pane. In an answer, `right` unfolds a row. `left` folds an unfolded row; from any other row, it goes to the parent row."
        {"up": "Move the cursor up",
         "down": "Move the cursor down",
         "left": "Move the cursor to the left. In an answer, fold a row",
         "right": "Move the cursor to the right. In an answer, unfold a row",
         "page-up": "Move the cursor up by a page",
         "page-down": "Move the cursor down by a page",
         "top": "Move the cursor to the first row",
         "bottom": "Move the cursor to the last row"};
    "array" [] " NAME | next | previous" ArgumentKind::OneOf(&["next", "previous"]) => array,
        "Show another array."
        {"next": "Show the next array",
         "previous": "Show the previous array"};
    "zoom" [] " [FROM..TO | in | out | all]" ArgumentKind::OneOf(&["in", "out", "all"]) => zoom,
        "Show only this pane, or all panes again. With FROM..TO, the time bar and the plots show only these steps. `zoom in` shows fewer steps, `zoom out` more steps, and `zoom all` all steps."
        {"in": "Show fewer steps in the time bar and the plots, around the current one",
         "out": "Show more steps in the time bar and the plots, around the current one",
         "all": "Show all steps in the time bar and the plots"};
    "here" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Here),
        "Move the cursor to the next instruction. If an outer frame is selected, move the cursor to its open call.";
    "search" [] " [TEXT]" ArgumentKind::None => search,
        "Search in the pane.";
    "search-next" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::SearchAgain { further: true }),
        "Go to the next match.";
    "search-previous" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::SearchAgain { further: false }),
        "Go to the previous match.";
    }
    Screen {
    "ask" as "command" [] " [LINE]" ArgumentKind::Line => |_, rest| Ok(ScreenAction::Ask(rest.to_owned())),
        "Type a command. The input line begins with LINE.";
    "keys" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Keys),
        "Show the keys and their commands.";
    "tour" [] " [next | back | leave]" ArgumentKind::OneOf(TURN_WORDS) => tour,
        "Begin the tour of the screen, or turn its pages. During the tour, each step is described in words."
        {"next": "Begin the tour, or turn to its next page",
         "back": "Turn to the previous page of the tour",
         "leave": "Leave the tour"};
    "mouse" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Mouse),
        "Switch the mouse on, or off.";
    "redraw" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Redraw),
        "Draw the screen again.";
    "suspend" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Suspend),
        "Return to the shell. In the shell, `fg` continues the session.";
    "leave" as "quit" [] "" ArgumentKind::None => |row, rest| plain(row, rest, ScreenAction::Leave),
        "End the session. If points, marks or branches would be lost, repeat the command to confirm.";
    }
}

/// Returns `action`, for a command without arguments. Returns an error if there are arguments.
fn plain(row: CommandRow, rest: &str, action: ScreenAction) -> ParsedAction {
    row.nothing(rest)?;
    Ok(action)
}

fn toggle(row: CommandRow, rest: &str) -> ParsedAction {
    let (word, _) = split_word(row.something(rest, "what to set or remove")?);
    let toggled = one_of(row, word, &TOGGLED)?;
    Ok(ScreenAction::Toggle(toggled, rest.to_owned()))
}

fn focus(row: CommandRow, rest: &str) -> ParsedAction {
    Ok(ScreenAction::Focus(match row.something(rest, "a pane")? {
        "next" => FocusTarget::Next,
        "previous" => FocusTarget::Previous,
        pane => FocusTarget::Pane(pane.to_owned()),
    }))
}

fn tour(row: CommandRow, rest: &str) -> ParsedAction {
    Ok(ScreenAction::Tour(match rest {
        "" => TourTurn::Begin,
        turn => one_of(row, turn, &TURNS)?,
    }))
}

fn zoom(row: CommandRow, rest: &str) -> ParsedAction {
    let step = |text: &str| match text.trim() {
        "" => Ok(None),
        step => row.number(step).map(Some),
    };
    Ok(match rest {
        "" => ScreenAction::Zoom,
        "in" => ScreenAction::ZoomTime(TimeZoom::In),
        "out" => ScreenAction::ZoomTime(TimeZoom::Out),
        "all" => ScreenAction::ZoomTime(TimeZoom::Whole),
        range => match range.split_once("..") {
            Some((from, to)) => ScreenAction::ZoomTime(TimeZoom::Range(step(from)?, step(to)?)),
            None => {
                return Err(
                    row.wrong(format!("`{range}` is neither in, out, all nor a range such as 100..300"))
                );
            }
        },
    })
}

fn cursor(row: CommandRow, rest: &str) -> ParsedAction {
    Ok(ScreenAction::Cursor(one_of(row, row.something(rest, "a direction")?, &MOVES)?))
}

fn array(row: CommandRow, rest: &str) -> ParsedAction {
    Ok(ScreenAction::Array(match row.something(rest, "the name of an array")? {
        "next" => ArrayChoice::Next,
        "previous" => ArrayChoice::Previous,
        name => ArrayChoice::Named(name.to_owned()),
    }))
}

fn search(_: CommandRow, rest: &str) -> ParsedAction {
    Ok(match rest {
        "" => ScreenAction::AskSearch,
        text => ScreenAction::Search(text.to_owned()),
    })
}

/// Returns the value of a word in a list of words. Returns a usage error if the list doesn't contain the word.
fn one_of<T: Copy>(row: CommandRow, word: &str, rows: &[(&str, T)]) -> Result<T, CommandError> {
    let found = rows.iter().find(|(name, _)| *name == word);
    found.map(|(_, meant)| *meant).ok_or_else(|| {
        let words: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
        row.wrong(format!("`{word}` is none of {}", words.join(", ")))
    })
}
