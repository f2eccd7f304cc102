// How our alerts say things in PromQL.
{
  // `c` is the config.
  new(c):: {
    local cluster = c.clusterLabel,
    local election = c.electionLabel,
    local q = self,
    // A text block ends with a line break, which is in the way where the text goes on.
    local block(text) = std.stripChars(text, '\n'),

    /// Lists of labels, for by (…) and on (…).
    ensemble: cluster,
    election: '%s, %s' % [cluster, election],
    process: '%s, %s, %s' % [cluster, c.jobLabel, c.instanceLabel],
    member: '%s, %s, %s, %s' % [cluster, election, c.jobLabel, c.instanceLabel],

    /// A number as PromQL takes it. (`%g` fails on 0.)
    number(value):: if value == 0 then '0' else '%g' % value,

    /// An alert's parameters, ready for a text block.
    words(params):: {
      [name]: if std.isNumber(params[name]) then q.number(params[name]) else params[name]
      for name in std.objectFields(params)
    },

    /// A metric of ours with its selector.
    metric(name, matchers=[]):
      local all = std.filter(function(matcher) matcher != '', [c.selector] + matchers);
      c.prefix + name + (if all == [] then '' else '{%s}' % std.join(', ', all)),

    label(name, operator, value): '%s%s"%s"' % [name, operator, value],

    /// What a counter has grown by, resets and births included. increase() is blind to a counter that is born with a value, and
    /// a process that dies soon after each of its events has only such counters. So its first value counts too, wherever it
    /// is certain that it is new: the process was scraped a minute before and didn't have it, or the process itself is
    /// new among those of a job that was being scraped. A counter that comes back into sight counts nothing.
    growth(by, name, matchers, window):
      local up = 'up' + (if c.selector == '' then '' else '{%s}' % c.selector);
      block(|||
        sum by (%(by)s) (
          increase(%(it)s[%(window)s])
          or
          label_replace(
            sum_over_time((
              (%(it)s unless %(it)s offset 1m)
              and on (%(process)s) (
                %(up)s offset 1m == 1
                or
                (
                  %(up)s == 1
                  unless on (%(process)s) present_over_time(%(up)s[%(memory)s] offset 1m)
                  and on (%(job)s) %(up)s offset 1m
                )
              )
            )[%(window)s:1m]),
            "part", "born", "", ""
          )
        )
      ||| % {
        by: by,
        it: q.metric(name, matchers),
        up: up,
        memory: c.counterMemory,
        window: window,
        process: q.process,
        job: '%s, %s' % [cluster, c.jobLabel],
      }),

    /// The newest term that anybody shows, one series for each election.
    newestTerm: 'max by (%s) (%s)' % [q.election, q.metric('term')],
  },
}
