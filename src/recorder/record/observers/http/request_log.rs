//! Requests of the program that wait for the writer thread.
//!
//! A request takes a tenth of the memory of its events, which the writer thread encodes.

use cpu_prof_core::format::trace::write::request::HttpRequest;

/// Count of requests from which the writer thread is asked to write them.
const WRITE_REQUESTS: usize = 2000;
/// Memory past which requests are dropped, bytes: the disk is slower than the program.
const MAX_BYTES: usize = 16 << 20;

/// Requests in the order of their ends, with their names.
#[derive(Default)]
pub(crate) struct RequestLog {
    /// The requests, each with the end of its name in `names`.
    requests: Vec<(HttpRequest, usize)>,
    /// The names, one after the other, UTF-16.
    names: Vec<u16>,
    /// Count of requests that had no place.
    pub dropped: u64,
}

impl RequestLog {
    /// Adds a request that has ended. Returns whether the writer thread should write the requests now.
    pub(crate) fn add(&mut self, name: &[u16], request: HttpRequest) -> bool {
        if self.bytes() >= MAX_BYTES {
            self.dropped += 1;
            return false;
        }
        self.names.extend_from_slice(name);
        self.requests.push((request, self.names.len()));
        self.requests.len() == WRITE_REQUESTS
    }

    /// Returns the memory of the requests, bytes.
    fn bytes(&self) -> usize {
        size_of_val(self.requests.as_slice()) + size_of_val(self.names.as_slice())
    }

    /// Returns the requests with their names.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (String, &HttpRequest)> {
        let mut from = 0;
        self.requests.iter().map(move |(request, end)| {
            let name = String::from_utf16_lossy(&self.names[from..*end]);
            from = *end;
            (name, request)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::format::trace::write::event::At;

    #[test]
    fn each_request_keeps_its_name() {
        let mut log = RequestLog::default();
        for (number, name) in ["GET /", "", "PUT /ü"].into_iter().enumerate() {
            let name: Vec<u16> = name.encode_utf16().collect();
            let at = At { pid: 1, tid: 0, ts: 5 };
            let number = number as u32;
            let request = HttpRequest {
                track: "fetch",
                number,
                status: None,
                at,
                start_ms: 0.0,
                duration_us: 1,
            };
            assert!(!log.add(&name, request));
        }
        let names: Vec<_> = log.iter().map(|(name, request)| (request.number, name)).collect();
        assert_eq!(names, [(0, "GET /".into()), (1, String::new()), (2, "PUT /ü".into())]);
        assert!(log.bytes() > 12);
    }

    #[test]
    fn the_requests_that_wait_are_bounded() {
        let mut log = RequestLog::default();
        let (at, name) = (At { pid: 1, tid: 0, ts: 5 }, [65; 100_000]);
        let request = |number| {
            let (track, status) = ("fetch", None);
            HttpRequest { number, track, status, at, start_ms: 0.0, duration_us: 1 }
        };
        let wanted = (0..2500).filter(|number| log.add(&name[..5], request(*number)));
        assert_eq!(wanted.count(), 1);
        for number in 0..200 {
            log.add(&name, request(number));
        }
        assert!(log.bytes() < MAX_BYTES + 2 * size_of_val(&name));
        assert!(log.dropped > 0 && log.dropped < 200);
    }
}
