// ZooKeeper's servers, as Tenure probes them and as they say themselves.
local lib = import 'common.libsonnet';

{
  local config = self._config,
  local k = lib.new(config, { zookeeper: true }),
  local cluster = config.clusterLabel,
  local ensemble = '{{%s}}' % cluster,
  local perServer = '%s, server' % cluster,
  // The mean of what a summary of ZooKeeper's saw, in its milliseconds.
  local mean(name) = 'rate(%s[$__rate_interval]) / rate(%s[$__rate_interval])' % [k.ofServers(name + '_sum'), k.ofServers(name + '_count')],
  local everMean(name) = '%s / (%s > 0)' % [k.ofServers(name + '_sum'), k.ofServers(name + '_count')],
  local modes = [
    [1, 'leader', 'green'],
    [2, 'follower', 'blue'],
    [3, 'observer', 'light-blue'],
    [4, 'standalone', 'green'],
    [5, 'read-only', 'orange'],
    [6, 'looking', 'orange'],
    [7, 'unknown', 'yellow'],
    [8, 'down', 'red'],
  ],

  grafanaDashboards+:: {
    'tenure-ensemble.json': k.dashboard(
      'tenure-ensemble',
      'Tenure / Ensemble',
      'The ensemble under the elections: its quorum as Tenure probes it, and its servers as they say themselves.',
      [
        k.stat({
          title: 'Quorum',
          says: 'A leader and the followers that confirm it are a majority of the voters, as the best placed prober sees it.',
          unit: 'short',
          mappings: [[0, 'lost', 'red'], [1, 'ok', 'green']],
          runbook: 'QuorumLost',
          queries: [k.query('max by (%s) (%s)' % [cluster, k.ofProcesses('quorum_ok')], ensemble, instant=true)],
        }, width=6),
        k.stat({
          title: 'Healthy voters',
          says: 'Voters that answer the probe and serve.',
          unit: 'short',
          runbook: 'QuorumAtRisk',
          queries: [k.query('max by (%s) (%s)' % [cluster, k.ofProcesses('quorum_voters_healthy')], ensemble, instant=true)],
        }, width=6),
        k.stat({
          title: 'Voters',
          says: 'Servers that vote.',
          unit: 'short',
          queries: [k.query('max by (%s) (%s)' % [cluster, k.ofProcesses('quorum_voters')], ensemble, instant=true)],
        }, width=6),
        k.stat({
          title: 'Failures to spare',
          says: 'Servers that may still fail before the quorum is lost.',
          unit: 'short',
          steps: [[null, 'red'], [1, 'green']],
          runbook: 'QuorumAtRisk',
          queries: [k.query(
            'max by (%(cluster)s) (%(healthy)s) - floor(max by (%(cluster)s) (%(voters)s) / 2) - 1' % {
              cluster: cluster,
              healthy: k.ofProcesses('quorum_voters_healthy'),
              voters: k.ofProcesses('quorum_voters'),
            },
            ensemble,
            instant=true
          )],
        }, width=6),

        k.row('As Tenure probes it'),
        k.timeline({
          title: 'Modes',
          says: 'What each server says that it is. A server that is cut off may go on calling itself leader for a while: the quorum above is not fooled by it.',
          unit: 'short',
          mappings: modes,
          runbook: 'QuorumAtRisk',
          queries: [k.query(
            'max by (%s) (%s)' % [perServer, std.join(' or ', ['%d * %s' % [mode[0], k.ofProcesses('server_mode', 'mode="%s"' % mode[1])] for mode in modes])],
            '{{server}}'
          )],
        }),
        k.graph({
          title: 'Quorum, by prober',
          says: 'What each prober sees. One that alone sees no quorum is cut off itself.',
          unit: 'short',
          step: true,
          runbook: 'QuorumLost',
          queries: [k.query('max by (%s) (%s)' % [k.process, k.ofProcesses('quorum_ok')], k.instanceName)],
        }),
        k.graph({
          title: 'Request latency',
          says: "Mean latency of each server's requests, since its start or its last reset.",
          unit: 's',
          runbook: 'RenewalSlow',
          queries: [k.query('max by (%s) (%s)' % [perServer, k.ofProcesses('server_latency_seconds', 'stat="avg"')], '{{server}}')],
        }),
        k.graph({
          title: 'Transactions behind the leader',
          says: 'How far each server lags.',
          unit: 'short',
          queries: [k.query('max by (%s) (%s)' % [perServer, k.ofProcesses('server_zxid_lag')], '{{server}}')],
        }),
        k.graph({
          title: 'Outstanding requests',
          says: 'Requests that wait in each server. A queue that grows is a server that is overloaded.',
          unit: 'short',
          runbook: 'RenewalSlow',
          queries: [k.query('max by (%s) (%s)' % [perServer, k.ofProcesses('server_outstanding_requests')], '{{server}}')],
        }),

        k.row('What it does to sessions'),
        k.graph({
          title: 'Renewals: 99th percentile',
          says: 'How long the quorum takes to confirm a renewal, by process, and a fifth of the session timeout, where RenewalSlow warns.',
          unit: 's',
          runbook: 'RenewalSlow',
          queries: [
            k.query(
              'histogram_quantile(0.99, sum by (le, %s) (rate(%s[$__rate_interval])))' % [k.process, k.ofProcesses('renewal_duration_seconds_bucket')],
              k.instanceName
            ),
            k.query('%g * min(%s > 0)' % [config.alerts.RenewalSlow.ofSessionTimeout, k.ofProcesses('session_timeout_seconds')], 'limit'),
          ],
        }),
        k.graph({
          title: 'Sessions that expired',
          says: 'By process. Many at once are the ensemble; one process alone is that process.',
          unit: 'short',
          bars: true,
          stack: true,
          runbook: 'SessionExpirations',
          queries: [k.query('sum by (%s) (increase(%s[$__rate_interval]))' % [k.process, k.ofProcesses('session_expirations_total')], k.instanceName)],
        }),

        k.row('As its servers say themselves'),
        k.graph({
          title: 'Followers in sync',
          says: 'As the leader counts them.',
          unit: 'short',
          step: true,
          queries: [k.query(k.ofServers('synced_followers'), k.instanceName)],
        }),
        k.graph({
          title: 'Time to write the log to disk',
          says: 'Mean time of an fsync of the transaction log. Every write waits for it, on a majority of servers: the first suspect when renewals are slow.',
          unit: 'ms',
          runbook: 'RenewalSlow',
          queries: [k.query(mean('fsynctime'), k.instanceName)],
        }),
        k.graph({
          title: 'Update latency',
          says: 'Mean time from the arrival of a write to its answer.',
          unit: 'ms',
          runbook: 'RenewalSlow',
          queries: [k.query(mean('updatelatency'), k.instanceName)],
        }),
        k.graph({
          title: "Elections among ZooKeeper's servers",
          says: 'Mean time of the elections of the ensemble itself, since each server started. Nothing can be written meanwhile.',
          unit: 'ms',
          queries: [k.query(everMean('election_time'), k.instanceName)],
        }),
        k.graph({
          title: 'Searches for a leader',
          says: 'Times that each server went looking for the leader of the ensemble.',
          unit: 'short',
          bars: true,
          runbook: 'QuorumLost',
          queries: [k.query('increase(%s[$__rate_interval])' % k.ofServers('looking_count'), k.instanceName)],
        }),
        k.graph({
          title: 'Proposals and commits',
          says: 'Writes that the leader proposed, and that each server committed, per second.',
          unit: 'ops',
          queries: [
            k.query('rate(%s[$__rate_interval])' % k.ofServers('proposal_count'), k.instanceName + ' proposed'),
            k.query('rate(%s[$__rate_interval])' % k.ofServers('commit_count'), k.instanceName + ' committed'),
          ],
        }),
        k.graph({
          title: 'Connections',
          says: 'Open connections of clients, by server.',
          unit: 'short',
          queries: [k.query(k.ofServers('num_alive_connections'), k.instanceName)],
        }),
        k.graph({
          title: 'Sessions, ephemeral nodes and all nodes',
          says: 'Each candidate is one ephemeral node, and so is each session that leads.',
          unit: 'short',
          queries: [
            k.query('max(%s)' % k.ofServers('global_sessions'), 'sessions'),
            k.query('max(%s)' % k.ofServers('ephemerals_count'), 'ephemeral'),
            k.query('max(%s)' % k.ofServers('znode_count'), 'all'),
          ],
        }),
        k.graph({
          title: 'Watches',
          says: 'Watches that each server keeps: a few for each candidate, whatever the length of the queue.',
          unit: 'short',
          queries: [k.query(k.ofServers('watch_count'), k.instanceName)],
        }),
        k.graph({
          title: 'Requests that wait',
          says: 'As each server counts them.',
          unit: 'short',
          runbook: 'RenewalSlow',
          queries: [k.query(k.ofServers('outstanding_requests'), k.instanceName)],
        }),
        k.graph({
          title: 'Pauses of the virtual machine',
          says: 'Time that garbage collection and other pauses took, by server, where jvm.pause.monitor is on.',
          unit: 'ms',
          bars: true,
          queries: [k.query('increase(%s[$__rate_interval])' % k.ofServers('jvm_pause_time_ms_sum'), k.instanceName)],
        }),
        k.graph({
          title: 'Refused and dropped connections',
          says: 'Connections that servers rejected or dropped.',
          unit: 'short',
          bars: true,
          stack: true,
          queries: [
            k.query('increase(%s[$__rate_interval])' % k.ofServers('connection_rejected'), k.instanceName + ' rejected'),
            k.query('increase(%s[$__rate_interval])' % k.ofServers('connection_drop_count'), k.instanceName + ' dropped'),
          ],
        }),
      ]
    ),
  },
}
