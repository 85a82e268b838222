//! Colours and attributes by role. Panes ask for roles and name no colour; whatever must be told apart
//! without colours has an attribute or a character of its own.

use ratatui::style::{Color, Modifier, Style};

/// A style for every role on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    pub text: Style,
    /// What matters less: line numbers, comments, values of no interest.
    pub dim: Style,
    pub label: Style,
    /// Headings of panes, and that of the focused one.
    pub heading: Style,
    pub heading_focused: Style,
    /// Tabs behind the one that is seen.
    pub tab: Style,
    pub border: Style,
    /// The item under the cursor, in the focused pane and in others.
    pub cursor: Style,
    pub cursor_unfocused: Style,
    /// Text that a search has found.
    pub found: Style,
    /// The line of the next instruction, and of the one just executed.
    pub next: Style,
    pub executed: Style,
    pub breakpoint: Style,
    pub breakpoint_off: Style,
    /// Brackets between a `br` and its `from`, and the one the machine is at.
    pub bracket: Style,
    pub bracket_here: Style,
    /// What the last step did to a cell.
    pub changed: Style,
    pub written: Style,
    pub read: Style,
    pub adjoint: Style,
    /// Directions, the user's and the machine's.
    pub forward: Style,
    pub backward: Style,
    /// The scrub bar: the present, what was reached, and what happened.
    pub here: Style,
    pub bar: Style,
    pub mark: Style,
    pub fence: Style,
    pub fork: Style,
    pub trap: Style,
    /// Cells in the plot.
    pub plots: [Style; super::panes::MOST_PLOTS],
    pub status: Style,
    pub prompt: Style,
    pub key: Style,
    pub error: Style,
    pub warning: Style,
    pub good: Style,
}

/// The themes by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThemeName {
    Dark,
    Light,
    /// The terminal's own 16 colours, whatever its background.
    Sixteen,
    /// Attributes only.
    Plain,
}

impl ThemeName {
    pub const ALL: [ThemeName; 4] = [ThemeName::Dark, ThemeName::Light, ThemeName::Sixteen, ThemeName::Plain];

    pub fn name(self) -> &'static str {
        match self {
            ThemeName::Dark => "dark",
            ThemeName::Light => "light",
            ThemeName::Sixteen => "16",
            ThemeName::Plain => "plain",
        }
    }

    /// The theme that was asked for, or the one that fits the environment: none but attributes with
    /// `NO_COLOR` (<https://no-color.org>), 16 colours where the terminal doesn't promise more.
    pub fn choose(asked: Option<ThemeName>, variable: impl Fn(&str) -> Option<String>) -> ThemeName {
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let many = is_set("COLORTERM") || variable("TERM").is_some_and(|term| term.contains("256color"));
        match asked {
            Some(theme) => theme,
            None if is_set("NO_COLOR") => ThemeName::Plain,
            None if many => ThemeName::Dark,
            None => ThemeName::Sixteen,
        }
    }
}

/// The colours in which the coloured themes differ.
struct Palette {
    dim: Color,
    accent: Color,
    forward: Color,
    backward: Color,
    changed: Color,
    read: Color,
    adjoint: Color,
    good: Color,
    warning: Color,
    error: Color,
    /// Backgrounds; none where the terminal's colours can't be relied on.
    cursor: Option<Color>,
    cursor_unfocused: Option<Color>,
    next: Option<Color>,
    status: Option<Color>,
}

const fn indexed(
    dim: u8,
    accent: u8,
    forward: u8,
    backward: u8,
    [changed, read, adjoint]: [u8; 3],
) -> Palette {
    Palette {
        dim: Color::Indexed(dim),
        accent: Color::Indexed(accent),
        forward: Color::Indexed(forward),
        backward: Color::Indexed(backward),
        changed: Color::Indexed(changed),
        read: Color::Indexed(read),
        adjoint: Color::Indexed(adjoint),
        good: Color::Indexed(forward),
        warning: Color::Indexed(changed),
        error: Color::Indexed(backward),
        cursor: None,
        cursor_unfocused: None,
        next: None,
        status: None,
    }
}

