'use strict'

// What a target must do, on a machine that runs it: record with both sources, keep the file of a killed
// process, merge, report, start and stop in code, add to a lake and ask it, serve agents, and leave exit codes alone.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { TABLES } = require('../../packages/fleet/lake/schema.js')

/** @typedef {import('./machines.js').Machine} Machine */
/** @typedef {import('../targets.js').Target} Target */
/** @typedef {{ status: number | null, signal: NodeJS.Signals | null, stdout: string, stderr: string }} Ended */

/** The function of program/main.js that works. */
const PLANTED = 'planted'
/** How long each part of the program works, milliseconds: several flushes. */
const WORK_MS = 1500
const TIMEOUT_MS = 300_000
const SOURCES = ['v8', 'inspector']

/** A project on a machine. */
class Site {
  /** @param {Machine} machine @param {string} project its folder @param {Target} target */
  constructor(machine, project, target) {
    this.machine = machine
    this.project = project
    this.target = target
    this.count = 0
  }

  /** Returns the path of a file of the project as programs on the machine know the file. @param {...string} parts */
  place(...parts) {
    const file = path.join(this.project, ...parts)
    return this.machine.place?.(file) ?? file
  }

  /** Returns the path of Node, or of what starts Node, as programs on the machine know the path. */
  get execPath() {
    const { node, execPath, place } = this.machine
    const program = /** @type {string} */ (node.at(-1))
    return execPath ?? place?.(program) ?? program
  }

  /** Returns a new empty folder below the project. */
  newFolder() {
    const name = `out ${++this.count}`
    fs.mkdirSync(path.join(this.project, name), { recursive: true })
    return name
  }

  /**
   * Runs Node to its end.
   * @param {string[]} args @param {NodeJS.ProcessEnv} [env] @returns {Ended}
   */
  node(args, env = {}) {
    const { node, env: ofMachine } = this.machine
    const [program, ...before] = node
    // Files, because Node in Wine cannot write into a pipe of Linux.
    const outputs = ['stdout', 'stderr'].map((name) => path.join(this.project, name))
    const fds = outputs.map((file) => fs.openSync(file, 'w'))
    const { status, signal, error } = spawnSync(program, [...before, ...args], {
      cwd: this.project,
      env: { ...withoutProfiler(process.env), ...ofMachine, ...env },
      stdio: ['ignore', fds[0], fds[1]],
      timeout: TIMEOUT_MS,
    })
    for (const fd of fds) fs.closeSync(fd)
    if (error) throw error
    const [stdout, stderr] = outputs.map((file) => fs.readFileSync(file, 'utf8'))
    return { status, signal, stdout, stderr }
  }

  /** The preload, for NODE_OPTIONS: a backslash between quotes would escape. */
  get preload() {
    return this.place('node_modules/@org/cpu-prof/index.js').replaceAll('\\', '/')
  }

  /** The command line. */
  get cli() {
    return this.place('node_modules/@org/cpu-prof/bin/cpu-prof.js')
  }

  /** Runs the program with the preload in NODE_OPTIONS. @param {string[]} args @param {NodeJS.ProcessEnv} env */
  record(args, env) {
    const NODE_OPTIONS = `--require "${this.preload}"`
    return this.node([this.place('program/main.js'), ...args], { NODE_OPTIONS, ...env })
  }

  /** Runs the command line. @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
  command(args, env) {
    return this.node([this.cli, ...args], env)
  }

  /** Returns the report on a file of the project. @param {string} file */
  report(file) {
    const { status, stdout, stderr } = this.command(['report', '--json', file])
    assert.equal(status, 0, stderr)
    return JSON.parse(stdout)
  }

  /** Returns the names of the files in a folder. @param {string} folder */
  files(folder) {
    return fs.readdirSync(path.join(this.project, folder)).sort()
  }
}

/** @param {NodeJS.ProcessEnv} env */
function withoutProfiler(env) {
  const isOther = (/** @type {string} */ name) =>
    !name.startsWith('CPU_PROF_') && name !== 'NODE_OPTIONS'
  return Object.fromEntries(Object.entries(env).filter(([name]) => isOther(name)))
}

/**
 * Checks that a function works most of the time in each of some recordings.
 * @param {Site} site @param {string} folder @param {string[]} [names] of the function, or of others in its place
 */
function checkPlanted(site, folder, names = [PLANTED]) {
  for (const file of site.files(folder)) {
    const { functions, totals } = site.report(path.join(folder, file))
    // The wait for a child is work where the system does not tell waits, and a child may start slowly.
    const isWait = (/** @type {{ name: string }} */ { name }) => name === 'spawnSync'
    const waitMs = functions.find(isWait)?.selfMs ?? 0
    const first = functions.find((/** @type {{ name: string }} */ each) => !isWait(each))
    const share = first.selfMs / (totals.javascriptMs + totals.nativeMs - waitMs)
    assert.ok(names.includes(first.name) && share > 0.5, `${file}: ${first.name} has ${share}`)
  }
}

