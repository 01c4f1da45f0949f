#!/usr/bin/env bash
# Compiles the tests of the solver for aarch64 and runs those that compare bits (TimeBits) in an emulator.
#
#   scripts/check_aarch64.sh [FILTER]     FILTER: other tests of the solver, as for --gtest_filter
#
# For Debian on x86-64: a cross compiler and QEMU are installed (scripts/setup.sh aarch64); the libraries for aarch64 are
# unpacked in build/aarch64/sysroot and the system does not get them. The exit code is not 0 when a test fails.
set -euo pipefail
cd "$(dirname "$0")/.."
filter=${1:-TimeBits.*}
build=$PWD/build/aarch64
sysroot=$build/sysroot

# The packages' own lists and folders, so that the system needs no second architecture.
get_libraries() {
  local apt=$build/apt
  mkdir -p "$apt"/{lists/partial,archives/partial,sources,debs} "$sysroot"
  cp /etc/apt/sources.list.d/debian.sources "$apt/sources/" 2>/dev/null || cp /etc/apt/sources.list "$apt/sources/debian.list"
  cat >"$apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures {"arm64";};
APT::Sandbox::User "";
Dir::State::Lists "$apt/lists";
Dir::State::status "/dev/null";
Dir::Cache::archives "$apt/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$apt/sources";
END
  (
    cd "$apt/debs"
    export APT_CONFIG=$apt/apt.conf
    apt-get -q update
    apt-get -q download libfmt-dev libfmt9 libgtest-dev libgmock-dev zlib1g-dev zlib1g
  )
  local package
  for package in "$apt"/debs/*.deb; do
    dpkg -x "$package" "$sysroot"
  done
  rm -rf "$apt"
}

scripts/setup.sh build aarch64
[[ -f $sysroot/usr/include/zlib.h ]] || get_libraries
cmake --preset bare -B "$build" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64-linux-gnu.cmake" -DISOCHRON_BUILD_APPS=OFF \
  -DISOCHRON_BUILD_EXAMPLES=OFF
cmake --build "$build" --target test_solve
qemu-aarch64-static -L /usr/aarch64-linux-gnu "$build/tests/test_solve" --gtest_filter="$filter" |
  tee "$build/test_solve.log"
grep -q '^\[  PASSED  \] [1-9]' "$build/test_solve.log"
