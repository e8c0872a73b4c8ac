'use strict'

// Lists the live files of a lake in a folder.

const fs = require('node:fs')
const path = require('node:path')
const { VERSION } = require('./schema.js')

/**
 * Returns the live files of each table.
 * @param {string} lake
 * @param {{ repo?: string, from?: string, to?: string, tables: string[] }} range
 * @returns {Promise<{ files: Record<string, string[]> }>}
 */
async function listLive(lake, { repo, from, to, tables }) {
  const names = fs.readdirSync(lake)
  const root = path.resolve(lake, `v${VERSION}`)
  const others = names.filter((name) => /^v\d+$/.test(name))
  if (others.length > 0 && !others.includes(`v${VERSION}`)) {
    throw new Error(`${lake} is a lake of version ${others.join(', ')}, not ${VERSION}`)
  }
  /** @type {Record<string, string[]>} */
  const files = Object.fromEntries(tables.map((table) => [table, []]))
  for (const repoFolder of list(path.join(root, 'functions'), 'repo=')) {
    if (repo !== undefined && decodeURIComponent(repoFolder.slice('repo='.length)) !== repo)
      continue
    for (const day of list(path.join(root, 'functions', repoFolder), 'date=')) {
      const date = day.slice('date='.length)
      if ((from !== undefined && date < from) || (to !== undefined && date > to)) continue
      const stems = list(path.join(root, 'functions', repoFolder, day), '')
        .filter((name) => name.endsWith('.parquet'))
        .sort()
      const runs = new Map(stems.reverse().map((stem) => [stem.split('-')[0], stem]))
      for (const table of tables) {
        const folder = path.join(root, table, repoFolder, day)
        files[table].push(...[...runs.values()].map((stem) => path.join(folder, stem)))
      }
    }
  }
  return { files }
}

/** @param {string} folder @param {string} start */
function list(folder, start) {
  if (!fs.existsSync(folder)) return []
  return fs.readdirSync(folder).filter((name) => name.startsWith(start))
}

module.exports = { listLive }
