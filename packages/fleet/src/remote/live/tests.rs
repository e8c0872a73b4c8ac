//! Simulates everybody who works with a partition, one step at a time, with kills at any step: a reader sees
//! each run exactly once at every moment, and nothing is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::sample::Index;

use super::change::LakeChange;
use super::removal::{TableFile, removable};
use super::replacement::{Adding, adding};
use super::standing::Standing;
use crate::layout::partition::{LAST_TABLE, TABLES};
use crate::layout::stem::Stem;

/// A table that is not the last.
const DETAIL: &str = TABLES[0];
/// Steps for which files are kept that nobody reads.
const GRACE: u64 = 40;
/// A writer that took longer is no longer at work: its time is limited.
const LONGEST_UPLOAD: u64 = GRACE / 2;

fn stem(run: u8, hash: u8) -> Stem {
    Stem::of(&format!("{run:016x}-{hash:016x}")).unwrap()
}

/// The files of a partition.
#[derive(Debug, Default)]
struct World {
    /// Steps so far.
    time: u64,
    /// Times of the files, by table and stem.
    files: BTreeMap<(&'static str, Stem), u64>,
    /// With the times of their files.
    changes: Vec<(LakeChange, u64)>,
    /// The runs that each stem has.
    contents: BTreeMap<Stem, BTreeSet<String>>,
    /// Runs that a reader must see from now on.
    established: BTreeSet<String>,
}

impl World {
    fn plain(&self) -> Vec<LakeChange> {
        self.changes.iter().map(|(change, _)| change.clone()).collect()
    }

    fn present(&self) -> BTreeSet<Stem> {
        let last = self.files.keys().filter(|(table, _)| *table == LAST_TABLE);
        last.map(|(_, stem)| stem.clone()).collect()
    }

    fn put(&mut self, table: &'static str, stem: &Stem) {
        self.files.insert((table, stem.clone()), self.time);
        if table == LAST_TABLE {
            self.established.extend(stem.run_id().map(str::to_owned));
        }
    }

    fn has(&self, table: &'static str, stem: &Stem) -> bool {
        self.files.contains_key(&(table, stem.clone()))
    }

    /// Returns how often live stems have each run.
    fn counts(&self, live: &BTreeSet<Stem>) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for run in live.iter().flat_map(|stem| &self.contents[stem]) {
            *counts.entry(run.clone()).or_default() += 1;
        }
        counts
    }

    fn removable(
        &self,
        now: u64,
        files: &[TableFile],
        changes: &[(LakeChange, u64)],
        grace: u64,
    ) -> Vec<TableFile> {
        let changes: Vec<_> =
            changes.iter().map(|(change, time)| (change.clone(), at(*time))).collect();
        removable(&changes, files, at(now), Duration::from_secs(grace))
    }

    fn list(&self, table: &'static str) -> Vec<TableFile> {
        let files = self.files.iter().filter(|((of, _), _)| *of == table);
        files
            .map(|((table, stem), time)| TableFile {
                table,
                stem: stem.clone(),
                modified: at(*time),
            })
            .collect()
    }
}

fn at(step: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(step)
}

/// What somebody wants.
#[derive(Debug, Clone)]
enum Role {
    Add { stem: Stem, replaces: bool },
    Compact,
    Sweep,
    Read,
}

/// Somebody's next step.
#[derive(Debug, Clone)]
enum Step {
    Changes,
    Last,
    Details,
    ChangesAgain,
    PutDetail(Stem, Option<LakeChange>),
    PutLast(Stem, Option<LakeChange>),
    Commit(Stem, LakeChange),
    PutMissing(Stem),
    Remove(Vec<TableFile>),
    ReadFiles(BTreeSet<Stem>),
    Done,
}

#[derive(Debug)]
struct Actor {
    role: Role,
    step: Step,
    /// When the lists began.
    since: u64,
    /// Runs that were there then.
    expected: BTreeSet<String>,
    changes: Vec<(LakeChange, u64)>,
    files: Vec<TableFile>,
    /// When the first file was uploaded.
    upload_since: Option<u64>,
}

