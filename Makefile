# Front door for people; all the building is in CMake (see CMakePresets.json).
# Variables: SETUP=true skips the installation of packages, PREFIX is where `make install` installs to, and
# CMAKE_BUILD_PARALLEL_LEVEL limits the compilers that run at once.
SETUP ?= scripts/setup.sh
PREFIX ?= /usr/local
# The interpreter that `make python` builds for, and the environment that it installs into.
PYTHON ?= /usr/bin/python3
VENV ?= .venv
# How long `make fuzz` takes.
MINUTES ?= 10

.DEFAULT_GOAL := help
.PHONY: coverage mutants help build-python setup-bare setup setup-test setup-dev build demo test format check-format check-modules asan tsan bare fuzz cuda tidy install python wheel clean

help:  ## show this
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup-bare:
	@$(SETUP) build

setup:
	@$(SETUP) build vtk metis cgal netgen viewer python mpi

setup-test:
	@$(SETUP) build vtk metis cgal netgen viewer python mpi browser pytest

setup-dev:
	@$(SETUP) build vtk metis cgal netgen viewer python mpi dev

build: setup  ## build the library, the command and the tests (build/release)
	cmake --preset release
	cmake --build --preset release

demo: setup  ## build the command alone, then activation of a ventricle: mesh, times and a picture in out/demo
	cmake --preset release
	cmake --build --preset release --target isochron_cli
	scripts/demo.sh build/release

test: setup-test build  ## build, then run all tests
	ctest --preset release

bare: setup-bare  ## build and test with every optional part off
asan: setup-bare  ## build with address and undefined-behaviour sanitizers, run the quick tests
tsan: setup-dev  ## build with the thread sanitizer, run the quick tests
cuda: setup-bare  ## build the CUDA code (needs nvcc)
bare asan tsan:
	cmake --preset $@
	cmake --build --preset $@
	ctest --preset $@
coverage: setup-bare  ## build and test with counts, show which lines and branches ran
	cmake --preset $@
	cmake --build --preset $@
	find build/$@ -name '*.gcda' -delete
	ctest --preset $@
	scripts/coverage.py
mutants: setup-bare  ## change the updates, the plan and the checks in 300 places: do tests notice?
	scripts/mutate.py
cuda:
	cmake --preset $@
	cmake --build --preset $@

fuzz:  ## fuzz all readers and parsers for MINUTES (10): a table, and what was found is kept in out/fuzz
	@$(SETUP) build fuzz
	cmake --preset $@
	cmake --build --preset $@
	scripts/fuzz.py --minutes $(MINUTES)

format: setup-dev  ## format all sources
	scripts/format.sh

check-format: setup-dev  ## complain about sources that are not formatted
	scripts/format.sh --check

check-modules:  ## complain about includes that go against the one-way rule
	scripts/check_modules.sh

tidy: setup-dev  ## clang-tidy on the files changed since the last commit and in it
	scripts/tidy.sh --changed

install: build  ## install to PREFIX (/usr/local)
	cmake --install build/release --prefix $(PREFIX)

build-python: setup
	cmake --preset release -DPython_EXECUTABLE=$(PYTHON) -DISOCHRON_WITH_PYTHON=ON
	cmake --build --preset release --target isochron_python

python: build-python  ## install the Python module into the environment VENV (.venv), which is made where it is missing
	test -x $(VENV)/bin/python || $(PYTHON) -m venv --system-site-packages $(VENV)
	ISOCHRON_BUILD_DIR=$(CURDIR)/build/release $(VENV)/bin/python -m pip install --no-build-isolation --no-deps \
	  --force-reinstall ./python
	@echo "installed; use it with $(VENV)/bin/python, or after: . $(VENV)/bin/activate"

wheel: build-python  ## build the Python module as a wheel (out/wheel)
	ISOCHRON_BUILD_DIR=$(CURDIR)/build/release $(PYTHON) -m pip wheel --no-build-isolation --no-deps -w out/wheel ./python

clean:  ## remove everything that was built
	rm -rf build out python/build python/isochron.egg-info
