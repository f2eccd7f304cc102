// Runs in the browser: draws each panel's data on Grafana's grid of 24 columns. `Plot` and `d3` come from their own scripts.
/* global Plot, d3, document, given */

const COLUMN = given.width / 24;
const ROW = 25;
const COLOURS = {
  green: '#56a64b',
  red: '#e02f44',
  orange: '#ff9830',
  yellow: '#e0b400',
  blue: '#3274d9',
  'light-blue': '#8ab8ff',
  transparent: '#e9edf2',
};
const PALETTE = d3.schemeTableau10;
const colourOf = (name) => COLOURS[name] ?? name;

/** A number with its unit, as short as Grafana has it. */
function withUnit(value, unit) {
  if (!Number.isFinite(value)) return String(value);
  const short = (number) => String(Number(number.toPrecision(3)));
  if (unit === 's' || unit === 'ms') {
    const seconds = unit === 's' ? value : value / 1000;
    if (seconds === 0) return '0 s';
    if (Math.abs(seconds) < 1) return `${short(seconds * 1000)} ms`;
    if (Math.abs(seconds) < 120) return `${short(seconds)} s`;
    return Math.abs(seconds) < 7200 ? `${short(seconds / 60)} min` : `${short(seconds / 3600)} h`;
  }
  if (unit === 'percentunit') return `${short(value * 100)} %`;
  const number = unit !== 'none' && Math.abs(value) >= 10_000 ? d3.format('.3s')(value) : short(value);
  return unit === 'cps' || unit === 'ops' ? `${number}/s` : number;
}

function element(tag, text, style = '') {
  const made = document.createElement(tag);
  made.style.cssText = style;
  if (text !== undefined) made.textContent = text;
  return made;
}

const mappings = ({ fieldConfig }) => fieldConfig?.defaults?.mappings?.[0]?.options ?? {};
const mapped = (panel, value) => mappings(panel)[String(Math.round(value))];

function stat(panel, unit) {
  const box = element('div', undefined, 'display:flex;flex:1;gap:4px');
  const steps = panel.fieldConfig.defaults.thresholds?.steps ?? [];
  for (const { name, values } of panel.series) {
    const [, value] = values.at(-1) ?? [0, Number.NaN];
    const mapping = mapped(panel, value);
    const step = steps.findLast((one) => one.value === null || value >= one.value);
    const colour = colourOf(mapping?.color ?? (panel.options.colorMode === 'background' ? step?.color : undefined));
    const text = panel.options.textMode === 'name' ? name : (mapping?.text ?? withUnit(value, unit));
    box.append(
      element(
        'div',
        text,
        `flex:1;display:flex;align-items:center;justify-content:center;font-size:24px;border-radius:3px;${colour === undefined ? 'color:#3274d9' : `background:${colour};color:white`}`,
      ),
    );
  }
  return box;
}

/** Queries of one set of labels side by side, with the names that the panel gives. */
function table(panel, unit) {
  const { renameByName = {} } = panel.transformations.find(({ id }) => id === 'organize')?.options ?? {};
  const several = new Set(panel.series.map(({ refId }) => refId)).size > 1;
  const rows = new Map();
  for (const { refId, labels, values } of panel.series) {
    const key = JSON.stringify(labels);
    rows.set(key, { ...(rows.get(key) ?? labels), [several ? `Value #${refId}` : 'Value']: values[0]?.[1] });
  }
  const units = Object.fromEntries(
    (panel.fieldConfig.overrides ?? []).map(({ matcher, properties }) => [matcher.options, properties[0].value]),
  );
  const isValue = (name) => Number(name.startsWith('Value'));
  const columns = Object.entries(renameByName).sort(([a], [b]) => isValue(a) - isValue(b));
  const made = element('table', undefined, 'border-collapse:collapse;width:100%;font-size:12px');
  const line = (cells, style) => {
    const row = element('tr');
    for (const cell of cells)
      row.append(element('td', cell, `padding:3px 6px;border-bottom:1px solid #d8dde4;${style}`));
    made.append(row);
  };
  line(
    columns.map(([, title]) => title),
    'color:#3274d9',
  );
  for (const row of rows.values())
    line(
      columns.map(([name, title]) =>
        typeof row[name] === 'number' ? withUnit(row[name], units[title] ?? unit) : (row[name] ?? ''),
      ),
      '',
    );
  return made;
}

