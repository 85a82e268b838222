//! Shrinks a program that violates a law to a small program that still violates it.
//!
//! The shrinker works on lines, and parses only the keywords of blocks. It removes lines and whole blocks, unwraps
//! block bodies, and simplifies operands, as long as the program still fails. A candidate that doesn't assemble doesn't
//! count as failing, so the shrinker needs no grammar.

/// Returns the smallest text found that still fails. `fails` returns true if a text fails.
pub fn shrink(text: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut shrinker = Shrinker { lines: text.lines().map(str::to_owned).collect(), fails };
    loop {
        let before = shrinker.lines.clone();
        shrinker.without_blocks();
        shrinker.without_runs();
        shrinker.without_frames_of_blocks();
        shrinker.without_pairs();
        shrinker.without_definitions();
        shrinker.without_short_runs();
        shrinker.simpler_lines();
        if shrinker.lines == before {
            return shrinker.text(&before);
        }
    }
}

/// Maximum number of lines in a sequence that [`Shrinker::without_short_runs`] removes at once.
const SHORT_RUN: usize = 8;

struct Shrinker<F> {
    lines: Vec<String>,
    fails: F,
}

impl<F: Fn(&str) -> bool> Shrinker<F> {
    fn text(&self, lines: &[String]) -> String {
        lines.join("\n") + "\n"
    }

    /// Replaces the lines by a candidate that differs and still fails. Returns true if it did so.
    fn try_lines(&mut self, candidate: Vec<String>) -> bool {
        let smaller = candidate != self.lines && (self.fails)(&self.text(&candidate));
        if smaller {
            self.lines = candidate;
        }
        smaller
    }

    /// Returns the lines for which `leave_out` returns false.
    fn except(&self, leave_out: impl Fn(usize) -> bool) -> Vec<String> {
        self.lines.iter().enumerate().filter(|(n, _)| !leave_out(*n)).map(|(_, line)| line.clone()).collect()
    }

    /// Removes whole blocks, including procedures.
    fn without_blocks(&mut self) {
        let mut start = 0;
        while start < self.lines.len() {
            let removed = self.end_of_block(start).is_some_and(|end| {
                let candidate = self.except(|n| (start..=end).contains(&n));
                self.try_lines(candidate)
            });
            start += usize::from(!removed);
        }
    }

    /// Removes sequences of lines: half of the text at first, then shorter ones.
    fn without_runs(&mut self) {
        let mut length = self.lines.len() / 2;
        while length > 0 {
            let mut start = 0;
            while start < self.lines.len() {
                let candidate = self.except(|n| (start..start + length).contains(&n));
                if !self.try_lines(candidate) {
                    start += length;
                }
            }
            length /= 2;
        }
    }

    /// Removes short sequences of lines at every position, or only the branches in them. For example, a loop between
    /// labels has four lines that must be removed together.
    fn without_short_runs(&mut self) {
        for length in 2..=SHORT_RUN {
            let mut start = 0;
            while start + length <= self.lines.len() {
                let inside = |n: usize| (start..start + length).contains(&n);
                let all = self.except(inside);
                let branches = self.except(|n| inside(n) && is_half_of_pair(&self.lines[n]));
                let removed = self.try_lines(all) || self.try_lines(branches);
                start += usize::from(!removed);
            }
        }
    }

    /// Removes the first and the last line of a macro, and its uses. So the body becomes part of main.
    fn without_definitions(&mut self) {
        let mut start = 0;
        while start < self.lines.len() {
            let head = self.lines[start].trim_start().strip_prefix(".macro ");
            let name = head.and_then(|head| head.split('(').next()).map(|name| name.trim().to_owned());
            let end = name.as_ref().and_then(|_| self.end_of_block(start));
            if let (Some(name), Some(end)) = (name, end) {
                let uses = |line: &str| word(line) == name || line.contains(&format!("undo {name} "));
                let candidate = self.except(|n| n == start || n == end || uses(&self.lines[n]));
                self.try_lines(candidate);
            }
            start += 1;
        }
    }

