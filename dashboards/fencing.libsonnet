// Accepted and refused writes by resource: whether the guards have work.
local lib = import 'common.libsonnet';

{
  local config = self._config,
  local k = lib.new(config, { resource: true }),
  local checks(outcome='') = k.ofProcesses('fence_checks_total', 'resource=~"$resource"' + (if outcome == '' then '' else ', outcome=~"%s"' % outcome)),


  grafanaDashboards+:: {
    'tenure-fencing.json': k.dashboard(
      'tenure-fencing',
      'Tenure / Fencing',
      'What the guards of resources accepted and refused.',
      [
        k.stat({
          title: 'Accepted in the last hour',
          says: 'Writes with a token that is not lower than the highest one accepted before.',
          unit: 'short',
          queries: [k.query('round(sum(increase(%s[1h])))' % checks('accepted'), instant=true)],
        }, width=6),
        k.stat({
          title: 'Stale in the last hour',
          says: 'Writes of somebody who no longer led, refused. The guard did its work; somebody tried.',
          unit: 'short',
          steps: [[null, 'green'], [0.5, 'orange']],
          runbook: 'FencedWrites',
          queries: [k.query('round(sum(increase(%s[1h])))' % checks('stale'), instant=true)],
        }, width=6),
        k.stat({
          title: 'Missing in the last hour',
          says: 'Writes without a token, refused: somebody writes past the election.',
          unit: 'short',
          steps: [[null, 'green'], [0.5, 'orange']],
          runbook: 'FencedWrites',
          queries: [k.query('round(sum(increase(%s[1h])))' % checks('missing'), instant=true)],
        }, width=6),
        k.stat({
          title: 'Regressed in the last hour',
          says: 'Writes of a leader whose lease is good, refused: tokens went backwards.',
          unit: 'short',
          steps: [[null, 'green'], [0.5, 'red']],
          runbook: 'TokenRegressed',
          queries: [k.query('round(sum(increase(%s[1h])))' % checks('regressed'), instant=true)],
        }, width=6),

        k.row('By resource'),
        k.table({
          title: 'Checks by resource',
          says: 'Everything that was checked in the selected time.',
          unit: 'short',
          columns: { resource: 'Resource', outcome: 'Outcome', Value: 'Checks' },
          queries: [k.query('round(sum by (resource, outcome) (increase(%s[$__range])))' % checks(), instant=true, format='table')],
        }),
        k.graph({
          title: 'Accepted writes',
          says: 'Writes per second, by resource.',
          unit: 'cps',
          queries: [k.query('sum by (resource) (rate(%s[$__rate_interval]))' % checks('accepted'), '{{resource}}')],
        }),
        k.graph({
          title: 'Refused writes',
          says: 'By resource and outcome.',
          unit: 'short',
          bars: true,
          stack: true,
          runbook: 'FencedWrites',
          queries: [k.query('sum by (resource, outcome) (increase(%s[$__rate_interval]))' % checks('stale|regressed|missing'), '{{resource}} {{outcome}}')],
        }),
        k.graph({
          title: 'Who is refused',
          says: 'Refusals by the process that counts them: the one that wrote, or the server that guards.',
          unit: 'short',
          bars: true,
          stack: true,
          runbook: 'FencedWrites',
          queries: [k.query('sum by (%s, outcome) (increase(%s[$__rate_interval]))' % [k.process, checks('stale|regressed|missing')], '%s {{outcome}}' % k.instanceName)],
        }),
        k.graph({
          title: 'Share of refused writes',
          says: 'Of all checks, by resource.',
          unit: 'percentunit',
          queries: [k.query(
            'sum by (resource) (rate(%s[$__rate_interval])) / sum by (resource) (rate(%s[$__rate_interval]))' % [checks('stale|regressed|missing'), checks()],
            '{{resource}}'
          )],
        }),
      ]
    ),
  },
}
