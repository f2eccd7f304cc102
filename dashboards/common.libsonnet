// What the dashboards have in common: variables, selectors, panels, links, annotations.
local g = import 'github.com/grafana/grafonnet/gen/grafonnet-v11.4.0/main.libsonnet';

{
  // `config` is the mixin's; `options` says which variables the dashboard has: { election: 'one' | 'many' | null, resource: bool,
  // zookeeper: bool }.
  new(config, options={}):: {
    local common = self,
    local c = config,
    local o = { election: null, resource: false, zookeeper: false } + options,
    local join(matchers) = std.join(', ', std.filter(function(matcher) matcher != '', matchers)),

    // What every selector has.
    local target = join([
      '%s=~"$cluster"' % c.clusterLabel,
      '%s=~"$job"' % c.jobLabel,
      '%s=~"$instance"' % c.instanceLabel,
    ]),
    local ofElection = if o.election == null then '' else '%s=~"$election"' % c.electionLabel,

    /// Lists of labels.
    election: '%s, %s' % [c.clusterLabel, c.electionLabel],
    process: '%s, %s, %s' % [c.clusterLabel, c.jobLabel, c.instanceLabel],
    member: '%s, %s, %s, %s' % [c.clusterLabel, c.electionLabel, c.jobLabel, c.instanceLabel],
    /// In a legend.
    electionName: '{{%s}}' % c.electionLabel,
    instanceName: '{{%s}}' % c.instanceLabel,

    /// A metric of elections; of processes and what they guard; of ZooKeeper's own servers.
    ofElections(name, more=''): '%s%s{%s}' % [c.prefix, name, join([c.selector, target, ofElection, more])],
    ofProcesses(name, more=''): '%s%s{%s}' % [c.prefix, name, join([c.selector, target, more])],
    ofServers(name, more=''): '%s{%s}' % [name, join([c.zookeeperSelector, target, more])],
    /// The same, of the processes that take part in the election that is shown.
    ofParticipants(expr): '(%s and on (%s) %s)' % [expr, common.process, common.ofElections('leader_status')],

    /// What a counter has grown by in the interval that is shown. increase() is blind to the first value of a counter that is born with
    /// it, as histograms and counts of errors are: most processes see one failover of a kind, if any, and it would never be
    /// shown. So that value counts where the process was there before the counter.
    grown(counter):
      '(%(it)s unless last_over_time(%(it)s[10m] offset $__rate_interval) and on (%(process)s) last_over_time(%(process_info)s[10m] offset $__rate_interval) or increase(%(it)s[$__rate_interval]))' % {
        it: counter,
        process: common.process,
        process_info: common.ofProcesses('build_info'),
      },

    /// The newest term that anybody has shown, without the dips in which nobody shows it.
    newestTerm: 'max by (%s) (max_over_time(%s[2m]))' % [common.election, common.ofElections('term')],

    local variable = g.dashboard.variable,
    local datasource =
      variable.datasource.new('datasource', 'prometheus')
      + variable.datasource.generalOptions.withLabel('Data source'),
    local labelValues(name, label, of, title, all) =
      variable.query.new(name)
      + variable.query.queryTypes.withLabelValues(label, of)
      + variable.query.withDatasourceFromVariable(datasource)
      + variable.query.generalOptions.withLabel(title)
      + variable.query.refresh.onTime()
      + variable.query.withSort(1)
      + (
        if all == null then {} else
          variable.query.selectionOptions.withMulti()
          + variable.query.selectionOptions.withIncludeAll(true, all)
          + variable.query.generalOptions.withCurrent('All', '$__all')
      ),
    local within(name) = if name == 'cluster' then '' else
      join(['%s=~"$cluster"' % c.clusterLabel] + (if name == 'instance' then ['%s=~"$job"' % c.jobLabel] else [])),
    local source(name) =
      if o.zookeeper then '{%s}' % join(['__name__=~"%squorum_ok|znode_count"' % c.prefix, within(name)])
      else '%sbuild_info{%s}' % [c.prefix, join([c.selector, within(name)])],

    variables:
      [
        datasource,
        // Nothing need have this label: then the empty value is meant too.
        labelValues('cluster', c.clusterLabel, source('cluster'), 'Ensemble', '.*'),
        labelValues('job', c.jobLabel, source('job'), 'Job', '.+'),
        labelValues('instance', c.instanceLabel, source('instance'), 'Instance', '.+'),
      ]
      + (
        if o.election == null then [] else [
          labelValues(
            'election',
            c.electionLabel,
            '%sleader_status{%s}' % [c.prefix, join([c.selector, target])],
            'Election',
            if o.election == 'many' then '.+' else null
          ),
        ]
      )
      + (
        if !o.resource then [] else [
          labelValues('resource', 'resource', '%sfence_checks_total{%s}' % [c.prefix, join([c.selector, target])], 'Resource', '.+'),
        ]
      ),

    local prometheus = { type: 'prometheus', uid: '${datasource}' },

    /// A query. `instant` for what has only a present.
    query(expr, legend='__auto', instant=false, format='time_series'):
      g.query.prometheus.new('${datasource}', expr)
      + g.query.prometheus.withLegendFormat(legend)
      + g.query.prometheus.withFormat(format)
      + g.query.prometheus.withInstant(instant)
      + g.query.prometheus.withRange(!instant),

    local named(queries) = [
      queries[index] + g.query.prometheus.withRefId(std.char(std.codepoint('A') + index))
      for index in std.range(0, std.length(queries) - 1)
    ],

    // `p` = { title, says, unit, queries, runbook? }.
    local panel(kind, p, width, height) =
      kind.new(p.title)
      + kind.queryOptions.withDatasource('prometheus', '${datasource}')
      + kind.queryOptions.withTargets(named(p.queries))
      + kind.panelOptions.withDescription(p.says)
      + kind.panelOptions.withGridPos(height, width)
      + kind.standardOptions.withUnit(p.unit)
      + (
        if !std.objectHas(p, 'runbook') then {} else kind.panelOptions.withLinks([
          kind.panelOptions.link.withTitle('Runbook: ' + p.runbook)
          + kind.panelOptions.link.withUrl(c.runbookUrl % p.runbook)
          + kind.panelOptions.link.withTargetBlank(),
        ])
      )
      + std.get(p, 'with', {}),

    local steps(kind, all) =
      kind.standardOptions.thresholds.withMode('absolute')
      + kind.standardOptions.thresholds.withSteps([{ color: step[1], value: step[0] } for step in all]),

    /// [[value, text, colour], …]
    local mappings(kind, all) = kind.standardOptions.withMappings([{
      type: 'value',
      options: { [std.toString(all[index][0])]: { text: all[index][1], color: all[index][2], index: index } for index in std.range(0, std.length(all) - 1) },
    }]),

    /// One number. `steps`: [[null, 'green'], [1, 'red']]; `mappings`: [[0, 'lost', 'red'], …].
    stat(p, width=4, height=4):
      panel(g.panel.stat, p, width, height)
      + g.panel.stat.options.withReduceOptions({ calcs: ['lastNotNull'], values: false, fields: '' })
      + g.panel.stat.options.withColorMode(if std.objectHas(p, 'steps') || std.objectHas(p, 'mappings') then 'background' else 'value')
      + g.panel.stat.options.withGraphMode('none')
      + g.panel.stat.options.withTextMode(std.get(p, 'text', 'auto'))
      + (if std.objectHas(p, 'steps') then steps(g.panel.stat, p.steps) else {})
      + (if std.objectHas(p, 'mappings') then mappings(g.panel.stat, p.mappings) else {}),

    /// Lines over time; `points` for what happens seldom; `stack` for shares of a whole.
    graph(p, width=12, height=8):
      local kind = g.panel.timeSeries;
      panel(kind, p, width, height)
      + kind.options.withTooltip({ mode: 'multi', sort: 'desc' })
      + kind.options.withLegend({ displayMode: 'list', placement: 'bottom', showLegend: true })
      + kind.standardOptions.withMin(0)
      + kind.fieldConfig.defaults.custom.withLineWidth(1)
      + kind.fieldConfig.defaults.custom.withFillOpacity(if std.get(p, 'stack', false) then 40 else 5)
      + kind.fieldConfig.defaults.custom.withShowPoints(if std.get(p, 'points', false) then 'always' else 'never')
      + (if std.get(p, 'stack', false) then kind.fieldConfig.defaults.custom.stacking.withMode('normal') else {})
      + (if std.get(p, 'bars', false) then kind.fieldConfig.defaults.custom.withDrawStyle('bars') else {})
      + (if std.get(p, 'step', false) then kind.fieldConfig.defaults.custom.withLineInterpolation('stepAfter') else {}),

    /// States over time, one lane for each series.
    timeline(p, width=24, height=8):
      local kind = g.panel.stateTimeline;
      panel(kind, p, width, height)
      + kind.options.withMergeValues(true)
      + kind.options.withShowValue('auto')
      + kind.options.withRowHeight(0.8)
      + kind.options.withLegend({ displayMode: 'list', placement: 'bottom', showLegend: true })
      + mappings(kind, p.mappings),

    heatmap(p, width=12, height=8):
      local kind = g.panel.heatmap;
      panel(kind, p, width, height)
      + kind.options.withCalculate(false)
      + kind.options.yAxis.withUnit(p.unit)
      + kind.options.color.withMode('scheme')
      + kind.options.color.withScheme('Oranges'),

    /// The present, one row for each set of labels. `columns`: names by which the queries' values go.
    table(p, width=24, height=8):
      local kind = g.panel.table;
      panel(kind, p, width, height)
      + kind.queryOptions.withTransformations([
        { id: 'merge', options: {} },
        { id: 'organize', options: { excludeByName: { Time: true }, renameByName: p.columns } },
      ])
      + kind.options.withShowHeader(true)
      + kind.standardOptions.withOverrides([
        { matcher: { id: 'byName', options: name }, properties: [{ id: 'unit', value: p.units[name] }] }
        for name in std.objectFields(std.get(p, 'units', {}))
      ]),

    row(title): g.panel.row.new(title),

    // What a `with` can add.
    thresholds(kind, all): steps(kind, all),

    dashboard(uid, title, says, panels):
      g.dashboard.new(title)
      + g.dashboard.withUid(uid)
      + g.dashboard.withDescription(says)
      + g.dashboard.withTags(['tenure'])
      + g.dashboard.withEditable(false)
      + g.dashboard.withTimezone('browser')
      + g.dashboard.withRefresh('30s')
      + g.dashboard.time.withFrom('now-3h')
      + g.dashboard.time.withTo('now')
      + g.dashboard.graphTooltip.withSharedCrosshair()
      + g.dashboard.withVariables(common.variables)
      + g.dashboard.withLinks([
        g.dashboard.link.dashboards.new('Tenure', ['tenure'])
        + g.dashboard.link.dashboards.options.withAsDropdown(true)
        + g.dashboard.link.dashboards.options.withIncludeVars(true)
        + g.dashboard.link.dashboards.options.withKeepTime(true),
        g.dashboard.link.link.new('Runbooks', c.runbookUrl % 'README')
        + g.dashboard.link.link.options.withTargetBlank(true),
      ])
      // As it is: grafonnet's annotations know no PromQL.
      + {
        annotations: {
          list: [{
            name: 'Leader changes',
            datasource: prometheus,
            enable: true,
            iconColor: 'purple',
            expr: 'changes((%s)[1m:15s]) > 0' % (
              'max by (%s) (max_over_time(%s[2m]))' % [
                common.election,
                '%sterm{%s}' % [c.prefix, join([c.selector, target, ofElection])],
              ]
            ),
            step: '60s',
            titleFormat: 'New leader',
            textFormat: common.electionName,
            useValueForTime: false,
          }],
        },
      }
      // It leaves rows without a width, at the far right.
      + g.dashboard.withPanels([
        panel + (if panel.type == 'row' then { gridPos+: { x: 0, w: 24 } } else {})
        for panel in g.util.grid.wrapPanels(panels)
      ]),
  },
}
