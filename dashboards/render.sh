#!/usr/bin/env bash
# Renders the dashboards into out/, and writes inputs.sha256: the hashes of what they were rendered from and of what came
# out, so that a test sees, without grafonnet, whether the JSON belongs to its sources.
#   render.sh                    libraries from dashboards/vendor (jb install)
#   TENURE_VENDOR=DIR render.sh  libraries from DIR, offline
set -euo pipefail
cd "$(dirname "$0")"
vendor=${TENURE_VENDOR:-vendor}

command -v jsonnet >/dev/null || { echo 'jsonnet is missing: install it (Debian: apt-get install jsonnet)' >&2; exit 1; }
grafonnet=github.com/grafana/grafonnet/gen/grafonnet-v11.4.0/main.libsonnet
[ -e "$vendor/$grafonnet" ] || {
  echo "there is no $vendor/$grafonnet: run 'jb install' in dashboards/, or set TENURE_VENDOR to a folder that has it" >&2
  exit 1
}

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
jsonnet -J "$vendor" -m "$out" dashboards.jsonnet >/dev/null
mkdir -p out
rm -f out/*.json
mv "$out"/*.json out/
export LC_ALL=C
sha256sum *.libsonnet *.jsonnet jsonnetfile.lock.json ../alerts/site.libsonnet out/*.json >inputs.sha256
