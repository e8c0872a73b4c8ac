'use strict'

// The recipes of CONTRIBUTING.md: adds a made-up format, setting, command and category to a copy of the source, in
// the files that the recipes name and in no other, and sees all four work.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { targetName } = require('../../lib/addon.js')
const { version } = require('../../package.json')
const { fileName } = require('../../scripts/targets.js')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** The addons of the copy, with their crates and the names of their libraries. */
const CRATES = [
  { addon: 'cpu-prof', crate: 'cpu-prof', folder: 'recorder', library: 'cpu_prof_copy' },
  {
    addon: 'cpu-prof-tools',
    crate: 'cpu-prof-tools-addon',
    folder: 'tools/exports',
    library: 'cpu_prof_tools_copy',
  },
]
const QUOTED_VERSION = new RegExp(`(${version.replaceAll('.', '\\.')})(['"])`)
const SOURCES = [
  'src',
  'lib',
  'cli',
  'bin',
  'docs',
  'index.js',
  'index.d.ts',
  'register.js',
  'package.json',
  'Cargo.toml',
  'Cargo.lock',
  'packages/fleet/src',
  'README.md',
  '__test__/fixtures/native.rs',
  '__test__/fixtures/interposed.rs',
  'fuzz/Cargo.toml',
  'fuzz/fuzz_targets',
]

/** An edit of a file: a text that is found once, and the text that replaces it; or the whole new file. @typedef {[string, string] | string} Edit */

/** @type {Record<string, Record<string, Edit>>} */
const RECIPES = {
  'A format': {
    'src/session/formats/made.rs': `//! A made-up format: the count of processes.

use std::io::{self, Write};

use crate::model::Session;

/// Writes the count.
pub(super) fn write(session: &Session, _: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} processes", session.processes.len())
}
`,
    'src/session/formats/mod.rs': ['pub mod node_json;', 'mod made;\npub mod node_json;'],
    'src/session/formats/registry.rs': [
      'pub static FORMATS: &[Format] = &[',
      `pub static FORMATS: &[Format] = &[
    Format {
        endings: &[".made"],
        about: "a made-up format",
        writer: FormatWriter::Session { scope: ReadScope::TIMES, write: super::made::write },
    },`,
    ],
    'docs/commands/convert.md': [
      '- `.json`: a trace',
      '- `.made`: the count of processes\n- `.json`: a trace',
    ],
  },
  'A setting': {
    'src/core/base/settings/config.rs': [
      'pub static SETTINGS: &[&Setting] = &[',
      `const MADE: Setting = Setting {
    name: "madeUp",
    kind: ValueKind::Number,
    variable: Some("CPU_PROF_MADE_UP"),
    flag: Some("--made-up <n>"),
    help: "a made-up number",
    default: Value("7"),
};

pub static SETTINGS: &[&Setting] = &[&MADE,`,
    ],
    'index.d.ts': [
      '  flushInterval?: number',
      '  flushInterval?: number\n  /** `CPU_PROF_MADE_UP` */\n  madeUp?: number',
    ],
    'docs/settings.md': ['# Settings', '# Settings\n\n`madeUp` is made up.'],
  },
  'A command': {
    'cli/commands/made.js': `'use strict'

// Defines the command 'made'.

/** @param {import('commander').Command} program */
function define(program) {
  program.command('made').description('A made-up command.').action(() => console.log('made'))
}

module.exports = { define }
`,
    'cli/commands/index.js': [
      "  require('./check.js'),",
      "  require('./check.js'),\n  require('./made.js'),",
    ],
    'docs/commands/made.md': '# made\n',
    'README.md': [
      '- [`check <file…>`]',
      '- [`made`](docs/commands/made.md): nothing\n- [`check <file…>`]',
    ],
    'docs/README.md': ['[`check`](', '[`made`](commands/made.md), [`check`]('],
  },
  'A category': {
    'src/core/base/settings/categories.rs': [
      '    /// Native functions above',
      '    /// Made up.\n    Made "made",\n    /// Native functions above',
    ],
    'src/recorder/record/observers/made.rs': `//! A made-up category: counts the windows that the thread has ended.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::observer::{
    FoundEvents, Halves, Moment, Observer, Start, ThreadObserver, WriterObserver, WrittenWindow,
};
use cpu_prof_core::base::settings::categories::Category;

/// The observer.
pub(super) const OBSERVER: Observer =
    Observer { categories: &[Category::Made], is_always_on: false, begin };

fn begin(start: &Start<'_>) -> Halves {
    let (windows, ended) = channel();
    Halves::both(OnThread { windows, tid: start.thread.tid }, OnWriter { ended, count: 0 })
}

struct OnThread {
    windows: Sender<u32>,
    tid: u32,
}

impl ThreadObserver for OnThread {
    fn end_window(&self) {
        let _ = self.windows.send(self.tid);
    }
}

struct OnWriter {
    ended: Receiver<u32>,
    count: u32,
}

impl WriterObserver for OnWriter {
    fn window(&mut self, _: &WrittenWindow<'_>, at: &Moment<'_>, found: &mut FoundEvents) {
        let Ok(tid) = self.ended.try_recv() else { return };
        self.count += 1;
        found.lasting.push(&serde_json::json!({
            "name": "made", "cat": "made", "ph": "I", "s": "t", "ts": at.until_us,
            "pid": std::process::id(), "tid": tid, "args": { "windows": self.count },
        }));
    }
}
`,
    'src/recorder/record/observers/mod.rs': ['mod memory;', 'mod made;\nmod memory;'],
    'src/recorder/record/observers/list.rs': [
      '    super::memory::OBSERVER,',
      '    super::memory::OBSERVER,\n    super::made::OBSERVER,',
    ],
    'index.d.ts': ['`native`; after a plus sign', '`made`, `native`; after a plus sign'],
    'docs/events.md': ['- `native`, off', '- `made`, off by default: nothing\n- `native`, off'],
  },
}
/** The most files that a recipe touches. @type {Record<string, number>} */
const MOST = { 'A format': 4, 'A setting': 3, 'A command': 5, 'A category': 6 }

