//! Test results in JUnit format: a suite for each file, a case for each line.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use reviver_escape::xml_characters;
use reviver_expectations::assessment::{AssessedLine, Assessment};

use super::tests::reported;
use crate::failure::{Failure, Fallible};
use crate::testing::tested::TestedFile;

/// Returns the report as XML.
///
/// # Errors
/// The report can't be encoded as XML.
pub fn report(tested: &[TestedFile]) -> Fallible<String> {
    let mut report = Report::new("reviver test");
    report.add_test_suites(tested.iter().map(suite));
    report.to_string().map_err(|error| Failure::load(format_args!("can't write the report: {error}")))
}

fn suite(tested: &TestedFile) -> TestSuite {
    let mut suite = TestSuite::new(&*xml_characters(&tested.name));
    let classname = xml_characters(&tested.name);
    let classname = classname.trim_end_matches(".rasm").replace(['/', '\\'], ".");
    suite.add_test_cases(tested.lines.iter().map(|line| case(line, &classname)));
    suite.set_time(tested.lines.iter().map(|line| line.took).sum());
    suite
}

fn case(line: &AssessedLine, classname: &str) -> TestCase {
    let name = format!("line {}: {}", line.line, line.text);
    let mut case = TestCase::new(&*xml_characters(&name), status(line));
    case.set_classname(classname).set_time(line.took);
    case
}

fn status(line: &AssessedLine) -> TestCaseStatus {
    match &line.assessment {
        Assessment::Met => TestCaseStatus::success(),
        Assessment::Unjudged(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(&*xml_characters(why));
            status
        }
        Assessment::Missed(misses) => {
            let lines: Vec<String> =
                misses.iter().map(|miss| xml_characters(&reported(miss)).into_owned()).collect();
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(lines.first().cloned().unwrap_or_default());
            status.set_description(lines.join("\n"));
            status
        }
    }
}
