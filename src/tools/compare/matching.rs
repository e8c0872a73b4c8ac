//! Finds which function of head is which function of base.
//!
//! Lines move with every change above them, so a function is known by its name and its file. Several
//! functions of one name in one file, such as anonymous ones, are known by their lines if the file did
//! not change, and count together otherwise. A function that only one side has is taken for a renamed
//! or a moved one if there is exactly one such function on the other side. A file has moved if its
//! functions have.

use std::collections::BTreeSet;
use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use super::items::{ComparedItem, ItemKind, Items};
use super::run_costs::RunCosts;

/// Start of the name that V8 gives to the code of a regular expression; its source follows.
const REGULAR_EXPRESSION: &str = "RegExp: ";

/// The runs of one side: the items with values, and the calls.
#[derive(Debug, Default)]
struct SideItems {
    /// Numbers of the items.
    items: FxHashSet<usize>,
    calls: FxHashSet<(usize, usize)>,
}

/// A row of the comparison: the numbers of the items of base and of head that are the same thing;
/// several if they count together.
pub(super) type MatchedItems = [Vec<usize>; 2];

/// Returns the rows, in the order in which the items were read.
pub(super) fn matched(items: &Items, runs: &[Vec<RunCosts>; 2]) -> Vec<MatchedItems> {
    let sides = runs.each_ref().map(|runs| {
        let mut side = SideItems::default();
        for run in runs {
            side.items.extend(run.values.keys().map(|(item, _)| *item));
            side.calls.extend(&run.calls);
        }
        side
    });
    let rows = matched_by_file(items, &sides, &MovedFiles::default());
    let moved = moved_files(&rows, items);
    if moved.is_empty() { rows } else { matched_by_file(items, &sides, &moved) }
}

/// Former paths of files, by their paths in the head runs.
type MovedFiles<'a> = FxHashMap<&'a str, &'a str>;

fn matched_by_file(
    items: &Items,
    sides: &[SideItems; 2],
    moved: &MovedFiles<'_>,
) -> Vec<MatchedItems> {
    let changed = changed_files(items, sides, moved);
    let mut rows: indexmap::IndexMap<_, MatchedItems> = indexmap::IndexMap::new();
    for (number, item) in items.iter().enumerate() {
        let row = rows.entry(row_key(item, &changed, moved)).or_default();
        for (numbers, side) in row.iter_mut().zip(sides) {
            if side.items.contains(&number) {
                numbers.push(number);
            }
        }
    }
    let mut rows: Vec<MatchedItems> = rows.into_values().collect();
    join_renamed(&mut rows, items, sides);
    rows
}

/// Returns what identifies an item on both sides: kind, kind of owner, name, file, and place.
fn row_key<'a>(
    item: &'a ComparedItem,
    changed: &FxHashSet<&str>,
    moved: &MovedFiles<'a>,
) -> (ItemKind, &'a str, &'a str, &'a str, (i32, i32)) {
    let ComparedItem { kind, owner, name, file, line, column, .. } = item;
    let file = former(file, moved);
    let is_by_place = *kind == ItemKind::Function && !changed.contains(file);
    let place = if is_by_place { (*line, *column) } else { (0, 0) };
    let name = if *kind == ItemKind::File { former(name, moved) } else { name };
    (*kind, owner, name, file, place)
}

/// Returns the path of a file in the base runs.
fn former<'a>(path: &'a str, moved: &MovedFiles<'a>) -> &'a str {
    moved.get(path).copied().unwrap_or(path)
}

/// Returns the files that only head has, whose functions are all in one file that only base has.
fn moved_files<'a>(rows: &[MatchedItems], items: &'a Items) -> MovedFiles<'a> {
    let mut files: [FxHashMap<&str, FxHashSet<&str>>; 2] = Default::default();
    for row in rows {
        let file = |number: &usize| {
            let item = &items[*number];
            (item.kind == ItemKind::Function).then_some(item.file.as_str())
        };
        let [base, head] = row.each_ref().map(|numbers| numbers.first().and_then(file));
        for (side, of, other) in [(0, base, head), (1, head, base)] {
            if let Some(of) = of {
                files[side].entry(of).or_default().extend(other);
            }
        }
    }
    let [base, head] = &files;
    let only = |others: Option<&FxHashSet<&'a str>>| match others?.iter().collect::<Vec<_>>()[..] {
        [other] => Some(*other),
        _ => None,
    };
    head.keys()
        .filter(|file| !base.contains_key(*file))
        .filter_map(|file| {
            let former = only(head.get(file))?;
            let is_gone = !head.contains_key(former) && only(base.get(former)) == Some(file);
            is_gone.then_some((*file, former))
        })
        .collect()
}

