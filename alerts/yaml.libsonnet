// Writes the YAML that Prometheus and Alertmanager read. (std.manifestYamlDoc takes eleven seconds for our rules, and quotes keys.)
{
  local scalar(value) =
    if std.isString(value) then "'" + std.strReplace(value, "'", "''") + "'" else std.toString(value),

  local lines(object) =
    std.flatMap(function(key) entry(key + ':', object[key]), std.objectFields(object)),

  // `- ` before the first line, and room for it before the others.
  local item(all) = ['- ' + all[0]] + ['  ' + line for line in all[1:]],

  local indented(all) = ['  ' + line for line in all],

  local entry(key, value) =
    if std.isString(value) && std.endsWith(value, '\n') then
      [key + ' |'] + indented(std.split(std.substr(value, 0, std.length(value) - 1), '\n'))
    else if std.isObject(value) then [key] + indented(lines(value))
    else if std.isArray(value) && std.length(value) > 0 then
      [key] + indented(std.flatMap(
        function(one) if std.isObject(one) then item(lines(one)) else ['- ' + scalar(one)], value
      ))
    else if std.isArray(value) then [key + ' []']
    else [key + ' ' + scalar(value)],

  // An object, at any depth: no empty objects, no lists right within lists.
  document(value):: std.join('\n', lines(value)) + '\n',
}
