//! What was on top of a thread's stack at each time, in little memory.

/// The nodes on top of the stack, one after the other. Two lists take less memory than one of pairs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps {
    /// Start of the first, microseconds.
    start_us: i64,
    /// Ends, microseconds.
    ends_us: Vec<i64>,
    /// Indices of the profile's nodes; [`MISSING`] where nothing was recorded.
    nodes: Vec<u32>,
}

/// The node of a time in which nothing was recorded.
const MISSING: u32 = u32::MAX;

/// A time in which one node was on top of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepSpan {
    /// Index of the profile's node.
    pub node: u32,
    /// Start, microseconds.
    pub from_us: i64,
    /// End, microseconds.
    pub to_us: i64,
}

impl Steps {
    /// Adds a sample. Between the last sample's end and this one's start nothing was recorded.
    pub fn add(&mut self, node: u32, from_us: i64, us: u64) {
        if us == 0 {
            return;
        }
        match self.ends_us.last() {
            None => self.start_us = from_us,
            Some(end_us) if *end_us < from_us => self.push(MISSING, from_us),
            Some(_) => {}
        }
        self.push(node, from_us.saturating_add_unsigned(us));
    }

    fn push(&mut self, node: u32, end_us: i64) {
        match self.ends_us.last_mut() {
            Some(last_us) if self.nodes.last() == Some(&node) => *last_us = end_us,
            _ => {
                self.nodes.push(node);
                self.ends_us.push(end_us);
            }
        }
    }

    /// Returns whether no step is known.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Gives the nodes new indices. A step without one is left out.
    pub fn renumber(&mut self, index: impl Fn(u32) -> Option<u32>) {
        for node in self.nodes.iter_mut().filter(|node| **node != MISSING) {
            *node = index(*node).unwrap_or(MISSING);
        }
    }

    /// Returns the steps in order, without the times in which nothing was recorded.
    pub fn spans(&self) -> impl Iterator<Item = StepSpan> {
        let mut at_us = self.start_us;
        let span = move |(node, end_us): (&u32, &i64)| {
            let from_us = std::mem::replace(&mut at_us, *end_us);
            (*node != MISSING).then_some(StepSpan { node: *node, from_us, to_us: *end_us })
        };
        self.nodes.iter().zip(&self.ends_us).filter_map(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_joined_and_keep_their_times() {
        let mut steps = Steps::default();
        steps.add(1, 100, 10);
        steps.add(1, 110, 10);
        steps.add(2, 120, 5);
        steps.add(2, 150, 5_000_000_000);
        steps.add(3, 150, 0);
        let span = |node, from_us, to_us| StepSpan { node, from_us, to_us };
        assert_eq!(
            steps.spans().collect::<Vec<_>>(),
            [span(1, 100, 120), span(2, 120, 125), span(2, 150, 5_000_000_150)]
        );
        steps.renumber(|node| (node != 1).then_some(node + 5));
        assert_eq!(steps.spans().next(), Some(span(7, 120, 125)));
        assert_eq!(Steps::default().spans().count(), 0);
    }
}
