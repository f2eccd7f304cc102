// For `jsonnet -m`: one file for each dashboard.
((import 'config.libsonnet') + (import 'dashboards.libsonnet') + (import '../alerts/site.libsonnet')).grafanaDashboards