const frame = (width, height, more) => ({
  width,
  height,
  marginLeft: 52,
  marginRight: 8,
  marginTop: 6,
  marginBottom: 20,
  style: { fontSize: '9px', background: 'none', shapeRendering: 'crispEdges' },
  x: {
    type: 'time',
    domain: [new Date(given.start * 1000), new Date(given.end * 1000)],
    label: null,
    ticks: Math.max(3, Math.floor(width / 90)),
    tickFormat: d3.utcFormat('%H:%M:%S'),
  },
  ...more,
});

const points = (series) =>
  series.flatMap(({ name, values }) => values.map(([at, value]) => ({ name, at: new Date(at * 1000), value })));

/** A value that isn't there breaks the line. */
function broken(series) {
  return series.flatMap(({ name, values }) =>
    values.flatMap(([at, value], index) => {
      const point = { name, at: new Date(at * 1000), value };
      const gap = index > 0 && at - values[index - 1][0] > given.step * 1.5;
      return gap ? [{ name, at: new Date((at - given.step) * 1000), value: Number.NaN }, point] : [point];
    }),
  );
}

function graph(panel, unit, width, height) {
  const { drawStyle, stacking, lineInterpolation, showPoints } = panel.fieldConfig.defaults.custom ?? {};
  // A legend of bars that are all 0 says nothing.
  const said = panel.series.filter(({ values }) => drawStyle !== 'bars' || values.some(([, value]) => value !== 0));
  const names = [...new Set(said.map(({ name }) => name))];
  const colour = { domain: names, range: names.map((_, index) => PALETTE[index % PALETTE.length]) };
  const half = (given.step * 1000) / 2;
  const bars = {
    x1: (one) => new Date(+one.at - half),
    x2: (one) => new Date(+one.at + half),
    y: 'value',
    fill: 'name',
  };
  const curve = lineInterpolation === 'stepAfter' ? 'step-after' : 'linear';
  const data = points(said);
  const marks =
    drawStyle === 'bars'
      ? [Plot.rectY(data, bars)]
      : stacking?.mode === 'normal'
        ? [Plot.areaY(data, { x: 'at', y: 'value', fill: 'name', curve })]
        : [
            Plot.lineY(broken(panel.series), {
              x: 'at',
              y: 'value',
              z: 'name',
              stroke: 'name',
              strokeWidth: 1.3,
              curve,
            }),
          ];
  if (showPoints === 'always' && drawStyle !== 'bars')
    marks.push(Plot.dot(data, { x: 'at', y: 'value', fill: 'name', r: 1.8 }));
  const highest = d3.max(data, ({ value }) => value);
  const top = highest || 1;
  const y = { label: null, grid: true, ticks: 4, tickFormat: (value) => withUnit(value, unit), nice: true };
  // Stacks find their own top; where all is 0 there is none.
  if (!highest || (drawStyle !== 'bars' && stacking?.mode !== 'normal')) y.domain = [0, top * 1.02];
  const box = element('div');
  box.append(
    Plot.plot(frame(width, height - 16, { color: colour, y, marks: [Plot.ruleY([0], { stroke: '#aab' }), ...marks] })),
    legend(names, colour.range),
  );
  return box;
}

function legend(names, colours) {
  const box = element(
    'div',
    undefined,
    'height:14px;overflow:hidden;font-size:10px;padding-left:40px;white-space:nowrap',
  );
  names.slice(0, 10).forEach((name, index) => {
    const entry = element('span', undefined, 'margin-right:10px');
    entry.append(element('span', '━ ', `color:${colours[index]}`), name);
    box.append(entry);
  });
  return box;
}