impl Actor {
    fn new(role: Role) -> Self {
        Self {
            role,
            step: Step::Changes,
            since: 0,
            expected: BTreeSet::new(),
            changes: Vec::new(),
            files: Vec::new(),
            upload_since: None,
        }
    }

    fn plain(&self) -> Vec<LakeChange> {
        self.changes.iter().map(|(change, _)| change.clone()).collect()
    }

    fn present(&self) -> BTreeSet<Stem> {
        let last = self.files.iter().filter(|file| file.table == LAST_TABLE);
        last.map(|file| file.stem.clone()).collect()
    }

    fn run(&mut self, world: &mut World) {
        if self.upload_since.is_some_and(|since| world.time - since > LONGEST_UPLOAD) {
            self.step = Step::Done;
        }
        self.step = match std::mem::replace(&mut self.step, Step::Done) {
            Step::Changes => {
                self.since = world.time;
                self.expected = world.established.clone();
                self.changes = world.changes.clone();
                Step::Last
            }
            Step::Last => {
                self.files = world.list(LAST_TABLE);
                Step::Details
            }
            Step::Details => {
                self.files.extend(world.list(DETAIL));
                Step::ChangesAgain
            }
            Step::ChangesAgain if self.changes != world.changes => Step::Changes,
            Step::ChangesAgain => self.decide(world),
            Step::PutDetail(stem, change) => {
                self.upload_since.get_or_insert(world.time);
                world.put(DETAIL, &stem);
                Step::PutLast(stem, change)
            }
            Step::PutLast(stem, change) => {
                if change.is_some() || !world.has(LAST_TABLE, &stem) {
                    world.put(LAST_TABLE, &stem);
                }
                match change {
                    Some(change) => Step::Commit(stem, change),
                    None => Step::Done,
                }
            }
            Step::Commit(stem, change) if world.changes.len() == self.changes.len() => {
                world.changes.push((change, world.time));
                Step::PutMissing(stem)
            }
            // Another change has the number.
            Step::Commit(..) => {
                self.upload_since = None;
                Step::Changes
            }
            Step::PutMissing(stem) => {
                for table in [DETAIL, LAST_TABLE] {
                    if !world.has(table, &stem) {
                        world.put(table, &stem);
                    }
                }
                Step::Done
            }
            Step::Remove(mut files) => {
                let file = files.remove(0);
                let key = (file.table, file.stem);
                // A file that was written again is young.
                if world.files.get(&key).is_some_and(|time| time + GRACE <= self.since) {
                    world.files.remove(&key);
                }
                if files.is_empty() { Step::Done } else { Step::Remove(files) }
            }
            Step::ReadFiles(live) => {
                let is_in_time = world.time - self.since < GRACE;
                let is_there = live.iter().all(|stem| world.has(LAST_TABLE, stem));
                assert!(is_there || !is_in_time, "removed under a reader: {live:?} {world:?}");
                if is_in_time { Step::ReadFiles(live) } else { Step::Changes }
            }
            Step::Done => Step::Done,
        };
    }

    /// Does what follows from what was read.
    fn decide(&mut self, world: &mut World) -> Step {
        let (changes, present) = (self.plain(), self.present());
        let standing = Standing::of(&changes, &present);
        match &self.role {
            Role::Add { stem, replaces } => match adding(stem, &changes, &present, *replaces) {
                Adding::Upload => Step::PutDetail(stem.clone(), None),
                Adding::Commit(change) => Step::PutDetail(stem.clone(), Some(change)),
                Adding::Present | Adding::Compacted | Adding::ReplacedBefore => Step::Done,
            },
            Role::Compact if standing.live.len() < 2 => Step::Done,
            Role::Compact => {
                let runs: BTreeSet<String> =
                    standing.live.iter().flat_map(|stem| world.contents[stem].clone()).collect();
                // As the real name, it follows from what is compacted.
                let hash = standing.live.iter().flat_map(|stem| stem.as_str().bytes());
                let hash = hash.fold(7_u64, |hash, byte| hash.wrapping_mul(31) + u64::from(byte));
                let stem = Stem::of(&format!("c-{hash:016x}")).unwrap();
                world.contents.insert(stem.clone(), runs);
                let change =
                    LakeChange { adds: [stem.clone()].into(), replaces: standing.live.clone() };
                Step::PutDetail(stem, Some(change))
            }
            Role::Sweep => {
                let files = world.removable(self.since, &self.files, &self.changes, GRACE);
                if files.is_empty() { Step::Done } else { Step::Remove(files) }
            }
            Role::Read => {
                let details: BTreeSet<&Stem> = self
                    .files
                    .iter()
                    .filter(|file| file.table == DETAIL)
                    .map(|file| &file.stem)
                    .collect();
                // Where a file is gone, another took its place meanwhile.
                if standing.live.iter().all(|stem| details.contains(stem)) {
                    self.check(world, &standing);
                    return Step::ReadFiles(standing.live);
                }
                Step::Changes
            }
        }
    }

