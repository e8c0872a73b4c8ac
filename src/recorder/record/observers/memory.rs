//! The memory of the thread at the end of each window.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::observer::{
    FoundEvents, Halves, Moment, Observer, Start, ThreadObserver, WriterObserver, WrittenWindow,
};
use crate::sampler::v8::Heap;
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::base::system;
use cpu_prof_core::profile::gc::MemoryUse;

/// The observer of memory.
pub(super) const OBSERVER: Observer =
    Observer { categories: &[Category::Memory], is_always_on: false, begin };

fn begin(start: &Start<'_>) -> Halves {
    let Some(heap) = Heap::watch(None) else { return Halves::default() };
    let (windows, of_windows) = channel();
    let is_main = start.thread.link.thread.is_main;
    Halves::both(HeapUse { heap, windows }, ProcessUse { of_windows, is_main })
}

/// The heap of the thread.
struct HeapUse {
    heap: Heap,
    /// Takes the memory of each window.
    windows: Sender<MemoryUse>,
}

impl ThreadObserver for HeapUse {
    fn end_window(&self) {
        let _ = self.windows.send(self.heap.memory());
    }
}

/// The memory of the windows that are not written yet.
struct ProcessUse {
    of_windows: Receiver<MemoryUse>,
    /// Whether the thread shows the memory of the process.
    is_main: bool,
}

impl WriterObserver for ProcessUse {
    fn window(&mut self, _: &WrittenWindow<'_>, at: &Moment<'_>, found: &mut FoundEvents) {
        let Ok(memory) = self.of_windows.try_recv() else { return };
        let rss = self.is_main.then(system::resident_bytes).flatten();
        at.trace.memory(&mut found.lasting, at.until_us, MemoryUse { rss, ..memory });
    }
}
