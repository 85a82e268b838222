//! What a key can do: one row each, with its name in key files and its line in the help.

use std::fmt;

/// The heading below which the help has a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HelpGroup {
    Travel,
    Places,
    Cells,
    Panes,
    Screen,
}

impl HelpGroup {
    pub const ALL: [HelpGroup; 5] =
        [HelpGroup::Travel, HelpGroup::Places, HelpGroup::Cells, HelpGroup::Panes, HelpGroup::Screen];

    pub fn title(self) -> &'static str {
        match self {
            HelpGroup::Travel => "Travel",
            HelpGroup::Places => "Places and moments",
            HelpGroup::Cells => "The selected cell",
            HelpGroup::Panes => "Panes",
            HelpGroup::Screen => "Screen",
        }
    }
}

macro_rules! actions {
    ($($group:ident { $($action:ident $name:literal $help:literal;)+ })+) => {
        /// What a key can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum KeyAction {
            $($($action),+),+
        }

        impl KeyAction {
            /// In the order of the help.
            pub const ALL: &'static [KeyAction] = &[$($(KeyAction::$action),+),+];

            /// As key files call it.
            pub fn name(self) -> &'static str {
                match self {
                    $($(KeyAction::$action => $name),+),+
                }
            }

            /// What it does, without a full stop.
            pub fn help(self) -> &'static str {
                match self {
                    $($(KeyAction::$action => $help),+),+
                }
            }

            pub fn group(self) -> HelpGroup {
                match self {
                    $($(KeyAction::$action => HelpGroup::$group),+),+
                }
            }
        }
    };
}

actions! {
    Travel {
        Step "step" "one step forward";
        ReverseStep "reverse-step" "one step backward";
        Next "next" "one step forward, over a call";
        ReverseNext "reverse-next" "one step backward, over a call";
        Finish "finish" "forward until the current call is left";
        ReverseFinish "reverse-finish" "backward to before the current call";
        Continue "continue" "forward to the next stop";
        ReverseContinue "reverse-continue" "backward to the next stop";
        RunToCursor "run-to-cursor" "forward to the line under the cursor";
        ReverseRunToCursor "reverse-run-to-cursor" "backward to the line under the cursor";
        Play "play" "play forward, or pause";
        ReversePlay "reverse-play" "play backward, or pause";
        PlayPause "play-pause" "play on in the last direction, or pause";
        Faster "faster" "play twice as fast";
        Slower "slower" "play half as fast";
        Scrub "scrub" "forward by a fiftieth of the known history";
        ReverseScrub "reverse-scrub" "backward by a fiftieth of the known history";
        NextEvent "next-event" "forward to the next event on the timeline";
        LastEvent "last-event" "backward to the event before on the timeline";
        GotoStart "goto-start" "to the start of the history";
        GotoEnd "goto-end" "to the end of the history";
        Goto "goto" "ask for a step, a percentage or a mark, and go there";
        Undo "undo" "back to where one was before the last motion";
        Redo "redo" "take an undo back";
        TimelineUp "timeline-up" "leave the branch of an edit for the one above";
    }
    Places {
        Breakpoint "breakpoint" "set or delete a breakpoint at the cursor";
        Mark "mark" "ask for a name, and give it to this moment";
        Fence "fence" "put a fence at this step, or take it away";
        Here "here" "move the cursor to the next instruction, or to the call in the selected frame";
        FrameUp "frame-up" "select the caller's frame";
        FrameDown "frame-down" "select the callee's frame";
    }
    Cells {
        NextWrite "next-write" "forward to behind its next write";
        LastWrite "last-write" "backward to before its last write";
        Why "why" "tell where its value comes from";
        History "history" "tell what it held over time";
        Watch "watch" "stop where it changes, or no more";
        Plot "plot" "plot it over time, or no more";
        Adjoint "adjoint" "choose its adjoint, or its value again";
        Edit "edit" "ask for a value, and begin a branch with it";
    }
    Panes {
        FocusNext "focus-next" "to the next pane";
        FocusPrevious "focus-previous" "to the pane before";
        FocusCode "focus-code" "to the code";
        FocusInverse "focus-inverse" "to the inverse program";
        FocusCells "focus-cells" "to the cells";
        FocusArrays "focus-arrays" "to the arrays";
        FocusCalls "focus-calls" "to the call stack";
        FocusTapes "focus-tapes" "to the tapes and stacks";
        FocusMessages "focus-messages" "to the messages";
        FocusCard "focus-card" "to the instruction card";
        FocusTimeline "focus-timeline" "to the timeline";
        Zoom "zoom" "give the pane the whole screen, or no more";
        Up "up" "cursor up";
        Down "down" "cursor down";
        ItemLeft "item-left" "cursor to the element before";
        ItemRight "item-right" "cursor to the element behind";
        PageUp "page-up" "a page up";
        PageDown "page-down" "a page down";
        Top "top" "cursor to the first line";
        Bottom "bottom" "cursor to the last line";
        NextArray "next-array" "show the next array";
        PreviousArray "previous-array" "show the array before";
        Open "open" "code: breakpoint; cells: why; calls: select the frame; timeline: go there";
    }
    Screen {
        Command "command" "type a command";
        Search "search" "search in the pane";
        SearchNext "search-next" "to the next place found";
        SearchPrevious "search-previous" "to the place found before";
        Help "help" "these lines";
        Mouse "mouse" "mouse on, or off";
        Redraw "redraw" "draw everything anew";
        Suspend "suspend" "back to the shell; there `fg` goes on";
        Quit "quit" "end the session";
    }
}

impl KeyAction {
    /// Whether it opens a line to type into.
    pub fn asks(self) -> bool {
        matches!(
            self,
            KeyAction::Command | KeyAction::Search | KeyAction::Goto | KeyAction::Mark | KeyAction::Edit
        )
    }

    /// The action that a key file names.
    pub fn named(name: &str) -> Option<KeyAction> {
        KeyAction::ALL.iter().copied().find(|action| action.name() == name)
    }
}

impl fmt::Display for KeyAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for action in KeyAction::ALL {
            assert_eq!(KeyAction::named(action.name()), Some(*action));
        }
    }
}
