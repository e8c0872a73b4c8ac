'use strict'

// The facts of a run that git and CI systems tell: real repositories, all CI systems, hostile values.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const test = require('node:test')
const { ciFacts, SYSTEMS } = require('../../base/facts/ci.js')
const { findFacts } = require('../../base/facts/facts.js')
const { gitFacts } = require('../../base/facts/git.js')
const { repoOf } = require('../../base/facts/remote.js')
const { cleanCommit, cleanCount, cleanText } = require('../../base/facts/values.js')
const { temporaryDirectory, PACKAGE } = require('../../../../__test__/helpers/files.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)]
/** An environment without a CI system, and with a git that has no settings of this machine. */
const ENV = {
  PATH: process.env.PATH,
  HOME: temporaryDirectory(),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: path.join(temporaryDirectory(), 'none'),
}

/** Runs git in a folder. @param {string} cwd @param {...string} args */
function git(cwd, ...args) {
  const who = ['-c', 'user.name=n', '-c', 'user.email=e@x', '-c', 'protocol.file.allow=always']
  const { status, stdout, stderr } = spawnSync('git', [...who, ...args], { cwd, env: ENV })
  assert.equal(status, 0, `git ${args.join(' ')}: ${stderr}`)
  return String(stdout).trim()
}

/** Makes a repository with some commits. @param {{ origin?: string, commits?: number }} [options] */
function repository({ origin, commits = 3 } = {}) {
  const folder = path.join(temporaryDirectory(), 'work')
  fs.mkdirSync(folder)
  git(folder, 'init', '-q', '-b', 'main')
  if (origin !== undefined) git(folder, 'remote', 'add', 'origin', origin)
  for (let i = 0; i < commits; i++) commit(folder, `${i}`)
  return folder
}

/** @param {string} folder @param {string} text */
function commit(folder, text) {
  fs.writeFileSync(path.join(folder, 'file.txt'), text)
  git(folder, 'add', 'file.txt')
  git(folder, 'commit', '-q', '-m', text)
  return git(folder, 'rev-parse', 'HEAD')
}

/**
 * @param {string} folder @param {import('../../base/facts/facts.js').GivenFacts} [given]
 * @param {object} [more]
 */
const factsOf = (folder, given = {}, more = {}) =>
  findFacts(given, { recordedIn: folder, cwd: folder, env: ENV, ...more })

test('a remote tells the repository, in all forms, and never its credentials', () => {
  for (const [address, expected] of [
    ['https://github.com/org/app.git', 'org/app'],
    ['https://github.com/org/app/', 'org/app'],
    ['https://user:s3cret@github.com:8443/org/app.git', 'org/app'],
    ['https://s3cret@github.com/org/app', 'org/app'],
    ['https://x-access-token:s3cret@github.com/org/app?token=s3cret#s3cret', 'org/app'],
    ['https://user:s3/cret@github.com/org/app.git', 'org/app'],
    ['https://user:s3%40cret@github.com/org/app.git', 'org/app'],
    ['https://user:a@s3cret/b@github.com/org/app.git', 'org/app'],
    ['ssh://git@github.com/org/app.git', 'org/app'],
    ['ssh://git:s3cret@host:2222/org/app', 'org/app'],
    ['git@github.com:org/app.git', 'org/app'],
    ['git@gitlab.com:group/sub/deep/app.git', 'group/sub/deep/app'],
    ['https://gitlab.com/group/sub/app', 'group/sub/app'],
    ['host:app.git', 'app'],
    ['user:s3cret@host:org/app.git', 'app'],
    ['https://dev.azure.com/org/project/_git/app', 'org/project/app'],
    ['git@ssh.dev.azure.com:v3/org/project/app', 'org/project/app'],
    ['https://host/scm/team/app.git', 'team/app'],
    ['persistent-https::https://user:s3cret@host/org/app', 'org/app'],
    ['git://host/org/app.git', 'org/app'],
    ['/srv/git/app.git', 'app'],
    ['file:///srv/git/app.git/', 'app'],
    ['../app', 'app'],
    ['C:\\git\\app.git', 'app'],
    ['https://host/org/%61pp', 'org/app'],
    ['https://host/org/b%C3%BCro.git', 'org/büro'],
    ['https://host/org/\u202ea\x00p\x1bp.git', 'org/app'],
    ['https://host/org/%E0%A4%A.git', 'org/%E0%A4%A'],
    // What may be a part of a password is not taken for a name.
    ['https://user:s3/cret?x@host/org/app', undefined],
    ['https://user:s3/cret#x@host/org/app', undefined],
    ['https://user:s3cret@', undefined],
    ['https://host', undefined],
    ['', undefined],
    ['   ', undefined],
    [undefined, undefined],
  ]) {
    assert.equal(repoOf(address), expected, String(address))
    assert.doesNotMatch(String(repoOf(address)), /s3|cret/, String(address))
  }
})

test('values have no control characters, a limited length, and are whole characters', () => {
  assert.equal(cleanText(' a\x00b\x1b[31m\n\u202ec\u2028 '), 'ab[31mc')
  assert.equal(cleanText('\ud83d'), '\ufffd')
  assert.equal(cleanText('😀'.repeat(500)), '😀'.repeat(200))
  for (const none of ['', ' \n', '\u202e', undefined, null, 5, {}])
    assert.equal(cleanText(none), undefined)
  assert.equal(cleanCommit(` ${A.toUpperCase()}\n`), A)
  for (const none of ['HEAD', '', '--all', 'abc', `${A}g`, 'f'.repeat(65)]) {
    assert.equal(cleanCommit(none), undefined, none)
  }
  assert.deepEqual(['0', 12, ' 7\n', '2147483647'].map(cleanCount), [0, 12, 7, 2147483647])
  for (const none of ['', '-1', '1.5', '2147483648', 'x', undefined])
    assert.equal(cleanCount(none), undefined)
})

test('git tells repository, commit, position, branch and top level, from a folder below too', async () => {
  const folder = repository({ origin: 'https://user:s3cret@github.com/org/app.git' })
  const below = path.join(folder, 'packages', 'ä b')
  fs.mkdirSync(below, { recursive: true })
  for (const place of [folder, below]) {
    const { facts, notes } = await factsOf(place)
    const expected = { repo: 'org/app', commit: git(folder, 'rev-parse', 'HEAD'), commitSeq: 3 }
    const more = { branch: 'main', job: undefined, host: cleanText(os.hostname()), root: folder }
    assert.deepEqual(facts, { ...expected, ...more })
    assert.deepEqual(notes, [])
    assert.doesNotMatch(JSON.stringify({ facts, notes }), /s3cret/)
  }
})

test('the position counts first parents, of a commit that is named too', async () => {
  const folder = repository({ commits: 2 })
  git(folder, 'checkout', '-q', '-b', 'side')
  fs.writeFileSync(path.join(folder, 'side.txt'), '')
  git(folder, 'add', 'side.txt')
  git(folder, 'commit', '-q', '-m', 'one')
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'two')
  git(folder, 'checkout', '-q', 'main')
  git(folder, 'merge', '-q', '--no-ff', '-m', 'merge', 'side')
  assert.equal((await factsOf(folder)).facts.commitSeq, 3)
  const named = await factsOf(folder, { commit: 'HEAD~1' })
  assert.equal(named.facts.commit, git(folder, 'rev-parse', 'HEAD~1'))
  assert.equal(named.facts.commitSeq, 2)
  // The words of a user are no option of git.
  const hostile = await factsOf(folder, { commit: '--output=x' })
  assert.equal(hostile.facts.commit, '--output=x')
  assert.match(hostile.notes.join('\n'), /git does not know the commit --output=x/)
  assert.ok(!fs.existsSync(path.join(folder, 'x')))
})

