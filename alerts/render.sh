#!/usr/bin/env bash
# Renders the rules and the configurations of Prometheus and Alertmanager with the command jsonnet alone, and checks them.
#   render.sh           into alerts/out
#   render.sh DIR       into DIR, which must exist
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/out}

command -v jsonnet >/dev/null || { echo 'jsonnet is missing: install it (Debian: apt-get install jsonnet)' >&2; exit 1; }
for name in rules prometheusrule prometheus alertmanager; do
  {
    echo "# Rendered from $name.jsonnet by alerts/render.sh: change that, not this."
    jsonnet -S "$here/$name.jsonnet"
  } >"$out/$name.yaml.new"
  mv "$out/$name.yaml.new" "$out/$name.yaml"
done
if command -v promtool >/dev/null; then
  # Its syntax only: the files with tokens are where it runs.
  promtool check config --syntax-only "$out/prometheus.yaml"
  promtool check rules "$out/rules.yaml"
fi
if command -v amtool >/dev/null; then amtool check-config "$out/alertmanager.yaml"; fi
