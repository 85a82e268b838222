//! Colours and attributes, by their role on the screen. Panes refer to roles and not to colours. No important
//! distinction depends on colour alone: an attribute or a separate character shows it, too.

use ratatui::style::{Color, Modifier, Style};

/// A style for every role on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    /// The built-in theme that these styles belong to.
    pub name: ThemeName,
    /// Default colours of the screen and of overlays; every other style is applied over them.
    pub ground: Style,
    /// Plain text in panes and overlays.
    pub text: Style,
    /// Less important text: line numbers, comments, and values that are 0.
    pub dim: Style,
    /// Names of cells and procedures, labels, and the mark of an open call.
    pub label: Style,
    /// Headings of panes without the focus.
    pub heading: Style,
    /// The heading of the pane that has the focus.
    pub heading_focused: Style,
    /// Tabs, which name the hidden panes of a slot.
    pub tab: Style,
    /// Lines between panes, and frames of overlays.
    pub border: Style,
    /// The item under the cursor in the focused pane.
    pub cursor: Style,
    /// The item under the cursor in a pane without the focus.
    pub cursor_unfocused: Style,
    /// Text that matches the search.
    pub found: Style,
    /// The line of the next instruction.
    pub next: Style,
    /// The line of the instruction just executed.
    pub executed: Style,
    /// An active breakpoint, its hits, and a stop on the timeline bar.
    pub breakpoint: Style,
    /// A breakpoint that is switched off.
    pub breakpoint_off: Style,
    /// Brackets between a `br` and its `from`.
    pub bracket: Style,
    /// The bracket at the machine's position.
    pub bracket_here: Style,
    /// A cell whose value the last step changed.
    pub changed: Style,
    /// A cell that the last step wrote without changing its value.
    pub written: Style,
    /// A cell that the last step read and didn't write.
    pub read: Style,
    /// Adjoints, and the mode in the status line while gradient mode is on.
    pub adjoint: Style,
    /// Forward travel, and a machine that runs forward.
    pub forward: Style,
    /// Backward travel, and a machine that runs inverted.
    pub backward: Style,
    /// A long run or playback in progress, and the key that a page of the tour asks for.
    pub active: Style,
    /// The present, on the timeline bar and in the plots below it. No other role has this colour.
    pub here: Style,
    /// The part of the timeline bar whose steps were reached, and the signs of calls in it.
    pub bar: Style,
    /// Marks, displayed values, and notes next to code lines.
    pub mark: Style,
    /// A fence on the timeline bar, or a stop at one.
    pub fence: Style,
    /// A fork on the timeline bar, and the branch number.
    pub fork: Style,
    /// A trap: on the timeline bar, in the code, and its message.
    pub trap: Style,
    /// Plots below the timeline bar, one style for each plotted cell.
    pub plots: [Style; crate::command::plot::MOST_PLOTS],
    /// The status line and the heading of a tour.
    pub status: Style,
    /// The sign before the input of the prompt.
    pub prompt: Style,
    /// Keys and typed commands in help and messages.
    pub key: Style,
    /// Error messages, and diagnostics of a broken program.
    pub error: Style,
    /// Warnings, and stops by a limit or an interrupt.
    pub warning: Style,
    /// Advice in the failure pane.
    pub good: Style,
}

/// The themes, as the command line and `picture` name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThemeName {
    /// Colours for a dark background.
    Dark,
    /// Colours for a light background.
    Light,
    /// The terminal's 16 colours, on a dark background.
    Sixteen,
    /// The terminal's 16 colours, on a light background.
    SixteenLight,
    /// Attributes only, no colours.
    Plain,
}

impl ThemeName {
    /// All themes, in the order of error messages and help.
    pub const ALL: [ThemeName; 5] =
        [ThemeName::Dark, ThemeName::Light, ThemeName::Sixteen, ThemeName::SixteenLight, ThemeName::Plain];

