//! Sends payloads one after the other, on a thread of its own.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use http::{Request, Response};
use ureq::Agent;

use super::answer::{Verdict, verdict_of, verdict_of_failure};
use super::counts::PushCounts;
use super::line::{Line, Payload, PushOutcome};
use super::options::{PushOptions, RetryTimes, ServerKind};
use super::pause::pause_after;
use super::push_failure::PushFailure;
use super::query::PushMeta;
use super::target::PushTarget;
use crate::http_client::agent::agent;
use crate::http_client::net_failure::NetFailure;

/// The most bytes of an answer that are read.
const MOST_ANSWER: u64 = 64 << 10;

/// A server, and the line before it.
pub struct Sender {
    target: Arc<PushTarget>,
    line: Arc<Line>,
}

impl Sender {
    /// Reads the address, and starts the thread. The error is for the user, and has no secret.
    pub fn open(url: &str, options: &PushOptions) -> Result<Self, String> {
        let target = Arc::new(PushTarget::of(url, options)?);
        let certificates = options.certificates.as_deref().map(str::as_bytes);
        // A proxy would get what is only for this machine.
        let agent = agent(certificates, !target.is_loopback).ok_or(
            "the text with certificates has none; give a file with certificates in the form PEM",
        )?;
        let line = Arc::new(Line::new(options.capacity, target.host.clone()));
        let worker = Worker {
            agent,
            target: Arc::clone(&target),
            line: Arc::clone(&line),
            retry: options.retry,
            whole: Duration::from_millis(options.timeout_ms.max(1)),
        };
        let thread = thread::Builder::new().name("cpu-prof-push".into());
        let started = thread.spawn(move || worker.run());
        started
            .map_err(|error| format!("a thread cannot be started ({error}); end other programs"))?;
        Ok(Self { target, line })
    }

    pub fn kind(&self) -> ServerKind {
        self.target.kind
    }

    /// Takes a payload, and returns whether it was taken. Without room it waits, or drops the oldest.
    pub fn offer(&self, meta: &PushMeta, body: Vec<u8>, waits: bool) -> bool {
        self.line.offer(Payload { query: self.target.query_of(meta), body }, waits)
    }

    pub fn counts(&self) -> PushCounts {
        self.line.counts()
    }

    /// Sends what waits until the time is over.
    pub fn finish(&self, most: Duration) -> PushCounts {
        self.line.finish(most)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.line.close();
    }
}

/// What the thread has.
struct Worker {
    agent: Agent,
    target: Arc<PushTarget>,
    line: Arc<Line>,
    retry: RetryTimes,
    /// The whole time of one request.
    whole: Duration,
}

impl Drop for Worker {
    /// Lets nobody wait for a thread that has ended, by a panic too.
    fn drop(&mut self) {
        self.line.end();
    }
}

impl Worker {
    fn run(&self) {
        while let Some(Payload { query, body }) = self.line.next() {
            let bytes = body.len();
            let outcome = self.deliver(&query, &body);
            self.line.settle(bytes, &outcome);
        }
    }

    /// Sends a payload, again and again if that can help.
    fn deliver(&self, query: &str, body: &[u8]) -> PushOutcome {
        let give_up = Instant::now() + self.retry.give_up();
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.attempt(query, body) {
                Verdict::Sent => return PushOutcome::Sent,
                Verdict::Refused(failure) => return PushOutcome::Refused(failure),
                Verdict::Again(failure, asked) => {
                    let own = pause_after(attempts, &self.retry);
                    let pause = asked.map_or(own, |asked| asked.max(own));
                    if !self.line.pause(&failure, pause, give_up) {
                        return PushOutcome::GaveUp(failure);
                    }
                }
            }
        }
    }

    /// Makes one request, and judges its answer.
    fn attempt(&self, query: &str, body: &[u8]) -> Verdict {
        let Some(whole) = self.line.time_for(self.whole) else {
            return verdict_of_failure(NetFailure::Stalled);
        };
        match self.target.request(query, body.to_vec()) {
            Ok(request) => match self.exchange(request, whole) {
                Ok(answer) => verdict_of(self.target.kind, &answer),
                Err(error) => verdict_of_failure(NetFailure::of(error)),
            },
            Err(_) => Verdict::Refused(PushFailure::LongLabels),
        }
    }

    fn exchange(
        &self,
        request: Request<Vec<u8>>,
        whole: Duration,
    ) -> Result<Response<Vec<u8>>, ureq::Error> {
        let request = self.agent.configure_request(request).timeout_global(Some(whole)).build();
        let (parts, mut body) = self.agent.run(request)?.into_parts();
        // The status has decided by now; a cut or endless body changes nothing.
        let body = body.with_config().limit(MOST_ANSWER).read_to_vec().unwrap_or_default();
        Ok(Response::from_parts(parts, body))
    }
}
