'use strict'

// Drives the Performance panel of the real Chrome DevTools.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { temporaryDirectory } = require('./run.js')

const CANDIDATES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Returns the path of a browser, or undefined. */
function findChromium() {
  return CANDIDATES.find((file) => file && fs.existsSync(file))
}

/** Starts a browser; `load` opens a trace in its DevTools. @param {string} chromium */
async function openDevTools(chromium) {
  const { chromium: driver } = require('playwright-core')
  const browserProcess = spawn(
    chromium,
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--user-data-dir=${temporaryDirectory('cpu-prof-chromium-')}`,
      '--remote-debugging-port=0',
      '--remote-allow-origins=*',
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const ended = new Promise((resolve) => browserProcess.on('exit', resolve))
  const port = await debuggingPort(browserProcess)
  const address = `http://127.0.0.1:${port}`
  const browser = await driver.connectOverCDP(address)

  return {
    /**
     * Loads a trace and returns the tracks that the panel shows.
     * @param {string} file @param {string} [screenshot] path of the screenshot to write
     */
    async load(file, screenshot) {
      const [context] = browser.contexts()
      const page = await context.newPage()
      await page.setViewportSize({ width: 1600, height: 900 })
      await page.goto(`${address}/devtools/devtools_app.html?panel=timeline`)
      const button = page
        .locator('[aria-label*="Load trace"], [aria-label*="Load profile"]')
        .first()
      await button.waitFor()
      await chooseFile(await context.newCDPSession(page), file)
      const tracks = await page.evaluate(readTracks)
      if (screenshot) {
        await page.waitForTimeout(500)
        await page.screenshot({ path: screenshot })
      }
      await page.close()
      return tracks
    },
    async close() {
      await browser.close()
      browserProcess.kill('SIGKILL')
      await ended
    },
  }
}

/**
 * Gives the panel the path of a file. A file chooser would send the content through the driver, which
 * never finishes for large files.
 * @param {import('playwright-core').CDPSession} session @param {string} file
 */
async function chooseFile(session, file) {
  const { result } = await session.send('Runtime.evaluate', {
    expression: `import('./panels/timeline/timeline.js').then(({ TimelinePanel }) =>
      TimelinePanel.TimelinePanel.instance().fileSelectorElement)`,
    awaitPromise: true,
  })
  await session.send('DOM.setFileInputFiles', { files: [file], objectId: result.objectId })
}

/** @param {import('node:child_process').ChildProcess} browser @returns {Promise<string>} */
function debuggingPort(browser) {
  return new Promise((resolve, reject) => {
    let output = ''
    browser.stderr?.on('data', (data) => {
      output += data
      const port = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(output)?.[1]
      if (port) resolve(port)
    })
    browser.on('error', reject)
    browser.on('exit', (code) => reject(new Error(`the browser ended with ${code}: ${output}`)))
  })
}

// The code below runs in the DevTools page.

/** @returns {Promise<{name: string, isOpen: boolean, functions: string[]}[]>} */
async function readTracks() {
  // @ts-expect-error a module of the page
  const { TimelinePanel } = await import('./panels/timeline/timeline.js')
  const panel = TimelinePanel.TimelinePanel.instance()
  const deadline = performance.now() + 60_000
  let provider
  do {
    if (performance.now() > deadline) throw new Error(`the panel shows no tracks (${panel.state})`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    provider = (panel.getFlameChart?.() ?? panel.flameChart)?.getMainDataProvider?.()
  } while (!provider?.parsedTrace || provider.timelineData().groups.length === 0)
  const { groups, entryLevels } = provider.timelineData()
  return groups.map((/** @type {any} */ group, /** @type {number} */ index) => {
    const end = groups[index + 1]?.startLevel ?? Number.POSITIVE_INFINITY
    const titles = new Set()
    for (let entry = 0; entry < entryLevels.length; entry++) {
      const level = entryLevels[entry]
      if (level >= group.startLevel && level < end) titles.add(provider.entryTitle(entry))
    }
    return { name: group.name, isOpen: Boolean(group.expanded), functions: [...titles] }
  })
}

/** Returns the reason to skip a spec that needs a browser, or false. @param {string | undefined} chromium */
function whyNoBrowser(chromium) {
  if (!chromium) return 'Chromium was not found (set CHROMIUM to its path)'
  if (Number.parseInt(process.versions.node, 10) < 20) return 'Playwright needs Node 20'
  return false
}

module.exports = { findChromium, openDevTools, whyNoBrowser }