test('what the user tells takes precedence, and is made fit', async () => {
  const folder = repository({ origin: 'git@host:org/app.git' })
  const given = {
    repo: ' my/repo\n',
    commit: A,
    commitSeq: 77,
    branch: 'b\x1b',
    job: 'j',
    host: 'h',
  }
  const { facts } = await factsOf(folder, given)
  const expected = { repo: 'my/repo', commit: A, commitSeq: 77, branch: 'b', job: 'j', host: 'h' }
  assert.deepEqual(facts, { ...expected, root: folder })
})

test('a detached head has the branch of the CI system, if that is of the same commit', async () => {
  const folder = repository({ origin: 'git@host:org/app.git' })
  const head = git(folder, 'rev-parse', 'HEAD')
  git(folder, 'checkout', '-q', '--detach')
  assert.equal((await factsOf(folder)).facts.branch, undefined)
  const ci = { ...ENV, GITLAB_CI: 'true', CI_COMMIT_BRANCH: 'topic', CI_JOB_NAME: 'lint' }
  const same = await factsOf(folder, {}, { env: { ...ci, CI_COMMIT_SHA: head } })
  assert.deepEqual([same.facts.branch, same.facts.job], ['topic', 'lint'])
  const other = await factsOf(folder, {}, { env: { ...ci, CI_COMMIT_SHA: A } })
  assert.deepEqual(
    [other.facts.branch, other.facts.commit, other.facts.job],
    [undefined, head, 'lint'],
  )
})