/** Applies a recipe to a copy of the source. @param {string} copy @param {string} name */
function apply(copy, name) {
  for (const [file, edit] of Object.entries(RECIPES[name])) {
    const target = path.join(copy, file)
    if (typeof edit === 'string') {
      assert.ok(!fs.existsSync(target), `${file} is there already`)
      fs.writeFileSync(target, edit)
      continue
    }
    const text = fs.readFileSync(target, 'utf8')
    const [found, replacement] = edit
    assert.equal(text.split(found).length, 2, `${file} has '${found}' once`)
    fs.writeFileSync(
      target,
      text.replace(found, () => replacement),
    )
  }
}

/** Returns a copy of the source. */
function copySource() {
  const copy = temporaryDirectory()
  for (const name of SOURCES) {
    fs.cpSync(path.join(PACKAGE, name), path.join(copy, name), { recursive: true })
  }
  fs.symlinkSync(path.join(PACKAGE, 'node_modules'), path.join(copy, 'node_modules'))
  return copy
}

/** Replaces a text of a file. @param {string} file @param {RegExp} found @param {string} replacement */
function replace(file, found, replacement) {
  const text = fs.readFileSync(file, 'utf8')
  assert.match(text, found)
  fs.writeFileSync(file, text.replace(found, replacement))
}

