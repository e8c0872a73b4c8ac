'use strict'

// Finds and starts the browser of the specs.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { pathToFileURL } = require('node:url')
const { temporaryDirectory } = require('./files.js')

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

/** Returns the reason to skip a spec that needs a browser, or false. @param {string | undefined} chromium */
function whyNoBrowser(chromium) {
  if (!chromium) return 'Chromium was not found (set CHROMIUM to its path)'
  if (Number.parseInt(process.versions.node, 10) < 20) return 'Playwright needs Node 20'
  return false
}

/** Starts a browser. @param {string} chromium */
async function startChromium(chromium) {
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
  const address = `http://127.0.0.1:${await debuggingPort(browserProcess)}`
  const browser = await driver.connectOverCDP(address)
  return {
    browser,
    address,
    async close() {
      await browser.close()
      browserProcess.kill('SIGKILL')
      await ended
    },
  }
}

/**
 * Opens an HTML report, and collects what the page complains about and asks for.
 * @param {import('playwright-core').Browser} browser @param {string} file
 */
async function openReport(browser, file) {
  const page = await browser.contexts()[0].newPage()
  /** @type {string[]} */
  const problems = []
  /** @type {string[]} */
  const requests = []
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('request', (request) => requests.push(request.url().replace(/#.*/, '')))
  await page.goto(pathToFileURL(file).href)
  await until(page, "!document.body.classList.contains('loading')")
  const text = async (/** @type {string} */ selector) =>
    String(await page.locator(selector).textContent())
  /** Waits for a text: what follows a key or a click is drawn later. @param {string} selector @param {RegExp} pattern */
  const shows = async (selector, pattern) => {
    const hasText = `${pattern}.test(document.querySelector('${selector}').textContent)`
    await until(page, hasText).catch(() => {})
    assert.match(await text(selector), pattern)
  }
  return { page, problems, requests, text, shows }
}

/** How long a page may take to show something, milliseconds. */
const UNTIL_MS = 30_000

/**
 * Waits until an expression is true on a page. Playwright's own function needs `eval`, which the page's
 * policy forbids.
 * @param {import('playwright-core').Page} page @param {string} expression
 */
function until(page, expression) {
  return page.evaluate(`(async () => {
    const end = performance.now() + ${UNTIL_MS}
    while (!(${expression})) {
      if (performance.now() > end) throw new Error(${JSON.stringify(`never true: ${expression}`)})
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()`)
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

module.exports = { findChromium, openReport, startChromium, until, whyNoBrowser }
