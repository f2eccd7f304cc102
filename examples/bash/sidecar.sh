#!/usr/bin/env bash
# A worker that leads by the sidecar with curl, and writes with the token of its term until it is told to stop.
#
# A shell has no stream of events to listen to: it holds its candidacy by a time to live, and asks before each write. What it
# may do counts from when it asked, by the clock of the machine's uptime; so a shell that was paused sees that it is late.
set -euo pipefail
cd "$(dirname "$0")"

election=${ELECTION:-settlement}
worker=${WORKER:-$(hostname):$$}
url=${TENURE_URL:-http://127.0.0.1:2182}

encode() { jq -rn --arg text "$1" '$text | @uri'; }
path="$url/v1/elections/$(encode "$election")/candidacy?id=$(encode "$worker")"

# Milliseconds since the machine was started, suspension included.
now() {
  local uptime
  read -r uptime _ </proc/uptime
  echo "$((10#${uptime/./} * 10))"
}

key='' # of our candidacy; none before the first answer
ask() { # METHOD [BODY]; its answer in $answer, false when there is none that says yes
  local body=${2:-'{}'}
  answer=$(curl --silent --fail --max-time 1 --request "$1" --header 'Content-Type: application/json' \
    ${key:+--header "Candidacy-Key: $key"} --data "$body" "$path")
}
field() { jq -r ".$1" <<<"$answer"; }

leave() {
  [[ -z $key ]] || ask DELETE || true
  echo "$worker has left"
  exit
}
trap leave TERM INT

led='' # the token of our term
until_ms=0 # up to when we may act
while true; do
  sent=$(now)
  if [[ -z $key ]]; then
    if ! ask PUT '{"hold": "ttl", "ttlMs": 5000}'; then
      sleep 1
      continue
    fi
    key=$(field key)
  elif ! ask PUT; then
    # No answer, or a candidacy that has ended: what we were allowed still counts, and no more. Join anew.
    (($(now) < until_ms)) || { key='' && led=''; }
    sleep 0.2
    continue
  fi
  # The deadline counts from before the question, never from its answer.
  until_ms=$((sent + $(field mayActMs)))
  case $(field state) in
    draining | lost) # our work doesn't run: the sidecar may go on
      ask PUT '{"settled": true}' || true
      ;;
  esac
  if [[ $(field leading) != true ]]; then
    led=''
    sleep 0.5
    continue
  fi
  token=$(field token)
  [[ $led == "$token" ]] || echo "$worker leads: token $token"
  led=$token
  left=$((until_ms - $(now)))
  if ((left > 0)); then # the check: right before the write
    ./ledger.sh "$token" "$worker" "$left" | sed "s/^/$worker /" || true
  fi
  sleep 0.1
done
