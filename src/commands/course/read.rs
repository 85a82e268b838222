//! `reviver course read`: shows the book, one chapter at a time.

use std::num::NonZeroUsize;

use reviver_assembler::suggest::nearest;

use crate::cli::CourseRead;
use crate::course::book::{Chapter, chapters};
use crate::failure::{Failure, Fallible};
use crate::{output, streams};

pub fn run(options: &CourseRead, json: bool) -> Fallible {
    let chapters = chapters()?;
    let Some(argument) = &options.chapter else {
        return match json {
            true => {
                streams::print_with(|out| output::object(output::chapter::members(&chapters), &Ok(()), out))
            }
            false => streams::print(&output::chapter::list(&chapters)),
        };
    };
    let chapter = called(&chapters, argument)?;
    let text = chapter.text()?;
    match json {
        true => {
            streams::print_with(|out| output::object(output::chapter::whole(chapter, &text), &Ok(()), out))
        }
        false => {
            let columns = options.columns.map(NonZeroUsize::get).or_else(streams::columns);
            streams::print(&output::chapter::folded(&text, columns))
        }
    }
}

fn called<'c>(chapters: &'c [Chapter], argument: &str) -> Fallible<&'c Chapter> {
    chapters.iter().find(|chapter| chapter.is_called(argument)).ok_or_else(|| {
        let failure = Failure::usage(format_args!("the book has no chapter `{argument}`"));
        let names = || chapters.iter().map(|chapter| &*chapter.name);
        // A part of the name is enough for a suggestion.
        let part = || names().find(|name| name.contains(&*argument.to_lowercase()));
        match nearest(argument, names()).or_else(part) {
            Some(near) => failure.help(format_args!("did you mean `{near}`?")),
            None => failure.help("`reviver course read` lists the chapters"),
        }
    })
}
