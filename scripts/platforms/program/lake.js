'use strict'

// Adds a run to a new lake in a folder, and asks a server that is not there: `lake.js <store.js> <folder>`.

const fs = require('node:fs')
const path = require('node:path')

const [store, folder] = process.argv.slice(2)
const { openStore } = require(store)
const { TABLES } = require(path.join(store, '..', '..', 'lake', 'schema.js'))
const RUN = { repo: 'org/app', date: '2026-01-31', stem: `${'1'.repeat(16)}-${'2'.repeat(16)}` }
const VARIABLES = {
  AWS_ENDPOINT_URL: 'https://127.0.0.1:9',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
}

async function main() {
  for (const table of TABLES) fs.writeFileSync(path.join(folder, `${table}.parquet`), table)
  const lake = openStore(path.join(folder, 'lake'))
  const { outcome } = await lake.addRun({ ...RUN, folder })
  const { outcome: again } = await lake.addRun({ ...RUN, folder })
  const { files } = await lake.live({ tables: TABLES })
  const texts = TABLES.map((/** @type {string} */ table) =>
    fs.readFileSync(files[table][0], 'utf8'),
  )
  const remote = openStore('s3://bucket/lake', { ...process.env, ...VARIABLES })
  const told = await remote.addRun({ ...RUN, folder }).then(String, String)
  console.log(JSON.stringify({ outcomes: [outcome, again], texts, told }))
}

main()
