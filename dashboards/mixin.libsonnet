// Dashboards, alerts and Alertmanager's configuration, from one config. Alerts need no library; dashboards need grafonnet.
(import 'config.libsonnet') +
(import '../alerts/alerts.libsonnet') +
(import '../alerts/alertmanager.libsonnet') +
(import 'dashboards.libsonnet')
