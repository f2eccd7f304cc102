#!/usr/bin/env bash
# Whether what `docker compose up --wait` started works from end to end: somebody leads, Prometheus sees everything and has the
# rules, Alertmanager has its routes, Grafana its data sources and dashboards.
set -euo pipefail
cd "$(dirname "$0")/../.."
prometheus=http://127.0.0.1:9090 alertmanager=http://127.0.0.1:9093 grafana=http://127.0.0.1:3000 agent=http://127.0.0.1:2182

fetch() { curl --fail --silent --show-error --max-time 10 "$@"; }
query() { fetch --get "$prometheus/api/v1/query" --data-urlencode "query=$1" | jq -r '.data.result[0].value[1] // "none"'; }

# Asks again until the answer is right: the first scrapes come 15 s apart.
await() {
  local what=$1 wanted=$2 got=
  shift 2
  for _ in $(seq 60); do
    got=$("$@" 2>&1) || true
    [ "$got" = "$wanted" ] && { echo "ok    $what: $got"; return; }
    sleep 2
  done
  echo "wrong $what: $got instead of $wanted" >&2
  return 1
}

rules() { fetch "$prometheus/api/v1/rules" | jq '[.data.groups[].rules[]] | length'; }
receivers() { fetch "$alertmanager/api/v2/receivers" | jq -c '[.[].name] | sort'; }
dashboards() { fetch "$grafana/api/search?type=dash-db" | jq -c '[.[].uid] | sort'; }
proxied() { fetch "$grafana/api/datasources/proxy/uid/prometheus/api/v1/query?query=up" | jq -r '.status'; }
panel() { fetch "$grafana/api/dashboards/uid/tenure-overview" | jq -r '.meta.provisioned'; }
token() { fetch -H "Authorization: Bearer $(cat deploy/compose/agent-token)" "$agent/v1/elections/settlement" | jq -r '.state'; }

await 'targets that are scraped' 7 query 'count(up == 1)'
await 'leaders of settlement' 1 query 'count(leader_election_leader_status{election_name="settlement"} == 1)'
await 'the quorum' 1 query 'min(leader_election_quorum_ok)'
await 'alerting rules' "$(grep -c -- '- alert:' alerts/out/rules.yaml)" rules
await 'receivers' '["nobody","page","warn"]' receivers
await 'dashboards' '["tenure-election","tenure-ensemble","tenure-fencing","tenure-overview"]' dashboards
await 'Grafana asks Prometheus' success proxied
await 'a dashboard from a file' true panel
await 'the sidecar sees a leader' led token
