//! Tests of storing a probe as text, and of the limits that follow from a probe.

use super::*;
use crate::testing::device;

fn probe() -> Probe {
    Probe {
        f64_is_exact: true,
        f32_is_exact: false,
        i64_is_exact: true,
        iterations: 65_535,
        lanes_together: 8,
        of: "a device; its driver 1.2".to_owned(),
        lowering: Lowering::PLAIN,
        wrong: vec![("f32".to_owned(), "quotients (a / b: an example)".to_owned())],
    }
}

#[test]
fn texts_round_trip() {
    let text = probe().to_text();
    assert_eq!(Probe::from_text(&text), Some(probe()));
    for end in 0..text.len() {
        // No proper prefix of the text is parsed as the text of another probe. A prefix that ends in the last line may
        // be parsed.
        let part = Probe::from_text(&text[..end]);
        assert!(part.is_none_or(|part| part.of == probe().of && end > text.find("rounds").unwrap()));
    }
    assert_eq!(Probe::from_text(&text.replace("reviver probe", "another probe")), None);
    assert_eq!(Probe::from_text(&text.replace("exact 1", "exact x")), None);
}

#[test]
fn iterations_are_divided_among_lanes() {
    let probe = probe();
    assert_eq!(probe.iterations_of_a_lane(0), Some(8191));
    assert_eq!(probe.iterations_of_a_lane(65), Some(123));
    assert_eq!(probe.iterations_of_a_lane(10_000), None);
    let unlimited = Probe { iterations: Probe::MOST_ITERATIONS, ..probe };
    assert_eq!(unlimited.iterations_of_a_lane(10_000), Some(Probe::MOST_ITERATIONS));
}

#[test]
fn probe_results_name_faults() {
    let answers = probe().answers();
    assert_eq!(answers[0], ("f64 is exact".to_owned(), "yes".to_owned()));
    assert_eq!(answers[1].1, "no: f32: quotients (a / b: an example)");
    assert!(answers[3].1.starts_with("65535, shared by 8 lanes"));
}

#[test]
fn a_refusal_names_one_example() {
    let mut probe = probe();
    assert_eq!(probe.first_wrong_of("f32"), "f32: quotients (a / b: an example)");
    probe.wrong.push(("f32".to_owned(), "sums".to_owned()));
    let of_two = "f32: quotients (a / b: an example); `reviver devices` lists 1 more";
    assert_eq!(probe.first_wrong_of("f32"), of_two);
}

#[test]
fn a_device_is_probed_once() {
    let Some(device) = device() else { return };
    let again = Probe::from_text(&device.probe().to_text()).unwrap();
    assert_eq!(&again, device.probe());
    assert!(again.is_of(device.info()));
    for (question, answer) in device.answers() {
        println!("{question}: {answer}");
    }
    assert!(again.i64_is_exact);
    assert_eq!(again.f64_is_exact, device.info().has_f64);
}
