#!/usr/bin/env bash
# A worker that `tenure run` starts when it leads, and ends before its term does:
#
#   tenure run --election settlement -- ./run.sh
#
# It finds the token of its term in its environment, and nothing else has to be known to it.
set -euo pipefail
cd "$(dirname "$0")"
trap 'echo "$TENURE_LEADER_ID has left" && exit' TERM INT

echo "$TENURE_LEADER_ID leads: token $TENURE_TOKEN"
while true; do
  ./ledger.sh "$TENURE_TOKEN" "$TENURE_LEADER_ID" | sed "s/^/$TENURE_LEADER_ID /"
  sleep 0.1
done