/** Builds the addons in a copy of the source. @param {string} copy */
function build(copy) {
  // The libraries are compiled once for the copy and for the Rust tests of this source. Cargo takes two
  // copies of the source for one, unless their versions differ, and would write the addons of the copy over
  // those of this source, unless the names of their libraries differ.
  for (const name of ['Cargo.toml', 'lib/preload.js']) {
    replace(path.join(copy, name), QUOTED_VERSION, '$1+copy$2')
  }
  for (const { folder, library } of CRATES) {
    const manifest = path.join(copy, 'src', folder, 'Cargo.toml')
    replace(manifest, /^\[lib\]$/m, `[lib]\nname = "${library}"`)
  }
  const target = path.join(PACKAGE, 'target', 'recipes')
  // The copy is not optimized, which takes longer than what runs of it here.
  const plain = 'profile.dev.package.cpu-prof-tools.opt-level=0'
  const options = [
    '--quiet',
    '--target-dir',
    target,
    ...['profile.dev.opt-level=0', plain].flatMap((each) => ['--config', each]),
  ]
  const args = ['build', ...CRATES.flatMap(({ crate }) => ['--package', crate]), ...options]
  const env = { ...process.env, CARGO_BUILD_BUILD_DIR: path.join(PACKAGE, 'target') }
  const { status, stderr } = spawnSync('cargo', args, { cwd: copy, env, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  for (const { addon, library } of CRATES) {
    const built = path.join(target, 'debug', `lib${library}.so`)
    fs.copyFileSync(built, path.join(copy, fileName(addon, targetName())))
  }
}

/** Returns when each library of this source that an addon is made of was written, by its path. */
function librariesOfSource() {
  const folder = path.join(PACKAGE, 'target', 'debug', 'deps')
  if (!fs.existsSync(folder)) return {}
  const names = fs
    .readdirSync(folder)
    .filter((name) => /^libcpu_prof(_tools_addon)?\.so$/.test(name))
  return Object.fromEntries(
    names.map((name) => [name, fs.statSync(path.join(folder, name)).mtimeMs]),
  )
}

/** Runs the command line of a copy. @param {string} copy @param {string[]} args */
function cliOf(copy, ...args) {
  const bin = path.join(copy, 'bin', 'cpu-prof.js')
  const options = { env: cleanEnv(), encoding: /** @type {const} */ ('utf8') }
  return spawnSync(process.execPath, [bin, ...args], options)
}

/**
 * Records a program with the recorder of a copy. Returns what the made-up events count.
 * @param {string} copy @param {string} categories @returns {number[]}
 */
function windowsCountedIn(copy, categories) {
  const dir = path.join(copy, categories)
  const settings = { CPU_PROF_DIR: dir, CPU_PROF_CATEGORIES: categories }
  const program =
    'const end = Date.now() + 700; while (Date.now() < end) JSON.stringify(process.versions)'
  const args = ['--require', path.join(copy, 'register.js'), '--eval', program]
  const env = { ...cleanEnv(), ...settings }
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.equal(stderr, '')
  const [file] = fs.readdirSync(dir)
  const { traceEvents } = JSON.parse(fs.readFileSync(path.join(dir, file), 'utf8'))
  const made = traceEvents.filter((/** @type {any} */ event) => event.name === 'made')
  return made.map((/** @type {any} */ event) => event.args.windows)
}

test('a new format, setting, command and category work once they are in the files of their recipes', () => {
  const copy = copySource()
  for (const name of Object.keys(RECIPES)) apply(copy, name)
  const before = librariesOfSource()
  build(copy)
  assert.deepEqual(librariesOfSource(), before, 'the build of the copy leaves those of this source')

  const trace = writeTrace(path.join(copy, 'a.trace.json'), { spans: [['f', 5]] })
  const output = path.join(copy, 'a.made')
  const converted = cliOf(copy, 'convert', trace, '-o', output)
  assert.equal(converted.status, 0, converted.stderr)
  assert.equal(fs.readFileSync(output, 'utf8'), '1 processes\n')
  assert.match(cliOf(copy, 'convert', '--help').stdout, /\.made +a made-up format/)

  assert.match(
    cliOf(copy, 'run', '--help').stdout,
    /--made-up <n> +a made-up number \(default: 7\)/,
  )
  const { loadTools } = require(path.join(copy, 'lib', 'addon.js'))
  const { settingsOf } = require(path.join(copy, 'lib', 'settings.js'))
  const known = settingsOf(loadTools()).map((/** @type {{ name: string }} */ { name }) => name)
  assert.ok(known.includes('madeUp'))

  assert.equal(cliOf(copy, 'made').stdout, 'made\n')
  assert.match(cliOf(copy, '--help').stdout, /^ +made +A made-up command\.$/m)

  assert.match(cliOf(copy, 'run', '--help').stdout, /\bmade\b/)
  const counts = windowsCountedIn(copy, 'cpu,made')
  assert.ok(counts.length > 1, `${counts.length} windows`)
  assert.deepEqual(
    counts,
    Array.from(counts.keys(), (index) => index + 1),
  )
  assert.deepEqual(windowsCountedIn(copy, 'cpu'), [])
})

test('CONTRIBUTING.md names the files of each recipe, and they are few', () => {
  const contributing = fs.readFileSync(path.join(PACKAGE, 'CONTRIBUTING.md'), 'utf8')
  for (const [name, edits] of Object.entries(RECIPES)) {
    const files = Object.keys(edits)
    assert.ok(files.length <= MOST[name], name)
    const recipe = contributing.split(`**${name}.**`)[1]?.split('\n\n**')[0] ?? ''
    for (const file of files) {
      const named = file.replace(/\bmade\b/, '<name>')
      assert.ok(recipe.includes(`\`${named}\``), `${name} names ${named}`)
    }
  }
})