/// Returns the files in which a function that is alone with its name has other places on both sides.
fn changed_files<'a>(
    items: &'a Items,
    sides: &[SideItems; 2],
    moved: &MovedFiles<'a>,
) -> FxHashSet<&'a str> {
    type LinesAndColumns = FxHashSet<(i32, i32)>;
    let mut functions: FxHashMap<(&str, &str), [LinesAndColumns; 2]> = FxHashMap::default();
    for (number, item) in items.iter().enumerate() {
        if item.kind != ItemKind::Function {
            continue;
        }
        let key = (former(&item.file, moved), item.name.as_str());
        for (places, side) in functions.entry(key).or_default().iter_mut().zip(sides) {
            if side.items.contains(&number) {
                places.insert((item.line, item.column));
            }
        }
    }
    let moved = functions
        .into_iter()
        .filter(|(_, [base, head])| base.len() == 1 && head.len() == 1 && base != head);
    moved.map(|((file, _), _)| file).collect()
}

/// Joins the rows that only base and only head has, where there is one of each: of a program with other
/// arguments, of a function with the same name and file name, of a function with the same callers and
/// callees in one file, or of a regular expression, whose name is its source, with the same callers.
fn join_renamed(rows: &mut Vec<MatchedItems>, items: &Items, sides: &[SideItems; 2]) {
    let row_of: FxHashMap<usize, usize> = rows
        .iter()
        .enumerate()
        .flat_map(|(row, matched)| matched.iter().flatten().map(move |item| (*item, row)))
        .collect();
    // The calls of a row that only one side has are those of this side.
    let mut neighbours: FxHashMap<usize, [BTreeSet<usize>; 2]> = FxHashMap::default();
    for (caller, callee) in sides.iter().flat_map(|side| &side.calls) {
        if let (Some(caller), Some(callee)) = (row_of.get(caller), row_of.get(callee)) {
            neighbours.entry(*callee).or_default()[0].insert(*caller);
            neighbours.entry(*caller).or_default()[1].insert(*callee);
        }
    }
    join(rows, |_, item| {
        let program = items[item].name.split(' ').next().unwrap_or_default();
        (items[item].kind == ItemKind::Process).then_some(program)
    });
    join(rows, |row, item| {
        let ComparedItem { kind, name, file, .. } = &items[item];
        let is_named = *kind == ItemKind::Function
            && name != "(anonymous)"
            && row[0].len() + row[1].len() == 1;
        is_named.then(|| (name, file.rsplit('/').next()))
    });
    join(rows, |_, item| {
        let ComparedItem { kind, name, file, .. } = &items[item];
        let [callers, callees] = neighbours.get(row_of.get(&item)?)?;
        let is_known = *kind == ItemKind::Function
            && !callers.is_empty()
            && (!callees.is_empty() || name.starts_with(REGULAR_EXPRESSION));
        is_known.then_some((file, callers, callees))
    });
}