    /// Returns the name that the command line accepts.
    pub fn name(self) -> &'static str {
        match self {
            ThemeName::Dark => "dark",
            ThemeName::Light => "light",
            ThemeName::Sixteen => "16",
            ThemeName::SixteenLight => "16-light",
            ThemeName::Plain => "plain",
        }
    }

    /// Returns the terminal background for which the theme is intended.
    pub fn ground(self) -> Ground {
        match self {
            ThemeName::Dark | ThemeName::Sixteen | ThemeName::Plain => Ground::Dark,
            ThemeName::Light | ThemeName::SixteenLight => Ground::Light,
        }
    }

    /// Returns the requested theme. If none is requested, chooses one from environment variables. `NO_COLOR`
    /// (<https://no-color.org>) selects attributes only. 16 colours are used unless the terminal announces
    /// more. `COLORFGBG` selects a dark or a light background. Without it, the background is assumed to be
    /// dark until the terminal reports it.
    pub fn choose(asked: Option<ThemeName>, variable: impl Fn(&str) -> Option<String>) -> ThemeName {
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let many = is_set("COLORTERM") || variable("TERM").is_some_and(|term| term.contains("256color"));
        if let Some(theme) = asked {
            return theme;
        }
        if is_set("NO_COLOR") {
            return ThemeName::Plain;
        }
        let reported = variable("COLORFGBG").and_then(|text| Ground::of_colorfgbg(&text));
        let dark = if many { ThemeName::Dark } else { ThemeName::Sixteen };
        dark.on(reported.unwrap_or(Ground::Dark))
    }

    /// Returns the theme with the same number of colours for the background `ground`.
    #[must_use]
    pub fn on(self, ground: Ground) -> ThemeName {
        match (self, ground) {
            (ThemeName::Dark | ThemeName::Light, Ground::Dark) => ThemeName::Dark,
            (ThemeName::Dark | ThemeName::Light, Ground::Light) => ThemeName::Light,
            (ThemeName::Sixteen | ThemeName::SixteenLight, Ground::Dark) => ThemeName::Sixteen,
            (ThemeName::Sixteen | ThemeName::SixteenLight, Ground::Light) => ThemeName::SixteenLight,
            (ThemeName::Plain, _) => ThemeName::Plain,
        }
    }
}

/// Brightness of a terminal's background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A background darker than the text.
    Dark,
    /// A background lighter than the text.
    Light,
}

impl Ground {
    /// Parses the variable `COLORFGBG`, which some terminals set, such as `15;0`. The last number is the
    /// background, one of 16 colours.
    fn of_colorfgbg(text: &str) -> Option<Ground> {
        match text.rsplit(';').next()?.parse().ok()? {
            7 | 9..=15 => Some(Ground::Light),
            0..=15_u8 => Some(Ground::Dark),
            _ => None,
        }
    }
}

/// The colours of a theme; the coloured themes differ only in these. Each text colour is readable on each
/// background of the same palette.
struct Palette {
    /// Text and background colours; `None` for the terminal's own.
    text: Option<Color>,
    ground: Option<Color>,
    dim: Color,
    accent: Color,
    forward: Color,
    backward: Color,
    changed: Color,
    read: Color,
    adjoint: Color,
    here: Color,
    good: Color,
    warning: Color,
    error: Color,
    /// Backgrounds other than that of the screen; `None` if the colours of the terminal aren't known.
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
    [changed, read, adjoint, here]: [u8; 4],
) -> Palette {
    Palette {
        text: None,
        ground: None,
        dim: Color::Indexed(dim),
        accent: Color::Indexed(accent),
        forward: Color::Indexed(forward),
        backward: Color::Indexed(backward),
        changed: Color::Indexed(changed),
        read: Color::Indexed(read),
        adjoint: Color::Indexed(adjoint),
        here: Color::Indexed(here),
        good: Color::Indexed(forward),
        warning: Color::Indexed(changed),
        error: Color::Indexed(backward),
        cursor: None,
        cursor_unfocused: None,
        next: None,
        status: None,
    }
}

