//! Cuts the counts of native threads to what is read.

use cpu_prof_core::profile::cpu_use::{NativeSpan, NativeUse};
use cpu_prof_core::profile::read_scope::ReadScope;

/// Returns the part of a span that is in a scope, with the part of the CPU time; none if no part is.
pub fn within(span: &NativeSpan, scope: ReadScope) -> Option<NativeSpan> {
    let (from_us, to_us) = (span.from_us.max(scope.from_us), span.to_us.min(scope.to_us));
    let part_us = to_us.saturating_sub(from_us);
    if part_us <= 0 {
        return None;
    }
    let share = part_us as f64 / span.to_us.saturating_sub(span.from_us) as f64;
    let part = |NativeUse(name, count, us): &NativeUse| {
        NativeUse(name.clone(), *count, (*us as f64 * share) as i64)
    };
    Some(NativeSpan { from_us, to_us, threads: span.threads.iter().map(part).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_has_its_part() {
        let threads = vec![NativeUse("libuv-worker".into(), 4, 1000)];
        let span = NativeSpan { from_us: 100, to_us: 200, threads };
        let scope = |from_us, to_us| ReadScope { from_us, to_us, ..ReadScope::TIMES };
        let part = within(&span, scope(150, 175)).unwrap();
        assert_eq!((part.from_us, part.to_us), (150, 175));
        assert_eq!(part.threads, [NativeUse("libuv-worker".into(), 4, 250)]);
        assert_eq!(within(&span, scope(0, 1000)), Some(span.clone()));
        assert_eq!(within(&span, scope(200, 1000)), None);
    }
}