test('a shallow clone knows the commit and not its position, and says so', async () => {
  const origin = repository({ commits: 4 })
  const clone = path.join(temporaryDirectory(), 'clone')
  git(origin, 'clone', '-q', '--depth', '1', `file://${origin}`, clone)
  const { facts, notes } = await factsOf(clone)
  assert.equal(facts.commit, git(origin, 'rev-parse', 'HEAD'))
  assert.equal(facts.commitSeq, undefined)
  assert.match(
    notes.join('\n'),
    /position of the commit is not known, because the clone is shallow/,
  )
  const told = await factsOf(clone, { commitSeq: 4 })
  assert.deepEqual([told.facts.commitSeq, told.notes], [4, []])
})

test('changed files, and a commit that was checked out after the run, are told', async () => {
  const folder = repository()
  fs.writeFileSync(path.join(folder, 'untracked.txt'), '')
  const before = Date.now() - 3_600_000
  const moved = await factsOf(folder, {}, { knownMs: before })
  assert.match(moved.notes.join('\n'), /^[0-9a-f]{12} was checked out after the run: use --commit/)
  assert.deepEqual((await factsOf(folder, {}, { knownMs: Date.now() + 60_000 })).notes, [])
  fs.writeFileSync(path.join(folder, 'file.txt'), 'changed')
  assert.match(
    (await factsOf(folder)).notes.join('\n'),
    /^files differ from the commit [0-9a-f]{12}, /,
  )
})

test('a repository without a commit, a worktree, and the environment of a hook', async () => {
  const empty = await factsOf(repository({ commits: 0 }))
  assert.deepEqual(
    [empty.facts.repo, empty.facts.commit, empty.facts.branch],
    ['work', undefined, 'main'],
  )
  assert.match(empty.notes.join('\n'), pattern`^${messages.commitUnknown}$`)

  const folder = repository({ origin: 'git@host:org/app.git' })
  const tree = path.join(temporaryDirectory(), 'tree')
  git(folder, 'worktree', 'add', '-q', '-b', 'topic', tree)
  const { facts } = await factsOf(tree)
  assert.deepEqual([facts.repo, facts.branch, facts.root], ['org/app', 'topic', tree])

  // Git runs its hooks with variables that name the repository of the hook.
  const other = repository({ origin: 'git@host:other/other.git', commits: 1 })
  const variables = {
    GIT_DIR: path.join(other, '.git'),
    GIT_WORK_TREE: other,
    GIT_INDEX_FILE: '/x',
  }
  const inHook = await factsOf(folder, {}, { env: { ...ENV, ...variables } })
  assert.deepEqual([inHook.facts.repo, inHook.facts.commitSeq], ['org/app', 3])
})

