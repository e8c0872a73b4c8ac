//! The ids that threads without JavaScript have in traces.

/// The first id. Node counts its threads from 0, and never gets here; the system counts its threads, and its ids
/// could be those of Node's.
const FIRST: u32 = 10_000_000;

/// The name of a native thread that has taken none.
pub const UNNAMED: &str = "native thread";

/// Returns the id of a native thread in traces, by the system's id.
pub fn trace_id(os_id: u32) -> u32 {
    FIRST.saturating_add(os_id)
}

/// Returns the system's id of a native thread by its id in traces of ours; none if the thread runs JavaScript.
pub fn os_id(trace_id: i64) -> Option<u32> {
    u32::try_from(trace_id).ok()?.checked_sub(FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_system_without_those_of_node() {
        assert_eq!(os_id(trace_id(1).into()), Some(1));
        assert_eq!(os_id(trace_id(4_194_304).into()), Some(4_194_304));
        assert_eq!([0, 7, -1, i64::MAX].map(os_id), [None; 4]);
    }
}
