// One election in depth.
local lib = import 'common.libsonnet';

{
  local config = self._config,
  local k = lib.new(config, { election: 'one' }),
  local status = k.ofElections('leader_status'),
  local p95(name, by) = 'histogram_quantile(0.95, sum by (le%s) (%s))' % [if by == '' then '' else ', ' + by, k.grown(k.ofElections(name + '_bucket'))],

  grafanaDashboards+:: {
    'tenure-election.json': k.dashboard(
      'tenure-election',
      'Tenure / Election',
      'One election: its leader and queue, its leases, its failovers, and the work that depends on it.',
      [
        k.stat({
          title: 'Leader',
          says: 'The process that holds the newest term now.',
          unit: 'short',
          text: 'name',
          queries: [k.query('max by (%s) (%s == 1)' % [k.member, status], k.instanceName, instant=true)],
        }, width=8),
        k.stat({
          title: 'Term',
          says: 'The number of the newest term. It grows by one with each election.',
          unit: 'none',
          queries: [k.query('max(%s)' % k.ofElections('term'), instant=true)],
        }),
        k.stat({
          title: 'State',
          says: 'Led, without a leader, or paused by an operator. A leader of another library is seen by those who wait behind it.',
          unit: 'short',
          mappings: [[0, 'no leader', 'red'], [1, 'led', 'green'], [2, 'paused', 'orange'], [3, 'draining', 'yellow'], [4, 'led by another library', 'blue'], [6, 'paused, led by another library', 'orange']],
          runbook: 'NoLeader',
          queries: [k.query(
            'max(%s) + (2 * max(%s) or vector(0)) + (4 * max(%s) or vector(0))' % [status, k.ofElections('paused'), k.ofElections('foreign_leader')],
            instant=true
          )],
        }),
        k.stat({
          title: 'Candidates now',
          says: 'The length of the queue, leader included.',
          unit: 'short',
          steps: [[null, 'red'], [1, 'orange'], [2, 'green']],
          runbook: 'NoStandby',
          queries: [k.query('max(%s)' % k.ofElections('candidates'), instant=true)],
        }),
        k.stat({
          title: 'Lease left',
          says: 'How long the leader may still act without another renewal.',
          unit: 's',
          queries: [k.query('max(%s)' % k.ofElections('lease_remaining_seconds'), instant=true)],
        }),

        k.row('Leadership'),
        k.timeline({
          title: 'What each member does',
          says: 'Leads, recovers (has won, and has not begun to serve), or waits. A long recovery serves nobody.',
          unit: 'short',
          mappings: [[0, 'waits', 'transparent'], [1, 'leads', 'green'], [2, 'recovers', 'yellow']],
          runbook: 'RecoveryStuck',
          queries: [k.query(
            'max by (%(member)s) (%(status)s) + (max by (%(member)s) (%(recovering)s) or 0 * max by (%(member)s) (%(status)s))' % {
              member: k.member,
              status: status,
              recovering: k.ofElections('recovering'),
            },
            k.instanceName
          )],
        }),
        k.graph({
          title: 'Term by member',
          says: 'The newest term that each member knows. Only the leader and its successor are up to date; the others learn of it when they move up.',
          unit: 'none',
          step: true,
          runbook: 'StaleLeaderLingers',
          queries: [k.query('max by (%s) (%s)' % [k.member, k.ofElections('term')], k.instanceName)],
        }),
        k.graph({
          title: 'Queue',
          says: 'The place of each member: 1 leads or will, 0 is not in the queue.',
          unit: 'short',
          step: true,
          queries: [k.query('max by (%s) (%s)' % [k.member, k.ofElections('queue_position')], k.instanceName)],
        }),
        k.graph({
          title: 'Terms won',
          says: 'Who wins how often.',
          unit: 'short',
          bars: true,
          stack: true,
          runbook: 'FrequentElections',
          queries: [k.query('sum by (%s) (increase(%s[$__rate_interval]))' % [k.member, k.ofElections('leadership_acquired_total')], k.instanceName)],
        }),
        k.graph({
          title: 'Terms lost, by reason',
          says: 'Orderly ones are resigned, paused, transferred, held and closed. Expired leases and sessions are not, and a node that is gone was deleted by somebody.',
          unit: 'short',
          bars: true,
          stack: true,
          runbook: 'FrequentElections',
          queries: [k.query('sum by (reason) (increase(%s[$__rate_interval]))' % k.ofElections('leadership_lost_total'), '{{reason}}')],
        }),

        k.row('Leases'),
        k.heatmap({
          title: 'Renewal round trips',
          says: 'Renewals of the processes that take part, by how long the quorum took to confirm them. A leader hesitates after half a lease without one.',
          unit: 's',
          runbook: 'RenewalSlow',
          queries: [k.query(
            'sum by (le) %s' % k.ofParticipants('increase(%s[$__rate_interval])' % k.ofProcesses('renewal_duration_seconds_bucket')),
            '{{le}}',
            format='heatmap'
          )],
        }),
        k.graph({
          title: 'Lease remaining',
          says: 'What remains of the lease when it is scraped. It is renewed ten times in a session timeout, so it should stay near its full length.',
          unit: 's',
          queries: [k.query('max by (%s) (%s) > 0' % [k.member, k.ofElections('lease_remaining_seconds')], k.instanceName)],
        }),
        k.graph({
          title: 'Failed renewals, by error',
          says: 'Renewals of the processes that take part that were not confirmed.',
          unit: 'short',
          bars: true,
          stack: true,
          runbook: 'RenewalSlow',
          queries: [k.query('sum by (error_type) %s' % k.ofParticipants(k.grown(k.ofProcesses('renewal_failures_total'))), '{{error_type}}')],
        }),
        k.graph({
          title: 'Suspect episodes, by reason',
          says: 'Times that the leader could not vouch for its lease and stopped writing.',
          unit: 'short',
          bars: true,
          stack: true,
          queries: [k.query('sum by (reason) (increase(%s[$__rate_interval]))' % k.ofElections('suspect_episodes_total'), '{{reason}}')],
        }),
        k.graph({
          title: 'Process pauses',
          says: 'Time that the processes that take part stood still while they led: garbage collection, a throttled CPU, a suspended machine.',
          unit: 's',
          bars: true,
          runbook: 'SessionExpirations',
          queries: [k.query(
            'sum by (%s) %s' % [k.process, k.ofParticipants(k.grown(k.ofProcesses('process_pause_duration_seconds_sum')))],
            k.instanceName
          )],
        }),
        k.graph({
          title: 'Clock jumps, by direction',
          says: 'Jumps of the wall clock, noticed while leading. They hint at somebody who sets clocks, or at a restored snapshot.',
          unit: 'short',
          bars: true,
          queries: [k.query('sum by (direction) %s' % k.ofParticipants('increase(%s[$__rate_interval])' % k.ofProcesses('clock_jumps_total')), '{{direction}}')],
        }),

        k.row('Failovers'),
        k.graph({
          title: 'Failover duration, by cause',
          says: 'Time without a leader as the winner saw it, 95th percentile. resigned and died (the lifeline told of it) take milliseconds; vanished takes about a session timeout.',
          unit: 's',
          points: true,
          queries: [k.query(p95('failover_duration_seconds', 'cause'), '{{cause}}')],
        }),
        k.graph({
          title: 'Failovers, by cause',
          says: 'How the terms before ended.',
          unit: 'short',
          bars: true,
          stack: true,
          runbook: 'FrequentElections',
          queries: [k.query('sum by (cause) (%s)' % k.grown(k.ofElections('failover_duration_seconds_count')), '{{cause}}')],
        }),
        k.graph({
          title: 'Patience and recovery',
          says: 'What the 95th percentile of takeovers spends on waiting for an old lease to end, and then on its recover stage.',
          unit: 's',
          points: true,
          runbook: 'RecoveryStuck',
          queries: [
            k.query(p95('patience_duration_seconds', ''), 'patience'),
            k.query(p95('recovery_duration_seconds', ''), 'recovery'),
          ],
        }),
        k.graph({
          title: 'Campaigns, by outcome',
          says: 'Campaigns that ended: won, aborted by their process, or failed.',
          unit: 'short',
          bars: true,
          stack: true,
          queries: [k.query('sum by (outcome) (%s)' % k.grown(k.ofElections('election_duration_seconds_count')), '{{outcome}}')],
        }),
        k.graph({
          title: 'Tokens that went backwards',
          says: 'Campaigns given up because their token would not have exceeded the last one: the ensemble was restored or rebuilt without raising the fence.',
          unit: 'short',
          bars: true,
          runbook: 'TokenRegressed',
          queries: [k.query('sum by (%s) (increase(%s[$__rate_interval]))' % [k.member, k.ofElections('token_regressions_total')], k.instanceName)],
        }),
        k.graph({
          title: 'Joins left',
          says: "Candidates that the queue can still number before ZooKeeper's counter ends.",
          unit: 'short',
          runbook: 'SequenceHeadroom',
          queries: [k.query('min(%s)' % k.ofElections('sequence_headroom'), 'joins')],
        }),

        k.row('Work'),
        k.graph({
          title: 'Fence checks, by outcome',
          says: 'What guards said to the processes that take part: accepted, stale, regressed, missing. See the dashboard Fencing for each resource.',
          unit: 'cps',
          runbook: 'FencedWrites',
          queries: [k.query('sum by (outcome) %s' % k.ofParticipants('rate(%s[$__rate_interval])' % k.ofProcesses('fence_checks_total')), '{{outcome}}')],
        }),
        k.graph({
          title: 'Tasks asked for again, by outcome',
          says: 'Suppressed: the effect was there already, and was not repeated. Executed: it had been left unfinished, and part of it may have happened twice.',
          unit: 'short',
          bars: true,
          runbook: 'DuplicateWork',
          queries: [k.query('sum by (outcome) %s' % k.ofParticipants('increase(%s[$__rate_interval])' % k.ofProcesses('tasks_duplicates_total')), '{{outcome}}')],
        }),
        k.graph({
          title: 'Time since the last success of tasks',
          says: 'For each scheduled task of the processes that take part. A saw that ceases to fall is a task that ceases to succeed.',
          unit: 's',
          runbook: 'TaskOverdue',
          queries: [k.query(
            'time() - max by (%s, task) %s' % [config.clusterLabel, k.ofParticipants('(%s > 0)' % k.ofProcesses('task_last_success_timestamp_seconds'))],
            '{{task}}'
          )],
        }, width=24),
      ]
    ),
  },
}
