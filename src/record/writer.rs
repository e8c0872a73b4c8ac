//! The background thread: asks for windows, turns them into events, writes the files.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};
use std::{mem, thread};

use crate::base::system;
use crate::format::trace::events::Events;
use crate::record::sink::{RecordingLink, RecordingSink, RecordingTotals, TakenWindow};
use crate::sampler::v8::{Callback, V8Profile};

enum WriterMessage {
    Open(Box<RecordingSink>),
    Window(Key, TakenWindow),
    Rename(Key, String),
    Close(Key, Option<TakenWindow>, SyncSender<ClosedRecording>),
    Leave(Waiter),
    StopWorkers(u32, Waiter),
}

/// A recording whose files are complete.
pub(crate) struct ClosedRecording {
    /// What there is in them.
    pub written: RecordingTotals,
    /// The profiles that are yet to be deleted.
    pub left: Vec<V8Profile>,
}

/// Somebody waits for the last windows of other threads.
struct Waiter {
    /// Threads that have not answered by then are blocked in native code.
    until: Instant,
    done: SyncSender<()>,
}

/// Tells recordings apart; each has a link of its own.
type Key = usize;

/// The writer thread's handle.
pub(crate) struct Writer {
    queue: Sender<WriterMessage>,
    /// A close was not waited for to its end: the disk hangs, and no other thread shall wait too.
    hangs: AtomicBool,
}

impl Writer {
    /// Starts the thread. `rotate` is what it has each recorded thread run for every window.
    pub(crate) fn start(rotate: Callback) -> io::Result<Self> {
        let (queue, messages) = channel();
        // Node unloads an addon that only workers loaded when the last of them ends, and this
        // thread would still be inside.
        napi::bindgen_prelude::retain_current_module_for_unload_safety();
        system::with_signals_blocked(|| {
            thread::Builder::new().name("cpu-prof".into()).spawn(move || {
                WriterLoop {
                    rotate,
                    tracks: Vec::new(),
                    events: Events::default(),
                    leaving: None,
                    stopping: Vec::new(),
                    memory: HeapTrim::default(),
                }
                .run(&messages)
            })
        })?;
        Ok(Self { queue, hangs: AtomicBool::new(false) })
    }

    /// Takes a recording over.
    pub(crate) fn open(&self, track: RecordingSink) {
        let _ = self.queue.send(WriterMessage::Open(Box::new(track)));
    }

    /// Hands a window over.
    pub(crate) fn window(&self, link: &Arc<RecordingLink>, taken: TakenWindow) {
        let _ = self.queue.send(WriterMessage::Window(key(link), taken));
    }

    /// The script of a worker is known only once it runs.
    pub(crate) fn rename(&self, link: &Arc<RecordingLink>, script: String) {
        let _ = self.queue.send(WriterMessage::Rename(key(link), script));
    }

    /// Hands the last window over, and waits until the files are complete. None if that took so long
    /// that the program was not to be kept waiting, and the profiles are still being read.
    pub(crate) fn close(
        &self,
        link: &Arc<RecordingLink>,
        last: Option<TakenWindow>,
    ) -> Option<ClosedRecording> {
        const PATIENCE: Duration = Duration::from_secs(10);
        let (done, wait) = sync_channel(1);
        self.queue.send(WriterMessage::Close(key(link), last, done)).ok()?;
        let hangs = self.hangs.load(Ordering::Relaxed);
        let closed = wait.recv_timeout(if hangs { Duration::ZERO } else { PATIENCE }).ok();
        if closed.is_none() {
            self.hangs.store(true, Ordering::Relaxed);
            link.abandoned.store(true, Ordering::Relaxed);
        }
        closed
    }

    /// Has every thread's last window taken and every file finished, as far as that can be done in
    /// `patience`. If the process lives on after all, so do the recordings.
    pub(crate) fn last_windows(&self, patience: Duration) {
        self.wait(patience, WriterMessage::Leave);
    }

    /// Has the workers stopped that a recording covers, as far as that can be done in `patience`.
    pub(crate) fn stop_workers(&self, parent: u32, patience: Duration) {
        self.wait(patience, |leaving| WriterMessage::StopWorkers(parent, leaving));
    }

    fn wait(&self, patience: Duration, message: impl FnOnce(Waiter) -> WriterMessage) {
        let (done, wait) = sync_channel(1);
        // Some of it is kept for the files of those that did not answer.
        let until = Instant::now() + patience * 4 / 5;
        if self.queue.send(message(Waiter { until, done })).is_ok() {
            let _ = wait.recv_timeout(patience);
        }
    }
}

fn key(link: &Arc<RecordingLink>) -> Key {
    Arc::as_ptr(link) as Key
}

struct WriterLoop {
    rotate: Callback,
    tracks: Vec<ActiveRecording>,
    events: Events,
    /// The process is about to be taken by a signal.
    leaving: Option<Waiter>,
    /// Recordings that are being stopped, and wait for the workers that they cover.
    stopping: Vec<(u32, Waiter)>,
    memory: HeapTrim,
}

struct ActiveRecording {
    track: RecordingSink,
    /// When its next window is asked for.
    due: Instant,
    /// A request is on its way, or its window is: one at a time. A thread that blocks keeps its
    /// samples in V8, and they come with its next window; so does a slow disk.
    window_requested: bool,
    /// Its next window may be its last.
    leaves: bool,
    /// What the workers that it covers have come to.
    workers: RecordingTotals,
}

impl ActiveRecording {
    fn ask(&mut self, rotate: Callback) {
        if !self.window_requested {
            self.window_requested = self.track.link.wake(rotate);
        }
    }
}

