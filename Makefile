# The targets that people type. CMake does the work; `make help` lists what there is.
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# For CMake, as in `make test CMAKE_FLAGS=-DCMAKE_UNITY_BUILD=ON`: everything from scratch is then quicker.
CMAKE_FLAGS ?=

# Debian packages: tools, libraries, what the tests and benchmarks use. Node.js may come from elsewhere.
PACKAGES := g++ cmake ninja-build pkg-config python3 python3-venv python3-dev \
  libcli11-dev libfmt-dev libsimdjson-dev nlohmann-json3-dev zlib1g-dev libzstd-dev libsqlite3-dev libboost-dev \
  libeigen3-dev libxxhash-dev libhwy-dev libgtest-dev librapidcheck-dev libbenchmark-dev valgrind clang-format clang-tidy \
  chromium $(shell command -v node >/dev/null || echo nodejs npm)

# What the tests with the label `sanitize` run.
SANITIZED := crowdfold-tests crowdfold-cli

FOLDERS := include src cli python/src tests bench experiments examples

# Where the Python package is installed to be tested.
VENV := build/venv
SOURCES = $(shell find $(FOLDERS) -name '*.cc' -o -name '*.h' | sort)
LINTED = $(shell find src cli -name '*.cc' | sort)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup build demo test python bench format lint install

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup:  ## install the Debian packages that are missing; nothing if all are there
	@command -v dpkg-query >/dev/null || { \
	  echo "setup: not a Debian system; needed are the equivalents of: $(PACKAGES)"; exit 0; }; \
	there=" $$(dpkg-query -W -f='$${db:Status-Status}/$${Package} ' $(PACKAGES) 2>/dev/null)"; \
	missing=; for package in $(PACKAGES); do \
	  case "$$there" in *" installed/$$package "*) ;; *) missing="$$missing $$package" ;; esac; \
	done; \
	if [ -z "$$missing" ]; then echo "setup: all packages are there"; exit 0; fi; \
	if [ "$$(id -u)" -eq 0 ]; then as_root=; else as_root=sudo; fi; \
	echo "setup: installing$$missing"; \
	$$as_root apt-get update -q && \
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing

build:  ## build build/crowdfold and the library, optimised
	cmake --preset release $(CMAKE_FLAGS)
	cmake --build --preset release

demo: setup build  ## set up, build, and show what crowdfold does with a simulated crowd
	@bash examples/demo.sh build/crowdfold

test: setup build  ## set up, build, and run every test, also under sanitizers and as an installed package
	ctest --preset release --no-tests=error -j $(JOBS)
	cmake --preset asan
	cmake --build --preset asan --target $(SANITIZED)
	ctest --preset asan --no-tests=error -L sanitize -j $(JOBS)
	cmake --preset tsan
	cmake --build --preset tsan --target $(SANITIZED)
	ctest --preset tsan --no-tests=error -L sanitize -j $(JOBS)
	bash examples/check_installed.sh build
	$(MAKE) python

# The module is built on the library of `make build`, as that of a system would be: compiling it a second time would take
# minutes. A plain `pip install .` compiles everything; that this is configured is checked too.
python: build  ## install the Python package below build/, test it, and check its types
	cmake --install build --prefix build/installed >build/install.log
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check '.[test]' \
	  --config-settings=cmake.define.CROWDFOLD_INSTALLED=ON --config-settings=cmake.define.CMAKE_PREFIX_PATH=$(CURDIR)/build/installed
	cmake -S . -B build/from-source -G Ninja -DCROWDFOLD_PYTHON=ON -DCROWDFOLD_CLI=OFF -DCROWDFOLD_TESTS=OFF \
	  -DCROWDFOLD_BENCH=OFF -DCROWDFOLD_REPORTS=OFF -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python >build/from-source.log
	$(VENV)/bin/python -m mypy --cache-dir build/mypy
	$(VENV)/bin/python -m pytest -o cache_dir=build/pytest

bench: setup build  ## measure beside DuckDB, crowd-kit and others; writes bench/*.md
	python3 bench/run.py
	python3 bench/methods.py
	python3 bench/neural.py
	python3 bench/stream.py
	python3 bench/python.py

format:  ## format all sources in place
	clang-format -i $(SOURCES)
	@if [ -d web/node_modules ]; then cd web && npm run --silent format; fi

lint:  ## check the formatting, and clang-tidy on src and cli
	clang-format --dry-run --Werror $(SOURCES)
	cmake --preset release
	@printf '%s\n' $(LINTED) | xargs -P $(JOBS) -n 1 clang-tidy -p build --quiet --extra-arg=-Wno-unknown-warning-option

install:  ## build and install to PREFIX (default /usr/local), below DESTDIR if it is given
	cmake --preset release -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
	cmake --build --preset release
	DESTDIR="$(DESTDIR)" cmake --install build
