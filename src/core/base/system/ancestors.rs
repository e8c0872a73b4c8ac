//! The processes above this one.

use super::parent_of;

/// The most processes that are looked at: a look takes some microseconds.
const MAX: usize = 12;

/// Returns the pids of this process's parent, of the parent's parent and so on. A shell between two
/// Node processes is one of them.
pub fn ancestors() -> Vec<u32> {
    let parent = std::os::unix::process::parent_id();
    std::iter::successors(Some(parent), |pid| parent_of(*pid))
        .take_while(|pid| *pid > 1)
        .take(MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_the_first() {
        let ancestors = ancestors();
        let parent = std::os::unix::process::parent_id();
        assert!(parent <= 1 || ancestors[0] == parent);
        assert!(ancestors.len() <= MAX);
        assert_eq!(parent_of(std::process::id()), Some(parent));
        assert_eq!(parent_of(u32::MAX), None);
    }
}
