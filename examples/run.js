'use strict'

// Profiles the example build as a reader would, and says where the traces are.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const dir = path.join(root, 'profiles', `example-${Date.now()}`)

const { status } = spawnSync(process.execPath, [path.join(__dirname, 'build', 'main.js')], {
  stdio: 'inherit',
  env: { ...process.env, NODE_OPTIONS: `--require ${JSON.stringify(root)}`, CPU_PROF_DIR: dir },
})

const files = fs.existsSync(dir) ? fs.readdirSync(dir).sort() : []
console.log(`\n${files.length} traces, one a thread, in ${dir}:`)
for (const file of files) {
  const { traceEvents } = JSON.parse(fs.readFileSync(path.join(dir, file), 'utf8'))
  const [started] = traceEvents
  const name = traceEvents.findLast((/** @type {any} */ event) => event.name === 'thread_name')
  const isMain = name.args.name === 'CrRendererMain'
  console.log(`  ${file}  ${isMain ? started.args.data.frames[0].url : name.args.name}`)
}
console.log(
  '\nTo look at one: Chrome DevTools (F12), Performance panel, "Load trace" (the arrow up).',
)
process.exitCode = status === 0 && files.length === 4 ? 0 : 1