/// Bright colours on a dark background.
const DARK: Palette = Palette {
    text: Some(Color::Indexed(252)),
    ground: Some(Color::Indexed(234)),
    error: Color::Indexed(210),
    cursor: Some(Color::Indexed(237)),
    cursor_unfocused: Some(Color::Indexed(236)),
    next: Some(Color::Indexed(18)),
    status: Some(Color::Indexed(237)),
    ..indexed(246, 75, 114, 212, [221, 80, 177, 208])
};

/// Deep colours on a bright background.
const LIGHT: Palette = Palette {
    text: Some(Color::Indexed(235)),
    ground: Some(Color::Indexed(231)),
    error: Color::Indexed(124),
    cursor: Some(Color::Indexed(254)),
    cursor_unfocused: Some(Color::Indexed(255)),
    next: Some(Color::Indexed(195)),
    status: Some(Color::Indexed(254)),
    ..indexed(242, 25, 22, 125, [94, 23, 91, 52])
};

/// Colours for a black background: those of the 16 terminal colours that are readable on black.
const SIXTEEN: Palette = Palette {
    text: None,
    ground: None,
    dim: Color::DarkGray,
    accent: Color::LightCyan,
    forward: Color::LightGreen,
    backward: Color::LightMagenta,
    changed: Color::LightYellow,
    read: Color::Cyan,
    adjoint: Color::LightMagenta,
    here: Color::White,
    good: Color::LightGreen,
    warning: Color::LightYellow,
    error: Color::LightRed,
    cursor: None,
    cursor_unfocused: None,
    next: None,
    status: None,
};

/// Colours for a white background: those few of the 16 terminal colours that are readable on white.
const SIXTEEN_LIGHT: Palette = Palette {
    accent: Color::Blue,
    forward: Color::Blue,
    backward: Color::Magenta,
    changed: Color::Red,
    read: Color::Blue,
    adjoint: Color::Magenta,
    here: Color::Black,
    good: Color::Blue,
    warning: Color::Red,
    error: Color::Red,
    ..SIXTEEN
};

impl Theme {
    /// Returns the styles of a theme.
    pub fn new(name: ThemeName) -> Theme {
        let theme = match name {
            ThemeName::Dark => Theme::coloured(&DARK),
            ThemeName::Light => Theme::coloured(&LIGHT),
            ThemeName::Sixteen => Theme::coloured(&SIXTEEN),
            ThemeName::SixteenLight => Theme::coloured(&SIXTEEN_LIGHT),
            ThemeName::Plain => Theme::plain(),
        };
        Theme { name, ..theme }
    }

