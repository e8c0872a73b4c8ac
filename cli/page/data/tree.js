'use strict'

// Reads the call tree: lists with an entry for each node, parents before their children.

/** Functions, files, packages and owners. */
const KINDS = 4

/** @typedef {ReturnType<typeof readTree>} Tree */

/** @param {any} tree @param {Int32Array} functionFiles @param {Int32Array} filePackages */
function readTree(tree, functionFiles, filePackages) {
  const functions = Int32Array.from(tree.function)
  const parent = functions.map((_, node) =>
    tree.parent[node] === 0 ? -1 : node - tree.parent[node],
  )
  const depth = new Int32Array(parent.length)
  for (const [node, above] of parent.entries()) depth[node] = above === -1 ? 0 : depth[above] + 1
  const files = functions.map((item) => functionFiles[item])
  const packages = files.map((file) => (file === -1 ? -1 : filePackages[file]))
  const owners = files.map((file, node) => (file === -1 ? -1 : tree.owner[node]))
  /** Functions, files, packages and owners of nodes; -1 for none. States have only the first. */
  const itemsOfNodes = [functions, files, packages, owners]
  const links = children(parent)
  const outermost = findOutermost(links, itemsOfNodes)
  return { parent, depth, ...links, functions, itemsOfNodes, outermost }
}

/** Links each node to its first child and to its next sibling; -1 for none. @param {Int32Array} parent */
function children(parent) {
  const firstChild = new Int32Array(parent.length).fill(-1)
  const nextSibling = new Int32Array(parent.length).fill(-1)
  /** @type {number[]} */
  const roots = []
  for (let node = parent.length - 1; node >= 0; node--) {
    const above = parent[node]
    if (above === -1) {
      roots.push(node)
    } else {
      nextSibling[node] = firstChild[above]
      firstChild[above] = node
    }
  }
  return { firstChild, nextSibling, roots: roots.reverse() }
}

/**
 * Returns for each kind of items whether the item of a node is not on the stack above the node too:
 * recursion counts once.
 * @param {ReturnType<typeof children>} links @param {Int32Array[]} itemsOfNodes
 */
function findOutermost({ firstChild, nextSibling, roots }, itemsOfNodes) {
  const flags = itemsOfNodes.map(({ length }) => new Uint8Array(length))
  /** How often each item is on the stack. */
  const onStack = itemsOfNodes.map((items) => {
    let length = 0
    for (const item of items) length = Math.max(length, item + 1)
    return new Int32Array(length)
  })
  /** Nodes to enter; a node to leave has its bits turned. */
  const steps = [...roots]
  while (steps.length > 0) {
    const step = /** @type {number} */ (steps.pop())
    const node = step < 0 ? ~step : step
    for (let kind = 0; kind < KINDS; kind++) {
      const item = itemsOfNodes[kind][node]
      if (item === -1) continue
      if (step < 0) onStack[kind][item]--
      else if (onStack[kind][item]++ === 0) flags[kind][node] = 1
    }
    if (step < 0) continue
    steps.push(~node)
    for (let child = firstChild[node]; child !== -1; child = nextSibling[child]) steps.push(child)
  }
  return flags
}

module.exports = { readTree }