    /// Removes a block's keyword lines, and keeps its body.
    fn without_frames_of_blocks(&mut self) {
        let mut start = 0;
        while start < self.lines.len() {
            if let Some(end) = self.end_of_block(start) {
                let middle = self.middle_of_block(start, end);
                let own = |n: usize| n == start || n == end || Some(n) == middle;
                let first_only = |n: usize| own(n) || middle.is_some_and(|middle| (middle..end).contains(&n));
                let second_only =
                    |n: usize| own(n) || middle.is_some_and(|middle| (start..middle).contains(&n));
                let mut candidates =
                    vec![self.except(first_only), self.except(second_only), self.except(own)];
                candidates.extend(middle.and_then(|middle| self.without_first_of_ladder(start, middle, end)));
                for candidate in candidates {
                    if self.try_lines(candidate) {
                        break;
                    }
                }
            }
            start += 1;
        }
    }

    /// Returns the lines without the first case of an `else if` ladder; the second case then begins the ladder.
    fn without_first_of_ladder(&self, start: usize, middle: usize, end: usize) -> Option<Vec<String>> {
        let (before, rest) = self.lines.get(middle).filter(|line| is_else_if(line))?.split_once("else")?;
        let mut lines = self.lines.clone();
        lines[middle] = format!("{before}{}", rest.trim_start());
        lines.remove(end);
        lines.drain(start..middle);
        Some(lines)
    }

    /// Removes two lines at once that need each other: both branches of a pair, or a push and its pop.
    fn without_pairs(&mut self) {
        let mut first = 0;
        while first < self.lines.len() {
            let removed = (first + 1..self.lines.len()).any(|second| {
                let related = related(&self.lines[first], &self.lines[second]);
                related && {
                    let candidate = self.except(|n| n == first || n == second);
                    self.try_lines(candidate)
                }
            });
            first += usize::from(!removed);
        }
    }

    fn simpler_lines(&mut self) {
        for n in 0..self.lines.len() {
            // Each accepted candidate makes a line simpler, so the loop ends by itself. The limit guards against
            // mistakes in the shrinker.
            for _ in 0..32 {
                let candidates = simpler(&self.lines[n]);
                if !candidates.iter().any(|line| self.try_line(n, line)) {
                    break;
                }
            }
        }
    }

    fn try_line(&mut self, n: usize, line: &str) -> bool {
        let mut candidate = self.lines.clone();
        candidate[n] = line.to_owned();
        self.try_lines(candidate)
    }

    /// Returns the line that closes the block opened by this line.
    fn end_of_block(&self, start: usize) -> Option<usize> {
        let (opener, _, closer) = block_of(&self.lines[start])?;
        let mut depth = 0;
        (start..self.lines.len()).find(|&n| {
            let line = &self.lines[n];
            if opens(line, opener) {
                depth += 1;
            } else if word(line) == closer {
                depth -= 1;
            }
            depth == 0
        })
    }

    /// Returns the line between the two bodies of a block: `else`, `loop` or `apply`.
    fn middle_of_block(&self, start: usize, end: usize) -> Option<usize> {
        let (_, middle, _) = block_of(&self.lines[start])?;
        let mut inside = start + 1;
        while inside < end {
            if word(&self.lines[inside]) == middle {
                return Some(inside);
            }
            inside = self.end_of_block(inside).map_or(inside, |end| end) + 1;
        }
        None
    }
}

/// Keywords of blocks: opening word, word between two bodies, closing word.
const BLOCKS: [(&str, &str, &str); 8] = [
    (".proc", "", ".end"),
    (".macro", "", ".endm"),
    ("if", "else", "fi"),
    ("from", "loop", "until"),
    ("for", "", "rof"),
    ("compute", "apply", "uncompute"),
    ("local", "", "delocal"),
    ("push", "", "pop"),
];

