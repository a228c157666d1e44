# The targets that people type. CMake does the work; `make help` lists what there is.
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# For CMake, as in `make build CMAKE_FLAGS=-DCMAKE_UNITY_BUILD=OFF`: one file at a time, for those who edit one at a time.
CMAKE_FLAGS ?=

# Debian packages: to build the program; to test, lint and measure as well. Node.js and Chromium: .ci/install-packages.
BUILD_PACKAGES := g++ cmake ninja-build pkg-config libcli11-dev libfmt-dev libsimdjson-dev nlohmann-json3-dev zlib1g-dev \
  libzstd-dev libbz2-dev liblzma-dev libzip-dev libsqlite3-dev libboost-dev libeigen3-dev libxxhash-dev libhwy-dev libexpat1-dev \
  libutf8proc-dev
TEST_PACKAGES := $(BUILD_PACKAGES) python3 python3-venv python3-dev libgtest-dev librapidcheck-dev libbenchmark-dev \
  zstd git valgrind clang-format clang-tidy
FUZZ_PACKAGES := $(BUILD_PACKAGES) python3 clang libclang-rt-dev

# What the program needs, built first or alone.
PROGRAM := crowdfold-cli crowdfold-completion
ONLY_PROGRAM := -DCROWDFOLD_TESTS=OFF -DCROWDFOLD_BENCH=OFF
WITH_TESTS := -DCROWDFOLD_TESTS=ON -DCROWDFOLD_BENCH=ON

FOLDERS := include src cli python/src tests fuzz bench experiments examples

# Spark 4 runs on Java 17; Debian's newest may be another, which it takes as well.
SPARK_PACKAGES := python3 python3-venv python3-dev openjdk-17-jre-headless

# How long `make fuzz` runs each harness.
SECONDS ?= 60

# Where the Python package is installed to be tested, and where ruff is.
VENV := build/venv
SPARK_VENV := build/venv-spark
RUFF_VERSION := 0.17.5
RUFF := build/ruff-$(RUFF_VERSION)/bin/ruff
PIP_AUDIT_VERSION := 2.10.1
PIP_AUDIT := build/pip-audit-$(PIP_AUDIT_VERSION)/bin/pip-audit
PIP_FLAGS := --quiet --disable-pip-version-check --no-compile
SOURCES = $(shell find $(FOLDERS) -name '*.cc' -o -name '*.h' | sort)
# What clang-tidy reads in `make test`: of src and cli, what differs from main (on main: from the commit before).
LINTED = $(shell find src cli -name '*.cc' | sort)
BASE = $(shell git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null)
CHANGED_SINCE = $(if $(filter-out $(shell git rev-parse HEAD 2>/dev/null),$(BASE)),$(BASE),HEAD~1)
CHANGED = $(filter $(LINTED),$(shell git diff --name-only $(CHANGED_SINCE) -- src cli 2>/dev/null))
# A file takes clang-tidy 8 seconds and more: of a change to half the code, `make test` looks at some, `make lint-all` at all.
MOST_TIDIED ?= 4

.DEFAULT_GOAL := help
# Prerequisites come one after the other, but where `make test` says otherwise.
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif
.PHONY: help setup setup-build build build-all demo test test-all fuzz python spark spark-package bench bench-billion bench-spark format lint lint-all sbom audit install
.PHONY: release-tests asan-tests tsan-tests installed-example python-package python-tests style tidy tidy-all

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup:  ## install the Debian packages that are missing, those for tests too; nothing if all are there
	@.ci/install-packages $(TEST_PACKAGES) --page chromium

setup-build:  ## the same, without those for tests
	@.ci/install-packages $(BUILD_PACKAGES) --page

# A folder that tests were configured in keeps them: CMake would delete what it no longer knows of.
build:  ## build build/crowdfold and the library, optimised
	cmake --preset release $(if $(wildcard build/CMakeCache.txt),,$(ONLY_PROGRAM)) $(CMAKE_FLAGS)
	cmake --build --preset release --target $(PROGRAM)

build-all:  ## build the tests, the benchmarks and the experiments (build/crowdfold-paper) as well
	cmake --preset release $(WITH_TESTS) $(CMAKE_FLAGS)
	cmake --build --preset release

demo: setup-build build  ## set up, build, and show what crowdfold does with a simulated crowd
	@bash examples/demo.sh build/crowdfold

