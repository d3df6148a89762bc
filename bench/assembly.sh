#!/usr/bin/env bash
# Assembles one round the way a prompt would tell an agent to: a loop of grep, awk and cat.
# usage: assembly.sh ROUND_DIRECTORY VERIFIER_ENABLED   (the verified file goes to stdout)
set -eu
shopt -s nullglob
export LC_ALL=C
directory=$1
findings=("$directory"/*.finding-F*.md)
cleans=("$directory"/*.clean.md)

# A sidecar may be a `.score.md`, which the pattern of findings matches as well.
only_findings=()
for file in "${findings[@]}"; do
  case $file in
    *.score.md | *.verifier.md | *.override.md) ;;
    *) only_findings+=("$file") ;;
  esac
done

field() {
  awk -v key="$1" 'index($0, key ": ") == 1 { print substr($0, length(key) + 3); exit }' "$2"
}

scored=0 dropped=0 failed=0
for finding in "${only_findings[@]}"; do
  sidecar=${finding%.md}.score.yml
  [[ -f $sidecar ]] || continue
  if grep -q '^score: VERIFY_FAILED' "$sidecar"; then
    failed=$((failed + 1))
    continue
  fi
  scored=$((scored + 1))
  score=$(field score "$sidecar")
  case $(field change_type "$finding") in
    style | clarity) bar=80 ;;
    correctness) bar=70 ;;
    *) continue ;;
  esac
  if ((score < bar)); then dropped=$((dropped + 1)); fi
done

printf '%s\n' --- "verifier_enabled: $2" "scored: $scored" \
  "kept: $((${#only_findings[@]} - dropped))" "dropped: $dropped" "failed: $failed" \
  "clean: ${#cleans[@]}" --- ''
for finding in "${only_findings[@]}"; do
  echo "<!-- @@FINDING: $(basename "$finding" .md) @@ -->"
  cat "$finding"
  sidecar=${finding%.md}.score.yml
  if [[ -f $sidecar ]]; then
    echo "<!-- @@SCORE: $(basename "$sidecar" .yml) @@ -->"
    cat "$sidecar"
  fi
done
for clean in "${cleans[@]}"; do
  echo "<!-- @@CLEAN: $(basename "$clean" .md) @@ -->"
  cat "$clean"
done
