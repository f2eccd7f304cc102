// Everything that a site may want to change, for dashboards and alerts alike. Override it from outside:
//   (import 'mixin.libsonnet') + { _config+:: { selector: 'job="payments"', elections: ['settlement'] } }
{
  _config+:: {
    // Restricts every query on Tenure's metrics, in dashboards and alerts, by labels of scrape targets:
    // 'job=~"payments|ledger"'. Empty: all of them.
    selector: '',
    // The same for the metrics of ZooKeeper's own servers, which only the dashboards use.
    zookeeperSelector: '',

    // Names of labels. `cluster` says which ensemble: two elections with one name on two ensembles must differ in it.
    // Where there is only one ensemble, nothing needs to set it.
    clusterLabel: 'cluster',
    jobLabel: 'job',
    instanceLabel: 'instance',
    electionLabel: 'election_name',

    // What Tenure's metric names begin with.
    prefix: 'leader_election_',

    // `%s` is the alert's name.
    runbookUrl: 'https://runbooks.example.com/tenure/%s.md',
    // Where Grafana is, for the links in alerts. Empty: alerts carry no such link.
    grafanaUrl: 'https://grafana.example.com',

    // Elections that must exist: one rule each (ElectionMissing), because absent() can't name what isn't there.
    // A name, or { name: 'settlement', selector: 'cluster="eu"' } where it must exist in that cluster.
    elections: [],

    // Tasks that must succeed in time: { task: 'payouts', election: 'settlement', within: '26h' }. Each gets a rule of its
    // own, which also notices one that has never succeeded. `selector` as above. Durations in one unit: 90m, 26h, 8d.
    tasks: [],

    // Labels that every alert carries beside its severity. Alertmanager's routes ask for them.
    alertLabels: { component: 'leader-election' },

    // For each alert: severity, `for`, `keepFiringFor` and what its expression is made of. `enabled: false` drops it.
    // `for` is at least a minute, and at least two scrapes: with scrapes rarer than every 30 s raise the short ones.
    alerts: {
      // More changes of the term in `window` than `base` + `perCandidate` × candidates, at most `most`. A rolling restart
      // moves the leadership once per candidate at worst. `bridge` spans the time in which nobody shows the newest term.
      FrequentElections: {
        severity: 'critical',
        'for': '1m',
        keepFiringFor: '10m',
        window: '15m',
        step: '30s',
        bridge: '2m',
        base: 2,
        perCandidate: 1,
        most: 20,
      },
      NoLeader: { severity: 'critical', 'for': '1m', keepFiringFor: '2m' },
      TwoLeadersSameTerm: { severity: 'critical', 'for': '1m', keepFiringFor: '10m' },
      // Outlasts NoLeader, which it silences: else that would page in between, when the quorum is back.
      QuorumLost: { severity: 'critical', 'for': '1m', keepFiringFor: '5m' },
      TokenRegressed: { severity: 'critical', 'for': '1m', keepFiringFor: '10m', window: '15m', above: 0 },
      // `within` is for tasks that `tasks` doesn't list, null to leave those alone; `memory` is how far back to look for
      // their last success, and more than `within`.
      TaskOverdue: { severity: 'critical', 'for': '5m', keepFiringFor: '5m', within: '26h', memory: '3d' },

      StaleLeaderLingers: { severity: 'warning', 'for': '2m', keepFiringFor: '5m' },
      // The 99th percentile of renewals takes more than `ofSessionTimeout` of the session timeout.
      RenewalSlow: { severity: 'warning', 'for': '5m', keepFiringFor: '10m', window: '5m', quantile: 0.99, ofSessionTimeout: 0.2 },
      QuorumAtRisk: { severity: 'warning', 'for': '10m', keepFiringFor: '5m' },
      FencedWrites: { severity: 'warning', 'for': '1m', keepFiringFor: '10m', window: '15m', above: 0, outcomes: 'stale|missing' },
      DuplicateWork: { severity: 'warning', 'for': '1m', keepFiringFor: '10m', window: '15m', above: 0, outcomes: 'executed' },
      // More sessions of a job expired in `window` than `ofMembers` of its processes, and more than `least`.
      SessionExpirations: { severity: 'warning', 'for': '1m', keepFiringFor: '10m', window: '15m', ofMembers: 0.5, least: 2 },
      // `except` is a regular expression of elections that have one candidate on purpose.
      NoStandby: { severity: 'warning', 'for': '10m', keepFiringFor: '5m', least: 2, except: '' },
      RecoveryStuck: { severity: 'warning', 'for': '10m', keepFiringFor: '2m' },
      PausedTooLong: { severity: 'warning', 'for': '4h', keepFiringFor: '5m' },
      ElectionMissing: { severity: 'warning', 'for': '10m', keepFiringFor: '2m' },
      // Joins left before a queue's counter is too near its end: candidates are refused from a million on.
      SequenceHeadroom: { severity: 'warning', 'for': '5m', keepFiringFor: '1h', below: 100000000 },
    },

    // How long a process that was out of sight is still known: its counters are not new when it comes back.
    counterMemory: '1h',

    alertmanager: {
      // Where pages and warnings go. Any other kind of receiver can take the place of a webhook: see docs/observability.md.
      receivers: {
        page: { webhook_configs: [{ url: 'http://127.0.0.1:9099/page', send_resolved: true }] },
        warn: { webhook_configs: [{ url: 'http://127.0.0.1:9099/warn', send_resolved: true }] },
      },
      page: { group_wait: '10s', group_interval: '1m', repeat_interval: '1h' },
      warn: { group_wait: '1m', group_interval: '5m', repeat_interval: '12h' },
      // Planned maintenance, as Alertmanager's time intervals. Nothing that `neverMuted` lists is muted by it.
      maintenance: [{ weekdays: ['sunday'], times: [{ start_time: '02:00', end_time: '04:00' }], location: 'UTC' }],
      neverMuted: ['TwoLeadersSameTerm', 'TokenRegressed'],
      // What silences, what it silences, and what both must be about: the same ensemble, election or resource. Nothing
      // silences a page about two leaders or tokens.
      inhibitions: [
        // Without a quorum nobody can win, renew or prove anything, and work stands still: one page says it.
        {
          source: ['QuorumLost'],
          target: [
            'NoLeader',
            'FrequentElections',
            'TaskOverdue',
            'QuorumAtRisk',
            'StaleLeaderLingers',
            'RenewalSlow',
            'SessionExpirations',
            'NoStandby',
            'RecoveryStuck',
            'PausedTooLong',
          ],
          on: 'ensemble',
        },
        // Nobody can lead with a token that has gone backwards, and its writes are refused.
        { source: ['TokenRegressed'], target: ['NoLeader'], on: 'election' },
        { source: ['TokenRegressed'], target: ['FencedWrites'], on: 'resource' },
        // Two at the newest term are more than one that is left behind.
        { source: ['TwoLeadersSameTerm'], target: ['StaleLeaderLingers'], on: 'election' },
        // Nobody leads: that nobody waits either is part of it.
        { source: ['NoLeader'], target: ['NoStandby'], on: 'election' },
      ],
    },
  },
}