/// What V8 noted of workers that have ended is scattered over the allocator's arenas, which would
/// keep it for ever.
#[derive(Default)]
struct HeapTrim {
    /// The most tracks at once since memory was last given back.
    most_tracks: usize,
    /// When it will have been calm for long enough.
    due: Option<Instant>,
}

impl HeapTrim {
    /// A thread came or went.
    fn changed(&mut self, tracks: usize) {
        const CALM: Duration = Duration::from_millis(500);
        self.most_tracks = self.most_tracks.max(tracks);
        self.due = Some(Instant::now() + CALM);
    }

    /// Gives it back once half of the threads are gone. Not while threads come and go: that takes
    /// far longer, and the memory would be needed again at once.
    fn tick(&mut self, tracks: usize, now: Instant) {
        if self.due.take_if(|due| *due <= now).is_some() && tracks <= self.most_tracks / 2 {
            self.most_tracks = tracks;
            system::trim_heap();
        }
    }
}

impl WriterLoop {
    fn run(mut self, messages: &Receiver<WriterMessage>) {
        loop {
            let message = match self.next_wake_up() {
                Some(at) => {
                    messages.recv_timeout(at.saturating_duration_since(Instant::now())).map(Some)
                }
                None => messages.recv().map(Some).map_err(|_| RecvTimeoutError::Disconnected),
            };
            let message = match message {
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => None,
                Ok(message) => message,
            };
            // A bug here must cost a profile, not the program.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                match message {
                    Some(message) => self.handle(message),
                    None => self.tick(),
                }
                self.leave_if_done();
                self.stop_if_done();
            }));
        }
    }

    fn next_wake_up(&self) -> Option<Instant> {
        let stopping = self.stopping.iter().map(|(_, leaving)| leaving);
        let until = stopping.chain(&self.leaving).map(|leaving| leaving.until);
        self.tracks.iter().map(|live| live.due).chain(until).chain(self.memory.due).min()
    }

    fn tick(&mut self) {
        let now = Instant::now();
        for live in &mut self.tracks {
            if live.due <= now {
                live.due = now + live.track.flush_interval;
                live.ask(self.rotate);
            }
        }
        self.memory.tick(self.tracks.len(), now);
    }

    /// Answers once every thread has given its last window, or can be waited for no longer.
    fn leave_if_done(&mut self) {
        let Some(leaving) = &self.leaving else { return };
        let over = Instant::now() >= leaving.until;
        if !over && self.tracks.iter().any(|live| live.leaves) {
            return;
        }
        for live in self.tracks.iter_mut().filter(|live| live.leaves) {
            live.leaves = false;
            live.track.finish(&mut self.events);
        }
        let _ = leaving.done.send(());
        self.leaving = None;
    }

    fn stop_if_done(&mut self) {
        let (tracks, now) = (&self.tracks, Instant::now());
        self.stopping.retain(|(parent, leaving)| {
            let is_over = now >= leaving.until
                || !tracks
                    .iter()
                    .any(|live| live.track.is_covered_by(*parent) && live.track.link.can_wake());
            if is_over {
                let _ = leaving.done.send(());
            }
            !is_over
        });
    }

    fn handle(&mut self, message: WriterMessage) {
        match message {
            WriterMessage::Open(track) => {
                let due = Instant::now() + track.flush_interval;
                let (window_requested, leaves, workers) = Default::default();
                self.tracks.push(ActiveRecording {
                    track: *track,
                    due,
                    window_requested,
                    leaves,
                    workers,
                });
                self.memory.changed(self.tracks.len());
            }
            WriterMessage::Window(key, taken) => {
                if let Some(index) = self.find(key) {
                    let live = &mut self.tracks[index];
                    live.window_requested = false;
                    live.track.write(taken, &mut self.events);
                    if mem::take(&mut live.leaves) {
                        live.track.finish(&mut self.events);
                    }
                }
            }
            WriterMessage::Rename(key, script) => {
                if let Some(live) = self.find(key) {
                    self.tracks[live].track.rename(&script, &mut self.events);
                }
            }
            WriterMessage::Close(key, last, done) => {
                if let Some(index) = self.find(key) {
                    let ActiveRecording { mut track, workers, .. } = self.tracks.swap_remove(index);
                    self.memory.changed(self.tracks.len());
                    if let Some(taken) = last {
                        track.write(taken, &mut self.events);
                    }
                    track.finish(&mut self.events);
                    let mut written = track.written();
                    if let Some(parent) =
                        self.tracks.iter_mut().find(|live| track.is_covered_by(live.track.id))
                    {
                        parent.workers.add(written.clone());
                    }
                    written.add(workers);
                    // What a blocked worker has so far is there, and it may yet be finished.
                    for live in self.tracks.iter().filter(|live| live.track.is_covered_by(track.id))
                    {
                        written.add(live.track.written());
                    }
                    let _ = done.send(ClosedRecording { written, left: track.read });
                }
            }
            WriterMessage::Leave(leaving) => {
                for live in &mut self.tracks {
                    live.leaves = live.track.link.can_wake();
                    live.ask(self.rotate);
                    if !live.leaves {
                        live.track.finish(&mut self.events);
                    }
                }
                self.leaving = Some(leaving);
            }
            WriterMessage::StopWorkers(parent, leaving) => {
                for live in &mut self.tracks {
                    if live.track.is_covered_by(parent) {
                        live.track.link.is_over.store(true, Ordering::Relaxed);
                        live.ask(self.rotate);
                    }
                }
                self.stopping.push((parent, leaving));
            }
        }
    }

    fn find(&self, key: Key) -> Option<usize> {
        self.tracks.iter().position(|live| key == self::key(&live.track.link))
    }
}