    /// Checks what a reader has seen.
    fn check(&self, world: &World, standing: &Standing) {
        let counts = world.counts(&standing.live);
        assert!(counts.values().all(|count| *count == 1), "twice: {counts:?} {world:?}");
        let seen: BTreeSet<String> = counts.into_keys().collect();
        assert!(self.expected.is_subset(&seen), "lost: {:?} {seen:?} {world:?}", self.expected);
    }
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![
        6 => (0..3_u8, 0..3_u8, any::<bool>())
            .prop_map(|(run, hash, replaces)| Role::Add { stem: stem(run, hash), replaces }),
        3 => Just(Role::Compact),
        2 => Just(Role::Sweep),
        2 => Just(Role::Read),
    ]
}

proptest! {
    #[test]
    fn each_run_is_read_once_at_every_moment(
        roles in proptest::collection::vec(role(), 2..14),
        // Who does the next steps, how many, and whether that is the last of it.
        schedule in proptest::collection::vec((any::<Index>(), 1..8_u8, 0..20_u8), 1..150),
    ) {
        let mut world = World::default();
        for (run, hash) in (0..3).flat_map(|run| (0..3).map(move |hash| (run, hash))) {
            let stem = stem(run, hash);
            let run_id = stem.run_id().unwrap().to_owned();
            world.contents.insert(stem, [run_id].into());
        }
        let mut actors: Vec<Actor> = roles.into_iter().map(Actor::new).collect();
        let read_now = |world: &World| Standing::of(&world.plain(), &world.present());
        for (index, steps, fate) in schedule {
            let actor = index.get_mut(&mut actors);
            for _ in 0..steps {
                world.time += 1;
                actor.run(&mut world);
                let live = read_now(&world).live;
                prop_assert!(live.iter().all(|stem| world.has(DETAIL, stem)));
                let counts = world.counts(&live);
                prop_assert!(counts.values().all(|count| *count == 1));
                prop_assert_eq!(counts.keys().cloned().collect::<BTreeSet<_>>(), world.established.clone());
            }
            if fate == 0 && !matches!(actor.role, Role::Read) {
                actor.step = Step::Done;
            }
        }
        // Everybody has ended: a sweep leaves what is live, and nothing else.
        let live = read_now(&world).live;
        world.time += 1;
        let files: Vec<TableFile> = [DETAIL, LAST_TABLE].iter().flat_map(|table| world.list(table)).collect();
        for file in world.removable(world.time, &files, &world.changes, 0) {
            world.files.remove(&(file.table, file.stem));
        }
        prop_assert_eq!(&read_now(&world).live, &live);
        let left: BTreeSet<Stem> = world.files.keys().map(|(_, stem)| stem.clone()).collect();
        prop_assert_eq!(left, live);
    }

    #[test]
    fn the_rule_takes_any_changes(
        changes in proptest::collection::vec((any::<u16>(), any::<u16>()), 0..6),
        present in any::<u16>(),
    ) {
        let stems: Vec<Stem> = (0..4)
            .flat_map(|run| (0..3).map(move |hash| stem(run, hash)))
            .chain((0..4).map(|n| Stem::of(&format!("c-{n:016x}")).unwrap()))
            .collect();
        let set = |bits: u16| -> BTreeSet<Stem> {
            stems.iter().enumerate().filter(|(n, _)| bits >> n & 1 == 1).map(|(_, stem)| stem.clone()).collect()
        };
        let changes: Vec<LakeChange> = changes
            .iter()
            .map(|(adds, replaces)| LakeChange { adds: set(*adds), replaces: set(*replaces) })
            .collect();
        let present = set(present);
        let standing = Standing::of(&changes, &present);
        prop_assert_eq!(&standing.live | &standing.dead, present);
        prop_assert!(standing.live.is_disjoint(&standing.dead));
        for change in &changes {
            prop_assert!(standing.live.is_disjoint(&change.replaces));
        }
    }
}

