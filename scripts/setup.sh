#!/usr/bin/env bash
# Installs the Debian packages that Isochron is built from; only those that are missing.
#
#   scripts/setup.sh [GROUP…]     build, vtk, metis, cgal and netgen when no group is named
#
#   build   compiler, CMake and the libraries every build needs
#   vtk     VTK, and a virtual display for machines without a screen
#   metis   METIS, which cuts meshes into parts with shorter borders than our own curve
#   cgal    CGAL, which triangulates surfaces from images (GPL: what is built with it is passed on under the GPL)
#   netgen  Netgen, which fills surfaces with tetrahedra
#   dev     formatter, linter, and clang for the thread sanitizer
#   micro   Google Benchmark, for bench/micro
#   peers   the tools that bench/peers measures beside ours (CGAL's heat method is GPL too)
set -euo pipefail

declare -A packages=(
  [build]="g++ cmake ninja-build libeigen3-dev libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libgtest-dev libgmock-dev python3"
  [vtk]="libvtk9-dev xvfb xauth libgl1-mesa-dri"
  [metis]="libmetis-dev"
  [cgal]="libcgal-dev libgmp-dev libmpfr-dev"
  [netgen]="libnglib-dev netgen-headers"
  [dev]="clang-format-14 clang-tidy-14 clang-14 libclang-rt-14-dev llvm-14 libomp-14-dev"
  [micro]="libbenchmark-dev"
  [peers]="libcgal-dev python3-scikit-fmm"
)

fail() {
  echo "setup: $*" >&2
  exit 1
}

wanted=()
for group in "${@:-build vtk metis cgal netgen}"; do
  for name in $group; do
    case $name in
      -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
    esac
    [[ -n ${packages[$name]:-} ]] || fail "there is no package group '$name'; the groups are build, vtk, metis, cgal, netgen, dev, micro and peers"
    read -ra of_group <<<"${packages[$name]}"
    wanted+=("${of_group[@]}")
  done
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  fail "this is not a Debian-like system (no apt-get); install what these Debian packages hold, then call make with" \
    "SETUP=true to skip this step: ${wanted[*]}"
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "setup: all packages are there"
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null ||
    fail "these packages are missing, and installing them needs root or sudo: ${missing[*]}"
  as_root=(sudo)
  # Without a terminal nobody can type a password: fail at once instead of waiting.
  if [[ ! -t 0 ]]; then
    as_root=(sudo -n)
    sudo -n true 2>/dev/null ||
      fail "these packages are missing, and sudo asks for a password; run as root: apt-get install ${missing[*]}"
  fi
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" </dev/null; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "setup: updating the package lists"
apt update >"$log" 2>&1 || echo "setup: the lists could not be updated; going on with the old ones ($(tail -n 1 "$log"))" >&2
echo "setup: installing ${missing[*]}"
apt install --no-install-recommends "${missing[@]}" >"$log" 2>&1 || {
  tail -n 30 "$log" >&2
  fail "the packages could not be installed; apt-get's last lines are above"
}
echo "setup: done"
