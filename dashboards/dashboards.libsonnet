// The dashboards: `grafanaDashboards` of the mixin, by file name.
(import 'overview.libsonnet') +
(import 'election.libsonnet') +
(import 'ensemble.libsonnet') +
(import 'fencing.libsonnet')
