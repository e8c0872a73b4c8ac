'use strict'

// The command `cpu-prof mcp`: its options and its help.

/** @param {import('commander').Command} program */
function define(program) {
  program
    .command('mcp')
    .summary('serve recordings and reports to agents (Model Context Protocol)')
    .description(
      'Serves the Model Context Protocol over stdin and stdout: an agent records a command, asks for ' +
        'hot spots, functions and code, and compares runs. Reads and writes below one folder only.',
    )
    .option('--root <folder>', 'serve this project (default: the working directory)')
    .action((options) => require('./server/mcp.js').mcp(options))
    .addHelpText(
      'after',
      `\nTools: record, runs, hotspots, function, code, compare, stalls.

To add the server to Claude Code:
  claude mcp add cpu-prof -- npx @org/cpu-prof-mcp

To serve another folder:
  cpu-prof mcp --root packages/shop
`,
    )
}

module.exports = { define }
