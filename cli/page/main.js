'use strict'

// Opens the page.

const { readRecording } = require('./data/recording.js')
const { Page } = require('./page.js')
const { byId } = require('./views/elements.js')

/** Reads the data, which the page holds as compressed JSON. */
async function readData() {
  const text = atob(byId('data').textContent.trim())
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = text.charCodeAt(index)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text())
}

async function open() {
  new Page(readRecording(await readData())).draw()
  document.body.classList.remove('loading')
}

open().catch((error) => {
  byId('summary').textContent = `This page cannot be shown: ${error.message}`
  throw error
})
