//! The part of recordings that a tool shows, and how the tool shows it.

use std::path::PathBuf;

use super::corrections::blocked_calls;
use super::corrections::evaluated::find_compilers;
use super::corrections::pool_waits;
use super::corrections::wasm::charge_modules;
use super::file::ReadFile;
use super::filter::Filter;
use super::load::{Loaded, join_slices, load_slice_uncorrected};
use super::load_error::LoadError;
use super::slice::SliceLimits;
use super::unrecorded;
use crate::names::originals::in_session::map_session;
use crate::names::originals::{Originals, Places};
use cpu_prof_core::files::input::Input;
use cpu_prof_core::profile::read_scope::ReadScope;

/// What a user selects.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The part of the time line.
    pub slice: SliceLimits,
    /// Processes, threads and stacks.
    pub filter: Filter,
    /// Whether functions and lines are those of the sources, by source maps.
    pub source_maps: bool,
    /// Where sources and names are looked for.
    pub places: Places,
}

impl Selection {
    /// Reads files, and the files in folders. Returns the reason if there is nothing to show.
    pub fn load(&self, paths: &[PathBuf], scope: ReadScope) -> Result<Loaded, LoadError> {
        let mut loaded = load_slice_uncorrected(paths, self.slice, scope);
        loaded.check()?;
        self.correct(&mut loaded, scope, &mut self.originals());
        loaded.keep(&self.filter)?;
        loaded.notes.extend(unrecorded::notes(&loaded.session));
        Ok(loaded)
    }

    /// Returns what finds sources and names.
    pub(crate) fn originals(&self) -> Originals {
        Originals::new(&self.places)
    }

    /// Returns what files show that were read before, each the same slice of the time of one clock.
    /// `originals` is that of earlier calls. Nothing may be left.
    pub(crate) fn of_slices(
        &self,
        files: Vec<(&Input, ReadFile)>,
        originals: &mut Originals,
    ) -> Loaded {
        let mut loaded = join_slices(files);
        self.correct(&mut loaded, ReadScope::LINES, originals);
        self.filter.apply(&mut loaded.session);
        loaded
    }

    /// Corrects what only a whole session shows, and finds the places in the sources and the names of native functions.
    fn correct(&self, loaded: &mut Loaded, scope: ReadScope, originals: &mut Originals) {
        blocked_calls::charge_callers(&mut loaded.session);
        // Before the sources' files replace the files that ran.
        pool_waits::make_idle(&mut loaded.session);
        if scope.steps {
            // The shares are those of the whole run, whatever the filter.
            loaded.share_wall();
        }
        originals.look_for_sources(self.source_maps);
        if self.source_maps {
            for (script, map) in loaded.session.script_maps.drain() {
                originals.add_map(script, map);
            }
        }
        map_session(&mut loaded.session, originals);
        loaded.notes.extend(originals.notes());
        find_compilers(&mut loaded.session, originals);
        charge_modules(&mut loaded.session);
    }
}
