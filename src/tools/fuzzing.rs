//! What fuzzers call: each function reads any bytes, and panics where two readers disagree.

use serde::de::IgnoredAny;

use super::check::check::check_text;
use cpu_prof_core::format::json_walk::walk_object;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::formats::cpuprofile::read::CpuProfileReader;
use cpu_prof_session::formats::pprof::read::read_bytes;
use cpu_prof_session::formats::source_map::comment::map_url;
use cpu_prof_session::formats::source_map::decode::decode;
use cpu_prof_session::formats::trace::event::chunk_json::ChunkJson;
use cpu_prof_session::formats::trace::event::head::{EventHead, Member};
use cpu_prof_session::formats::trace::event::our_chunk::{self, ChunkCheck};
use cpu_prof_session::formats::trace::read::TraceReader;
use cpu_prof_session::formats::trace::scan::{SoundItem, SoundItems};
use cpu_prof_session::model::frame_table::FrameTable;

/// Reads a trace as reports, merges and checks do.
pub fn trace(bytes: &[u8]) {
    let mut frames = FrameTable::new();
    let mut reader = TraceReader::new(ReadScope::SAMPLES);
    let mut items = SoundItems::new(bytes);
    loop {
        let is_ours = items.is_ours();
        match items.next() {
            Ok(Some(SoundItem::Event { text, head })) => {
                sound_event(text, head);
                reader.event(text, head, is_ours, &mut frames);
            }
            Ok(Some(SoundItem::Member { key, value })) => reader.member(key, value),
            _ => break,
        }
    }
    reader.finish();
    check_text(bytes);
}

fn sound_event(text: &[u8], head: &EventHead) {
    assert!(str::from_utf8(text).is_ok());
    let args = head.written(Member::Arguments, text).unwrap_or_default();
    if our_chunk::length_if_sound(args, &mut AnyChunk).is_some() {
        let args = str::from_utf8(args).ok();
        assert!(ChunkJson::from_args(args).is_ok(), "{args:?}");
    } else if head.name(text) != b"ProfileChunk" {
        assert!(serde_json::from_slice::<IgnoredAny>(text).is_ok());
    }
}

/// Finds all frames of valid JSON sound.
struct AnyChunk;

impl ChunkCheck for AnyChunk {
    fn node(&mut self, _: u64, _: Option<u64>, frame: &[u8]) -> bool {
        serde_json::from_slice::<IgnoredAny>(frame).is_ok()
    }

    fn sample(&mut self, _: u64) -> bool {
        true
    }

    fn label(&mut self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

/// Walks over a JSON object. The walk and `serde_json` have to agree.
pub fn walk(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let walked = walk_object(bytes, |key, value| {
        assert!(serde_json::from_str::<IgnoredAny>(&text[value]).is_ok());
        assert!(text.is_char_boundary(key.start));
    });
    if !text.trim_ascii_start().starts_with('{') {
        return;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match (values.next(), walked) {
        (Some(Ok(_)), Ok(walked)) => {
            assert_eq!(values.byte_offset(), walked.end);
            let object = &bytes[..walked.end];
            assert!(!walked.is_ascii || object.is_ascii());
            assert_eq!(walked.has_line_ends, object.contains(&b'\n') || object.contains(&b'\r'));
        }
        (read, walked) => assert_eq!(read.is_some_and(|read| read.is_ok()), walked.is_ok()),
    }
}

/// Decodes a source map, and finds the comment that names one.
pub fn source_map(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let mut left = 1 << 20;
    // Any text may be refused.
    let _ = decode(text, &mut left);
    map_url(text);
}

/// Reads a `.cpuprofile` as reports and checks do.
pub fn cpuprofile(bytes: &[u8]) {
    let mut frames = FrameTable::new();
    let mut reader = CpuProfileReader::new(ReadScope::SAMPLES);
    let mut items = SoundItems::new(bytes);
    while let Ok(Some(item)) = items.next() {
        if let SoundItem::Member { key, value } = item
            && reader.member(key, value, &mut frames).is_err()
        {
            break;
        }
    }
    reader.finish();
    check_text(bytes);
}

/// Reads a pprof file as reports and merges do.
pub fn pprof(bytes: &[u8]) {
    for scope in [ReadScope::STEPS, ReadScope::SAMPLES] {
        // Any bytes may be refused.
        let _ = read_bytes(bytes, "fuzz.pb", scope);
    }
}
