//! The source maps of the scripts of one thread, until functions of these scripts are sampled.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::sampler::v8::{ScriptMap, ScriptMaps};
use cpu_prof_core::format::source_map::recorded::short_map;
use cpu_prof_core::profile::window::Window;

/// The maps of a thread, which the thread and the writer share.
#[derive(Debug, Default, Clone)]
pub(crate) struct RecordedMaps {
    new: Arc<ScriptMaps>,
    /// Maps of scripts that earlier recordings of the thread have seen, too. Locked by the writer.
    held: Arc<Mutex<HeldMaps>>,
}

thread_local! {
    /// The maps of this thread's recordings.
    static OF_THREAD: RefCell<Option<RecordedMaps>> = const { RefCell::new(None) };
}

impl RecordedMaps {
    /// Returns the maps of the calling thread. `new` are those that its profiler takes.
    pub(crate) fn of_thread(new: Arc<ScriptMaps>) -> Self {
        OF_THREAD.with_borrow_mut(|maps| {
            // A thread can have another profiler, if the first one could not be used again.
            let maps = maps.get_or_insert_default();
            maps.new = new;
            maps.clone()
        })
    }

    /// Begins a file that has no maps.
    pub(crate) fn begin_file(&self) {
        self.held.lock().begin_file();
    }

    /// Calls `write` for each map of a window's scripts that the file does not have. `write` returns
    /// whether the file has the map now.
    pub(crate) fn each_needed(
        &self,
        window: &Window,
        mut write: impl FnMut(&NeededMap<'_>) -> bool,
    ) {
        let mut held = self.held.lock();
        held.add(self.new.take());
        for needed in held.needed(window) {
            if !write(&needed) {
                held.unwritten(needed.script_id);
            }
        }
    }
}

/// Maps by the ids of their scripts.
#[derive(Debug, Default)]
struct HeldMaps(FxHashMap<u32, HeldMap>);

/// A map, compressed: few scripts of many are sampled.
#[derive(Debug)]
struct HeldMap {
    compressed: Vec<u8>,
    is_written: bool,
}

/// A map that a trace needs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NeededMap<'a> {
    pub script_id: u32,
    /// V8's name of the script.
    pub script: &'a str,
    /// JSON of the map.
    pub map: Vec<u8>,
}

impl HeldMaps {
    /// Adds the maps of new scripts.
    fn add(&mut self, maps: Vec<ScriptMap>) {
        for ScriptMap { script_id, url } in maps {
            let compressed = short_map(&url).and_then(|map| compress(&map));
            if let Some(compressed) = compressed {
                self.0.insert(script_id, HeldMap { compressed, is_written: false });
            }
        }
    }

    /// Returns the maps of a window's scripts that the trace does not have.
    fn needed<'a>(&mut self, window: &'a Window) -> Vec<NeededMap<'a>> {
        let mut needed = Vec::new();
        if self.0.is_empty() {
            return needed;
        }
        for frame in &window.frames {
            let held = self.0.get_mut(&frame.script_id).filter(|held| !held.is_written);
            if let Some(held) = held {
                held.is_written = true;
                let (script_id, script) = (frame.script_id, frame.url.as_str());
                let map = decompress(&held.compressed);
                needed.extend(map.map(|map| NeededMap { script_id, script, map }));
            }
        }
        needed
    }

    /// Notes that the file does not have a map.
    fn unwritten(&mut self, script_id: u32) {
        if let Some(held) = self.0.get_mut(&script_id) {
            held.is_written = false;
        }
    }

    /// Begins a file that has no maps.
    fn begin_file(&mut self) {
        self.0.values_mut().for_each(|held| held.is_written = false);
    }
}

fn compress(map: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(map).ok()?;
    encoder.finish().ok()
}

fn decompress(map: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    ZlibDecoder::new(map).read_to_end(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::testing::windows::made::{frame, window};

    #[test]
    fn a_map_is_written_once_to_each_file_that_needs_it() {
        let map = |script_id| ScriptMap {
            script_id,
            url: r#"data:application/json,{"version":3,"mappings":"A"}"#.to_owned(),
        };
        let broken = ScriptMap { script_id: 6, url: "data:,x".to_owned() };
        let mut held = HeldMaps::default();
        held.add(vec![map(5), map(7), broken]);
        let window = window(
            &[
                (0, frame("f", "/a.ts", 5)),
                (0, frame("g", "/a.ts", 5)),
                (0, frame("h", "/b.js", 6)),
            ],
            &[],
        );
        let needed = |held: &mut HeldMaps| -> Vec<(u32, String, String)> {
            let needed = held.needed(&window).into_iter();
            needed
                .map(|NeededMap { script_id, script, map }| {
                    (script_id, script.to_owned(), String::from_utf8(map).unwrap())
                })
                .collect()
        };
        let expected = (5, "/a.ts".to_owned(), r#"{"version":3,"mappings":"A"}"#.to_owned());
        assert_eq!(needed(&mut held), std::slice::from_ref(&expected));
        assert_eq!(needed(&mut held), []);
        held.unwritten(5);
        assert_eq!(needed(&mut held), std::slice::from_ref(&expected));
        held.begin_file();
        assert_eq!(needed(&mut held), [expected]);
    }
}
