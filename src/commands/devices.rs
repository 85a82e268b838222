//! `reviver devices`: lists the devices that execute lanes, with the results of their capability probes.

use reviver::Device;
use reviver::batch::listing::{ListedDevice, devices, processor};
use serde_json::{Map, Value as Json, json};

use crate::cli::DevicesOptions;
use crate::drivers::{self, Survived};
use crate::failure::{Exit, Failure, Fallible};
use crate::probes::ProbeFiles;
use crate::streams;

pub fn run(options: &DevicesOptions) -> Fallible {
    if let Some(name) = &options.probe {
        drivers::ends_with_parent();
        // The probe stores its results in files. If the probe fails, the parent process reports the failure.
        drop(Device::known(name, &ProbeFiles::default()));
        return Ok(());
    }
    if options.apart {
        drivers::ends_with_parent();
        return list(options, &devices(&ProbeFiles::default()), None);
    }
    let arguments = ["devices", "--apart", "--json"];
    let arguments = arguments.get(..if options.json { 3 } else { 2 }).unwrap_or_default();
    let crash = match drivers::survives(arguments) {
        Ok(Survived { code: 0, .. }) => return Ok(()),
        // The child has printed its report.
        Ok(Survived { words, .. }) => {
            return Err(Failure::spelled(Exit::Load, words.clone(), words).reported());
        }
        Err(crash) => crash,
    };
    let failure = Failure::new(Exit::Check, crash.sentence())
        .help("install newer drivers: one process loads all drivers, and a driver crashed this process, so only the CPU is listed");
    let failure = drivers::with_words(failure, &crash.words);
    list(options, &[processor()], Some(&failure))?;
    Err(failure.reported())
}

fn list(options: &DevicesOptions, found: &[ListedDevice], failure: Option<&Failure>) -> Fallible {
    match options.json {
        true => {
            let mut members = Map::new();
            members.insert("devices".to_owned(), found.iter().map(object).collect());
            members.extend(failure.map(Failure::members).unwrap_or_default());
            streams::print_json(&Json::Object(members))
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
        text.push_str(&format!("  executes no lanes: {why}\n"));
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
