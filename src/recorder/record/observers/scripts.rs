//! What was noted of the scripts of one thread, until functions of these scripts are sampled: source maps, and who
//! compiled a text.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use parking_lot::Mutex;

use super::observer::{Halves, Observer, Start, WriterObserver};
use crate::record::files::appender::Appender;
use crate::sampler::v8::{CompiledText, ScriptMap, ScriptNotes};
use cpu_prof_core::base::outside_text::script_url;
use cpu_prof_core::format::source_map::recorded::short_map;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::Window;

/// The observer of scripts.
pub(super) const OBSERVER: Observer = Observer { categories: &[], is_always_on: true, begin };

fn begin(start: &Start<'_>) -> Halves {
    let scripts = start.scripts.clone().map(RecordedScripts::of_thread);
    scripts.map(Halves::on_writer).unwrap_or_default()
}

impl WriterObserver for RecordedScripts {
    /// Begins on the writer thread, because a file that hangs holds the lock.
    fn open(&mut self) {
        self.forget_written();
    }

    fn begin_file(&mut self) {
        self.forget_written();
    }

    fn after_passes(&mut self, window: &mut Window) {
        self.add_compilers(window);
    }

    fn before_window(&mut self, window: &Window, trace: &mut Appender<'_>) {
        if trace.trace.is_some() {
            self.each_needed(window, |script_id, script, map| {
                trace.append(|trace, events| trace.source_map(events, script_id, script, map))
            });
        }
    }
}

/// The scripts of a thread, which its recordings share.
#[derive(Debug, Default, Clone)]
struct RecordedScripts {
    new: Arc<ScriptNotes>,
    /// Maps by the ids of their scripts, which earlier recordings of the thread have seen, too. Locked
    /// by the writer.
    held: Arc<Mutex<HeldMaps>>,
    /// Compilers by the ids of the texts. Locked by the writer.
    compilers: Arc<Mutex<BTreeMap<u32, CallFrame>>>,
}

/// The most texts whose compilers are remembered. Those of the oldest texts are forgotten first.
const MAX_TEXTS: usize = 10_000;

thread_local! {
    /// The scripts of this thread's recordings.
    static OF_THREAD: RefCell<Option<RecordedScripts>> = const { RefCell::new(None) };
}

impl RecordedScripts {
    /// Returns the scripts of the calling thread. `new` are those that its profiler notes.
    fn of_thread(new: Arc<ScriptNotes>) -> Self {
        OF_THREAD.with_borrow_mut(|scripts| {
            // A thread can have another profiler, if the first one could not be used again.
            let scripts = scripts.get_or_insert_default();
            scripts.new = new;
            scripts.clone()
        })
    }

    /// Notes that the file has no maps.
    fn forget_written(&self) {
        self.held.lock().maps.values_mut().for_each(|held| held.is_written = false);
    }

    /// Adds to the functions of texts in a window who compiled the text, where that is known.
    fn add_compilers(&self, window: &mut Window) {
        let mut compilers = self.compilers.lock();
        for CompiledText { script_id, compiler } in self.new.take_texts() {
            let url = script_url(&compiler.url).into_owned();
            compilers.insert(script_id, CallFrame { url, ..compiler.frame() });
            if compilers.len() > MAX_TEXTS {
                compilers.pop_first();
            }
        }
        if compilers.is_empty() {
            return;
        }
        for frame in window.frames.iter_mut().filter(|frame| frame.is_unnamed_text()) {
            frame.compiler = compilers.get(&frame.script_id).cloned().map(Box::new);
        }
    }

    /// Calls `write` with the id, the name and the map of each script of a window whose map the file
    /// does not have. `write` returns whether the file has the map now; if not, the rest of the maps
    /// waits for the next window.
    fn each_needed(&self, window: &Window, mut write: impl FnMut(u32, &str, &[u8]) -> bool) {
        let mut held = self.held.lock();
        for ScriptMap { script_id, url } in self.new.take_maps() {
            let compressed = short_map(&url).and_then(|map| compress(&map));
            if let Some(compressed) = compressed {
                held.add(script_id, HeldMap { compressed, is_written: false });
            }
        }
        if held.maps.is_empty() {
            return;
        }
        for frame in &window.frames {
            let needed = held.maps.get_mut(&frame.script_id).filter(|held| !held.is_written);
            let Some(needed) = needed else { continue };
            let map = decompress(&needed.compressed);
            needed.is_written = map.is_none_or(|map| write(frame.script_id, &frame.url, &map));
            if !needed.is_written {
                return;
            }
        }
    }
}

