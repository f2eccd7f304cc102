// The same rules as rules.yaml, as a resource of the Prometheus Operator. `config` goes over everything else.
function(config={})
  local mixin =
    (import '../dashboards/config.libsonnet') + (import 'alerts.libsonnet') + (import 'site.libsonnet') + { _config+:: config };
  (import 'yaml.libsonnet').document({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'tenure', labels: { 'app.kubernetes.io/part-of': 'tenure' } },
    spec: mixin.prometheusAlerts,
  })
