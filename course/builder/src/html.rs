//! Conversion between text and the HTML that this crate writes. It isn't a general HTML parser.

/// Escapes a text for HTML.
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

/// Escapes a text for HTML, and encloses it in a `span` element if a class is given.
pub fn span(class: Option<&str>, text: &str) -> String {
    match class {
        Some(class) => format!("<span class=\"{class}\">{}</span>", escaped(text)),
        None => escaped(text),
    }
}

/// Returns the text that a piece of HTML displays.
pub fn shown(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, behind)| behind);
    }
    text.push_str(rest);
    // `&amp;` is unescaped last, so that `&amp;lt;` becomes `&lt;` and not `<`.
    let escapes =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&")];
    escapes.iter().fold(text, |text, (escape, c)| text.replace(escape, c))
}