#[test]
fn a_run_with_two_contents_is_read_once() {
    let (small, large) = (stem(1, 1), stem(1, 2));
    let live = |changes: &[LakeChange], present: &[&Stem]| {
        Standing::of(changes, &present.iter().map(|stem| (*stem).clone()).collect()).live
    };
    assert_eq!(live(&[], &[&small, &large]), [small.clone()].into());
    let change = LakeChange { adds: [large.clone()].into(), replaces: [small.clone()].into() };
    assert_eq!(live(std::slice::from_ref(&change), &[&small, &large]), [large.clone()].into());
    // A third writer comes late.
    assert_eq!(live(&[change], &[&stem(1, 0), &large]), [large].into());
}

#[test]
fn what_was_replaced_is_kept_for_the_grace_time() {
    let (old, new) = (stem(1, 2), stem(1, 1));
    let compacted = Stem::of("c-0123456789abcdef").unwrap();
    let change =
        |adds: &Stem| LakeChange { adds: [adds.clone()].into(), replaces: [old.clone()].into() };
    // The old file is old, but was read until the change, or until its twin came.
    for (changes, other, time) in [
        (vec![(change(&new), at(100))], &new, 100),
        (vec![(change(&compacted), at(100))], &compacted, 50),
        (vec![], &new, 100),
    ] {
        let file = |stem: &Stem, time| TableFile {
            table: LAST_TABLE,
            stem: stem.clone(),
            modified: at(time),
        };
        let files = [file(&old, 10), file(other, time)];
        let left =
            |now, grace| removable(&changes, &files, at(now), Duration::from_secs(grace)).len();
        assert_eq!(left(119, 20), 0, "{changes:?}");
        assert_eq!(left(120, 20), 1, "{changes:?}");
        // A clock that is behind removes nothing.
        assert_eq!(left(50, 0), 0, "{changes:?}");
    }
}

#[test]
fn a_stem_is_gone_before_its_other_files() {
    let change = LakeChange { adds: BTreeSet::new(), replaces: [stem(1, 1)].into() };
    let files = TABLES.map(|table| TableFile { table, stem: stem(1, 1), modified: at(1) });
    let removed = removable(&[(change, at(2))], &files, at(3), Duration::ZERO);
    assert_eq!(removed.len(), TABLES.len());
    assert_eq!(removed[0].table, LAST_TABLE);
}

#[test]
fn adding_decides_by_what_is_there() {
    let (old, new) = (stem(1, 1), stem(1, 2));
    let set = |stems: &[&Stem]| stems.iter().map(|stem| (*stem).clone()).collect::<BTreeSet<_>>();
    assert_eq!(adding(&new, &[], &set(&[]), true), Adding::Upload);
    assert_eq!(adding(&new, &[], &set(&[&new]), true), Adding::Present);
    assert_eq!(adding(&new, &[], &set(&[&old]), false), Adding::Present);
    let change = LakeChange { adds: set(&[&new]), replaces: set(&[&old]) };
    assert_eq!(adding(&new, &[], &set(&[&old]), true), Adding::Commit(change.clone()));
    let replaced = [change];
    assert_eq!(adding(&new, &replaced, &set(&[&old, &new]), true), Adding::Present);
    assert_eq!(adding(&old, &replaced, &set(&[&old, &new]), true), Adding::ReplacedBefore);
    assert_eq!(adding(&old, &replaced, &set(&[&old, &new]), false), Adding::Present);
    let compacted = Stem::of("c-0123456789abcdef").unwrap();
    let compaction = [LakeChange { adds: set(&[&compacted]), replaces: set(&[&old]) }];
    assert_eq!(adding(&new, &compaction, &set(&[&compacted]), true), Adding::Compacted);
    assert_eq!(adding(&new, &compaction, &set(&[&compacted]), false), Adding::Present);
}
