'use strict'

// Changes files with the rights of another user, for root on Linux and macOS.

/**
 * Calls a function with the rights of the user of a process, if this user is root: a path in a folder of
 * that user can lead anywhere.
 * @param {import('./index.js').ControlSocket} socket @param {() => any} call
 */
function asUserOf({ user, group }, call) {
  const { geteuid, getegid, getgroups, seteuid, setegid, setgroups } = process
  if (user === undefined || group === undefined || user === geteuid?.()) return call()
  if (!getegid || !getgroups || !seteuid || !setegid || !setgroups) return call()
  const [ownUser, ownGroup, ownGroups] = [process.geteuid?.(), getegid(), getgroups()]
  try {
    setgroups([group])
    setegid(group)
    seteuid(user)
    return call()
  } finally {
    seteuid(Number(ownUser))
    setegid(ownGroup)
    setgroups(ownGroups)
  }
}

module.exports = { asUserOf }
