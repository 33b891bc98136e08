#!/usr/bin/env bash
# A newcomer's path with the time of each step: clone and compile, the demo, a table of their own, a report, a plan,
# a synthetic table.
#
#   bash benches/newcomer.sh [REPOSITORY]       a fresh clone of it, compiled in an environment of its own
#   bash benches/newcomer.sh --here             what is built in this folder: the steps without the compilation
#
# A clone stays in a temporary folder until all is timed, and is removed then.
set -euo pipefail

repository=${1:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
started=$SECONDS

step() {
    local name=$1 before
    shift
    before=$(date +%s.%N)
    "$@" > "$work/log" 2>&1 || { cat "$work/log"; echo "failed: $name"; exit 1; }
    awk -v name="$name" -v before="$before" -v now="$(date +%s.%N)" 'BEGIN { printf "%-44s %7.1f s\n", name, now - before }'
}

if [ "$repository" = --here ]; then
    clone=$PWD
else
    step "clone" git clone --quiet "$repository" "$work/clone"
    clone=$work/clone
fi
cd "$clone"
step "make demo: compile, and a first release" make demo
if [ "$repository" != --here ]; then
    # As the message of the first command that needs it says: the libraries of the extras "plots" and "models".
    step "install matplotlib and scikit-learn" "$clone/.venv/bin/python" -m pip install --quiet matplotlib scikit-learn
fi
program=$clone/.venv/bin/simplexdp
cd "$work"

"$clone/.venv/bin/python" - << 'END'
"""Write a table such as somebody brings along, and its public domains."""
import csv
import json
import random

random.seed(5)
with open("people.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["job", "region", "age"])
    for _ in range(5000):
        rows.writerow([random.choice(["clerk", "nurse", "smith"]), random.choice(["north", "south"]), random.randint(18, 80)])
domains = {"job": ["clerk", "nurse", "smith"], "region": ["north", "south"], "age": {"bins": 6, "bounds": [18, 90]}}
with open("domains.json", "w") as file:
    json.dump(domains, file)
END

budget=(--epsilon 1 --delta 1e-6)
step "plan a histogram: which epsilon" "$program" plan histogram --n 5000 --domains 3
step "release their own table, with a report" \
    "$program" release people.csv --column job --domain clerk,nurse,smith "${budget[@]}" --report report.html
step "a synthetic table, with its quality" \
    "$program" synthesize people.csv --domains domains.json "${budget[@]}" --out synthetic.csv --report quality.html
step "a model and its card" \
    "$program" fit-synth people.csv --domains domains.json "${budget[@]}" --out model.json --card card.html
for made in report.html report.html.json synthetic.csv quality.html card.html card.html.json; do
    [ -s "$made" ] || { echo "nothing was written to $made"; exit 1; }
done
echo "all together: $((SECONDS - started)) s"