/// Bright on dark.
const DARK: Palette = Palette {
    error: Color::Indexed(203),
    cursor: Some(Color::Indexed(238)),
    cursor_unfocused: Some(Color::Indexed(236)),
    next: Some(Color::Indexed(24)),
    status: Some(Color::Indexed(237)),
    ..indexed(245, 75, 114, 212, [221, 80, 141])
};

/// Deep on bright.
const LIGHT: Palette = Palette {
    warning: Color::Indexed(130),
    error: Color::Indexed(160),
    cursor: Some(Color::Indexed(253)),
    cursor_unfocused: Some(Color::Indexed(255)),
    next: Some(Color::Indexed(153)),
    status: Some(Color::Indexed(254)),
    ..indexed(243, 25, 28, 162, [130, 30, 91])
};

/// Colours that can be read on both black and white, in the palettes that terminals ship with.
const SIXTEEN: Palette = Palette {
    dim: Color::DarkGray,
    accent: Color::Blue,
    forward: Color::Green,
    backward: Color::Magenta,
    changed: Color::Red,
    read: Color::Cyan,
    adjoint: Color::Magenta,
    good: Color::Green,
    warning: Color::Magenta,
    error: Color::Red,
    cursor: None,
    cursor_unfocused: None,
    next: None,
    status: None,
};

impl Theme {
    pub fn new(name: ThemeName) -> Theme {
        match name {
            ThemeName::Dark => Theme::coloured(&DARK),
            ThemeName::Light => Theme::coloured(&LIGHT),
            ThemeName::Sixteen => Theme::coloured(&SIXTEEN),
            ThemeName::Plain => Theme::plain(),
        }
    }

    /// Attributes alone: bold for what is now, underlined for what changed, reversed for what is chosen.
    fn plain() -> Theme {
        let with = |modifier| Style::new().add_modifier(modifier);
        let (plain, bold, dim) = (Style::new(), with(Modifier::BOLD), with(Modifier::DIM));
        let (underlined, reversed) = (with(Modifier::UNDERLINED), with(Modifier::REVERSED));
        Theme {
            text: plain,
            dim,
            label: bold,
            heading: bold,
            heading_focused: reversed.add_modifier(Modifier::BOLD),
            tab: plain,
            border: plain,
            cursor: reversed,
            cursor_unfocused: underlined,
            found: underlined,
            next: bold,
            executed: with(Modifier::ITALIC),
            breakpoint: bold,
            breakpoint_off: dim,
            bracket: dim,
            bracket_here: bold,
            changed: underlined.add_modifier(Modifier::BOLD),
            written: underlined,
            read: with(Modifier::ITALIC),
            adjoint: with(Modifier::ITALIC),
            forward: plain,
            backward: bold,
            here: reversed,
            bar: plain,
            mark: bold,
            fence: bold,
            fork: bold,
            trap: bold,
            plots: [bold, plain, dim, underlined],
            status: reversed,
            prompt: bold,
            key: bold,
            error: bold,
            warning: underlined,
            good: plain,
        }
    }

