//! Keeps a chain so short that a reader can take it in.

use std::cmp::Reverse;

use super::part::ChainPart;

/// Parts that a reader can take in.
const MAX_PARTS: usize = 8;

/// Joins parts of one name in a row, and short parts with the part before, or after the first. Where many are left, each name
/// has one part, then the shortest phases are parts of their processes, and at last the shortest parts are
/// others.
pub(super) fn shortened(parts: Vec<ChainPart>) -> Vec<ChainPart> {
    let whole_us: i64 = parts.iter().map(|part| part.us).sum();
    let mut short = joined(parts, |part| part.us.saturating_mul(200) < whole_us);
    if short.len() > MAX_PARTS {
        short = one_of_each(short);
    }
    while short.len() > MAX_PARTS {
        let phases = short.iter_mut().filter(|part| part.phase.is_some());
        let Some(shortest) = phases.min_by_key(|part| part.us) else { break };
        shortest.phase = None;
        short = one_of_each(short);
    }
    if short.len() > MAX_PARTS {
        let mut lengths: Vec<i64> = short.iter().map(|part| part.us).collect();
        lengths.sort_unstable_by_key(|us| Reverse(*us));
        let least_us = lengths[MAX_PARTS - 2];
        let mut rest = ChainPart::default();
        short.retain(|part| {
            let is_shown = part.us >= least_us;
            if !is_shown {
                rest.add(part);
            }
            is_shown
        });
        rest.label = Some(format!("{} others", rest.processes.len()));
        short.push(rest);
    }
    short
}

/// Joins the parts of each name.
fn one_of_each(parts: Vec<ChainPart>) -> Vec<ChainPart> {
    let mut list: Vec<ChainPart> = Vec::new();
    for part in parts {
        match list.iter_mut().find(|known| known.is_named_as(&part)) {
            Some(known) => known.add(&part),
            None => list.push(part),
        }
    }
    list
}

fn joined(parts: Vec<ChainPart>, is_short: impl Fn(&ChainPart) -> bool) -> Vec<ChainPart> {
    let mut list: Vec<ChainPart> = Vec::new();
    for part in parts {
        match list.last_mut() {
            Some(last) if last.is_named_as(&part) => last.add(&part),
            Some(last) if is_short(&part) => last.add_time(&part),
            _ => list.push(part),
        }
    }
    if list.len() > 1 && is_short(&list[0]) {
        let first = list.remove(0);
        list[0].add_time(&first);
    }
    list
}