# Pip, links and single tests keep one core busy, so what follows the optimised build goes side by side. Python's tests come
# last, as some of them need a quiet machine.
test: setup style release-tests  ## set up, lint, audit, build, and run the tests, also under sanitizers and as an installed package
	$(MAKE) -j 4 --no-print-directory --output-sync=line SIDE_BY_SIDE=yes asan-tests tsan-tests installed-example python-package tidy $(PIP_AUDIT)
	$(MAKE) --no-print-directory audit python-tests

# The optimised build: everything but the long tests. It alone has the code for every instruction set.
release-tests: build-all
	rm -f build/tests/threaded-*.txt
	ctest --preset release --no-tests=error -LE long -j $(JOBS)

# Under sanitizers, properties are tried on 25 inputs, not on 100: others seldom bring other faults. (`make test-all` tries 100.)
FEW_INPUTS := RC_PARAMS=max_success=25

# Unit tests and whole commands with the address and undefined-behaviour sanitizers.
asan-tests:
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS) --target crowdfold-tests crowdfold-cli crowdfold-kept-inputs
	$(FEW_INPUTS) ctest --preset asan --no-tests=error -L sanitize -j $(JOBS)

# Unit tests that start a thread, with the thread sanitizer. The release build wrote down which do.
tsan-tests:
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS) --target crowdfold-tests
	cat build/tests/threaded-unit-*.txt | paste -s -d : | sed 's/^/--gtest_filter=/' >build/tsan/tests/threaded.flags
	@grep -q 'Pipeline' build/tsan/tests/threaded.flags || { echo "which tests start a thread? make release-tests comes first"; exit 1; }
	$(FEW_INPUTS) ctest --preset tsan --no-tests=error -L threaded -j $(JOBS)

# An example against the installed library, by CMake and pkg-config.
installed-example:
	bash examples/check_installed.sh build

test-all: test tidy-all  ## besides: the long tests, those on Spark, every check of the sanitizers, all tests in the thread sanitizer, clang-tidy on all
	ctest --preset release --no-tests=error -L long -j $(JOBS)
	cmake --preset asan-all
	cmake --build --preset asan-all -j $(JOBS) --target crowdfold-tests crowdfold-cli crowdfold-kept-inputs
	ctest --preset asan-all --no-tests=error -L sanitize -j $(JOBS)
	cmake --build --preset tsan -j $(JOBS) --target crowdfold-tests crowdfold-cli crowdfold-kept-inputs
	ctest --preset tsan --no-tests=error -L sanitize -j $(JOBS)
	$(MAKE) --no-print-directory spark

fuzz:  ## fuzz every reader for SECONDS seconds (60), some side by side; findings are told at the end
	@.ci/install-packages $(FUZZ_PACKAGES)
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)
	python3 fuzz/run.py --build build/fuzz --seconds $(SECONDS) --jobs $(JOBS)

# The module is built on the library of `make build`, as that of a system would be: compiling it a second time would take
# minutes. A plain `pip install .` compiles everything; that this is configured is checked too.
python: build python-package python-tests  ## install the Python package below build/, check its types, and test it

python-package:
	cmake --install build --prefix build/installed >build/install.log
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install $(PIP_FLAGS) '.[test]' \
	  --config-settings=cmake.define.CROWDFOLD_INSTALLED=ON --config-settings=cmake.define.CMAKE_PREFIX_PATH=$(CURDIR)/build/installed
	$(VENV)/bin/python -m pip install $(PIP_FLAGS) --no-deps crowd-kit
	cmake -S . -B build/from-source -G Ninja -DCROWDFOLD_PYTHON=ON -DCROWDFOLD_CLI=OFF -DCROWDFOLD_TESTS=OFF \
	  -DCROWDFOLD_BENCH=OFF -DCROWDFOLD_REPORTS=OFF -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python >build/from-source.log
	$(VENV)/bin/python -m mypy --cache-dir build/mypy

# Those of test_process.py come alone: some of them say how soon Ctrl-C is answered.
PYTEST := $(VENV)/bin/python -m pytest -o cache_dir=build/pytest
python-tests:
	$(PYTEST) -n $(JOBS) --ignore python/tests/test_process.py
	$(PYTEST) python/tests/test_process.py