    /// The same attributes with colours laid over them.
    fn coloured(palette: &Palette) -> Theme {
        let plain = Theme::plain();
        let fg = |colour| Style::new().fg(colour);
        let bold = |colour| fg(colour).add_modifier(Modifier::BOLD);
        // Where there is no background to rely on, the attribute of the plain theme does the work.
        let behind = |colour: Option<Color>, else_: Style| colour.map_or(else_, |c| Style::new().bg(c));
        Theme {
            dim: fg(palette.dim),
            label: fg(palette.accent),
            heading: bold(palette.accent),
            heading_focused: bold(palette.accent).add_modifier(Modifier::REVERSED),
            tab: fg(palette.dim),
            border: fg(palette.dim),
            cursor: behind(palette.cursor, plain.cursor),
            cursor_unfocused: behind(palette.cursor_unfocused, plain.cursor_unfocused),
            found: bold(palette.changed).add_modifier(Modifier::UNDERLINED),
            next: behind(palette.next, plain.next).add_modifier(Modifier::BOLD),
            executed: fg(palette.read).add_modifier(Modifier::ITALIC),
            breakpoint: bold(palette.error),
            breakpoint_off: fg(palette.dim),
            bracket: fg(palette.dim),
            bracket_here: bold(palette.accent),
            changed: bold(palette.changed),
            written: fg(palette.changed),
            read: fg(palette.read),
            adjoint: fg(palette.adjoint),
            forward: bold(palette.forward),
            backward: bold(palette.backward),
            here: bold(palette.accent).add_modifier(Modifier::REVERSED),
            bar: fg(palette.dim),
            mark: bold(palette.good),
            fence: bold(palette.warning),
            fork: bold(palette.adjoint),
            trap: bold(palette.error),
            plots: [palette.accent, palette.changed, palette.forward, palette.adjoint].map(fg),
            status: behind(palette.status, plain.status),
            prompt: bold(palette.accent),
            key: bold(palette.accent),
            error: bold(palette.error),
            warning: fg(palette.warning),
            good: fg(palette.good),
            ..plain
        }
    }

    /// Every style.
    #[cfg(test)]
    fn styles(&self) -> Vec<Style> {
        let Theme { plots, .. } = self;
        let mut styles = vec![
            self.text,
            self.dim,
            self.label,
            self.heading,
            self.heading_focused,
            self.tab,
            self.border,
            self.cursor,
            self.cursor_unfocused,
            self.found,
            self.next,
            self.executed,
            self.breakpoint,
            self.breakpoint_off,
            self.bracket,
            self.bracket_here,
            self.changed,
            self.written,
            self.read,
            self.adjoint,
            self.forward,
            self.backward,
            self.here,
            self.bar,
            self.mark,
            self.fence,
            self.fork,
            self.trap,
            self.status,
            self.prompt,
            self.key,
            self.error,
            self.warning,
            self.good,
        ];
        styles.extend(plots);
        styles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours(name: ThemeName) -> Vec<Color> {
        let styles = Theme::new(name).styles();
        styles.iter().flat_map(|style| [style.fg, style.bg]).flatten().collect()
    }

    #[test]
    fn the_plain_theme_has_no_colours() {
        assert!(colours(ThemeName::Plain).is_empty());
    }

    #[test]
    fn sixteen_colours_are_sixteen() {
        assert!(colours(ThemeName::Sixteen).iter().all(|c| !matches!(c, Color::Indexed(_) | Color::Rgb(..))));
    }

    #[test]
    fn what_the_last_step_did_shows_without_colours() {
        let theme = Theme::new(ThemeName::Plain);
        let told_apart = [theme.text, theme.changed, theme.written, theme.read, theme.next, theme.cursor];
        for (n, style) in told_apart.iter().enumerate() {
            assert!(!told_apart[..n].contains(style), "{n}");
        }
    }

    #[test]
    fn the_environment_chooses() {
        let with = |given: &'static [(&str, &str)]| {
            move |name: &str| given.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(
            ThemeName::choose(None, with(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")])),
            ThemeName::Plain
        );
        assert_eq!(
            ThemeName::choose(None, with(&[("NO_COLOR", ""), ("TERM", "xterm-256color")])),
            ThemeName::Dark
        );
        assert_eq!(ThemeName::choose(None, with(&[("TERM", "linux")])), ThemeName::Sixteen);
        assert_eq!(ThemeName::choose(Some(ThemeName::Light), with(&[("NO_COLOR", "1")])), ThemeName::Light);
    }
}
