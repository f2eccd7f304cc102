// Prometheus' configuration: `prometheusConfig` of the mixin. docker-compose.yml mounts what this renders to, and the
// stack on one machine renders it with addresses and intervals of its own.
{
  _config+:: {
    prometheus: {
      // Scrapes and evaluations. Every `for` is at least a minute and at least two of these.
      every: '15s',
      // The label `cluster` of all targets: which ensemble.
      cluster: 'demo',
      alertmanagers: ['alertmanager:9093'],
      // By job, the label `instance` and the address of each target.
      jobs: {
        agent: { agent: 'agent:2182' },
        worker: { ['worker-%d' % n]: 'worker-%d:9464' % n for n in [1, 2, 3] },
        zookeeper: { ['zookeeper-%d' % n]: 'zookeeper-%d:7000' % n for n in [1, 2, 3] },
      },
      // By job, the file with the token that its targets ask for, where they do.
      tokenFiles: { agent: '/run/secrets/agent-token' },
    },
  },

  local config = self._config,
  local prometheus = config.prometheus,

  prometheusConfig+:: {
    global: {
      scrape_interval: prometheus.every,
      scrape_timeout: prometheus.every,
      evaluation_interval: prometheus.every,
    },
    // In the same folder.
    rule_files: ['rules.yaml'],
    alerting: { alertmanagers: [{ static_configs: [{ targets: prometheus.alertmanagers }] }] },
    scrape_configs: [
      {
        job_name: job,
        [if std.objectHas(prometheus.tokenFiles, job) then 'authorization']: { credentials_file: prometheus.tokenFiles[job] },
        static_configs: [
          {
            targets: [prometheus.jobs[job][name]],
            labels: { [config.instanceLabel]: name, [config.clusterLabel]: prometheus.cluster },
          }
          for name in std.objectFields(prometheus.jobs[job])
        ],
      }
      for job in std.objectFields(prometheus.jobs)
    ],
  },
}
