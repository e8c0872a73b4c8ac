'use strict'

// Drives the Performance panel of the real Chrome DevTools.

const { startChromium } = require('./chromium.js')

/** Starts a browser; `load` opens a trace in its DevTools, in place of the one before. @param {string} chromium */
async function openDevTools(chromium) {
  const { browser, address, close } = await startChromium(chromium)
  const [context] = browser.contexts()
  const page = await context.newPage()
  await page.setViewportSize({ width: 1600, height: 900 })
  await page.goto(`${address}/devtools/devtools_app.html?panel=timeline`)
  const button = page.locator('[aria-label*="Load trace"], [aria-label*="Load profile"]').first()
  await button.waitFor()
  const session = await context.newCDPSession(page)
  return {
    /**
     * Loads a trace and returns the tracks that the panel shows.
     * @param {string} file @param {string} [screenshot] path of the screenshot to write
     */
    async load(file, screenshot) {
      await page.evaluate(noteTrace)
      await chooseFile(session, file)
      const tracks = await page.evaluate(readTracks)
      if (screenshot) {
        await page.waitForTimeout(500)
        await page.screenshot({ path: screenshot })
      }
      return tracks
    },
    close,
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

// The code below runs in the DevTools page.

/** Notes the trace that the panel shows, which is not the one to read. */
async function noteTrace() {
  // @ts-expect-error a module of the page
  const { TimelinePanel } = await import('./panels/timeline/timeline.js')
  const panel = TimelinePanel.TimelinePanel.instance()
  const provider = (panel.getFlameChart?.() ?? panel.flameChart)?.getMainDataProvider?.()
  Reflect.set(globalThis, 'earlierTrace', provider?.parsedTrace)
}

/** @returns {Promise<{name: string, isOpen: boolean, functions: string[]}[]>} */
async function readTracks() {
  // @ts-expect-error a module of the page
  const { TimelinePanel } = await import('./panels/timeline/timeline.js')
  const panel = TimelinePanel.TimelinePanel.instance()
  const deadline = performance.now() + 60_000
  const earlier = Reflect.get(globalThis, 'earlierTrace')
  let provider
  do {
    if (performance.now() > deadline) throw new Error(`the panel shows no tracks (${panel.state})`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    provider = (panel.getFlameChart?.() ?? panel.flameChart)?.getMainDataProvider?.()
  } while (
    !provider?.parsedTrace ||
    provider.parsedTrace === earlier ||
    provider.timelineData().groups.length === 0
  )
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

module.exports = { openDevTools }
