//! `reviver explain`: explains the codes of messages.

use reviver_assembler::suggest::nearest;
use reviver_isa::codes::{CodeEntry, CodeEvidence, CodeTrial, page};
use reviver_vm::codes;
use serde_json::{Value as Json, json};

use crate::cli::ExplainOptions;
use crate::failure::{Failure, Fallible};
use crate::streams;

pub fn run(options: &ExplainOptions) -> Fallible {
    let Some(name) = &options.code else { return all(options.json) };
    let entry = codes::find(name).ok_or_else(|| unknown(name))?;
    match options.json {
        true => streams::print_json(&members(entry)),
        false => streams::print(&page::page(entry, &codes::printed(entry.code))),
    }
}

fn all(json: bool) -> Fallible {
    match json {
        true => streams::print_json(&json!({ "codes": codes::all().map(members).collect::<Json>() })),
        false => streams::print(&page::overview(codes::all())),
    }
}

fn members(entry: &CodeEntry) -> Json {
    let CodeEntry { code, words, account } = entry;
    let mut object = json!({
        "code": code, "words": words, "title": account.title, "meaning": account.meaning, "cure": account.cure,
    });
    match &account.evidence {
        CodeEvidence::Programs { shown, recomputed } => {
            object["shown"] = tried(entry, shown);
            object["shown"]["printed"] = codes::printed(entry.code).into();
            object["mended"] = tried(entry, recomputed);
        }
        CodeEvidence::NotShown(why) => object["not_shown"] = (*why).into(),
    }
    object
}

fn tried(entry: &CodeEntry, trial: &CodeTrial) -> Json {
    json!({ "file": entry.file(), "text": trial.text, "command": trial.typed(&entry.file()) })
}

fn unknown(name: &str) -> Failure {
    let failure = Failure::usage(format_args!("there is no code `{name}`"));
    if let Some(near) = nearest(name, codes::names()) {
        return failure.help(format_args!("did you mean `{near}`?"));
    }
    let part = name.to_lowercase();
    let having = codes::all().filter(|entry| !part.is_empty() && entry.words.contains(&part));
    let having: Vec<String> = having.map(|entry| format!("`{}`", entry.words)).collect();
    match having.is_empty() {
        true => failure.help("`reviver explain` lists all codes"),
        false => {
            failure.help(format_args!("write the whole name: `{name}` is a part of {}", having.join(", ")))
        }
    }
}
