'use strict'

const rounds = Number(process.argv[3])

/** @param {number} round */
function shuffled(round) {
  return Array.from({ length: 60_000 }, (_, i) => ((i + round) * 48271) % 65521)
}

/** @param {number[]} list @returns {number[]} */
function mergeSort(list) {
  if (list.length < 2) return list
  const middle = list.length >> 1
  return merge(mergeSort(list.slice(0, middle)), mergeSort(list.slice(middle)))
}

/** @param {number[]} left @param {number[]} right */
function merge(left, right) {
  const merged = []
  let i = 0
  let j = 0
  while (i < left.length && j < right.length) {
    merged.push(left[i] <= right[j] ? left[i++] : right[j++])
  }
  return merged.concat(left.slice(i), right.slice(j))
}

let least = 0
for (let round = 0; round < rounds; round++) least = mergeSort(shuffled(round))[0]
console.log(`sorted ${rounds} times; the smallest number is ${least}`)
