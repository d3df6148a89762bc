#!/usr/bin/env bash
# A short tour in a scratch repository. Fails when a command ends otherwise than it should.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME='Ada Example' GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL

# show EXPECTED-STATUS COMMAND…
show() {
  local expected=$1 status=0
  shift
  printf '\n$ %s\n' "$*"
  "$@" || status=$?
  if [ "$status" != "$expected" ]; then
    printf 'demo: "%s" ended with %s, not with %s\n' "$*" "$status" "$expected" >&2
    exit 1
  fi
}

git init -q -b main .
git commit -q --allow-empty -m 'Start'

echo 'A new run: a folder with its settings and a first page to write.'
show 0 qrspi --root . init user-sign-in --pipeline quick --no-second-reviewer

printf '\nWhere it stands, and why. Nothing but the files is asked.\n'
show 0 qrspi status --explain

printf '\nA step out of turn is refused; nothing is changed, and the way on is named.\n'
show 3 qrspi approve questions --unreviewed --yes

printf '\nThe same answer for a program.\n'
show 0 qrspi status --json
