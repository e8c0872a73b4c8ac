'use strict'

// Whatever happens to the package's files, descriptors and rights after a program has required it: its functions
// call those of the program, and throw nothing.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, PACKAGE } = require('../helpers/run.js')

const IS_ROOT = process.getuid?.() === 0
/** A user with no files. */
const NOBODY = 65_534

/** What happens, as code of the program. `root` is the folder of the package. @type {Record<string, string>} */
const TROUBLES = {
  'the package is removed': `fs.rmSync(root, { recursive: true })`,
  'the package is moved': `fs.renameSync(root, root + '-old')`,
  'its files are empty': `each((file) => fs.writeFileSync(file, ''))`,
  'its files are no JavaScript': `each((file) => fs.writeFileSync(file, '}{'))`,
  'its files are folders': `each((file) => { fs.rmSync(file); fs.mkdirSync(file) })`,
  'no descriptor is left': `try { for (;;) fs.openSync('/dev/null') } catch {}`,
  'the program has patched fs': `
    for (const name of ['readFileSync', 'openSync', 'statSync', 'lstatSync', 'existsSync', 'realpathSync']) {
      fs[name] = () => { throw new Error('patched') }
    }`,
  'the program has patched the loader': `
    const Module = require('node:module')
    Module._load = Module._extensions['.js'] = () => { throw new Error('patched') }`,
  'its files may not be read any more': `
    fs.chmodSync(root, 0o700)
    process.setgroups([]); process.setgid(${NOBODY}); process.setuid(${NOBODY})`,
}

/** Copies what a program needs of the package. */
function copyPackage() {
  const root = path.join(temporaryDirectory(), 'package')
  for (const name of ['index.js', 'package.json', 'lib']) {
    fs.cpSync(path.join(PACKAGE, name), path.join(root, name), { recursive: true })
  }
  const [addon] = fs.readdirSync(PACKAGE).filter((name) => /^cpu-prof\.[\w-]+\.node$/.test(name))
  fs.symlinkSync(path.join(PACKAGE, addon), path.join(root, addon))
  return root
}

/** @param {string} root @param {string} trouble */
const program = (root, trouble) => `
  const fs = require('node:fs')
  const path = require('node:path')
  const root = ${JSON.stringify(root)}
  const prof = require(root)
  const each = (change) => {
    const list = (dir) => fs.readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
      const file = path.join(dir, entry.name)
      return entry.isDirectory() ? list(file) : [file]
    })
    for (const file of list(path.join(root, 'lib')).filter((file) => file.endsWith('.js'))) change(file)
  }
  const called = []
  const note = (name) => () => { called.push(name); return name }
  ${trouble}
  const results = [
    prof.isRecording(),
    prof.label({ route: '/a' }, note('label')),
    prof.label({ route: '/b', n: 1 }, note('label again')),
    prof.setLabels({ route: '/c' }),
    prof.span('a', note('span')),
    prof.span('b', note('span with options'), { track: 'x', color: 'primary' }),
    prof.instant('a'),
    prof.instant('b', { track: 'x' }),
    prof.counter('c', { n: 1 }),
    prof.emit({ name: 'e', ph: 'I' }),
  ]
  // As a program that is recorded already has it: profile() is a wrong usage there.
  const profiled = process.argv[2] === 'preloaded' ? Promise.resolve() : prof.profile(note('profile'))
  profiled.then((profiled) => {
    const text = JSON.stringify({ called, results, profiled: profiled && profiled.result })
    process.stdout.write(text)
  })`

const NAMES = ['label', 'label again', 'span', 'span with options']

for (const [name, trouble] of Object.entries(TROUBLES)) {
  const skip = trouble.includes('setuid') && !IS_ROOT && 'only root can become another user'
  test(`${name}: the program runs on`, { skip }, async () => {
    for (const isPreloaded of [false, true]) {
      const root = copyPackage()
      const file = path.join(temporaryDirectory(), 'main.js')
      fs.chmodSync(path.dirname(file), 0o755)
      fs.writeFileSync(file, program(root, trouble))
      const preload = isPreloaded ? ['--require', root] : null
      const args = [file, isPreloaded ? 'preloaded' : 'alone']
      const { code, stdout, stderr } = await run(args, { preload, read: 0 })
      const what = `${args[1]}: ${stderr}`
      assert.equal(code, 0, what)
      const { called, results, profiled } = JSON.parse(stdout)
      assert.deepEqual(called, isPreloaded ? NAMES : [...NAMES, 'profile'], what)
      assert.equal(results[0], isPreloaded && results[0], what)
      assert.deepEqual(results.slice(1, 3), NAMES.slice(0, 2))
      assert.deepEqual(results.slice(4, 6), NAMES.slice(2))
      if (!isPreloaded) assert.equal(profiled, 'profile')
      assert.ok(stderr.split('\n').length <= 3, `few lines: ${stderr}`)
      assert.doesNotMatch(stderr, /^ +at /m)
    }
  })
}
