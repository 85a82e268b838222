//! Parser for the tags of pages that mdBook writes. Text in scripts, styles and comments is skipped.

/// Opening tag with its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag<'p> {
    pub name: &'p str,
    attributes: &'p str,
}

impl<'p> Tag<'p> {
    /// Returns an attribute's value as written, with its escape sequences.
    pub fn attribute(&self, name: &str) -> Option<&'p str> {
        let mut rest = self.attributes;
        while let Some((before, behind)) = rest.split_once("=\"") {
            let (value, more) = behind.split_once('"')?;
            if before.split_whitespace().last() == Some(name) {
                return Some(value);
            }
            rest = more;
        }
        None
    }
}

/// Returns the tags of a page, in order.
pub fn tags(page: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some((_, inside)) = rest.split_once('<') {
        rest = match inside.strip_prefix("!--") {
            Some(comment) => behind(comment, "-->"),
            None => after_tag(inside, &mut tags),
        };
    }
    tags
}

/// Parses the tag after a `<`, adds it to `tags`, and returns the text after it.
fn after_tag<'p>(inside: &'p str, tags: &mut Vec<Tag<'p>>) -> &'p str {
    let Some((tag, rest)) = inside.split_once('>') else { return "" };
    let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        tags.push(Tag { name, attributes });
    }
    match name {
        "script" => behind(rest, "</script>"),
        "style" => behind(rest, "</style>"),
        _ => rest,
    }
}

fn behind<'p>(text: &'p str, end: &str) -> &'p str {
    text.split_once(end).map_or("", |(_, behind)| behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_attributes_are_found() {
        let page = "<!-- <a href=\"no\"> --><a class=\"x\"\n href=\"b.html#c\">d</a><script src=\"e.js\">if (a<b) \"<p>\"</script><br>";
        let found = tags(page);
        let names: Vec<&str> = found.iter().map(|tag| tag.name).collect();
        assert_eq!(names, ["a", "script", "br"]);
        let wanted = [("a", "href", Some("b.html#c")), ("script", "src", Some("e.js")), ("br", "src", None)];
        for (tag, (name, attribute, value)) in found.iter().zip(wanted) {
            assert_eq!((tag.name, tag.attribute(attribute)), (name, value));
        }
        assert_eq!(found[0].attribute("ref"), None);
    }
}