/// Returns the first word of a line, after its label.
fn word(line: &str) -> &str {
    let statement =
        line.split_once(':').filter(|(label, _)| is_name(label.trim())).map_or(line, |(_, rest)| rest);
    statement.split_whitespace().next().unwrap_or("")
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Returns true if a line opens a block with the keyword `opener`. A `from` after a label opens none, because it
/// belongs to a branch pair. An `else if` opens an `if` that has its own `fi`.
fn opens(line: &str, opener: &str) -> bool {
    line.split_whitespace().next() == Some(opener) || opener == "if" && is_else_if(line)
}

fn is_else_if(line: &str) -> bool {
    line.split_whitespace().take(2).eq(["else", "if"])
}

/// Returns true if a line is a `br`, or a `from` after a label.
fn is_half_of_pair(line: &str) -> bool {
    let is_labelled = || line.split_whitespace().next() != Some("from");
    word(line) == "br" || word(line) == "from" && is_labelled()
}

/// Returns the keywords of the block that a line opens.
fn block_of(line: &str) -> Option<(&'static str, &'static str, &'static str)> {
    BLOCKS.into_iter().find(|(opener, _, _)| opens(line, opener))
}

/// Returns true if two lines may be valid only together, so that they must be removed together.
fn related(first: &str, second: &str) -> bool {
    const PAIRS: [(&str, &str); 9] = [
        ("br", "from"),
        ("from", "br"),
        ("push", "pop"),
        ("write", "unwrite"),
        ("unread", "read"),
        ("add", "sub"),
        ("xor", "xor"),
        ("call", "uncall"),
        ("uncall", "call"),
    ];
    PAIRS.contains(&(word(first), word(second)))
}

/// Returns simpler versions of a line, the simplest first.
fn simpler(line: &str) -> Vec<String> {
    let mut candidates = Vec::new();
    let code = line.split(';').next().unwrap_or("").trim_end();
    if code.len() < line.trim_end().len() && !code.is_empty() {
        candidates.push(code.to_owned());
    }
    if line.trim_start() != line {
        candidates.push(line.trim_start().to_owned());
    }
    for cut in [" default ", " = ", " step "] {
        if let Some((before, _)) = line.split_once(cut) {
            candidates.push(before.to_owned());
        }
    }
    candidates.extend(without_part_of_condition(line));
    candidates.extend(without_function(line));
    candidates.extend(tokens(line).flat_map(|(start, end)| simpler_token(line, start, end)));
    candidates
}

/// Returns versions of a line whose condition lacks one operand of an `and` or `or`, or a pair of parentheses.
fn without_part_of_condition(line: &str) -> Vec<String> {
    let mut candidates = Vec::new();
    for connective in [" and ", " or "] {
        for (at, _) in line.match_indices(connective) {
            let behind = at + connective.len();
            candidates.push(format!("{}{}", &line[..start_of_part(&line[..at])], &line[behind..]));
            candidates.push(format!("{}{}", &line[..at], &line[behind + length_of_part(&line[behind..])..]));
        }
    }
    for (open, _) in line.match_indices('(') {
        let close = open + 1 + length_until(&line[open + 1..], |_| false);
        if let Some(rest) = line.get(close + 1..) {
            candidates.push(format!("{}{}{rest}", &line[..open], &line[open + 1..close]));
        }
    }
    candidates
}

/// Returns the index at which the last operand of a condition starts in `text`: after an opening parenthesis, a
/// connective, a comma, or the statement's first word.
fn start_of_part(text: &str) -> usize {
    let mut depth = 0;
    let begins = |(at, c): (usize, char)| {
        depth += i32::from(matches!(c, ')' | ']')) - i32::from(matches!(c, '(' | '['));
        let head = &text[..at + c.len_utf8()];
        let ends_a_word = || {
            [" and ", " or ", ", ", "if ", "fi ", "from ", "until ", "assert "]
                .iter()
                .any(|word| head.ends_with(word))
        };
        (depth < 0 || depth == 0 && ends_a_word()).then_some(head.len())
    };
    text.char_indices().rev().find_map(begins).unwrap_or(0)
}

/// Returns the length of the first operand of the condition in `text`.
fn length_of_part(text: &str) -> usize {
    length_until(text, |rest| rest.starts_with(" and ") || rest.starts_with(" or "))
}

/// Returns the length of the text before an unmatched closing parenthesis, or before the first suffix for which
/// `ends` returns true.
fn length_until(text: &str, ends: impl Fn(&str) -> bool) -> usize {
    let mut depth = 0;
    let end = text.char_indices().find(|&(at, c)| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        depth < 0 || depth == 0 && ends(&text[at..])
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// Rewrites `add.mul y, a, b` to `add y, a`.
fn without_function(line: &str) -> Option<String> {
    let mnemonic = word(line);
    let (update, _) = mnemonic.split_once('.').filter(|(update, _)| !update.is_empty())?;
    let plain = line.replacen(mnemonic, update, 1);
    let operands = plain.splitn(3, ',').take(2).collect::<Vec<_>>().join(",");
    Some(operands)
}

/// Returns the byte ranges of a line's operands. Blanks, commas and parentheses separate operands; an array element
/// includes its indices.
fn tokens(line: &str) -> impl Iterator<Item = (usize, usize)> {
    let separator = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '{' | '}');
    let (mut start, mut brackets) = (None, 0);
    let mut tokens = Vec::new();
    for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
        brackets += i32::from(c == '[') - i32::from(c == ']');
        match (separator(c) && brackets <= 0, start) {
            (false, None) => start = Some(at),
            (true, Some(begin)) => {
                tokens.push((begin, at));
                start = None;
            }
            _ => {}
        }
    }
    tokens.into_iter().skip(1)
}

/// Returns versions of a line in which the operand from `start` to `end` is simpler.
fn simpler_token(line: &str, start: usize, end: usize) -> Vec<String> {
    let put = |text: &str| format!("{}{text}{}", &line[..start], &line[end..]);
    plainer(&line[start..end]).iter().map(|text| put(text)).collect()
}

/// Returns simpler operands to replace an operand, the simplest first. An operand is never replaced by one that is
/// less simple, so shrinking ends.
fn plainer(token: &str) -> Vec<String> {
    if let Ok(number) = token.parse::<i64>() {
        let smaller = [0, 1, number / 2].into_iter().filter(|n| n.unsigned_abs() < number.unsigned_abs());
        return smaller.map(|n| n.to_string()).collect();
    }
    if let Ok(number) = token.parse::<f64>() {
        let smaller = [0.0, 1.0, number.trunc()].into_iter().filter(|n| n.abs() < number.abs());
        return smaller.map(|n| format!("{n:?}")).collect();
    }
    let constants = ["0", "0.0"].map(str::to_owned);
    if token.starts_with(['r', 'f']) && token[1..].parse::<u32>().is_ok() {
        return constants.to_vec();
    }
    let registers = ["r0", "f0", "r1", "f1"].map(str::to_owned);
    let element = token.split_once('[').filter(|(_, indices)| indices.ends_with(']') && *indices != "0]");
    let elements = element.map(|(array, _)| ["0", "0, 0"].map(|index| format!("{array}[{index}]")));
    let elements = elements.into_iter().flatten().filter(|plain| plain != token);
    constants.into_iter().chain(registers).chain(elements).collect()
}

#[cfg(test)]
mod tests {
    use reviver_assembler::assemble::assemble;
    use reviver_assembler::files::FilesInMemory;

    use super::shrink;

    #[test]
    fn conditions_lose_their_sides_and_parentheses() {
        let text = ".inout x\nassert ((x > 0 or 0 < x) and 1 < 2 and (x < 5 or 7 > x)) or 0 <= x\n";
        for kept in ["x > 0", "0 < x", "1 < 2", "x < 5", "7 > x", "0 <= x"] {
            let fails = |text: &str| text.starts_with(".inout x\n") && text.contains(kept);
            assert_eq!(shrink(text, fails), format!(".inout x\nassert {kept}\n"));
        }
    }

    /// A choice between labels, with other code in between: each of its lines can be removed only together with the
    /// others.
    #[test]
    fn paired_branches_are_removed_together() {
        let text =
            ".inout x\na: br c, x == 0\nadd x, 1\nb: br d, always\nc: from a, always\nd: from b, x != 0\n";
        let fails = |text: &str| {
            let assembles =
                assemble("test.rasm", text.as_bytes().to_vec(), &FilesInMemory::new()).module.is_some();
            assembles && text.contains("add x, 1")
        };
        assert!(fails(text));
        assert_eq!(shrink(text, fails), ".inout x\nadd x, 1\n");
    }

    /// Each `if` of a ladder has its own `fi`, and both are removed together.
    #[test]
    fn if_ladders_shrink_from_both_ends() {
        let text = ".inout x, y\n if x == 1\n  add y, 1\n else if x == 2\n  add y, 2\n else if x == 3\n  add y, 3\n \
                    else\n  add y, 4\n fi y == 3\n fi y == 2\n fi y == 1\n";
        for (kept, expected) in [
            ("y, 1", ".inout x, y\nadd y, 1\n"),
            ("y, 3", ".inout x, y\nadd y, 3\n"),
            ("x == 1", ".inout x, y\nif x == 1\nfi 0 == 0\n"),
            ("x == 2", ".inout x, y\nif x == 2\nfi 0 == 0\n"),
            ("x == 3", ".inout x, y\nif x == 3\nfi 0 == 0\n"),
        ] {
            let fails = |text: &str| {
                let assembles =
                    assemble("test.rasm", text.as_bytes().to_vec(), &FilesInMemory::new()).module.is_some();
                assembles && text.starts_with(".inout x, y\n") && text.contains(kept)
            };
            assert!(fails(text));
            assert_eq!(shrink(text, fails), expected, "{kept}");
        }
    }
}
