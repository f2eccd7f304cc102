// The alerting rules, without grafonnet: `prometheusAlerts` of the mixin.
local promql = import 'promql.libsonnet';

{
  local config = self._config,
  local params = config.alerts,
  local q = promql.new(config),

  // Where an alert's link leads to.
  local dashboards = {
    election: '/d/tenure-election?var-cluster={{ $labels.%s }}&var-election={{ $labels.%s }}' %
              [config.clusterLabel, config.electionLabel],
    ensemble: '/d/tenure-ensemble?var-cluster={{ $labels.%s }}' % config.clusterLabel,
    fencing: '/d/tenure-fencing?var-cluster={{ $labels.%s }}&var-election={{ $labels.%s }}' %
             [config.clusterLabel, config.electionLabel],
    overview: '/d/tenure-overview?var-cluster={{ $labels.%s }}' % config.clusterLabel,
  },

  // How descriptions name things.
  local theElection = 'Election {{ $labels.%s }}{{ with $labels.%s }} on {{ . }}{{ end }}' %
                      [config.electionLabel, config.clusterLabel],
  local theEnsemble = 'Ensemble {{ with $labels.%s }}{{ . }}{{ else }}(no name){{ end }}' % config.clusterLabel,

  // increase() extrapolates, and 1.07 writes puzzle the reader.
  local rounded = '{{ $value | printf "%.0f" }}',

  local alert(name, dashboard, summary, description, expr, labels={}) =
    local p = params[name];
    assert std.objectHas({ critical: 0, warning: 0, info: 0 }, p.severity) : name + ': severity ' + p.severity;
    if !std.get(p, 'enabled', true) then [] else [{
      alert: name,
      expr: expr,
      'for': p['for'],
      keep_firing_for: p.keepFiringFor,
      labels: config.alertLabels + labels { severity: p.severity },
      annotations: {
        summary: summary,
        description: description,
        runbook_url: config.runbookUrl % name,
        [if config.grafanaUrl != '' then 'dashboard_url']: config.grafanaUrl + dashboards[dashboard],
      },
    }],

  // A group takes twenty rules: Prometheus evaluates those of a group one after another.
  local groups(name, rules) =
    local size = 20;
    local count = (std.length(rules) + size - 1) / size;
    [
      {
        name: if index == 0 then name else '%s-%d' % [name, index + 1],
        rules: rules[index * size:(index + 1) * size],
      }
      for index in std.range(0, std.floor(count) - 1)
    ],

  local elections =
    alert(
      'FrequentElections',
      'election',
      'The leadership of an election changes hands too often.',
      theElection + ' changed leaders {{ $value | humanize }} times in %s.' % params.FrequentElections.window,
      local p = params.FrequentElections;
      |||
        changes(
          (max by (%(election)s) (max_over_time(%(term)s[%(bridge)s])))[%(window)s:%(step)s]
        )
        > on (%(election)s)
        clamp_max(
          %(base)s + %(perCandidate)s * (
            max by (%(election)s) (max_over_time(%(candidates)s[%(window)s]))
            or
            count by (%(election)s) (%(status)s)
          ),
          %(most)s
        )
      ||| % q.words(p) {
        election: q.election,
        term: q.metric('term'),
        candidates: q.metric('candidates'),
        status: q.metric('leader_status'),
      }
    )
    + alert(
      'NoLeader',
      'election',
      'Nobody leads an election that is not paused.',
      theElection + ' has had no leader for longer than %s.' % params.NoLeader['for'],
      // A leader of another library exports nothing of ours: whoever waits behind it says that it is there.
      |||
        max by (%(election)s) (%(status)s) == 0
        unless
        max by (%(election)s) (%(paused)s) == 1
        unless
        max by (%(election)s) (%(foreign)s) == 1
      ||| % {
        election: q.election,
        status: q.metric('leader_status'),
        paused: q.metric('paused'),
        foreign: q.metric('foreign_leader'),
      }
    )
    + alert(
      'TwoLeadersSameTerm',
      'election',
      'Two processes lead one election at one and the same term.',
      '{{ $value | humanize }} processes lead at the newest term of election {{ $labels.%s }}{{ with $labels.%s }} on {{ . }}{{ end }}.' %
      [config.electionLabel, config.clusterLabel],
      |||
        count by (%(election)s) (
          %(status)s == 1
          and on (%(member)s)
          (%(term)s == on (%(election)s) group_left () %(newest)s)
        ) > 1
      ||| % {
        election: q.election,
        member: q.member,
        status: q.metric('leader_status'),
        term: q.metric('term'),
        newest: q.newestTerm,
      }
    )
    + alert(
      'StaleLeaderLingers',
      'election',
      'A process still calls itself leader although a newer term has begun.',
      '{{ $labels.%s }} still calls itself leader of {{ $labels.%s }} at an older term.' %
      [config.instanceLabel, config.electionLabel],
      |||
        %(status)s == 1
        and on (%(member)s)
        (%(term)s < on (%(election)s) group_left () %(newest)s)
      ||| % {
        election: q.election,
        member: q.member,
        status: q.metric('leader_status'),
        term: q.metric('term'),
        newest: q.newestTerm,
      }
    )
    + alert(
      'NoStandby',
      'election',
      'An election has too few candidates to survive the loss of its leader.',
      theElection + ' has {{ $value | humanize }} candidates, fewer than %s.' % q.number(params.NoStandby.least),
      local p = q.words(params.NoStandby);
      'max by (%s) (%s) < %s\n' % [
        q.election,
        q.metric('candidates', [if p.except == '' then '' else q.label(config.electionLabel, '!~', p.except)]),
        p.least,
      ]
    )
    + alert(
      'RecoveryStuck',
      'election',
      'A new leader has not finished its recovery, so nothing is served.',
      '{{ $labels.%s }} has won {{ $labels.%s }} and not finished recovering for longer than %s.' %
      [config.instanceLabel, config.electionLabel, params.RecoveryStuck['for']],
      '%s == 1\n' % q.metric('recovering')
    )
    + alert(
      'PausedTooLong',
      'election',
      'An election has been paused for so long that it may have been forgotten.',
      theElection + ' has been paused for longer than %s.' % params.PausedTooLong['for'],
      'max by (%s) (%s) == 1\n' % [q.election, q.metric('paused')]
    )
    + alert(
      'SequenceHeadroom',
      'election',
      "A queue's counter comes near its end, where candidates are refused.",
      theElection + ' has {{ $value | humanize }} joins left.',
      'min by (%s) (%s) < %d\n' % [q.election, q.metric('sequence_headroom'), params.SequenceHeadroom.below]
    ),

  local sessions =
    alert(
      'RenewalSlow',
      'ensemble',
      'Renewals take so long that leases are at risk.',
      'The slowest renewals of {{ $labels.%s }} take {{ $value | humanizeDuration }}, more than %s %% of the session timeout.' %
      [config.instanceLabel, q.number(100 * params.RenewalSlow.ofSessionTimeout)],
      local p = params.RenewalSlow;
      |||
        histogram_quantile(%(quantile)s, sum by (le, %(process)s) (rate(%(bucket)s[%(window)s])))
        > on (%(process)s)
        %(ofSessionTimeout)s * max by (%(process)s) (max_over_time(%(timeout)s[%(window)s]))
      ||| % q.words(p) {
        process: q.process,
        bucket: q.metric('renewal_duration_seconds_bucket'),
        timeout: q.metric('session_timeout_seconds'),
      }
    )
    + alert(
      'SessionExpirations',
      'ensemble',
      'The ensemble expires sessions of a fleet, and their leaderships with them.',
      '%s sessions of job {{ $labels.%s }} expired in %s.' %
      [rounded, config.jobLabel, params.SessionExpirations.window],
      local p = params.SessionExpirations;
      local fleet = '%s, %s' % [config.clusterLabel, config.jobLabel];
      |||
        %(growth)s
        > on (%(fleet)s)
        clamp_min(
          %(ofMembers)s * count by (%(fleet)s) (count by (%(process)s) (%(timeout)s)),
          %(least)s
        )
      ||| % q.words(p) {
        growth: q.growth(fleet, 'session_expirations_total', [], p.window),
        fleet: fleet,
        process: q.process,
        timeout: q.metric('session_timeout_seconds'),
      }
    ),

  local ensemble =
    alert(
      'QuorumLost',
      'ensemble',
      'An ensemble has no quorum, so nobody can win, renew or keep a leadership.',
      theEnsemble + ' has no quorum, as all that probe it agree.',
      'max by (%s) (%s) == 0\n' % [q.ensemble, q.metric('quorum_ok')]
    )
    + alert(
      'QuorumAtRisk',
      'ensemble',
      'An ensemble loses its quorum with the next server that fails.',
      theEnsemble + ' has {{ $value | humanize }} healthy voters, just enough.',
      |||
        max by (%(ensemble)s) (%(healthy)s)
        <= on (%(ensemble)s)
        (floor(max by (%(ensemble)s) (%(voters)s > 2) / 2) + 1)
      ||| % {
        ensemble: q.ensemble,
        healthy: q.metric('quorum_voters_healthy'),
        voters: q.metric('quorum_voters'),
      }
    ),

  // Guards and tasks know no election: one resource may be written to by the leaders of several.
  local fencing =
    alert(
      'TokenRegressed',
      'fencing',
      'Tokens have gone backwards, so the leader of record is refused.',
      '{{ with $labels.resource }}Resource {{ . }} refused a leader whose lease is good{{ else }}Candidates of {{ $labels.%s }} gave up, as their tokens are lower than the last one{{ end }}: %s times in %s.' %
      [config.electionLabel, rounded, params.TokenRegressed.window],
      local p = params.TokenRegressed;
      |||
        (
          %(refused)s
          or
          %(gaveUp)s
        )
        > %(above)s
      ||| % {
        refused: q.growth(q.ensemble + ', resource', 'fence_checks_total', [q.label('outcome', '=', 'regressed')], p.window),
        gaveUp: q.growth(q.election, 'token_regressions_total', [], p.window),
        above: q.number(p.above),
      }
    )
    + alert(
      'FencedWrites',
      'fencing',
      'A guard refused writes: somebody wrote who no longer led, or without a token.',
      'Resource {{ $labels.resource }} refused %s writes ({{ $labels.outcome }}) in %s.' % [rounded, params.FencedWrites.window],
      local p = params.FencedWrites;
      '%s\n> %s\n' % [
        q.growth(q.ensemble + ', resource, outcome', 'fence_checks_total', [q.label('outcome', '=~', p.outcomes)], p.window),
        q.number(p.above),
      ]
    )
    + alert(
      'DuplicateWork',
      'election',
      'Part of a task may have been carried out twice.',
      'Job {{ $labels.%s }} began %s tasks again ({{ $labels.outcome }}) in %s.' %
      [config.jobLabel, rounded, params.DuplicateWork.window],
      local p = params.DuplicateWork;
      '%s\n> %s\n' % [
        q.growth(
          '%s, %s, outcome' % [q.ensemble, config.jobLabel],
          'tasks_duplicates_total',
          [q.label('outcome', '=~', p.outcomes)],
          p.window
        ),
        q.number(p.above),
      ]
    ),

  local expectedElection(given) = if std.isString(given) then { name: given } else given,
  local missing = std.flatMap(
    function(given)
      local election = expectedElection(given);
      alert(
        'ElectionMissing',
        'overview',
        'Nothing shows any candidate of an election that must exist.',
        'No process that is scraped takes part in election {{ $labels.%s }}.' % config.electionLabel,
        'absent(%s)\n' % q.metric('leader_status', [
          q.label(config.electionLabel, '=', election.name),
          std.get(election, 'selector', ''),
        ])
      ),
    config.elections
  ),

  local lastSuccess(matchers) = q.metric('task_last_success_timestamp_seconds', matchers),
  local overdueSummary = 'A task that only the leader runs has not succeeded in time.',
  // One of the configured tasks. Its last success may have been shown by a process that is gone, and a task that has never
  // succeeded may show none: so we ask whether the election was there long enough, and no success since.
  local configuredTask(given) =
    local selector = std.get(given, 'selector', '');
    alert(
      'TaskOverdue',
      'election',
      overdueSummary,
      'Task %s of election {{ $labels.%s }} has not succeeded for longer than %s.' %
      [given.task, config.electionLabel, given.within],
      |||
        group by (%(election)s) (present_over_time(%(status)s[10m] offset %(within)s))
        unless on (%(ensemble)s)
        (
          max by (%(ensemble)s) (max_over_time(%(success)s[%(within)s]))
          > time() - %(seconds)d
        )
      ||| % {
        election: q.election,
        ensemble: q.ensemble,
        status: q.metric('leader_status', [q.label(config.electionLabel, '=', given.election), selector]),
        success: lastSuccess([q.label('task', '=', given.task), selector]),
        within: given.within,
        seconds: seconds(given.within),
      },
      { task: given.task }
    ),
  local units = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 },
  local seconds(duration) =
    std.parseInt(std.substr(duration, 0, std.length(duration) - 1)) * units[duration[std.length(duration) - 1]],

  local overdue =
    std.flatMap(configuredTask, config.tasks)
    + (
      local p = params.TaskOverdue;
      local named = [task.task for task in config.tasks];
      if std.get(p, 'within', null) == null then [] else alert(
        'TaskOverdue',
        'election',
        overdueSummary,
        'Task {{ $labels.task }} last succeeded {{ $value | humanizeDuration }} ago.',
        |||
          time()
          - max by (%(ensemble)s, task) (max_over_time(%(success)s[%(memory)s]) > 0)
          > %(seconds)d
        ||| % {
          ensemble: q.ensemble,
          success: lastSuccess([if named == [] then '' else q.label('task', '!~', std.join('|', named))]),
          memory: p.memory,
          seconds: seconds(p.within),
        }
      )
    ),

  prometheusAlerts+:: {
    groups+:
      groups('tenure-elections', elections)
      + groups('tenure-sessions', sessions)
      + groups('tenure-ensemble', ensemble)
      + groups('tenure-fencing', fencing)
      + groups('tenure-expected-elections', missing)
      + groups('tenure-expected-tasks', overdue),
  },
}
