//! The background thread: asks for windows, turns them into events, writes the files.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};
use std::{mem, thread};

use crate::call_tree::{CallTree, Placed};
use crate::error::Error;
use crate::output::Output;
use crate::source::v8::{Callback, Finished, Pulse, Waker};
use crate::system;
use crate::trace::encode::Events;
use crate::trace::event::Flush;
use crate::trace::thread::ThreadTrace;

/// What a recording and the writer both see.
pub struct Link {
    /// Wakes the recorded thread.
    pub waker: Waker,
    /// The file cannot be written any more: there is no use in sampling on.
    pub failed: AtomicBool,
    /// The thread has gone without waiting, and with it the isolate that its profiles belong to.
    pub abandoned: AtomicBool,
    /// V8 has to be stopped and started again.
    pub is_stuck: AtomicBool,
}

impl Link {
    /// A link to the thread that `waker` wakes.
    pub fn new(waker: Waker) -> Self {
        let (failed, abandoned, is_stuck) = Default::default();
        Self { waker, failed, abandoned, is_stuck }
    }
}

/// A recording's file and what is needed to fill it, handed to the writer at the start.
pub struct Track {
    /// The recorded thread's side.
    pub link: Arc<Link>,
    /// Its file; the opening events are written already.
    pub output: Output,
    /// Its events.
    pub trace: ThreadTrace,
    /// Its call tree.
    pub tree: CallTree,
    /// Whether samples still come.
    pub pulse: Pulse,
    /// Profiles that have been read, and wait to be deleted.
    pub read: Vec<Finished>,
}

/// A window on its way to the disk.
pub struct Taken {
    /// The profile that was stopped.
    pub profile: Finished,
    /// What taking it cost the program's thread.
    pub pause: Duration,
    /// How often V8's sampling had to be restarted so far.
    pub restarts: u32,
}

enum Message {
    Open(Box<Track>),
    Window(Key, Taken),
    Rename(Key, String),
    Close(Key, Option<Taken>, SyncSender<Vec<Finished>>),
    Leave(Leaving),
}

/// The process is about to be taken by a signal.
struct Leaving {
    /// Threads that have not answered by then are blocked in native code.
    until: Instant,
    done: SyncSender<()>,
}

/// Tells recordings apart; each has a link of its own.
type Key = usize;

/// The writer thread's handle.
pub struct Writer {
    queue: Sender<Message>,
    /// A close was not waited for to its end: the disk hangs, and no other thread shall wait too.
    hangs: AtomicBool,
}

impl Writer {
    /// Starts the thread. `rotate` is what it has each recorded thread run every `flush_interval`.
    pub fn start(flush_interval: Duration, rotate: Callback) -> io::Result<Self> {
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
                    memory: Memory::default(),
                }
                .run(&messages, flush_interval)
            })
        })?;
        Ok(Self { queue, hangs: AtomicBool::new(false) })
    }

    /// Takes a recording over.
    pub fn open(&self, track: Track) {
        let _ = self.queue.send(Message::Open(Box::new(track)));
    }

    /// Hands a window over.
    pub fn window(&self, link: &Arc<Link>, taken: Taken) {
        let _ = self.queue.send(Message::Window(key(link), taken));
    }

    /// The script of a worker is known only once it runs.
    pub fn rename(&self, link: &Arc<Link>, script: String) {
        let _ = self.queue.send(Message::Rename(key(link), script));
    }

    /// Hands the last window over, and waits until the file is complete. Returns the profiles that
    /// are yet to be deleted; none if it took so long that the program was not to be kept waiting,
    /// and they are still being read.
    pub fn close(&self, link: &Arc<Link>, last: Option<Taken>) -> Option<Vec<Finished>> {
        const PATIENCE: Duration = Duration::from_secs(10);
        let (done, wait) = sync_channel(1);
        self.queue.send(Message::Close(key(link), last, done)).ok()?;
        let hangs = self.hangs.load(Ordering::Relaxed);
        let left = wait.recv_timeout(if hangs { Duration::ZERO } else { PATIENCE }).ok();
        if left.is_none() {
            self.hangs.store(true, Ordering::Relaxed);
            link.abandoned.store(true, Ordering::Relaxed);
        }
        left
    }

    /// Has every thread's last window taken and every file finished, as far as that can be done in
    /// `patience`. If the process lives on after all, so do the recordings.
    pub fn last_windows(&self, patience: Duration) {
        let (done, wait) = sync_channel(1);
        let start = Instant::now();
        // Some of it is kept for finishing the files of those that did not answer.
        let until = start + patience * 4 / 5;
        if self.queue.send(Message::Leave(Leaving { until, done })).is_ok() {
            let _ = wait.recv_timeout(patience);
        }
    }
}

fn key(link: &Arc<Link>) -> Key {
    Arc::as_ptr(link) as Key
}

struct WriterLoop {
    rotate: Callback,
    tracks: Vec<Live>,
    events: Events,
    leaving: Option<Leaving>,
    memory: Memory,
}

