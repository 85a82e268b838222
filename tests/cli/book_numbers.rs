//! The numbers in the sentences of the book: each of two digits or more stands in a session or a listing of its page, is rounded from
//! one, follows from some by the arithmetic that a comment of the page tells, or is none that a run could find.
//!
//! Such a comment is `<!-- numbers: 17 = 40972 / 2416; 9232: $ reviver run FILE; 2019: the year -->`. What is on the right of `=` is carried
//! out from the left to the right, and takes digits, powers of ten, and numbers of the page; `log2` is that of all that is behind it. A command behind `: $` must print the
//! number, and what else stands behind `:` is for readers.

use std::collections::BTreeSet;

use crate::book::{Chapter, pages};
use crate::support::reviver;

/// A number as it is written.
#[derive(Clone, Debug)]
struct Written {
    text: String,
    value: f64,
    /// Half of a unit of its last place.
    half: f64,
    /// Whether it has a point or a power of ten: then it may be rounded.
    may_be_rounded: bool,
}

impl Written {
    fn is(&self, known: f64) -> bool {
        let off = (known.abs() - self.value).abs();
        if self.may_be_rounded { off <= self.half * 1.000_001 } else { off == 0.0 }
    }

    /// Numbers of a digit say too little to be looked for.
    fn has_several_digits(&self) -> bool {
        self.text.chars().filter(char::is_ascii_digit).count() > 1
    }
}

/// The power of ten behind a number, and how long it is: `·10⁻¹⁹`, `e-19`.
fn power(rest: &str) -> (i32, usize) {
    const DIGITS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    if let Some(raised) = rest.strip_prefix("·10") {
        let long: String = raised.chars().take_while(|&c| c == '⁻' || DIGITS.contains(c)).collect();
        let digits = long.trim_start_matches('⁻').chars();
        let size = digits.fold(0, |n, c| n * 10 + DIGITS.chars().position(|d| d == c).unwrap() as i32);
        return if long.is_empty() {
            (0, 0)
        } else {
            (if long.starts_with('⁻') { -size } else { size }, "·10".len() + long.len())
        };
    }
    let long: String = rest
        .strip_prefix('e')
        .map(|raised| raised.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect())
        .unwrap_or_default();
    long.parse().map_or((0, 0), |power| (power, 1 + long.len()))
}

/// The numbers of a text, without signs.
fn numbers(text: &str) -> Vec<Written> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].find(|c: char| c.is_ascii_digit()).map(|n| at + n) {
        let is_inside = |c: char| c.is_alphanumeric() || c == '_';
        let follows_name = text[..first].chars().next_back().is_some_and(is_inside);
        let mut end = first;
        let mut rest = text[first..].chars().peekable();
        while let Some(c) = rest.next() {
            let joins = (c == '.' || c == ',') && rest.peek().is_some_and(char::is_ascii_digit);
            if !c.is_ascii_digit() && !joins {
                break;
            }
            end += c.len_utf8();
        }
        let digits = text[first..end].replace(',', "");
        let (power, length) = power(&text[end..]);
        let is_base = length == 0 && text[end..].starts_with(|c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿᶜ".contains(c));
        at = end + length;
        // Of `1.2.3` there is no value.
        if let (Ok(value), false) = (format!("{digits}e{power}").parse::<f64>(), follows_name || is_base) {
            let decimals = digits.split_once('.').map_or(0, |(_, behind)| behind.len() as i32);
            let may_be_rounded = decimals > 0 || length > 0;
            let half = 0.5 * 10_f64.powi(power - decimals);
            found.push(Written { text: text[first..end].to_owned(), value, half, may_be_rounded });
        }
    }
    found
}

/// The page without comments, of which what they say of numbers comes second.
fn without_comments(text: &str) -> (String, String) {
    let (mut page, mut said) = (String::new(), String::new());
    let mut left = text;
    while let Some((before, behind)) = left.split_once("<!--") {
        let (comment, behind) = behind.split_once("-->").unwrap();
        page.push_str(before);
        if let Some(numbers) = comment.trim().strip_prefix("numbers:") {
            said.extend([numbers.trim(), ";"]);
        }
        left = behind;
    }
    (page + left, said)
}

/// The sentences of a page: no headings, code, pictures, targets of links, sources, or the numbers of chapters and exercises.
fn sentences(page: &str) -> String {
    let prose: String = page.split("```").step_by(2).collect();
    let prose = prose.split("## Further reading").next().unwrap();
    let paragraphs = prose.split("\n\n").filter(|text| !text.trim_start().starts_with(['#', '!']));
    let paragraphs = paragraphs.filter(|text| !text.trim_start().starts_with("Graded by Reviver"));
    let mut text = paragraphs.collect::<Vec<_>>().join("\n\n");
    let inline: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    text = inline.split("](").enumerate().fold(String::new(), |text, (n, part)| {
        text + if n == 0 { part } else { part.split_once(')').map_or("", |(_, behind)| behind) }
    });
    let items = text.lines().map(|line| {
        let (number, rest) = line.trim_start().split_once(". ").unwrap_or(("", ""));
        if number.parse::<u32>().is_ok() { rest } else { line }
    });
    let text = items.collect::<Vec<_>>().join(" ");
    text.split("hapter ").map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit())).collect()
}

