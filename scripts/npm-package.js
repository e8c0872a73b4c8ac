'use strict'

// Copies the addons that were built on this machine into their platform's package, for `npm pack`.

const fs = require('node:fs')
const path = require('node:path')
const { ADDONS, ROOT } = require('./build.js')
const { version } = require('../package.json')

for (const platform of fs.readdirSync(path.join(ROOT, 'npm'))) {
  const addons = ADDONS.map((addon) => `${addon}.${platform}.node`)
  const missing = addons.find((addon) => !fs.existsSync(path.join(ROOT, addon)))
  if (missing !== undefined) {
    console.error(`${missing} was not built on this machine, so its package stays empty`)
    continue
  }
  const dir = path.join(ROOT, 'npm', platform)
  for (const addon of addons) fs.copyFileSync(path.join(ROOT, addon), path.join(dir, addon))
  const file = path.join(dir, 'package.json')
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8'))
  if (manifest.version !== version) {
    fs.writeFileSync(file, `${JSON.stringify({ ...manifest, version }, null, 2)}\n`)
  }
  console.error(`${path.relative(process.cwd(), dir)} now contains ${addons.join(' and ')}`)
}
