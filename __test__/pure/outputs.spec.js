'use strict'

// Where outputs go: one writer serves all commands.

const assert = require('node:assert/strict')
const { execFileSync, spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { text } = require('node:stream/consumers')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { asNeighbour, NEEDS_ROOT } = require('../helpers/neighbour.js')
const { writeTrace } = require('../helpers/written.js')

/** The commands that write files: their arguments, and the ending and the start of a file. */
const COMMANDS = /** @type {const} */ ([
  [['merge', 'a.trace.json', '-o'], '.json', '{"'],
  [['convert', 'a.trace.json', '-o'], '.collapsed', 'app.js'],
  [['report', 'a.trace.json', '--html'], '.html', '<!doctype html>'],
  [['compare', 'a.trace.json', 'a.trace.json', '--html'], '.html', '<!doctype html>'],
])

/** Writes a trace into a new folder. */
function folder() {
  const cwd = temporaryDirectory()
  writeTrace(path.join(cwd, 'a.trace.json'), { label: 'app.js', spans: [['work app.js:1', 50]] })
  return cwd
}

for (const [args, ending, start] of COMMANDS) {
  const name = `${args[0]} ${ending}`
  /** Writes an output. @param {string} cwd @param {string} output @param {import('../helpers/cli.js').Options} [options] */
  const write = async (cwd, output, options) => {
    const done = await cli([...args, output], { cwd, ...options })
    assert.equal(done.code, 0, done.stderr)
    return done
  }

  test(`${name}: a file is the user's alone, and nothing is left beside`, async () => {
    const cwd = folder()
    const mine = (/** @type {number | undefined} */ pid) => `x${ending}.${pid}.partial`
    let pid
    await write(cwd, `x${ending}`, {
      during: (child) => {
        pid = child.pid
        fs.writeFileSync(path.join(cwd, mine(pid)), 'mine')
        child.stdin?.end()
      },
    })
    const file = path.join(cwd, `x${ending}`)
    assert.equal(fs.readFileSync(file, 'utf8').slice(0, start.length), start)
    assert.equal(fs.statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(fs.readdirSync(cwd), ['a.trace.json', `x${ending}`, mine(pid)].sort())
    assert.equal(fs.readFileSync(path.join(cwd, mine(pid)), 'utf8'), 'mine')
  })

  test(`${name}: a link is kept, and the file behind it replaced`, async () => {
    const cwd = folder()
    fs.mkdirSync(path.join(cwd, 'real'))
    const [real, link] = [`real/x${ending}`, `link${ending}`].map((name) => path.join(cwd, name))
    fs.writeFileSync(real, 'old')
    fs.symlinkSync(`real/x${ending}`, link)
    await write(cwd, `link${ending}`)
    assert.ok(fs.lstatSync(link).isSymbolicLink())
    assert.ok(fs.readFileSync(real, 'utf8').startsWith(start))
    assert.deepEqual(fs.readdirSync(path.dirname(real)), [`x${ending}`])
  })

  test(`${name}: a device stays one`, async () => {
    const cwd = folder()
    const link = path.join(cwd, `null${ending}`)
    fs.symlinkSync('/dev/null', link)
    await write(cwd, `null${ending}`)
    assert.ok(fs.lstatSync(link).isSymbolicLink())
    assert.ok(fs.statSync(link).isCharacterDevice())
  })

  test(`${name}: a pipe is written into`, async () => {
    const cwd = folder()
    const pipe = path.join(cwd, `pipe${ending}`)
    execFileSync('mkfifo', [pipe])
    const reader = spawn('timeout', ['60', 'cat', pipe])
    const [read] = await Promise.all([text(reader.stdout), write(cwd, pipe)])
    assert.ok(read.startsWith(start), read.slice(0, 100))
    assert.ok(fs.lstatSync(pipe).isFIFO())
  })

  test(`${name}: another user's link is not followed`, { skip: NEEDS_ROOT }, async () => {
    const cwd = folder()
    const shared = temporaryDirectory('cpu-prof-shared-', '/tmp')
    fs.chmodSync(shared, 0o1777)
    const own = path.join(cwd, 'own')
    fs.writeFileSync(own, 'own')
    asNeighbour(`ln -s ${own} x${ending}; mkfifo pipe${ending}`, shared)
    for (const name of ['x', 'pipe']) {
      const { code, stderr } = await cli([...args, path.join(shared, `${name}${ending}`)], { cwd })
      assert.equal(code, 1)
      assert.match(stderr, /another user made it in a folder that all users share/)
    }
    assert.equal(fs.readFileSync(own, 'utf8'), 'own')
  })
}

test('a page that goes to stdout is all that stdout has', async () => {
  const cwd = folder()
  for (const args of [['report'], ['compare', 'a.trace.json']]) {
    const command = [...args, 'a.trace.json', '--html']
    const [dash, device] = [
      await cli([...command, '-'], { cwd }),
      await cli([...command, '/dev/stdout'], { cwd }),
    ]
    assert.ok(dash.stdout.startsWith('<!doctype html>'))
    assert.equal(device.stdout, dash.stdout)
  }
})

test('paths are printed without control characters', async () => {
  const cwd = folder()
  for (const [args, ending] of COMMANDS.slice(0, 3)) {
    const { code, stdout } = await cli([...args, `x\x1b[2J\u202e${ending}`], { cwd })
    assert.equal(code, 0)
    assert.equal(path.basename(stdout), `x [2J ${ending}\n`)
  }
})
