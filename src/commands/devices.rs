//! `reviver devices`: who carries out lanes here, and what each was found to do.

use reviver::batch::listing::{ListedDevice, devices};
use serde_json::{Map, Value as Json, json};

use crate::cli::DevicesOptions;
use crate::failure::Fallible;
use crate::probes::ProbeFiles;
use crate::streams;

pub fn run(options: &DevicesOptions) -> Fallible {
    let found = devices(&ProbeFiles::default());
    match options.json {
        true => {
            streams::print(&format!("{}\n", json!({ "devices": found.iter().map(object).collect::<Json>() })))
        }
        false => streams::print(&found.iter().map(text).collect::<Vec<_>>().join("\n")),
    }
}

fn text(device: &ListedDevice) -> String {
    let mut text = format!("{} ({})\n", device.name, device.kind.name());
    let width = device.answers.iter().map(|(question, _)| question.chars().count()).max().unwrap_or(0);
    for (question, answer) in &device.answers {
        text.push_str(&format!("  {question:width$}  {answer}\n"));
    }
    if let Some(why) = &device.unusable {
        text.push_str(&format!("  carries out no lanes: {why}\n"));
    }
    text
}

fn object(device: &ListedDevice) -> Json {
    let answers = device.answers.iter().map(|(question, answer)| (question.clone(), json!(answer)));
    json!({
        "name": device.name,
        "kind": device.kind.name(),
        "answers": answers.collect::<Map<_, _>>(),
        "unusable": device.unusable,
    })
}
