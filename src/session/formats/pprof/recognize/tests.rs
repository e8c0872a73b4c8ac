use proptest::prelude::*;
use prost::Message;
use prost::encoding::{encode_key, encode_varint};

use super::*;
use crate::formats::pprof::message::{PprofLabel, PprofSample, PprofValueType};

/// A field with these contents.
fn bytes(tag: u32, contents: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode_key(tag, WireType::LengthDelimited, &mut out);
    encode_varint(contents.len() as u64, &mut out);
    out.extend_from_slice(contents);
    out
}

fn number(tag: u32, number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    encode_key(tag, WireType::Varint, &mut out);
    encode_varint(number, &mut out);
    out
}

/// The fields of a small profile, each in a list of its own.
fn fields() -> Vec<Vec<u8>> {
    let value_type = PprofValueType { name: 1, unit: 2 }.encode_to_vec();
    let labels = vec![PprofLabel { key: 1, text: 2, number: 0 }];
    let packed = PprofSample { locations: vec![1, 2], values: vec![300], labels }.encode_to_vec();
    let unpacked = [number(1, 1), number(1, 2), number(2, 300)].concat();
    let location = [number(1, 1), number(3, 0x40_0000), bytes(4, &number(1, 1))].concat();
    vec![
        bytes(field::SAMPLE_TYPE, &value_type),
        bytes(field::SAMPLE, &packed),
        bytes(field::SAMPLE, &unpacked),
        bytes(field::MAPPING, &[number(1, 1), number(5, 1), number(7, 1)].concat()),
        bytes(field::LOCATION, &location),
        bytes(field::FUNCTION, &[number(1, 1), number(2, 1), number(4, 2)].concat()),
        [bytes(field::STRING, b""), bytes(field::STRING, b"cpu")].concat(),
        number(field::DROPPED_FRAMES, 1),
        number(field::TIME_NANOS, 1_760_000_000_000_000_000),
        number(field::DURATION_NANOS, 5_000_000_000),
        bytes(field::PERIOD_TYPE, &value_type),
        number(field::PERIOD, 10_000_000),
        bytes(field::COMMENT, &[1, 2]),
        number(field::COMMENT, 1),
        number(field::DEFAULT_SAMPLE_TYPE, 1),
        number(field::DOCUMENTATION, 1),
        bytes(99, b"{\"later\":1}"),
    ]
}

proptest! {
    #[test]
    fn fields_come_in_any_order(order in Just(fields()).prop_shuffle()) {
        prop_assert!(is_pprof(&order.concat()[..]));
    }

    #[test]
    fn any_bytes_are_judged(bytes: Vec<u8>) {
        is_pprof(&bytes[..]);
    }
}

#[test]
fn a_file_that_is_cut_off_is_recognized_by_the_rest() {
    let all = fields().concat();
    for end in fields()[0].len()..all.len() {
        assert!(is_pprof(&all[..end]), "{end}");
    }
}

#[test]
fn a_table_of_texts_at_the_start_can_be_large() {
    let texts = (0..100_000).flat_map(|index| bytes(field::STRING, format!("f{index}").as_bytes()));
    let sample = fields().swap_remove(1);
    let all: Vec<u8> = texts.chain(sample).collect();
    assert!(is_pprof(&all[..]));
    assert!(!is_pprof(&all[..100_000]));
}

#[test]
fn other_files_are_not_pprof() {
    let texts = ["{}", "\n{\"traceEvents\":[]}", "\n\n\n[", "\n\t {", "\n\u{8}", "", "\n", "[1]"];
    for text in texts {
        assert!(!is_pprof(text.as_bytes()), "{text:?}");
    }
    let name = bytes(1, b"name");
    for (what, other) in [
        ("Perfetto", bytes(1, &[number(8, 123_456), number(10, 1)].concat())),
        ("Perfetto, nested", bytes(1, &bytes(6, &number(1, 6)))),
        ("OTLP", bytes(1, &bytes(1, &bytes(1, &name)))),
        ("OTLP profiles", [bytes(1, &bytes(2, &name)), bytes(2, &bytes(5, b"text"))].concat()),
        ("TensorFlow", bytes(1, &[name.clone(), bytes(2, b"Const")].concat())),
        ("ONNX", [number(1, 8), bytes(2, b"pytorch")].concat()),
        ("descriptors", bytes(1, &[name.clone(), bytes(3, b"google/api.proto")].concat())),
        ("a list of names", [name.clone(), name].concat()),
        ("texts alone", bytes(6, b"text")),
        ("samples without texts", bytes(2, &number(2, 1))),
        ("groups", vec![0x0b, 0x0c]),
        ("no tag", vec![0, 0]),
        ("a time as a text", [bytes(9, b"2026"), fields().concat()].concat()),
    ] {
        assert!(!is_pprof(&other[..]), "{what}");
    }
}