/// Joins the one row of base and the one row of head with the same signature, which `signature` returns
/// for a row and an item of the row.
fn join<S: Hash + Eq>(
    rows: &mut Vec<MatchedItems>,
    signature: impl Fn(&MatchedItems, usize) -> Option<S>,
) {
    let mut found: FxHashMap<S, [Vec<usize>; 2]> = FxHashMap::default();
    for (number, row) in rows.iter().enumerate() {
        let (item, side) = match row.each_ref().map(|numbers| numbers.first()) {
            [Some(item), None] => (*item, 0),
            [None, Some(item)] => (*item, 1),
            _ => continue,
        };
        if let Some(signature) = signature(row, item) {
            found.entry(signature).or_default()[side].push(number);
        }
    }
    for [base, head] in found.into_values() {
        if let ([base], [head]) = (&base[..], &head[..]) {
            rows[*base][1] = std::mem::take(&mut rows[*head][1]);
        }
    }
    rows.retain(|row| row.iter().any(|numbers| !numbers.is_empty()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::items::Measure;

    /// Returns a side of functions `name file line`, with calls by their indices.
    fn side(
        items: &mut Items,
        functions: &[(&str, &str, i32)],
        calls: &[(usize, usize)],
    ) -> Vec<RunCosts> {
        let mut run = RunCosts::default();
        let numbers: Vec<usize> = functions
            .iter()
            .map(|(name, file, line)| {
                let item = ComparedItem {
                    name: (*name).to_owned(),
                    file: (*file).to_owned(),
                    line: *line,
                    ..ComparedItem::default()
                };
                items.insert_full(item).0
            })
            .collect();
        run.values.extend(numbers.iter().map(|number| ((*number, Measure::SelfTime), 1.0)));
        run.calls.extend(calls.iter().map(|(a, b)| (numbers[*a], numbers[*b])));
        vec![run]
    }

    /// Returns the rows as `base → head`, with lines.
    fn found(items: &Items, base: &[RunCosts], head: &[RunCosts]) -> Vec<String> {
        let names = |numbers: &[usize]| {
            let name = |number: &usize| {
                format!("{} {}:{}", items[*number].name, items[*number].file, items[*number].line)
            };
            numbers.iter().map(name).collect::<Vec<_>>().join(" + ")
        };
        matched(items, &[base.to_vec(), head.to_vec()])
            .iter()
            .map(|[base, head]| format!("{} → {}", names(base), names(head)))
            .collect()
    }

    #[test]
    fn functions_match_by_name_and_file() {
        let mut items = Items::default();
        let base = side(&mut items, &[("f", "a.js", 1), ("f", "b.js", 1), ("g", "a.js", 9)], &[]);
        let head = side(&mut items, &[("f", "a.js", 3), ("f", "b.js", 1), ("h", "a.js", 11)], &[]);
        assert_eq!(
            found(&items, &base, &head),
            ["f a.js:1 → f a.js:3", "f b.js:1 → f b.js:1", "g a.js:9 → ", " → h a.js:11"]
        );
    }

    #[test]
    fn functions_of_one_name_count_together_where_lines_moved() {
        let mut items = Items::default();
        let some = [("", "a.js", 5), ("", "a.js", 9), ("f", "a.js", 1)];
        let base = side(&mut items, &some, &[]);
        let same = side(&mut items, &some[1..], &[]);
        assert_eq!(
            found(&items, &base, &same),
            [" a.js:5 → ", " a.js:9 →  a.js:9", "f a.js:1 → f a.js:1"]
        );
        let moved = side(&mut items, &[("", "a.js", 9), ("", "a.js", 13), ("f", "a.js", 5)], &[]);
        assert_eq!(
            found(&items, &base, &moved),
            [" a.js:5 +  a.js:9 →  a.js:9 +  a.js:13", "f a.js:1 → f a.js:5"]
        );
    }

    #[test]
    fn moved_and_renamed_functions_are_found_where_there_is_no_other() {
        let mut items = Items::default();
        let calls = [(0, 1), (1, 2)];
        let base = side(
            &mut items,
            &[("main", "a.js", 1), ("old", "a.js", 2), ("leaf", "a.js", 3)],
            &calls,
        );
        let renamed = side(
            &mut items,
            &[("main", "a.js", 1), ("young", "a.js", 2), ("leaf", "a.js", 3)],
            &calls,
        );
        assert!(found(&items, &base, &renamed).contains(&"old a.js:2 → young a.js:2".to_owned()));
        let text = "RegExp: ^a+$";
        let with = |items: &mut Items, text, other| {
            let calls: &[(usize, usize)] = if other { &[(0, 1), (0, 2)] } else { &[(0, 1)] };
            let all = [("main", "a.js", 1), (text, "", 0), ("RegExp: x", "", 0)];
            side(items, &all[..=calls.len()], calls)
        };
        let one = with(&mut items, text, false);
        let changed = with(&mut items, "RegExp: ^a$", false);
        let row = "RegExp: ^a+$ :0 → RegExp: ^a$ :0".to_owned();
        assert!(found(&items, &one, &changed).contains(&row));
        let two = with(&mut items, "RegExp: ^a$", true);
        assert!(!found(&items, &one, &two).contains(&row));
        let moved = side(
            &mut items,
            &[("main", "a.js", 1), ("old", "lib/a.js", 2), ("leaf", "a.js", 3)],
            &calls,
        );
        assert!(found(&items, &base, &moved).contains(&"old a.js:2 → old lib/a.js:2".to_owned()));
        let two = side(
            &mut items,
            &[("main", "a.js", 1), ("old", "lib/a.js", 2), ("old", "x/a.js", 3)],
            &[],
        );
        assert!(found(&items, &base, &two).contains(&"old a.js:2 → ".to_owned()));
    }

    #[test]
    fn a_file_has_moved_with_all_its_functions() {
        let mut items = Items::default();
        let base = side(
            &mut items,
            &[("f", "a/x.js", 1), ("", "a/x.js", 5), ("", "a/x.js", 9), ("g", "a/y.js", 1)],
            &[],
        );
        let moved = [("f", "b/x.js", 2), ("", "b/x.js", 6), ("", "b/x.js", 10), ("g", "a/y.js", 1)];
        let head = side(&mut items, &moved, &[]);
        assert_eq!(
            found(&items, &base, &head),
            [
                "f a/x.js:1 → f b/x.js:2",
                " a/x.js:5 +  a/x.js:9 →  b/x.js:6 +  b/x.js:10",
                "g a/y.js:1 → g a/y.js:1"
            ]
        );
        // The file is still there.
        let copied = side(&mut items, &[&moved[..], &[("", "a/x.js", 5)]].concat(), &[]);
        assert!(found(&items, &base, &copied).contains(&" a/x.js:9 → ".to_owned()));
    }
}
