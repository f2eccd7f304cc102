// Prometheus' own configuration as YAML. `config` goes over everything else.
function(config={})
  local mixin =
    (import '../dashboards/config.libsonnet') + (import 'prometheus.libsonnet') + (import 'site.libsonnet') + { _config+:: config };
  (import 'yaml.libsonnet').document(mixin.prometheusConfig)
