//! Fixed-point numbers in JSON, for readers that only support floats.

use serde_json::{Value, json};

use crate::support::{reviver, with_input};

/// Parses a number of `fixed` to its integer.
fn units(number: &str, fraction_bits: u32) -> i128 {
    let (digits, exponent) = number.trim_start_matches('-').split_once('e').unwrap_or((number, "0"));
    let (whole, fraction) = digits.trim_start_matches('-').split_once('.').unwrap();
    // Rounded half up; no number in the tests is exactly halfway.
    let scaled = [whole, fraction].concat().parse::<i128>().unwrap() << fraction_bits;
    let scale = 10i128.pow(u32::try_from(fraction.len() as i32 - exponent.parse::<i32>().unwrap()).unwrap());
    let rounded = (scaled + scale / 2) / scale;
    if number.starts_with('-') { -rounded } else { rounded }
}

/// A reader that parses a fixed-point number in JSON as an f64 gets the same value as `--set` does. If it doesn't, the
/// JSON has the number's integer, too.
#[test]
fn fixed_point_json_has_numbers_or_their_integers() {
    let text = ".real fixed 40\n.inout x: real\n.out y: real\n        add y, x\n";
    let values = [
        "0.1",
        "-0.1",
        "3.3",
        "1000000.5",
        "0.0000001",
        "7999.123456789",
        "-8000000.000000000001",
        "8191.9999999",
        "4097.3333333",
        "8388607.9999999999",
        "123456.123456789",
        "1048576.00000000023",
        "5000000.25",
    ];
    let mut with_integer = 0;
    for value in values {
        let ran = with_input(&format!("run - --set x={value} --json"), text.as_bytes()).expect(0);
        let reported = ran.json();
        let (_, behind) = ran.stdout.split_once("\"y\":").unwrap();
        let number: String = behind.chars().take_while(|c| !matches!(c, ',' | '}')).collect();
        let beside = &reported["units"]["/outputs/y"];
        let read: f64 = number.parse().unwrap();
        // Scaling by a power of two is exact.
        let scaled = read * 2f64.powi(40);
        match beside {
            Value::String(integer) => {
                with_integer += 1;
                let integer: i128 = integer.parse().unwrap();
                assert_ne!((integer as f64) as i128, integer, "{value}: an f64 would have held it");
            }
            _ => {
                assert_eq!(scaled.fract(), 0.0, "{value}: {number}");
                assert_eq!(units(&number, 40), scaled as i128, "{value}: {number}");
            }
        }
        let again = with_input(&format!("run - --set x={number} --json"), text.as_bytes()).expect(0);
        assert_eq!(again.stdout, ran.stdout, "{value}");
    }
    assert!((1..values.len()).contains(&with_integer), "{with_integer}");
}

/// All outputs of numbers: arrays, tapes, shown values, gradients and matrices.
#[test]
fn units_accompany_all_numbers_that_need_them() {
    let text = "\
.real fixed
.inout A[2, 2]: real default 1
.inout x: real
.out y: real
        add  A[1, 0], x
        show x
        add  y, x
        local t = x
        write t
        delocal t: real
";
    let reported = with_input("run - --json --set x=123456.123456789", text.as_bytes()).expect(0).json();
    let units = reported["units"].as_object().unwrap();
    let mut places: Vec<&str> = units.keys().map(String::as_str).collect();
    places.sort_unstable();
    assert_eq!(places, ["/outputs/A/1/0", "/outputs/x", "/outputs/y", "/shown/0/x", "/tape/0"]);
    assert_eq!(units["/outputs/x"], units["/shown/0/x"]);
    assert!(units["/outputs/x"].as_str().unwrap().parse::<i64>().unwrap() > 1 << 53);
    let product =
        ".real fixed\n.inout x: real default 3\n.inout w: real\n.out y: real\n        add y, x * w\n";
    let reported =
        with_input("grad - --loss y --json --set w=123456.123456789", product.as_bytes()).expect(0).json();
    for place in ["/grad/x", "/value"] {
        assert!(reported["units"][place].is_string(), "{place}: {reported}");
    }
    // Floats need no integers.
    let reported = reviver("run programs/leapfrog.rasm --real f64 --json").expect(0).json();
    assert_eq!(reported["units"], json!(null));
}
