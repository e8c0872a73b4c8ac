//! Requests of the program that wait for the writer thread.
//!
//! A request takes a tenth of the memory of its events, which the writer thread encodes.

use cpu_prof_core::format::trace::write::request::HttpRequest;

/// Requests in the order of their ends, with their names.
#[derive(Default)]
pub(crate) struct RequestLog {
    /// The requests, each with the end of its name in `names`.
    requests: Vec<(HttpRequest, usize)>,
    /// The names, one after the other, UTF-16.
    names: Vec<u16>,
}

impl RequestLog {
    /// Adds a request that has ended.
    pub(crate) fn push(&mut self, name: &[u16], request: HttpRequest) {
        self.names.extend_from_slice(name);
        self.requests.push((request, self.names.len()));
    }

    /// Returns the count of the requests.
    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns the memory of the requests, bytes.
    pub(crate) fn bytes(&self) -> usize {
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
            log.push(&name, request);
        }
        let names: Vec<_> = log.iter().map(|(name, request)| (request.number, name)).collect();
        assert_eq!(names, [(0, "GET /".into()), (1, String::new()), (2, "PUT /ü".into())]);
        assert!(log.len() == 3 && log.bytes() > 12);
    }
}
