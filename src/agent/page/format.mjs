/** Milliseconds, for people. */
export function duration(ms) {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`;
  return `${Math.floor(ms / 86_400_000)} d ${Math.floor((ms % 86_400_000) / 3_600_000)} h`;
}

/** ISO 8601 as this browser writes dates; what isn't one is shown as it is. */
export function date(text) {
  if (text === null || text === undefined) return '–';
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? String(text) : at.toLocaleString();
}

/** An element. Children that are text stay text, whatever they hold. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Writes text where it differs: what is untouched keeps its selection. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const LOOKS = { led: 'good', vacant: 'warn', paused: 'warn', pausing: 'warn' };

/** A state in a word and a colour. */
export function pill(text, looks = LOOKS[text] ?? 'quiet') {
  return el('span', { class: `pill ${looks}` }, text);
}