/// The most memory of maps, bytes: a program can compile new code as long as it runs.
const MAX_BYTES: usize = 32 << 20;

/// Maps by the ids of their scripts. Those of the oldest scripts are forgotten first.
#[derive(Debug, Default)]
struct HeldMaps {
    maps: BTreeMap<u32, HeldMap>,
    /// Memory of the maps.
    bytes: usize,
}

impl HeldMaps {
    fn add(&mut self, script_id: u32, map: HeldMap) {
        self.bytes += map.bytes();
        let before = self.maps.insert(script_id, map);
        self.bytes -= before.map_or(0, |before| before.bytes());
        while self.bytes > MAX_BYTES
            && let Some((_, oldest)) = self.maps.pop_first()
        {
            self.bytes -= oldest.bytes();
        }
    }
}

/// A map, compressed: few scripts of many are sampled.
#[derive(Debug)]
struct HeldMap {
    compressed: Vec<u8>,
    is_written: bool,
}

impl HeldMap {
    /// Returns the memory of the map, with that of its place in a table.
    fn bytes(&self) -> usize {
        const ENTRY_BYTES: usize = 64;
        ENTRY_BYTES + self.compressed.len()
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
    use crate::sampler::v8::RunningFunction;
    use cpu_prof_core::testing::windows::made::{frame, window};

    #[test]
    fn a_map_is_written_once_to_each_file_that_needs_it() {
        let map = |script_id| ScriptMap {
            script_id,
            url: r#"data:application/json,{"version":3,"mappings":"A"}"#.to_owned(),
        };
        let broken = ScriptMap { script_id: 6, url: "data:,x".to_owned() };
        let maps = RecordedScripts::default();
        maps.new.add_maps([map(5), map(7), broken]);
        let window = window(
            &[
                (0, frame("f", "/a.ts", 5)),
                (0, frame("g", "/a.ts", 5)),
                (0, frame("h", "/b.js", 6)),
            ],
            &[],
        );
        let needed = |is_written: bool| {
            let mut needed = Vec::new();
            maps.each_needed(&window, |script_id, script, map| {
                let map = String::from_utf8(map.to_vec()).unwrap();
                needed.push((script_id, script.to_owned(), map));
                is_written
            });
            needed
        };
        let expected = (5, "/a.ts".to_owned(), r#"{"version":3,"mappings":"A"}"#.to_owned());
        for is_written in [false, true] {
            assert_eq!(needed(is_written), std::slice::from_ref(&expected));
        }
        assert_eq!(needed(true), []);
        maps.forget_written();
        assert_eq!(needed(true), [expected]);
    }

    #[test]
    fn the_maps_of_old_scripts_are_forgotten() {
        let mut held = HeldMaps::default();
        for script_id in 0..1000 {
            held.add(script_id % 900, HeldMap { compressed: vec![0; 100_000], is_written: false });
            let counted: usize = held.maps.values().map(HeldMap::bytes).sum();
            assert!(counted == held.bytes && counted <= MAX_BYTES);
        }
        assert!(
            held.maps.len() > 300 && !held.maps.contains_key(&500) && held.maps.contains_key(&899)
        );
    }

    #[test]
    fn functions_of_a_text_have_its_compiler() {
        let scripts = RecordedScripts::default();
        let compiler = RunningFunction {
            name: "render".into(),
            url: "https://user:secret@host/a.js".into(),
            script_id: 3,
            line: 12,
            column: 5,
        };
        scripts.new.add_texts([CompiledText { script_id: 5, compiler }]);
        let nodes = [(0, frame("f", "", 5)), (0, frame("g", "", 6)), (0, frame("h", "/a.js", 5))];
        for _ in 0..2 {
            let mut window = window(&nodes, &[]);
            scripts.add_compilers(&mut window);
            let found: Vec<_> =
                window.frames.iter().map(|frame| frame.compiler.as_deref()).collect();
            let [Some(compiler), None, None] = found[..] else { panic!("{found:?}") };
            let CallFrame { function_name, url, line, column, .. } = compiler;
            assert_eq!((&**function_name, line, column), ("render", &11, &4));
            assert!(url.ends_with("host/a.js") && !url.contains("secret"), "{url}");
        }
    }
}