# A process has one kind of session, so each file of tests comes alone.
spark: build spark-package  ## test crowdfold.spark: estimators, killed executors, Spark Connect, the code of its page; ten minutes
	for tests in python/tests/spark/test_*.py; do $(SPARK_VENV)/bin/python -m pytest -o cache_dir=build/pytest $$tests || exit 1; done

spark-package:
	@command -v java >/dev/null || .ci/install-packages $(SPARK_PACKAGES)
	cmake --install build --prefix build/installed >build/install.log
	python3 -m venv $(SPARK_VENV)
	$(SPARK_VENV)/bin/python -m pip install $(PIP_FLAGS) '.[spark-test]' \
	  --config-settings=cmake.define.CROWDFOLD_INSTALLED=ON --config-settings=cmake.define.CMAKE_PREFIX_PATH=$(CURDIR)/build/installed

bench: setup build-all  ## measure beside DuckDB, crowd-kit and others; writes bench/*.md
	python3 bench/run.py
	python3 bench/methods.py
	python3 bench/neural.py
	python3 bench/stream.py
	python3 bench/python.py
	python3 bench/exports.py

bench-billion: build  ## measure a billion labels, in memory and from disk; half an hour, 60 GB of disk; writes bench/billion.md
	python3 bench/billion.py

bench-spark: build spark-package  ## measure crowdfold.spark beside Spark SQL; writes bench/spark.md
	$(SPARK_VENV)/bin/python bench/spark.py

format:  ## format all sources in place
	clang-format -i $(SOURCES)
	@if [ -d web/node_modules ]; then cd web && npm run --silent format; fi

lint: style tidy  ## check formatting, Python, includes, and by clang-tidy what was changed since main

lint-all: style tidy-all  ## the same, with clang-tidy on all of src and cli

style: $(RUFF)
	! grep -rnE '^(<{7}|>{7})( |$$)' . --exclude-dir=build --exclude-dir=node_modules --exclude-dir=.git
	@clang-format --dry-run --Werror $(SOURCES)
	$(RUFF) check --cache-dir build/ruff-cache .
	python3 tests/rooms_test.py
	python3 tests/types_test.py
	python3 tests/links_test.py

$(RUFF):
	python3 -m venv $(@D)/..
	$(@D)/pip install $(PIP_FLAGS) ruff==$(RUFF_VERSION)

sbom: build  ## write the software bill of materials, build/crowdfold.cdx.json
	python3 tools/sbom.py build/crowdfold --packages $(BUILD_PACKAGES)

audit: sbom $(PIP_AUDIT)  ## ask for known vulnerabilities of what the product contains
	$(dir $(PIP_AUDIT))python tools/audit.py build/crowdfold.cdx.json

$(PIP_AUDIT):
	python3 -m venv $(@D)/..
	$(@D)/pip install $(PIP_FLAGS) pip-audit==$(PIP_AUDIT_VERSION)

TIDY := clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option
tidy: TIDIED = $(wordlist 1,$(MOST_TIDIED),$(CHANGED))
# The preset `debug` compiles file by file, which is what clang-tidy needs to be told.
tidy:
	@mkdir -p build
	cmake --preset debug >build/debug.log
	@echo clang-tidy: $(words $(TIDIED)) files, of $(words $(CHANGED)) that changed
	@printf '%s\n' $(TIDIED) | xargs -r -P $(JOBS) -n 1 $(TIDY) -p build/debug

# All of src, cli and their tests, a room at a time: what they include is read 45 times and not 200 times, a tenth of the time.
tidy-all:
	@mkdir -p build
	cmake --preset tidy >build/tidy.log
	@grep -oE '"file": "[^"]+' build/tidy/compile_commands.json | cut -d '"' -f 4 | \
	  grep -E '/(src|cli)/|/tests/(contract|CMakeFiles/crowdfold-tests)' | \
	  xargs -P $(JOBS) -n 1 $(TIDY) -p build/tidy --checks=-bugprone-suspicious-include --header-filter='/(include/crowdfold|src|cli)/'

install:  ## build and install to PREFIX (default /usr/local), below DESTDIR if it is given
	cmake --preset release $(if $(wildcard build/CMakeCache.txt),,$(ONLY_PROGRAM)) -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
	cmake --build --preset release --target $(PROGRAM)
	DESTDIR="$(DESTDIR)" cmake --install build
