// All elections at a glance: who leads what, and how quiet it is.
local lib = import 'common.libsonnet';

{
  local config = self._config,
  local k = lib.new(config, { election: 'many' }),
  local status = k.ofElections('leader_status'),
  local isLed = 'max by (%s) (%s)' % [k.election, status],
  local isPaused = 'max by (%s) (%s)' % [k.election, k.ofElections('paused')],
  local isForeign = 'max by (%s) (%s)' % [k.election, k.ofElections('foreign_leader')],

  grafanaDashboards+:: {
    'tenure-overview.json': k.dashboard(
      'tenure-overview',
      'Tenure / Overview',
      'Who leads what, how long nobody did, and how often that changed.',
      [
        k.stat({
          title: 'Elections',
          says: 'Elections in which the selected processes take part.',
          unit: 'short',
          queries: [k.query('count(%s)' % isLed, instant=true)],
        }),
        k.stat({
          title: 'Without a leader',
          says: 'Elections that nobody leads now, without those that are paused, or led by a candidate of another library.',
          unit: 'short',
          steps: [[null, 'green'], [1, 'red']],
          runbook: 'NoLeader',
          queries: [k.query('count(%s == 0 unless %s == 1 unless %s == 1) or vector(0)' % [isLed, isPaused, isForeign], instant=true)],
        }),
        k.stat({
          title: 'Paused',
          says: 'Elections that an operator has paused.',
          unit: 'short',
          steps: [[null, 'green'], [1, 'orange']],
          runbook: 'PausedTooLong',
          queries: [k.query('sum(%s)' % isPaused, instant=true)],
        }),
        k.stat({
          title: 'Two leaders at one term',
          says: 'Elections in which two processes call themselves leader at the newest term. Scrapes at different moments never show this.',
          unit: 'short',
          steps: [[null, 'green'], [1, 'red']],
          runbook: 'TwoLeadersSameTerm',
          queries: [k.query(
            'count(count by (%(election)s) (%(status)s == 1 and on (%(member)s) (%(term)s == on (%(election)s) group_left () max by (%(election)s) (%(term)s))) > 1) or vector(0)' % {
              election: k.election,
              member: k.member,
              status: status,
              term: k.ofElections('term'),
            },
            instant=true
          )],
        }),
        k.stat({
          title: 'Changes in the last hour',
          says: 'New terms in the last hour, all elections together. A rolling restart makes one for each candidate at most.',
          unit: 'short',
          runbook: 'FrequentElections',
          queries: [k.query('sum(changes((%s)[1h:15s]))' % k.newestTerm, instant=true)],
        }),
        k.stat({
          title: 'Quorum',
          says: 'Whether anybody who probes the ensembles sees a quorum, for each ensemble.',
          unit: 'short',
          mappings: [[0, 'lost', 'red'], [1, 'ok', 'green']],
          runbook: 'QuorumLost',
          queries: [k.query('max by (%s) (%s)' % [config.clusterLabel, k.ofProcesses('quorum_ok')], '{{%s}}' % config.clusterLabel, instant=true)],
        }),

        k.row('Leadership'),
        k.table({
          title: 'Who leads what',
          says: 'The leader of each election with its term, what remains of its lease, and how many candidates there are, as it sees them.',
          unit: 'short',
          columns: {
            [config.clusterLabel]: 'Ensemble',
            [config.electionLabel]: 'Election',
            [config.jobLabel]: 'Job',
            [config.instanceLabel]: 'Leader',
            'Value #A': 'Term',
            'Value #B': 'Lease left',
            'Value #C': 'Candidates',
          },
          units: { 'Lease left': 's' },
          local ofLeader(name) =
            'max by (%(member)s) (%(metric)s and on (%(member)s) %(status)s == 1)' % { member: k.member, metric: k.ofElections(name), status: status },
          queries: [
            k.query(ofLeader('term'), instant=true, format='table'),
            k.query(ofLeader('lease_remaining_seconds'), instant=true, format='table'),
            k.query(ofLeader('candidates'), instant=true, format='table'),
          ],
        }),
        k.timeline({
          title: 'State of each election',
          says: 'Led, without a leader, or paused. Without a leader for a scrape or two is a failover; longer is an incident.',
          unit: 'short',
          mappings: [[0, 'no leader', 'red'], [1, 'led', 'green'], [2, 'paused', 'orange'], [3, 'draining', 'yellow'], [4, 'led by another library', 'blue'], [6, 'paused, led by another library', 'orange']],
          runbook: 'NoLeader',
          queries: [k.query('%s + (2 * %s or 0 * %s) + (4 * %s or 0 * %s)' % [isLed, isPaused, isLed, isForeign, isLed], k.electionName)],
        }),
        k.timeline({
          title: 'Who leads',
          says: 'One lane for each process that leads or has led. Two green lanes of one election at once are worth a look at *Two leaders at one term*.',
          unit: 'short',
          mappings: [[0, 'waits', 'transparent'], [1, 'leads', 'green']],
          queries: [k.query(
            'max by (%s) (%s) and on (%s) max_over_time(%s[$__range]) > 0' % [k.member, status, k.member, status],
            '%s %s' % [k.electionName, k.instanceName]
          )],
        }),

        k.row('How quiet it is'),
        k.graph({
          title: 'Changes per hour',
          says: 'New terms in the hour before. FrequentElections looks at a quarter of an hour, and allows for the number of candidates.',
          unit: 'short',
          step: true,
          runbook: 'FrequentElections',
          queries: [k.query('changes((%s)[1h:15s])' % k.newestTerm, k.electionName)],
        }),
        k.graph({
          title: 'Leaderless time per hour',
          says: 'How long nobody led in the hour before, by what scrapes saw. Pauses count.',
          unit: 's',
          runbook: 'NoLeader',
          queries: [k.query('15 * sum_over_time((1 - %s)[1h:15s])' % isLed, k.electionName)],
        }),
        k.graph({
          title: 'Terms that ended, by reason',
          says: 'Why leaders ceased to lead: resigned and paused are orderly; lease_expired and session_expired are not.',
          unit: 'short',
          bars: true,
          stack: true,
          queries: [k.query('sum by (reason) (increase(%s[$__rate_interval])) > 0' % k.ofElections('leadership_lost_total'), '{{reason}}')],
        }),
        k.graph({
          title: 'Suspects, by reason',
          says: 'Times that a leader could not vouch for its lease and stopped writing for a while.',
          unit: 'short',
          bars: true,
          stack: true,
          queries: [k.query('sum by (reason) (increase(%s[$__rate_interval]))' % k.ofElections('suspect_episodes_total'), '{{reason}}')],
        }),
        k.graph({
          title: 'Expired sessions',
          says: 'Sessions that the ensemble ended, by process. Each takes its leaderships along.',
          unit: 'short',
          bars: true,
          runbook: 'SessionExpirations',
          queries: [k.query('sum by (%s) (increase(%s[$__rate_interval]))' % [k.process, k.ofProcesses('session_expirations_total')], k.instanceName)],
        }),
        k.graph({
          title: 'Candidates',
          says: 'The length of each queue, leader included, as its leader and its successor see it.',
          unit: 'short',
          step: true,
          runbook: 'NoStandby',
          queries: [k.query('max by (%s) (%s)' % [k.election, k.ofElections('candidates')], k.electionName)],
        }),
        k.graph({
          title: 'Versions',
          says: 'Processes by the version of Tenure that they run.',
          unit: 'short',
          step: true,
          stack: true,
          queries: [k.query('count by (version) (%s)' % k.ofProcesses('build_info'), '{{version}}')],
        }),
      ]
    ),
  },
}
