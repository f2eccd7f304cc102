// Alertmanager's configuration: `alertmanagerConfig` of the mixin.
{
  local config = self._config,
  local am = config.alertmanager,
  local matcher(label, operator, value) = '%s%s"%s"' % [label, operator, value],
  local ours = [matcher(label, '=', config.alertLabels[label]) for label in std.objectFields(config.alertLabels)],
  local names(list) = matcher('alertname', '=~', std.join('|', list)),
  // Labels that both lack agree, too.
  local agreeOn = {
    ensemble: [config.clusterLabel],
    election: [config.clusterLabel, config.electionLabel],
    resource: [config.clusterLabel, 'resource'],
  },

  alertmanagerConfig+:: {
    route: {
      // What isn't ours, or has no severity that we know. A site that has an Alertmanager takes over our routes below.
      receiver: 'warn',
      group_by: ['alertname'],
      routes: [
        {
          matchers: ours,
          receiver: 'warn',
          // One notification for all that is wrong with one election; alerts on an ensemble or a fleet have no election.
          group_by: [config.clusterLabel, config.electionLabel],
          group_wait: am.warn.group_wait,
          group_interval: am.warn.group_interval,
          repeat_interval: am.warn.repeat_interval,
          routes: [
            // Safety is never planned: these page during maintenance too.
            { matchers: ['severity="critical"', names(am.neverMuted)], receiver: 'page' } + am.page,
            { matchers: ['severity="critical"'], receiver: 'page', mute_time_intervals: ['planned-maintenance'] } + am.page,
            { matchers: ['severity="warning"'], receiver: 'warn', mute_time_intervals: ['planned-maintenance'] },
            { matchers: ['severity="info"'], receiver: 'nobody' },
          ],
        },
      ],
    },
    time_intervals: [{ name: 'planned-maintenance', time_intervals: am.maintenance }],
    inhibit_rules: [
      {
        source_matchers: ours + [names(rule.source)],
        target_matchers: ours + [names(rule.target)],
        equal: agreeOn[rule.on],
      }
      for rule in am.inhibitions
    ],
    receivers: [{ name: name } + am.receivers[name] for name in std.objectFields(am.receivers)] + [{ name: 'nobody' }],
  },
}