test('nothing of a repository is run or changed', async () => {
  const folder = repository()
  const mark = path.join(temporaryDirectory(), 'ran')
  const program = path.join(temporaryDirectory(), 'program.sh')
  fs.writeFileSync(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
  for (const hook of fs.readdirSync(path.join(folder, '.git', 'hooks'))) {
    fs.copyFileSync(program, path.join(folder, '.git', 'hooks', hook.replace('.sample', '')))
  }
  for (const key of ['core.fsmonitor', 'core.pager', 'core.sshCommand'])
    git(folder, 'config', key, program)
  git(folder, 'config', 'pager.log', 'true')
  // Git would write the times of files into the index.
  fs.utimesSync(path.join(folder, 'file.txt'), 1, 1)
  const index = fs.readFileSync(path.join(folder, '.git', 'index'))
  assert.equal((await factsOf(folder)).facts.commitSeq, 3)
  assert.ok(!fs.existsSync(mark))
  assert.deepEqual(fs.readFileSync(path.join(folder, '.git', 'index')), index)
})

test('in a folder that only a recording names, no filter of the repository runs', async () => {
  const folder = repository()
  const mark = path.join(temporaryDirectory(), 'ran')
  git(folder, 'config', 'filter.evil.clean', `touch ${mark}; cat`)
  fs.writeFileSync(path.join(folder, '.git', 'info', 'attributes'), '*.txt filter=evil\n')
  fs.utimesSync(path.join(folder, 'file.txt'), 1, 1)
  const elsewhere = await factsOf(folder, {}, { cwd: temporaryDirectory() })
  assert.equal(elsewhere.facts.commitSeq, 3)
  assert.ok(!fs.existsSync(mark))
  // The filter is one that git runs: it does so for the user in the own folder.
  await factsOf(folder)
  assert.ok(fs.existsSync(mark))
})

test('without git, the top level is found, and a folder that git does not trust is told', async () => {
  const folder = repository({ origin: 'git@host:org/app.git' })
  const below = path.join(folder, 'sub')
  fs.mkdirSync(below)
  const gone = await factsOf(below, {}, { env: { ...ENV, PATH: temporaryDirectory() } })
  assert.deepEqual(
    [gone.facts.repo, gone.facts.root, gone.facts.commit],
    ['work', folder, undefined],
  )
  assert.match(gone.notes.join('\n'), pattern`git was not found\n${messages.commitUnknown}`)

  // Git's own test of what another user owns.
  const foreign = await factsOf(
    below,
    {},
    { env: { ...ENV, GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } },
  )
  assert.deepEqual([foreign.facts.repo, foreign.facts.root], ['work', folder])
  assert.match(
    foreign.notes.join('\n'),
    /^git does not trust \S+, which another user owns \(git config/,
  )

  const ci = {
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'org/ci',
    GITHUB_SHA: A,
    GITHUB_REF_NAME: 'main',
  }
  const env = { ...ENV, ...ci, GITHUB_WORKSPACE: folder, GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' }
  const { facts } = await factsOf(below, {}, { env })
  assert.deepEqual([facts.repo, facts.commit, facts.branch], ['org/ci', A, 'main'])
})

test('a damaged repository and a folder without one are no errors', async () => {
  const folder = repository()
  fs.writeFileSync(path.join(folder, '.git', 'HEAD'), 'nonsense')
  const damaged = await factsOf(folder)
  assert.deepEqual([damaged.facts.repo, damaged.facts.commit], ['work', undefined])
  assert.match(damaged.notes.join('\n'), pattern`${messages.commitUnknown}`)

  const plain = path.join(temporaryDirectory(), 'my app')
  fs.mkdirSync(plain)
  const { facts, notes } = await factsOf(plain)
  const expected = { repo: 'my app', commit: undefined, commitSeq: undefined, branch: undefined }
  assert.deepEqual(facts, {
    ...expected,
    job: undefined,
    host: cleanText(os.hostname()),
    root: plain,
  })
  assert.deepEqual(notes, [messages.commitUnknown])
})

test('recordings of another machine have the commit of this folder, which is told', async () => {
  const folder = repository({ origin: 'git@host:org/app.git' })
  const there = '/nowhere/builds/app'
  const { facts, notes } = await findFacts({}, { recordedIn: there, cwd: folder, env: ENV })
  assert.deepEqual([facts.repo, facts.commitSeq, facts.root], ['org/app', 3, there])
  assert.match(
    notes.join('\n'),
    /^the recordings' working directory \/nowhere\/builds\/app is not on this/,
  )
  const told = await findFacts(
    { repo: 'a/b', commit: A },
    { recordedIn: there, cwd: folder, env: ENV },
  )
  assert.deepEqual(told.notes, [`git does not know the commit ${A}, which is taken as it is`])
  // A share or a device is not looked at.
  for (const recordedIn of ['//server/share', 'relative', 'C:\\repo', '']) {
    const found = await findFacts({}, { recordedIn, cwd: folder, env: ENV })
    assert.equal(found.facts.commitSeq, 3, recordedIn)
  }
})

test('each CI system tells what it knows', () => {
  /** @type {Record<string, [env: NodeJS.ProcessEnv, expected: object]>} */
  const known = {
    'GitHub Actions': [
      {
        GITHUB_ACTIONS: 'true',
        GITHUB_REPOSITORY: 'org/app',
        GITHUB_SHA: A,
        GITHUB_REF_NAME: 'main',
        GITHUB_REF_TYPE: 'branch',
        GITHUB_WORKFLOW: 'CI',
        GITHUB_JOB: 'lint',
        GITHUB_WORKSPACE: '/w',
      },
      { branch: 'main', job: 'CI/lint' },
    ],
    GitLab: [
      {
        GITLAB_CI: 'true',
        CI_PROJECT_PATH: 'org/app',
        CI_COMMIT_SHA: A,
        CI_COMMIT_BRANCH: 'main',
        CI_JOB_NAME: 'lint',
        CI_PROJECT_DIR: '/w',
      },
      { branch: 'main', job: 'lint' },
    ],
    Jenkins: [
      {
        JENKINS_URL: 'https://ci',
        GIT_URL: 'https://u:s3cret@host/org/app.git',
        GIT_COMMIT: A,
        BRANCH_NAME: 'fix/a',
        JOB_NAME: 'app/fix%2Fa',
        WORKSPACE: '/w',
      },
      { branch: 'fix/a', job: 'app' },
    ],
    Buildkite: [
      {
        BUILDKITE: 'true',
        BUILDKITE_REPO: 'git@host:org/app.git',
        BUILDKITE_COMMIT: A,
        BUILDKITE_BRANCH: 'main',
        BUILDKITE_PIPELINE_SLUG: 'app',
        BUILDKITE_LABEL: 'lint',
        BUILDKITE_BUILD_CHECKOUT_PATH: '/w',
      },
      { branch: 'main', job: 'app/lint' },
    ],
    CircleCI: [
      {
        CIRCLECI: 'true',
        CIRCLE_PROJECT_USERNAME: 'org',
        CIRCLE_PROJECT_REPONAME: 'app',
        CIRCLE_SHA1: A,
        CIRCLE_BRANCH: 'main',
        CIRCLE_JOB: 'lint',
        CIRCLE_WORKING_DIRECTORY: '/w',
      },
      { branch: 'main', job: 'lint' },
    ],
  }
  assert.deepEqual(
    Object.keys(known),
    SYSTEMS.map(({ name }) => name),
  )
  for (const [system, [env, expected]] of Object.entries(known)) {
    const common = { system, repo: 'org/app', checkout: A, commit: A, root: '/w' }
    assert.deepEqual(ciFacts(env), { ...common, ...expected })
    assert.deepEqual(Object.values(ciFacts({ [Object.keys(env)[0]]: '1' })).filter(Boolean), [
      system,
    ])
  }
  assert.deepEqual(ciFacts({}), {})
})

test('the documentation names the CI systems', () => {
  const page = fs.readFileSync(path.join(PACKAGE, 'packages/fleet/docs/lake.md'), 'utf8')
  const names = SYSTEMS.map(({ name }) => name).join(', ')
  const sentence = `${names.replace(/, (\w+)$/, ' and $1')} tell what they know`
  assert.ok(page.includes(sentence), sentence)
})

test('a pull request has its own last commit, and not the merge that was tested', () => {
  const event = path.join(temporaryDirectory(), 'event.json')
  const request = {
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: A,
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_HEAD_REF: 'topic',
    GITHUB_REF_NAME: '7/merge',
    GITHUB_EVENT_PATH: event,
  }
  fs.writeFileSync(event, JSON.stringify({ pull_request: { head: { sha: B } } }))
  const { checkout, commit, branch } = ciFacts(request)
  assert.deepEqual({ checkout, commit, branch }, { checkout: A, commit: B, branch: 'topic' })
  for (const text of ['', '{', 'null', '{"pull_request":{"head":{"sha":"--x"}}}']) {
    fs.writeFileSync(event, text)
    assert.equal(ciFacts(request).commit, A, text)
  }
  assert.equal(ciFacts({ ...request, GITHUB_EVENT_PATH: '/nowhere' }).commit, A)
  const merge = { GITLAB_CI: 'true', CI_COMMIT_SHA: A, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: B }
  assert.deepEqual([ciFacts(merge).checkout, ciFacts(merge).commit], [A, B])
  assert.equal(
    ciFacts({ ...request, GITHUB_HEAD_REF: '', GITHUB_REF_TYPE: 'tag' }).branch,
    undefined,
  )
  assert.equal(
    ciFacts({ CIRCLECI: '1', CIRCLE_SHA1: 'HEAD', CIRCLE_BRANCH: '\x1b' }).commit,
    undefined,
  )
})

test('the head of a pull request has its own position', async () => {
  const folder = repository({ commits: 5 })
  const head = git(folder, 'rev-parse', 'HEAD~2')
  const event = path.join(temporaryDirectory(), 'event.json')
  fs.writeFileSync(event, JSON.stringify({ pull_request: { head: { sha: head } } }))
  const ci = { GITHUB_ACTIONS: '1', GITHUB_SHA: git(folder, 'rev-parse', 'HEAD') }
  const more = { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: event }
  const { facts } = await factsOf(folder, {}, { env: { ...ENV, ...ci, ...more } })
  assert.deepEqual([facts.commit, facts.commitSeq], [head, 3])
})

test('a git that hangs is given up', async (t) => {
  const folder = repository()
  const bin = temporaryDirectory()
  fs.writeFileSync(path.join(bin, 'git'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 })
  t.diagnostic('waits for the time limit of git, 5 s')
  const env = { ...ENV, PATH: `${bin}:${ENV.PATH}` }
  const found = await gitFacts(folder, env, undefined, { looksAtFiles: true })
  assert.deepEqual([found.root, found.commit], [folder, undefined])
  assert.match(String(found.problem), /took longer than 5 s/)
})
