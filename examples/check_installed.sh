#!/usr/bin/env bash
# Installs a build into a temporary prefix and uses it as a stranger would: the program runs, and
# examples/first_steps.cc is built against the package by CMake and by pkg-config, with the same output.
# Usage: check_installed.sh [BUILD]
set -euo pipefail
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "${1:-$examples/../build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

step() { echo "check_installed: $*"; }
# Runs quietly; shows what a command said only if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; step "failed: $*" >&2; exit 1; }; }

step "install"
quietly cmake --install "$build" --prefix "$prefix"
"$prefix/bin/crowdfold" --version
printf 'task,worker,label\nt1,w1,yes\nt1,w2,yes\nt1,w3,no\n' | "$prefix/bin/crowdfold" aggregate - --quiet |
  grep "^t1,yes," >/dev/null || { step "the installed program gives a wrong answer" >&2; exit 1; }

step "build and run the example by CMake"
quietly cmake -S "$examples" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
quietly cmake --build "$work/cmake"
"$work/cmake/first_steps" | tee "$work/by_cmake.txt"

step "build and run it by pkg-config"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name crowdfold.pc)")
read -r -a flags <<<"$(pkg-config --static --cflags --libs crowdfold)"
quietly "${CXX:-c++}" -std=c++20 -O2 "$examples/first_steps.cc" -o "$work/first_steps" "${flags[@]}"
"$work/first_steps" >"$work/by_pkg_config.txt"

cmp "$work/by_cmake.txt" "$work/by_pkg_config.txt"
step "both print the same: passed"
