// Prometheus' rules as YAML. `config` goes over everything else: --tla-code 'config={selector:"job=\"x\""}'.
function(config={})
  local mixin =
    (import '../dashboards/config.libsonnet') + (import 'alerts.libsonnet') + (import 'site.libsonnet') + { _config+:: config };
  (import 'yaml.libsonnet').document(mixin.prometheusAlerts)