/**
 * The checks by title. A check that cannot run on a machine returns why.
 * @type {Record<string, (site: Site) => string | undefined>}
 */
const CHECKS = {
  ...Object.fromEntries(
    SOURCES.map((source) => [
      `records the main thread, a worker and a child (source ${source})`,
      (/** @type {Site} */ site) => {
        const dir = site.newFolder()
        const env = { CPU_PROF_DIR: site.place(dir), CPU_PROF_SOURCE: source }
        const child = site.machine.execPath ?? ''
        const { status, stderr } = site.record(['all', String(WORK_MS), child], env)
        assert.equal(stderr, '')
        assert.equal(status, 7)
        assert.equal(site.files(dir).length, 3)
        checkPlanted(site, dir)
        return undefined
      },
    ]),
  ),

  'keeps the recording of a killed process'(site) {
    const dir = site.newFolder()
    const { status, signal } = site.record(['kill', String(WORK_MS)], {
      CPU_PROF_DIR: site.place(dir),
    })
    assert.ok(signal === 'SIGKILL' || status !== 0, `${status} ${signal}`)
    assert.equal(site.files(dir).length, 1)
    const { status: checked, stdout } = site.command(['check', path.join(dir, site.files(dir)[0])])
    assert.equal(checked, 0, stdout)
    checkPlanted(site, dir)
    return undefined
  },

  'keeps all of a recording that SIGTERM ends'(site) {
    if (site.machine.isWindows)
      return 'Windows has no signals: process.kill() ends a process at once'
    const dir = site.newFolder()
    const { status, signal, stderr } = site.record(['terminate', String(WORK_MS)], {
      CPU_PROF_DIR: site.place(dir),
    })
    assert.equal(stderr, '')
    // An emulator tells a signal by an exit code.
    assert.ok(signal === 'SIGTERM' || status === 143, `${status} ${signal}`)
    const trace = readTrace(site, dir)
    const last = trace.traceEvents.at(-1)
    assert.equal(last.name, 'trace.end')
    assert.equal(last.args.data.signal, 'SIGTERM')
    return undefined
  },

  'writes a recording again that the program has removed'(site) {
    if (site.machine.isWindows && site.machine.place) return 'Wine does not tell'
    const dir = site.newFolder()
    const folder = site.place(dir)
    const { status, stderr } = site.record(['remove', String(WORK_MS), folder], {
      CPU_PROF_DIR: folder,
    })
    assert.equal(stderr, '')
    assert.equal(status, 0)
    assert.equal(readTrace(site, dir).traceEvents.at(-1).name, 'trace.end')
    checkPlanted(site, dir)
    return undefined
  },

  'leaves the exit code alone'(site) {
    const dir = site.newFolder()
    const { status } = site.record(['code', '50'], { CPU_PROF_DIR: site.place(dir) })
    assert.equal(status, 5)
    const crashed = site.newFolder()
    site.record(['crash', '50'], { CPU_PROF_DIR: site.place(crashed) })
    // As the system shows the code: of another system, the lowest 8 bits.
    const shown = site.machine.isWindows ? 0xc0000005 : 5
    assert.equal(readTrace(site, crashed).traceEvents.at(-1).args.data.exitCode, shown)
    const wrong = site.record(['work', '50'], { CPU_PROF_INTERVAL: 'none' })
    assert.equal(wrong.status, 9)
    assert.match(wrong.stderr, /^cpu-prof: CPU_PROF_INTERVAL=none [^\n]+\n$/)
    return undefined
  },

  'merges, checks and converts'(site) {
    const dir = site.newFolder()
    const env = { CPU_PROF_DIR: site.place(dir) }
    const child = site.machine.execPath ?? ''
    assert.equal(site.record(['all', '600', child], env).status, 7)
    const merged = site.command(['merge', dir, '-o', 'merged.json'])
    assert.equal(merged.status, 0, merged.stderr)
    const { processes } = site.report('merged.json')
    assert.deepEqual(
      processes.map((/** @type {any} */ { threads }) => threads.length).sort(),
      [1, 2],
    )
    for (const args of [
      ['check', 'merged.json'],
      ['convert', 'merged.json', '-o', 'stacks.txt'],
      ['compare', 'merged.json', 'merged.json'],
      ['report', 'merged.json', '--html', 'page.html'],
    ]) {
      const { status, stderr } = site.command(args)
      assert.equal(status, 0, `${args[0]}: ${stderr}`)
    }
    const stacks = fs.readFileSync(path.join(site.project, 'stacks.txt'), 'utf8')
    assert.match(stacks, new RegExp(`\\b${PLANTED}\\b`))
    return undefined
  },

  'records native functions and threads'(site) {
    if (site.target.libc !== 'glibc') return 'only on Linux with glibc'
    const dir = site.newFolder()
    const { status, stderr } = site.record(['native', '1000'], {
      CPU_PROF_DIR: site.place(dir),
      CPU_PROF_CATEGORIES: '+native',
    })
    assert.equal(stderr, '')
    assert.equal(status, 0)
    const converted = site.command(['convert', dir, '-o', 'native.txt'])
    assert.equal(converted.status, 0, converted.stderr)
    const stacks = fs.readFileSync(path.join(site.project, 'native.txt'), 'utf8').split('\n')
    /** @param {RegExp} pattern */
    const msOf = (pattern) =>
      stacks
        .filter((line) => pattern.test(line))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))) / 1000, 0)
    const [parseMs, hashMs] = [/;parse .*JsonParser/, /;hash .*;SHA512_Update/].map(msOf)
    const cutMs = msOf(/;(parse|hash) .*\(truncated\)/)
    const poolMs = msOf(/^(?!.*;hash ).*;PKCS5_PBKDF2/)
    const times = `parse ${parseMs}, hash ${hashMs}, cut ${cutMs}, pool ${poolMs} ms`
    assert.ok(parseMs > 300 && hashMs > 300 && cutMs < 100 && poolMs > 100, times)
    return undefined
  },

  'starts and stops in code'(site) {
    const dir = site.newFolder()
    const main = site.place('program/main.js')
    const { status, stdout, stderr } = site.node([main, 'api', String(WORK_MS), site.place(dir)])
    assert.equal(stderr, '')
    assert.equal(status, 0)
    assert.deepEqual(JSON.parse(stdout), site.files(dir))
    checkPlanted(site, dir)
    return undefined
  },

  'is armed, and starts and stops over its socket'(site) {
    const dir = site.newFolder()
    const args = [site.preload, site.cli, site.place(dir), site.machine.execPath ?? '']
    const { status, stdout, stderr } = site.node([
      site.place('program/control.js'),
      ...args.filter(Boolean),
    ])
    assert.equal(stderr, '')
    assert.equal(status, 0)
    const { pid, ps, start, again, replies, stop, record, after } = JSON.parse(stdout)
    // Others of this user can be armed too.
    const listed = (/** @type {Ended} */ { stdout }) =>
      JSON.parse(stdout).filter((/** @type {any} */ each) => String(each.pid) === pid)
    assert.deepEqual(
      listed(ps).map((/** @type {any} */ { recording }) => recording),
      [null],
      ps.stderr,
    )
    assert.equal(start.status, 0, start.stderr)
    const [refused, asked] = again
    assert.match(refused.stderr, /being recorded already/)
    assert.match(asked.stdout, /recording/, asked.stderr)
    const [garbage, ...others] = replies.map(JSON.parse)
    assert.equal(garbage.error.code, 'request')
    // An emulator can be too slow for the second that a peer has.
    for (const { v } of others) assert.equal(v, 1)
    const [{ files }] = JSON.parse(stop.stdout)
    assert.deepEqual(files.map(basename), site.files(dir))
    assert.equal(readTrace(site, dir).traceEvents.at(-1).name, 'trace.end')
    // A loop that V8 optimized before the recording counts for its caller.
    const names = [PLANTED, 'callback of setInterval']
    checkPlanted(site, dir, names)
    assert.equal(record.status, 0, record.stderr)
    assert.match(record.stderr, new RegExp(`\\b(${names.join('|')}) +`))
    assert.deepEqual(listed(after), [], after.stderr)
    return undefined
  },

  'adds a run to a lake'(site) {
    const store = site.place('node_modules/@org/cpu-prof-fleet/base/store.js')
    const args = [site.place('program/lake.js'), store, site.place(site.newFolder())]
    const { status, stdout, stderr } = site.node(args)
    assert.equal(stderr, '')
    assert.equal(status, 0)
    const { outcomes, texts, told } = JSON.parse(stdout)
    assert.deepEqual(outcomes, ['added', 'present'])
    assert.deepEqual(texts, TABLES)
    assert.match(told, /127\.0\.0\.1:9 cannot be reached/)
    return undefined
  },

  'asks a lake'(site) {
    const [dir, lake] = [site.newFolder(), site.newFolder()]
    site.record(['code', '600'], { CPU_PROF_DIR: site.place(dir) })
    const added = site.command(['lake', 'add', dir, '--to', lake, '--repo', 'org/app'])
    assert.equal(added.status, 0, added.stderr)
    const { status, stdout, stderr } = site.command(['lake', 'top', lake, '--json'])
    // DuckDB has no binary for some systems.
    if (status === 1 && stderr.includes('@duckdb/node-api cannot be loaded')) return stderr.trim()
    assert.equal(status, 0, stderr)
    assert.ok(stdout.includes(`"${PLANTED}"`), stdout)
    return undefined
  },

  'serves agents'(site) {
    const server = site.place('node_modules/@org/cpu-prof-mcp/bin/cpu-prof-mcp.js')
    const { status, stdout, stderr } = site.node([
      site.place('program/mcp.js'),
      site.execPath,
      server,
    ])
    assert.equal(stderr, '')
    assert.equal(status, 0)
    const { code, answers } = JSON.parse(stdout)
    const [{ serverInfo }, { tools }, runs] = answers
    assert.deepEqual([code, serverInfo.name], [0, 'cpu-prof'])
    assert.ok(tools.some((/** @type {{ name: string }} */ { name }) => name === 'record'))
    assert.ok(runs.content[0].text !== '')
    return undefined
  },

  'runs a command'(site) {
    const child = site.machine.execPath ?? ''
    const command = [site.execPath, site.place('program/main.js'), 'all', '600', child]
    const { status, stderr } = site.command(['run', '--output', 'run.json', '--', ...command])
    assert.equal(status, 7, stderr)
    assert.match(stderr, new RegExp(`\\b${PLANTED} +`))
    assert.match(stderr, /\ntrace: run\.json \(.*2 processes, 3 threads\)\n/)
    return undefined
  },

  'runs a command file of Windows'(site) {
    if (!site.machine.isWindows) return 'not on Windows'
    const bin = path.join(site.project, 'bin')
    fs.mkdirSync(bin, { recursive: true })
    const shim = `@ECHO off\r\n"${site.execPath}" "%~dp0..\\program\\main.js" %*\r\n`
    fs.writeFileSync(path.join(bin, 'work-it.cmd'), shim)
    const { status, stderr } = site.command(['run', '--', 'bin\\work-it.cmd', 'code', '600'])
    assert.equal(status, 5, stderr)
    assert.match(stderr, new RegExp(`\\b${PLANTED} +`))
    const words = ['a b', '', 'c&d', 'e"&echo f>made&"', '^', '!g!', '(<|>)', '\\', 'h\\"i']
    // The cmd.exe of Wine reads variables in the arguments of a command file.
    if (!site.machine.place) words.push('%PATH%', '100%', '%%')
    const { stdout } = site.command(['run', '--', 'bin\\work-it.cmd', 'words', ...words])
    assert.deepEqual(JSON.parse(stdout), words)
    assert.ok(!fs.existsSync(path.join(site.project, 'made')))
    return undefined
  },
}

