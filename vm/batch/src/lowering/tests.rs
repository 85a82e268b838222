//! Supported constructs are lowered to valid shaders. For any other construct, the error describes it.

use super::*;

const ALL: [Lowering; 6] = [
    Lowering { integers: LoweredIntegers::Pairs, ..Lowering::PLAIN },
    Lowering { integers: LoweredIntegers::Pairs, results: LoweredResults::Opaque, ..Lowering::PLAIN },
    Lowering { results: LoweredResults::Opaque, ..Lowering::PLAIN },
    Lowering { singles: LoweredSingles::Compared, ..Lowering::PLAIN },
    Lowering { singles: LoweredSingles::Fused, ..Lowering::PLAIN },
    Lowering { singles: LoweredSingles::Whole, ..Lowering::PLAIN },
];

const BUFFERS: &str = "
    @group(0) @binding(1) var<storage, read> constants: array<u64>;
    @group(0) @binding(3) var<storage, read_write> outputs: array<u64>;
    @group(0) @binding(5) var<storage, read_write> counts: array<atomic<u32>>;
";

/// Returns a shader with these statements in its entry point.
fn with(body: &str) -> String {
    format!("{BUFFERS}\n@compute @workgroup_size(64) fn main() {{ {body} }}")
}

fn lower(text: &str, lowering: Lowering) -> Result<String, BatchError> {
    let made = lowered(text, lowering)?.into_owned();
    ValidShader::of(&made, lowering.wide(true)).map(|_| made)
}

#[test]
fn statements_keep_their_order() {
    let body = "
        var kept = constants[2];
        var both = vec2<u64>(5lu, 7lu);
        both = both & vec2<u64>(kept, 3lu);
        let before = outputs[1];
        outputs[1] = kept + 1lu;
        outputs[2] = before;
        let count = atomicAdd(&counts[0], 2u);
        for (var n = 0u; n < 5u; n += 1u) { if n == 3u { continue; } kept = kept * 3lu; }
        switch count { case 1u, 2u: { kept = 0lu; } case 3u: { return; } default: { outputs[3] = kept; } }
        loop { kept -= 1lu; if kept < 7lu { break; } continuing { break if kept == 9lu; } }
        atomicStore(&counts[1], atomicLoad(&counts[0]));
    ";
    for lowering in ALL {
        let made = lower(&with(body), lowering).unwrap();
        // The load that precedes the store is assigned to a name before the store.
        let [load, store] = ["g1_outputs[1];", "g1_outputs[1] ="].map(|text| made.find(text).unwrap());
        assert!(load < store, "{made}");
    }
}

#[test]
fn only_called_functions_are_written() {
    let pairs = ALL[0];
    let made = lower(&with("outputs[0] = constants[0] % constants[1];"), pairs).unwrap();
    assert!(made.contains("fn pair_divided") && made.contains("fn pair_shl"));
    assert!(!made.contains("fn pair_float_u") && !made.contains("opaque"));
    assert!(!made.contains("i64") && !made.contains("u64"), "{made}");
}

#[test]
fn every_result_of_floats_is_opaque() {
    let body = "
        let a = bitcast<f32>(u32(constants[1]));
        let b = sqrt(a) * 3.0f - (-a) / (a + a);
        outputs[0] = u64(bitcast<u32>(f32(i32(b)) + f32(u32(abs(b)))));
    ";
    let made = lower(&with(body), ALL[1]).unwrap();
    // Nine float results, two equal operands, a literal and two integer results become opaque.
    assert!(made.matches("opaque_f32(").count() >= 10, "{made}");
    assert!(made.contains("opaque_i32(i32(") && made.contains("opaque_u32(u32("), "{made}");
    assert!(made.contains("opaque_zero = g0_constants[0].x;"));
    let native = lower(&with(body), ALL[2]).unwrap();
    assert!(native.contains("opaque_zero = u32(g0_constants[0]);"));
    let decorated = lower(&with(body), ALL[0]).unwrap();
    assert!(!decorated.contains("opaque"), "{decorated}");
}

#[test]
fn text_without_lowered_constructs_is_unchanged() {
    let text = with("outputs[0] = 1lu;");
    assert!(matches!(lowered(&text, Lowering::PLAIN), Ok(Cow::Borrowed(same)) if same == text));
}

#[test]
fn constructs_without_lowering_are_refused_with_a_description() {
    let refused = [
        ("outputs[0] = bitcast<u64>(bitcast<f64>(constants[1]) + 1.0lf);", "F64(1.0)"),
        ("outputs[0] = reverseBits(constants[1]);", "ReverseBits"),
        ("let v = vec3<u64>(constants[0]); outputs[0] = v.x;", "vector of more than two"),
        ("let v = vec2<u64>(constants[0], constants[1]) + vec2<u64>(1lu, 2lu); outputs[0] = v.x;", "vectors"),
        ("var v = vec2<u64>(constants[0], 1lu); v.x = 2lu; outputs[0] = v.y;", "storing one"),
        (
            "var v = vec2<u64>(constants[0], 1lu); let n = atomicLoad(&counts[0]); outputs[0] = v[n];",
            "index into",
        ),
        ("workgroupBarrier();", "statement"),
        ("atomicMax(&counts[0], 1u);", "atomic Max"),
        ("outputs[0] = u64(bitcast<f32>(u32(constants[1])));", "Uint"),
    ];
    for (body, word) in refused {
        let text = with(body);
        ValidShader::of(&text, WideTypes { floats: true, integers: true }).unwrap();
        let Err(BatchError::Shader(why)) = lower(&text, ALL[0]) else { panic!("{body} has a lowering") };
        assert!(why.contains(word) && why.ends_with("has no lowering"), "{why}");
    }
    let without = "@compute @workgroup_size(64) fn main() {}";
    assert!(lower(without, ALL[0]).is_ok());
    assert!(matches!(lower(without, ALL[1]), Err(BatchError::Shader(why)) if why.contains("constants")));
    let others = "@fragment fn main() {}";
    assert!(matches!(lower(others, ALL[0]), Err(BatchError::Shader(why)) if why.contains("Fragment")));
}
