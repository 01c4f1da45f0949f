#!/usr/bin/env bash
# Installs the Debian packages that Isochron is built from; only those that are missing.
#
#   scripts/setup.sh [GROUP…]     build, vtk, metis, cgal, netgen, viewer, python and mpi when no group is named
#
#   build   compiler, CMake and the libraries every build needs
#   vtk     VTK, and a virtual display for machines without a screen
#   metis   METIS, which cuts meshes into parts with shorter borders than our own curve
#   cgal    CGAL, which triangulates surfaces from images (GPL: what is built with it is passed on under the GPL)
#   netgen  Netgen, which fills surfaces with tetrahedra
#   viewer  what the browser viewer is made of; also gets its client's packages with npm
#   browser Chromium, which the viewer is tested in
#   python  what the Python module is built from
#   pytest  what the Python module and its examples are tested with, and meshio, which must read our files
#   mpi     OpenMPI, for meshes that outgrow one machine
#   dev     compiler cache, formatter, linter, and clang for the thread sanitizer
#   fuzz    clang with libFuzzer, for `make fuzz`
#   aarch64 a cross compiler and QEMU, for scripts/check_aarch64.sh
#   micro   Google Benchmark, for bench/micro
#   peers   the tools that bench/peers measures beside ours (CGAL's heat method is GPL too)
set -euo pipefail

declare -A packages=(
  [build]="g++ cmake ninja-build libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libgtest-dev libgmock-dev python3"
  [vtk]="libvtk9-dev xvfb xauth libgl1-mesa-dri"
  [metis]="libmetis-dev"
  [cgal]="libcgal-dev libgmp-dev libmpfr-dev"
  [netgen]="libnglib-dev netgen-headers"
  [viewer]="libcpp-httplib-dev"
  [browser]="chromium"
  [python]="pybind11-dev python3-dev python3-numpy python3-pip python3-setuptools python3-wheel python3-venv"
  [pytest]="python3-pytest python3-matplotlib python3-scikit-fmm python3-meshio python3-torch python3-scipy"
  [mpi]="libopenmpi-dev openmpi-bin"
  [dev]="ccache clang-format-14 clang-tidy-14 clang-14 libclang-rt-14-dev llvm-14 libomp-14-dev"
  [fuzz]="clang-16 libclang-rt-16-dev"
  [aarch64]="g++-12-aarch64-linux-gnu qemu-user-static"
  [micro]="libbenchmark-dev"
  [peers]="libcgal-dev libeigen3-dev python3-scikit-fmm"
)

fail() {
  echo "setup: $*" >&2
  exit 1
}

# The page is the smallest part: the library, the command and their tests do without it.
without_page() {
  echo "setup: the viewer is built without its page: $1; all else is built as ever" >&2
}

# The client's packages, as its lock file lists them; only when that has changed.
install_client() {
  local client
  client=$(cd "$(dirname "$0")/../apps/viewer/client" 2>/dev/null && pwd) || return 0
  local installed=$client/node_modules/.package-lock.json
  if [[ ! -f $client/package-lock.json || $installed -nt $client/package-lock.json ]]; then
    return 0
  fi
  local version
  version=$(node --version 2>/dev/null) || version=v0
  version=${version#v}
  if ((${version%%.*} < 18)); then
    without_page "node $version is too old for its client (18 or newer is needed)"
    return 0
  fi
  echo "setup: getting the packages of the viewer's client"
  local output
  if ! output=$(cd "$client" && npm ci --no-audit --no-fund --fetch-retries=1 --loglevel=error 2>&1); then
    rm -rf "$client/node_modules"  # half of them would only make the build fail
    without_page "npm could not get its client's packages (${output%%$'\n'*}); with a network, run scripts/setup.sh viewer"
  fi
}

wanted=()
with_client=false
for group in "${@:-build vtk metis cgal netgen viewer python mpi}"; do
  for name in $group; do
    case $name in
      -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
    esac
    [[ -n ${packages[$name]:-} ]] || fail "there is no package group '$name'; the groups are build, vtk, metis, cgal, netgen, viewer, browser, python, pytest, mpi, dev, fuzz, aarch64, micro and peers"
    read -ra of_group <<<"${packages[$name]}"
    wanted+=("${of_group[@]}")
    if [[ $name == viewer ]]; then
      with_client=true
      # A Node that is there may come with an npm of its own, which Debian's would conflict with.
      command -v node >/dev/null || wanted+=(nodejs)
      command -v npm >/dev/null || wanted+=(npm)
    fi
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
  if $with_client; then install_client; fi
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
if $with_client; then install_client; fi
echo "setup: done"
