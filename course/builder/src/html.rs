//! Text as HTML and back. It knows the few marks that this crate writes, and is no reader of pages in general.

/// A text that HTML shows as it is.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A text with a class, or without.
pub fn span(class: Option<&str>, text: &str) -> String {
    match class {
        Some(class) => format!("<span class=\"{class}\">{}</span>", escaped(text)),
        None => escaped(text),
    }
}

/// The text that a piece of HTML shows.
pub fn shown(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, behind)| behind);
    }
    text.push_str(rest);
    // The ampersand comes last, so that what it escapes isn't taken for an escape.
    let escapes =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&")];
    escapes.iter().fold(text, |text, (escape, c)| text.replace(escape, c))
}
