'use strict'

// Copies the addon that was built on this machine into its platform's package, for `npm pack`.

const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const { version } = require('../package.json')

for (const platform of fs.readdirSync(path.join(root, 'npm'))) {
  const addon = `cpu-prof.${platform}.node`
  const source = path.join(root, addon)
  if (!fs.existsSync(source)) {
    console.error(`${addon} was not built on this machine, so its package stays empty`)
    continue
  }
  const dir = path.join(root, 'npm', platform)
  fs.copyFileSync(source, path.join(dir, addon))
  const file = path.join(dir, 'package.json')
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8'))
  if (manifest.version !== version) {
    fs.writeFileSync(file, `${JSON.stringify({ ...manifest, version }, null, 2)}\n`)
  }
  console.error(`${path.relative(process.cwd(), dir)} now contains ${addon}`)
}
