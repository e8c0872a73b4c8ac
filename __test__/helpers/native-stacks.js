'use strict'

// What a trace shows above a function of JavaScript.

/** @typedef {{ module: string, address: string }} NativeFunction */

/**
 * Returns the time below a function, the share of it that has native functions on top, the share of these whose
 * stacks are cut, and the chains of native functions, the outermost first.
 * @param {{ nodes: Map<number, any>, samples: { node: any, lastsUs: number }[] }} trace
 * @param {string} name of the function
 */
function nativeStacks({ nodes, samples }, name) {
  let [allUs, nativeUs, cutUs] = [0, 0, 0]
  /** @type {NativeFunction[][]} */
  const chains = []
  for (const { node, lastsUs } of samples) {
    /** @type {NativeFunction[]} */
    const chain = []
    let isCut = false
    let at = node
    for (; at !== undefined && at.callFrame.functionName !== name; at = nodes.get(at.parent)) {
      const { functionName, url, origin } = at.callFrame
      if (functionName === '(truncated)') isCut = true
      if (origin === 'module') chain.unshift({ module: url, address: functionName })
    }
    if (at === undefined) continue
    allUs += lastsUs
    if (chain.length === 0) continue
    nativeUs += lastsUs
    if (isCut) cutUs += lastsUs
    else chains.push(chain)
  }
  return { ms: allUs / 1000, native: nativeUs / allUs, cut: cutUs / (nativeUs || 1), chains }
}

module.exports = { nativeStacks }