struct Live {
    track: Track,
    /// A request is on its way, or its window is: one at a time. A thread that blocks keeps its
    /// samples in V8, and they come with its next window; so does a slow disk.
    owes: bool,
    /// Its next window may be its last.
    leaves: bool,
}

/// What V8 noted of workers that have ended is scattered over the allocator's arenas, which would
/// keep it for ever.
#[derive(Default)]
struct Memory {
    /// The most tracks at once since memory was last given back.
    most_tracks: usize,
    /// Whether a thread came or went since the last tick.
    is_restless: bool,
}

impl Memory {
    fn changed(&mut self, tracks: usize) {
        self.most_tracks = self.most_tracks.max(tracks);
        self.is_restless = true;
    }

    /// Gives it back once half of the threads are gone. Not while threads come and go: that takes
    /// far longer, and the memory would be needed again at once.
    fn tick(&mut self, tracks: usize) {
        if !mem::take(&mut self.is_restless) && tracks <= self.most_tracks / 2 {
            self.most_tracks = tracks;
            system::give_memory_back();
        }
    }
}

impl WriterLoop {
    fn run(mut self, messages: &Receiver<Message>, flush_interval: Duration) {
        let mut next_tick = Instant::now() + flush_interval;
        loop {
            let next = self.leaving.as_ref().map_or(next_tick, |leaving| leaving.until);
            // A bug here must cost a profile, not the program.
            let _ = match messages.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(message) => catch_unwind(AssertUnwindSafe(|| self.handle(message))),
                Err(RecvTimeoutError::Timeout) if self.leaving.is_none() => {
                    next_tick = Instant::now() + flush_interval;
                    catch_unwind(AssertUnwindSafe(|| {
                        self.tick();
                        self.memory.tick(self.tracks.len());
                    }))
                }
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let _ = catch_unwind(AssertUnwindSafe(|| self.leave_if_done()));
        }
    }

    fn tick(&mut self) {
        for live in &mut self.tracks {
            if !live.owes {
                live.owes = live.track.link.waker.wake(self.rotate);
            }
        }
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

    fn handle(&mut self, message: Message) {
        match message {
            Message::Open(track) => {
                self.tracks.push(Live { track: *track, owes: false, leaves: false });
                self.memory.changed(self.tracks.len());
            }
            Message::Window(key, taken) => {
                if let Some(index) = self.find(key) {
                    let live = &mut self.tracks[index];
                    live.owes = false;
                    live.track.write(taken, &mut self.events);
                    if mem::take(&mut live.leaves) {
                        live.track.finish(&mut self.events);
                    }
                }
            }
            Message::Rename(key, script) => {
                if let Some(live) = self.find(key) {
                    self.tracks[live].track.rename(&script, &mut self.events);
                }
            }
            Message::Close(key, last, done) => {
                if let Some(live) = self.find(key) {
                    let mut track = self.tracks.swap_remove(live).track;
                    self.memory.changed(self.tracks.len());
                    if let Some(taken) = last {
                        track.write(taken, &mut self.events);
                    }
                    track.finish(&mut self.events);
                    let _ = done.send(track.read);
                }
            }
            Message::Leave(leaving) => {
                self.tick();
                for live in &mut self.tracks {
                    live.leaves = true;
                }
                self.leaving = Some(leaving);
            }
        }
    }

    fn find(&self, key: Key) -> Option<usize> {
        self.tracks.iter().position(|live| key == self::key(&live.track.link))
    }
}

impl Track {
    fn write(&mut self, taken: Taken, events: &mut Events) {
        let window = taken.profile.read();
        self.read.push(taken.profile);
        if let Some(newest) = window.samples.last()
            && !self.link.abandoned.load(Ordering::Relaxed)
        {
            Finished::delete_if_safe(&mut self.read, newest.time_us);
        }
        let placed =
            if window.samples.is_empty() { Placed::default() } else { self.tree.place(&window) };
        if self.pulse.is_stuck(&window) {
            self.link.is_stuck.store(true, Ordering::Relaxed);
        }
        let pause_us = u64::try_from(taken.pause.as_micros()).unwrap_or(u64::MAX);
        events.clear();
        self.trace.window(events, &window, &placed, Flush { pause_us, restarts: taken.restarts });
        self.append(events);
    }

    fn rename(&mut self, script: &str, events: &mut Events) {
        events.clear();
        self.trace.rename_worker(events, script);
        self.append(events);
    }

    fn finish(&mut self, events: &mut Events) {
        events.clear();
        self.trace.close(events, system::now_us());
        self.append(events);
    }

    fn append(&mut self, events: &Events) {
        if self.link.failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = self.output.append(events.as_bytes()) {
            self.link.failed.store(true, Ordering::Relaxed);
            complain(&error);
        }
    }
}

/// One line on stderr, once in a process: what troubles one thread mostly troubles them all.
/// Whether it can be written is the program's affair.
pub fn complain(error: &Error) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) && system::stderr_takes_a_line() {
        let _ = writeln!(io::stderr(), "{}", error.line());
    }
}
