#!/usr/bin/env bash
# Builds without optional parts (with CUDA where nvcc is), checks, and times the CPU solvers on all cores of a machine.
#
#   scripts/bench_cores.sh [OUTPUT_FOLDER] [BENCH…]     default benches: goals-work goals-speed 001-figure-8
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-out/bench}
shift || true
benches=("$@")
((${#benches[@]})) || benches=(goals-work goals-speed goals-accuracy 001-figure-8)
export PATH=$PATH:/usr/local/cuda/bin

cuda=OFF
command -v nvcc >/dev/null && cuda=ON
cmake -S . -B build/cores -G Ninja -DCMAKE_BUILD_TYPE=Release -DISOCHRON_WITH_VTK=OFF -DISOCHRON_WITH_CUDA=$cuda \
  -DCMAKE_CUDA_ARCHITECTURES=90 >/dev/null
cmake --build build/cores 2>&1 | tail -3
mkdir -p "$out"
if [[ $cuda == ON ]]; then build/cores/tests/test_local_device | tail -4; fi
build/cores/tests/test_solve --gtest_brief=1 | tail -3
nproc
for bench in "${benches[@]}"; do build/cores/bin/isochron bench "$bench" -o "$out"; done
