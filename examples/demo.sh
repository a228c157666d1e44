#!/usr/bin/env bash
# What crowdfold does, shown on a simulated crowd. Usage: demo.sh [CROWDFOLD]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(realpath "${1:-$here/../build/crowdfold}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' green=$'\e[32m' plain=$'\e[0m'; else bold= green= plain=; fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
# Shows a command and runs it.
run() {
  printf '%s$ crowdfold %s%s\n' "$green" "$*" "$plain"
  "$program" "$@" 2>&1
}
show() {
  printf '%s$ head -n %s %s%s\n' "$green" "$1" "$2" "$plain"
  head -n "$1" "$2"
}

step "1. A crowd: 200 workers, 1,500 photos, five labels each. One worker in five only guesses, a few err on purpose."
run simulate --workers 200 --tasks 1500 --spammers .2 --adversaries .03 --seed 7 \
  --class-names cat,dog,fox,owl --task-prefix photo_ -o labels.csv --truth-out truth.csv
show 4 labels.csv

step "2. The truth is known here, so methods can be compared: a majority vote (mv), one, two and three passes."
run compare labels.csv --truth truth.csv --methods mv,onepass,twopass,threepass --quiet

step "3. Without the truth, as in real life: answers, the best and worst workers, the photos that need more labels."
run aggregate labels.csv -o answers.csv --workers-out workers.csv --report

step "4. What was written: an answer with its probability, and for each worker a quality with its 95 % interval."
show 4 answers.csv
show 4 workers.csv

step "5. A report to look at in a browser: one file, with what to do next in plain words."
page=$(dirname "$program")/demo-report.html
run report labels.csv --truth truth.csv -o "$page" || echo "(no report: all else works without)"

step "Now yours: build/crowdfold aggregate labels.csv --report -o answers.csv"