/** Returns the name of a file of any system. @param {string} file */
function basename(file) {
  return path.win32.basename(file)
}

/** Returns the only trace in a folder. @param {Site} site @param {string} folder */
function readTrace(site, folder) {
  const [file] = site.files(folder)
  return JSON.parse(fs.readFileSync(path.join(site.project, folder, file), 'utf8'))
}

/** Returns what a recording does not tell on a machine, in words. @param {Site} site */
function unknownFacts(site) {
  const dir = site.newFolder()
  site.record(['code', '600'], { CPU_PROF_DIR: site.place(dir) })
  const { metadata, traceEvents } = readTrace(site, dir)
  const program = metadata['cpu-prof']
  const end = traceEvents.at(-1).args.data
  const facts = {
    'the exit code of a program with nothing left to do': end.exitCode,
    'CPU time of the thread': end.cpuUs,
    'CPU time of the process': end.processCpuUs,
    'CPU time of children': end.childrenCpuUs,
    'time of waiting for a core': end.waitUs,
    'how often the thread waits': end.switches,
    'the parent process': program.ppid,
    'the start of the process': program.processStartMs,
    'the start of the system': program.boot,
  }
  return Object.entries(facts).flatMap(([fact, value]) => (value === undefined ? [fact] : []))
}

/**
 * Runs the suite, and prints a line for each check. Returns the number of failed checks.
 * @param {Machine} machine @param {string} project @param {Target} target
 */
function smoke(machine, project, target) {
  const site = new Site(machine, project, target)
  let failed = 0
  for (const [title, check] of Object.entries(CHECKS)) {
    const start = Date.now()
    try {
      const reason = check(site)
      const seconds = ((Date.now() - start) / 1000).toFixed(1)
      console.log(
        reason === undefined ? `  ok: ${title} (${seconds} s)` : `  left out: ${title}: ${reason}`,
      )
    } catch (error) {
      failed++
      console.log(`  FAILED: ${title}: ${error instanceof Error ? error.message : error}`)
    }
  }
  const unknown = unknownFacts(site)
  console.log(`  not told: ${unknown.length > 0 ? unknown.join(', ') : 'nothing'}`)
  return failed
}

module.exports = { smoke }