/// Numbers that sessions and listings of a page have.
fn known(page: &Chapter, text: &str) -> Vec<f64> {
    let blocks: String = text.split("```").skip(1).step_by(2).collect();
    let listings = page.listings();
    let files = listings.iter().filter_map(|listing| page.included(listing));
    let files = files.map(|included| std::fs::read_to_string(included.file).unwrap());
    std::iter::once(blocks).chain(files).flat_map(|text| numbers(&text)).map(|number| number.value).collect()
}

/// `40996 / 2416`, `1024 * log2 8 / 7`, with the numbers that it takes.
fn computed(expression: &str) -> (f64, Vec<f64>) {
    if let Some(of) = expression.strip_prefix("log2 ") {
        let (value, taken) = computed(of);
        return (value.log2(), taken);
    }
    let (first, mut rest) = expression.split_once(' ').unwrap_or((expression, ""));
    let number = |word: &str| word.parse::<f64>().unwrap_or_else(|_| panic!("{expression}: {word}"));
    let mut value = number(first);
    let mut taken = vec![value];
    while let Some((operator, others)) = rest.split_once(' ') {
        let is_last = others.starts_with("log2 ") || !others.contains(' ');
        let (word, behind) = if is_last { (others, "") } else { others.split_once(' ').unwrap() };
        let (other, takes) = if is_last { computed(word) } else { (number(word), vec![number(word)]) };
        taken.extend(takes);
        value = match operator {
            "+" => value + other,
            "-" => value - other,
            "*" => value * other,
            "/" => value / other,
            _ => panic!("{expression}: {operator}"),
        };
        rest = behind;
    }
    (value, taken)
}

/// What is wrong with the numbers of a page.
fn complaints(page: &Chapter) -> Vec<String> {
    let (text, said) = without_comments(&page.text);
    let (known, prose) = (known(page, &text), numbers(&sentences(&text)));
    let is_found = |number: &Written| known.iter().any(|&known| number.is(known));
    let is_there =
        |value: f64| prose.iter().map(|n| n.value).chain(known.iter().copied()).any(|n| n == value);
    let mut faults = Vec::new();
    let mut vouched = BTreeSet::new();
    for entry in said.split(';').map(str::trim).filter(|entry| !entry.is_empty()) {
        let (left, expression) = match (entry.split_once(" = "), entry.split_once(':')) {
            (Some((left, expression)), _) => (left, Some(expression.trim())),
            (None, Some((left, _))) => (left, None),
            (None, None) => panic!("{}: {entry} says nothing", page.name()),
        };
        let command = entry.split_once(": $ reviver ").map(|(_, command)| command);
        let printed: Option<Vec<f64>> = command.map(|command| {
            let ran = reviver(command);
            numbers(&(ran.stdout + &ran.stderr)).into_iter().map(|number| number.value).collect()
        });
        for number in left.split(", ").flat_map(numbers) {
            if let Some((value, taken)) = expression.map(computed) {
                let rounded = Written { may_be_rounded: true, ..number.clone() };
                if !rounded.is(value) {
                    faults.push(format!("{entry}: it is {value}"));
                }
                let is_open = |n: f64| n >= 10.0 && n.log10().fract() != 0.0 && !is_there(n);
                let missing = taken.into_iter().filter(|&n| is_open(n));
                faults.extend(missing.map(|n| format!("{entry}: {n} isn't on the page")));
            }
            if is_found(&number) || !prose.iter().any(|other| other.text == number.text) {
                faults.push(format!("{entry}: nobody asks for {}", number.text));
            }
            if let Some(printed) = &printed
                && !printed.iter().any(|other| Written { may_be_rounded: true, ..number.clone() }.is(*other))
            {
                faults.push(format!("{entry}: it doesn't print {}", number.text));
            }
            vouched.insert(number.text);
        }
    }
    let unknown =
        prose.iter().filter(|n| n.has_several_digits() && !is_found(n) && !vouched.contains(&n.text));
    faults.extend(unknown.map(|number| format!("where does {} come from?", number.text)));
    faults.into_iter().map(|fault| format!("{}: {fault}", page.name())).collect()
}

#[test]
fn every_number_in_the_sentences_of_the_book_is_vouched_for() {
    let chapters = pages().into_iter().filter(|page| page.name() != "SUMMARY.md");
    let complaints: Vec<String> = chapters.flat_map(|page| complaints(&page)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn numbers_are_read_as_they_are_written() {
    let read = |text: &str| numbers(text).into_iter().map(|number| number.value).collect::<Vec<_>>();
    assert_eq!(
        read("7.35·10⁻¹⁹ and 1e-3, 40,320. In f64 2³³ are 12/13."),
        [7.35e-19, 1e-3, 40_320.0, 12.0, 13.0]
    );
    assert!(numbers("5.3")[0].is(5.28) && !numbers("5.3")[0].is(5.2) && !numbers("53")[0].is(53.2));
    assert_eq!(computed("log2 4 * 16 / 2"), (5.0, vec![4.0, 16.0, 2.0]));
    assert_eq!(computed("10 - 2 * log2 16 / 2"), (24.0, vec![10.0, 2.0, 16.0, 2.0]));
}
