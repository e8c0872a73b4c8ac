'use strict'

/**
 * Writes a trace as cpu-prof does.
 * @param {{pid?: number, tid?: number, start?: number, boot?: string, processStartMs?: number,
 *   label?: string, functions?: string[], cwd?: string}} [options]
 */
function recording(options = {}) {
  const { pid = 7, tid = 0, start = 1e9, boot = 'b', processStartMs = 5 } = options
  const { label = 'app', functions = ['work'], cwd } = options
  const own = { version: '0', pid, ppid: 1, argv: ['node', label], node: 'v24', threadId: tid, cwd }
  const metadata = { source: 'cpu-prof', 'cpu-prof': { ...own, boot, processStartMs } }
  const url = `${label}: (pid ${pid})`
  const id = `0x${pid.toString(16)}${tid.toString(16).padStart(6, '0')}`
  const at = { pid, tid, ts: start }
  const instant = { cat: 'x', name: '', ph: 'I', s: 't', ...at, args: {} }
  const name = { cat: '__metadata', name: '', ph: 'M', ...at, ts: 1 }
  const profile = {
    cat: 'disabled-by-default-v8.cpu_profiler',
    name: 'Profile',
    ph: 'P',
    id,
    ...at,
  }
  const frames = [{ frame: 'NODE', processId: pid, url, name: '' }]
  const nodes = ['(root)', ...functions].map((functionName, i) => {
    const callFrame = { functionName, scriptId: '1', url: 'file:///a.js', lineNumber: i }
    return { id: i + 1, ...(i > 0 && { parent: i }), callFrame: { ...callFrame, columnNumber: 0 } }
  })
  const samples = Array.from({ length: 10 }, (_, i) => 2 + (i % functions.length))
  const data = { cpuProfile: { nodes, samples }, timeDeltas: samples.map(() => 1000) }
  const text = `${label} (pid ${pid}) - worker ${tid}`
  const events = [
    { ...instant, name: 'TracingStartedInBrowser', args: { data: { frames } } },
    { ...name, name: 'process_name', tid: 0, args: { name: `${label} (pid ${pid})` } },
    { ...name, name: 'thread_name', args: { name: tid === 0 ? 'CrRendererMain' : text } },
    { ...instant, name: 'thread.start' },
    { ...profile, args: { data: { startTime: start } } },
    { ...profile, name: 'ProfileChunk', ts: start + 10_000, args: { data } },
    { ...instant, name: 'trace.end', ts: start + 20_000 },
  ]
  const lines = events.map((event) => JSON.stringify(event)).join(',\n')
  return `{"metadata":${JSON.stringify(metadata)},"traceEvents":[\n${lines}\n]}`
}

module.exports = { recording }