    /// Returns the theme with attributes only: bold for the present, underlined for changes, reversed for
    /// selections.
    fn plain() -> Theme {
        let with = |modifier| Style::new().add_modifier(modifier);
        let (plain, bold, dim) = (Style::new(), with(Modifier::BOLD), with(Modifier::DIM));
        let (underlined, reversed) = (with(Modifier::UNDERLINED), with(Modifier::REVERSED));
        Theme {
            name: ThemeName::Plain,
            ground: plain,
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
            active: reversed.add_modifier(Modifier::BOLD),
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

    /// Returns the theme of a palette: the attributes of the plain theme, and colours.
    fn coloured(palette: &Palette) -> Theme {
        let plain = Theme::plain();
        let fg = |colour| Style::new().fg(colour);
        let bold = |colour| fg(colour).add_modifier(Modifier::BOLD);
        // If a palette has no colour for a background, the attribute of the plain theme is used instead.
        let behind = |colour: Option<Color>, else_: Style| colour.map_or(else_, |c| Style::new().bg(c));
        Theme {
            ground: Style { fg: palette.text, bg: palette.ground, ..Style::new() },
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
            active: bold(palette.accent).add_modifier(Modifier::REVERSED),
            here: bold(palette.here).add_modifier(Modifier::REVERSED),
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

    /// Returns every style of the theme.
    #[cfg(test)]
    fn styles(&self) -> Vec<Style> {
        let Theme { plots, .. } = self;
        let mut styles = vec![
            self.ground,
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
            self.active,
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
    use crate::tui::colour::channels;

    fn colours(name: ThemeName) -> Vec<Color> {
        let styles = Theme::new(name).styles();
        styles.iter().flat_map(|style| [style.fg, style.bg]).flatten().collect()
    }

    #[test]
    fn the_plain_theme_has_no_colours() {
        assert!(colours(ThemeName::Plain).is_empty());
    }

    #[test]
    fn themes_of_sixteen_colours_use_no_others() {
        let colours = [ThemeName::Sixteen, ThemeName::SixteenLight].into_iter().flat_map(colours);
        assert!(colours.into_iter().all(|c| !matches!(c, Color::Indexed(_) | Color::Rgb(..))));
    }

    #[test]
    fn marks_of_the_last_step_differ_without_colours() {
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
        let chosen = |variables| ThemeName::choose(None, with(variables));
        let many: &[_] = &[("NO_COLOR", ""), ("TERM", "xterm-256color"), ("COLORFGBG", "0;default;15")];
        assert_eq!(chosen(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]), ThemeName::Plain);
        assert_eq!(chosen(many), ThemeName::Light);
        assert_eq!(chosen(many).on(Ground::Dark), ThemeName::Dark);
        assert_eq!(chosen(&[("COLORTERM", "truecolor"), ("COLORFGBG", "15;0")]), ThemeName::Dark);
        assert_eq!(chosen(&[("TERM", "linux")]), ThemeName::Sixteen);
        let sixteen = chosen(&[("TERM", "xterm"), ("COLORFGBG", "?")]);
        assert_eq!(sixteen.on(Ground::Light), ThemeName::SixteenLight);
        assert_eq!(ThemeName::Plain.on(Ground::Light), ThemeName::Plain);
        let asked = ThemeName::choose(Some(ThemeName::Light), with(&[("NO_COLOR", "1")]));
        assert_eq!(asked, ThemeName::Light);
    }

    #[test]
    fn the_playhead_has_a_distinct_colour() {
        for name in ThemeName::ALL.into_iter().filter(|name| *name != ThemeName::Plain) {
            let theme = Theme::new(name);
            let others = theme.styles().into_iter().filter(|style| *style != theme.here);
            assert!(
                others.flat_map(|style| [style.fg, style.bg]).all(|colour| colour != theme.here.fg),
                "{name:?}"
            );
        }
    }

    /// Returns the contrast of two colours, 1 to 21 (WCAG 2, 1.4.3).
    fn contrast(one: Color, other: Color) -> f64 {
        let linear = |channel: u8| match f64::from(channel) / 255.0 {
            dark @ ..=0.03928 => dark / 12.92,
            bright => ((bright + 0.055) / 1.055).powf(2.4),
        };
        let luminance = |colour| {
            let [red, green, blue] = channels(colour).expect("a colour of a theme").map(linear);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn every_text_can_be_read_on_every_background() {
        let terminals = [
            (ThemeName::Dark, Color::Black),
            (ThemeName::Light, Color::White),
            (ThemeName::Sixteen, Color::Black),
            (ThemeName::SixteenLight, Color::White),
        ];
        for (name, terminal) in terminals {
            let theme = Theme::new(name);
            let styles = theme.styles();
            let own = theme.ground.bg.unwrap_or(terminal);
            let backgrounds: Vec<Color> = styles.iter().filter_map(|style| style.bg).chain([own]).collect();
            for foreground in styles.iter().filter_map(|style| style.fg) {
                let least = if Some(foreground) == theme.dim.fg { 3.0 } else { 4.5 };
                for &background in &backgrounds {
                    let contrast = contrast(foreground, background);
                    assert!(contrast >= least, "{name:?}: {foreground} on {background}: {contrast:.1}");
                }
            }
        }
    }
}
