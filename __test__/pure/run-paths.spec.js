'use strict'

// The paths of a run on every system: the preload in NODE_OPTIONS, and the places of recordings.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { withoutPrefix } = require('../../cli/run/prepare/output-dir.js')
const { preloadPath, withPreload } = require('../../cli/run/prepare/plan.js')
const { leadsOut, patternIn, placeOutside } = require('../../cli/run/prepare/recordings-dir.js')
const { cleanEnv, temporaryDirectory } = require('../helpers/files.js')

const { posix, win32 } = path
const TEMP = 'C:\\Users\\me\\AppData\\Local\\Temp\\cpu-prof-run-x'

test('the preload begins with the folder of the run, and Node resolves it to the package', () => {
  for (const [paths, stateDir, preload, expected] of /** @type {const} */ ([
    [posix, '/tmp/cpu-prof-run-x', '/p/index.js', '/tmp/cpu-prof-run-x/../../p/index.js'],
    // A backslash is part of a name.
    [posix, '/t\\x/cpu-prof-run-x', '/p/index.js', '/t\\x/cpu-prof-run-x/../../p/index.js'],
    [
      posix,
      '/var/folders/x/T/cpu-prof-run-x',
      '/Users/me/p/index.js',
      '/var/folders/x/T/cpu-prof-run-x/../../../../../Users/me/p/index.js',
    ],
    [
      win32,
      TEMP,
      'C:\\repo\\node_modules\\@org\\cpu-prof\\index.js',
      'C:/Users/me/AppData/Local/Temp/cpu-prof-run-x/../../../../../../repo/node_modules/@org/cpu-prof/index.js',
    ],
    // The case of a drive and of a name does not matter.
    [win32, 'c:\\T\\cpu-prof-run-x', 'C:\\t\\p\\index.js', 'c:/T/cpu-prof-run-x/../p/index.js'],
    // Another drive.
    [
      win32,
      TEMP,
      'D:\\pkg\\index.js',
      'D:/pkg/C$/Users/me/AppData/Local/Temp/cpu-prof-run-x/../../../../../../../index.js',
    ],
    [win32, 'C:\\cpu-prof-run-x', 'D:\\index.js', 'D:/C$/cpu-prof-run-x/../../index.js'],
    // Network shares.
    [
      win32,
      'C:\\T\\cpu-prof-run-x',
      '\\\\server\\share\\p\\index.js',
      '//server/share/p/C$/T/cpu-prof-run-x/../../../index.js',
    ],
    [
      win32,
      '\\\\server\\share\\T\\cpu-prof-run-x',
      '\\\\server\\share\\p\\index.js',
      '//server/share/T/cpu-prof-run-x/../../p/index.js',
    ],
  ])) {
    const actual = preloadPath(stateDir, preload, paths)
    assert.equal(actual, expected)
    assert.equal(paths.resolve(actual).toLowerCase(), preload.toLowerCase())
  }
  assert.throws(
    () => preloadPath('\\\\server\\share\\cpu-prof-run-x', 'C:\\p\\index.js', win32),
    /^Error: \\\\server\\share\\cpu-prof-run-x is on a network share; set \w+ to a folder of a drive$/,
  )
})

test('Node finds a preload whose path has spaces and letters of any language', () => {
  const at = path.join(temporaryDirectory(), 'Jörg 日本 "q" \\ &', 'p')
  fs.mkdirSync(at, { recursive: true })
  const preload = path.join(at, 'index.js')
  fs.writeFileSync(preload, 'console.log(__filename)')
  // The folder of a run that has ended.
  const gone = path.join(at, 'x y', 'cpu-prof-run-x')
  const NODE_OPTIONS = withPreload('--no-warnings', preloadPath(gone, preload))
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', '0'], {
    env: { ...cleanEnv(), NODE_OPTIONS },
    encoding: 'utf8',
  })
  assert.deepEqual([stdout, stderr], [`${fs.realpathSync(preload)}\n`, ''])
})

test('only paths that Node would split are quoted', () => {
  for (const [file, expected] of [
    ['C:/Users/me/x/../i.js', '--require C:/Users/me/x/../i.js'],
    ['C:/Users/J D/x/../i.js', '--require "C:/Users/J D/x/../i.js"'],
    ['/t\\x/i.js', '--require "/t\\\\x/i.js"'],
  ]) {
    assert.equal(withPreload(undefined, file), expected)
  }
})

test('names of recordings are patterns with slashes', () => {
  assert.equal(patternIn('C:\\r', 'a\\b/%P', win32), 'a/b/%P')
  assert.equal(patternIn('C:\\r', 'c:\\R\\%P', win32), '%P')
  assert.equal(patternIn('/r', 'a\\b', posix), 'a\\b')
})

test('names that lead out of the folder are found, also on another drive', () => {
  for (const [paths, dir, name, expected] of /** @type {const} */ ([
    [posix, '/r/d', 'a/%P', undefined],
    [posix, '/r/d', '../a/%P', { at: '/r/a', depth: 0, pattern: '%P' }],
    [posix, '/r/d', '/%P/x', { at: '/', depth: 1, pattern: '%P/x' }],
    [posix, '/r/d', '/x', { at: '/', depth: 0, pattern: 'x' }],
    [win32, 'C:\\r\\d', 'a\\%P', undefined],
    [win32, 'C:\\r\\d', 'c:\\R\\D\\%P', undefined],
    [win32, 'C:\\r\\d', '..\\a\\%P', { at: 'C:\\r\\a', depth: 0, pattern: '%P' }],
    [win32, 'C:\\r\\d', 'D:/a/%P/x', { at: 'D:\\a', depth: 1, pattern: '%P/x' }],
    [win32, 'C:\\r\\d', 'D:\\%P', { at: 'D:\\', depth: 0, pattern: '%P' }],
    [
      win32,
      'C:\\r\\d',
      '\\\\server\\share\\a\\%P',
      { at: '\\\\server\\share\\a', depth: 0, pattern: '%P' },
    ],
  ])) {
    assert.deepEqual(placeOutside(dir, name, paths), expected, `${dir} ${name}`)
    assert.equal(leadsOut(dir, name, paths), expected !== undefined)
  }
})

test('a new folder has the path that the user knows', () => {
  for (const [given, expected] of [
    ['\\\\?\\C:\\r\\d', 'C:\\r\\d'],
    ['\\\\?\\UNC\\server\\share\\d', '\\\\server\\share\\d'],
    ['\\\\server\\share\\d', '\\\\server\\share\\d'],
    ['C:\\r', 'C:\\r'],
    ['/r/d', '/r/d'],
    [undefined, undefined],
  ]) {
    assert.equal(withoutPrefix(given), expected)
  }
})
