// Runs in the browser: one SVG with a panel for each measurement. `Plot` and `d3` come from their own scripts.
/* global Plot, d3, document, given */

const ROW = 22;
const HEADER = 48;
const LABELS = 230;
const SVG = 'http://www.w3.org/2000/svg';

const short = (ms) => {
  if (ms === 0) return '0';
  const number = (value) => String(Number(value.toPrecision(2)));
  return Math.abs(ms) < 1000 ? `${number(ms)} ms` : `${number(ms / 1000)} s`;
};

/** What is labelled at the dot. */
const exact = (ms) => (Math.abs(ms) < 1000 ? `${Number(ms.toPrecision(3))} ms` : `${(ms / 1000).toFixed(2)} s`);

function panel({ title, scale, marks }) {
  const shown = marks.filter(({ least }) => scale === 'linear' || least > 0);
  const colour = ({ label }) =>
    label.startsWith('Tenure') ? '#1f6f43' : label.startsWith('etcd') ? '#b5651d' : '#3b5b92';
  const height = 52 + ROW * shown.length;
  const low = d3.min(shown, ({ least }) => least);
  const high = d3.max(shown, ({ most }) => most);
  const domain =
    scale === 'log' ? [low / 1.5, high * 2.2] : [Math.min(0, low * 1.1), high + (high - Math.min(0, low)) * 0.14];
  const made = Plot.plot({
    width: given.width,
    height,
    marginLeft: LABELS,
    marginRight: 20,
    marginTop: 26,
    marginBottom: 24,
    style: { fontSize: '11px', fontFamily: 'sans-serif', color: '#223', background: 'none' },
    x: {
      type: scale,
      domain,
      grid: true,
      label: null,
      ticks: 6,
      tickFormat: scale === 'log' ? (ms) => (Math.log10(ms) % 1 === 0 ? short(ms) : '') : short,
    },
    y: { type: 'band', domain: shown.map(({ label }) => label), label: null, tickSize: 0 },
    marks: [
      ...(scale === 'linear' ? [Plot.ruleX([0], { stroke: '#889' })] : []),
      Plot.link(shown, {
        x1: 'least',
        x2: 'most',
        y1: 'label',
        y2: 'label',
        stroke: colour,
        strokeWidth: 2.5,
        strokeOpacity: 0.45,
      }),
      Plot.dot(shown, { x: 'median', y: 'label', fill: colour, r: 4 }),
      Plot.text(shown, {
        x: 'most',
        y: 'label',
        text: ({ median }) => exact(median),
        textAnchor: 'start',
        dx: 7,
        fill: '#223',
      }),
    ],
  });
  const heading = document.createElementNS(SVG, 'text');
  heading.setAttribute('x', '8');
  heading.setAttribute('text-anchor', 'start');
  heading.setAttribute('y', '14');
  heading.setAttribute('font-weight', 'bold');
  heading.setAttribute('font-size', '13');
  heading.textContent = title;
  made.append(heading);
  return { made, height };
}

const whole = document.createElementNS(SVG, 'svg');
whole.setAttribute('id', 'chart');
whole.setAttribute('xmlns', SVG);
whole.setAttribute('font-family', 'sans-serif');
let bottom = HEADER;
const text = (y, size, content, fill) => {
  const line = document.createElementNS(SVG, 'text');
  for (const [key, value] of Object.entries({ x: 8, y, 'font-size': size, fill })) line.setAttribute(key, value);
  line.textContent = content;
  whole.append(line);
};
for (const each of given.panels) {
  const { made, height } = panel(each);
  made.setAttribute('y', String(bottom));
  whole.append(made);
  bottom += height + 8;
}
text(20, 15, 'Side by side: median, and from the shortest to the longest', '#112');
text(37, 11, given.subtitle, '#556');
whole.setAttribute('width', String(given.width));
whole.setAttribute('height', String(bottom));
whole.setAttribute('viewBox', `0 0 ${given.width} ${bottom}`);
const ground = document.createElementNS(SVG, 'rect');
for (const [key, value] of Object.entries({ width: given.width, height: bottom, fill: 'white' }))
  ground.setAttribute(key, String(value));
whole.prepend(ground);
document.body.append(whole);
