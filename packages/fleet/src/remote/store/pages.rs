//! Notices a list of an object store that does not end: the library would ask for its pages for ever.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

/// The most pages of a list: ten million files, where a page has a thousand.
const MOST_PAGES: usize = 10_000;
/// The part of a query that asks for a page after the first.
const TOKEN: &str = "continuation-token=";

/// The pages that have come, by the queries of their lists.
#[derive(Debug, Default)]
pub(super) struct Pages(Mutex<HashMap<String, HashSet<u64>>>);

impl Pages {
    /// Adds a page. Returns whether the list goes on without end: the page has come before, or there are too many.
    pub(super) fn is_endless(&self, path_and_query: &str, body: &[u8]) -> bool {
        let (tokens, list): (Vec<&str>, Vec<&str>) =
            path_and_query.split(['?', '&']).partition(|part| part.starts_with(TOKEN));
        let Ok(mut lists) = self.0.lock() else { return false };
        let pages = lists.entry(list.join("&")).or_default();
        if tokens.is_empty() {
            pages.clear();
        }
        !pages.insert(contents(body, &tokens)) || pages.len() > MOST_PAGES
    }
}

/// Returns a number for the names of a page. Pages without names differ by how they were asked for: a store may have
/// several, behind files that were removed.
fn contents(body: &[u8], tokens: &[&str]) -> u64 {
    let text = String::from_utf8_lossy(body);
    let mut hasher = DefaultHasher::new();
    let mut names = ["<Key>", "<CommonPrefixes>"].into_iter().flat_map(|tag| {
        text.split(tag).skip(1).map(|rest| rest.split("</").next().unwrap_or_default())
    });
    match names.next() {
        Some(first) => {
            first.hash(&mut hasher);
            names.for_each(|name| name.hash(&mut hasher));
        }
        None => tokens.hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "/bucket?list-type=2&prefix=v1%2F";

    fn page(names: &[&str]) -> String {
        let keys = names.iter().map(|name| format!("<Contents><Key>{name}</Key></Contents>"));
        format!("<ListBucketResult>{}</ListBucketResult>", keys.collect::<String>())
    }

    fn add(pages: &Pages, token: &str, names: &[&str]) -> bool {
        let more = if token.is_empty() { String::new() } else { format!("&{TOKEN}{token}") };
        pages.is_endless(&format!("{LIST}{more}"), page(names).as_bytes())
    }

    #[test]
    fn a_page_that_comes_again_is_the_sign_of_a_list_without_end() {
        let pages = Pages::default();
        for again in [("t", ["a", "b"]), ("u", ["c", "d"]), ("t", ["c", "d"])] {
            // The list begins anew.
            assert!(!add(&pages, "", &["a", "b"]));
            assert!(!add(&pages, "t", &["c", "d"]));
            assert!(add(&pages, again.0, &again.1));
        }
        // Another list has pages of its own.
        assert!(!pages.is_endless("/bucket?list-type=2", page(&["c", "d"]).as_bytes()));
    }

    #[test]
    fn folders_are_names_too() {
        let pages = Pages::default();
        let folders = "<Prefix>v1/</Prefix><CommonPrefixes><Prefix>v1/a/</Prefix></CommonPrefixes>";
        assert!(!pages.is_endless(LIST, folders.as_bytes()));
        let other = folders.replace("v1/a/", "v1/b/");
        assert!(!pages.is_endless(&format!("{LIST}&{TOKEN}t"), other.as_bytes()));
        assert!(pages.is_endless(&format!("{LIST}&{TOKEN}u"), folders.as_bytes()));
    }

    #[test]
    fn pages_without_names_are_counted() {
        let pages = Pages::default();
        assert!(!add(&pages, "", &[]));
        assert!(!add(&pages, "t", &[]));
        assert!(add(&pages, "t", &[]));
        let last = (0..=MOST_PAGES).find(|token| add(&pages, &format!("n{token}"), &[]));
        assert_eq!(last, Some(MOST_PAGES - 2));
    }
}