/** One lane for each series; a new rectangle where the state changes, or isn't known for a while. */
function timeline(panel, width, height) {
  const rectangles = panel.series.flatMap(({ name, values }) => {
    const found = [];
    for (const [at, value] of values) {
      const last = found.at(-1);
      if (last !== undefined && last.value === value && at - last.end <= given.step * 1.5) last.end = at;
      else found.push({ name, value, start: at, end: at });
    }
    return found;
  });
  const shown = rectangles.map(({ name, value, start, end }) => {
    const { text = String(value), color = 'blue' } = mapped(panel, value) ?? {};
    return { name, text, colour: colourOf(color), x1: new Date(start * 1000), x2: new Date((end + given.step) * 1000) };
  });
  const roomFor = ({ x1, x2, text }) => ((x2 - x1) / ((given.end - given.start) * 1000)) * width > text.length * 6 + 6;
  const states = Object.values(mappings(panel)).filter(({ text }) => shown.some((one) => one.text === text));
  const box = element('div');
  box.append(
    Plot.plot(
      frame(width, height - 16, {
        marginLeft: 130,
        y: { type: 'band', label: null, padding: 0.2 },
        marks: [
          Plot.rect(shown, { x1: 'x1', x2: 'x2', y: 'name', fill: 'colour' }),
          Plot.text(shown.filter(roomFor), {
            x: (one) => new Date((+one.x1 + +one.x2) / 2),
            y: 'name',
            text: 'text',
            fill: (one) => (one.colour === COLOURS.transparent ? '#667' : 'white'),
          }),
        ],
      }),
    ),
    legend(
      states.map(({ text }) => text),
      states.map(({ color }) => colourOf(color)),
    ),
  );
  return box;
}

const bound = ({ labels }) => Number(labels.le.replace('+Inf', 'Infinity'));

/** Buckets are cumulative: what is in one is what the one below doesn't have. */
function heatmap(panel, unit, width, height) {
  const sorted = [...panel.series].sort((a, b) => bound(a) - bound(b));
  const cells = sorted.flatMap(({ labels, values }, index) => {
    const below = new Map(sorted[index - 1]?.values ?? []);
    return values.map(([at, value]) => ({
      le: labels.le,
      x1: new Date(at * 1000),
      x2: new Date((at + given.step) * 1000),
      count: value - (below.get(at) ?? 0),
    }));
  });
  const order = sorted.map(({ labels }) => labels.le).reverse();
  const tickFormat = (le) => (le === '+Inf' ? '∞' : withUnit(Number(le), unit));
  const marks = [
    Plot.rect(
      cells.filter(({ count }) => count > 0.05),
      { x1: 'x1', x2: 'x2', y: 'le', fill: 'count', inset: 0.3 },
    ),
  ];
  return Plot.plot(
    frame(width, height, {
      y: { type: 'band', domain: order, label: null, tickFormat },
      color: { scheme: 'Oranges' },
      marks,
    }),
  );
}

function content(panel, width, height) {
  const unit = panel.fieldConfig?.defaults?.unit ?? 'short';
  if (panel.series.every(({ values }) => values.length === 0))
    return element('div', 'No data', 'color:#99a;padding:20px');
  if (panel.type === 'stat') return stat(panel, unit);
  if (panel.type === 'table') return table(panel, unit);
  if (panel.type === 'state-timeline') return timeline(panel, width, height);
  if (panel.type === 'heatmap') return heatmap(panel, unit, width, height);
  return graph(panel, unit, width, height);
}

const header = element('div', undefined, 'height:44px;padding:6px 8px;box-sizing:border-box');
header.append(
  element(
    'div',
    `${given.title}: its panels' queries, plotted. This is not Grafana.`,
    'font-size:15px;font-weight:bold',
  ),
);
header.append(element('div', given.subtitle, 'font-size:11px;color:#667'));
document.body.append(header);
for (const panel of given.panels) {
  const { x, y, w = 24, h } = panel.gridPos;
  const at = `position:absolute;box-sizing:border-box;left:${x * COLUMN}px;top:${44 + y * ROW}px;width:${w * COLUMN}px;height:${h * ROW}px;`;
  if (panel.type === 'row') {
    document.body.append(element('div', panel.title, `${at}font-size:14px;font-weight:bold;padding:4px 8px`));
    continue;
  }
  const outer = element('div', undefined, `${at}padding:2px`);
  const inner = element(
    'div',
    undefined,
    'display:flex;flex-direction:column;height:100%;box-sizing:border-box;border:1px solid #d8dde4;border-radius:3px;padding:3px;overflow:hidden',
  );
  inner.append(element('div', panel.title, 'font-size:12px;font-weight:bold;height:17px'));
  inner.append(content(panel, w * COLUMN - 12, h * ROW - 30));
  outer.append(inner);
  document.body.append(outer);
}
