'use strict'

/** @param {string[]} lines */
function bundle(lines) {
  let text = ''
  for (const line of lines) text = `${text}${line}\n`.replace(/\s+\n/, '\n')
  return text
}

console.log(`bundled ${bundle(Array.from({ length: 3000 }, (_, i) => `line ${i}  `)).length} bytes`)
