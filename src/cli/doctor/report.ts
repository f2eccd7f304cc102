import type { Page } from '../help.js';
import { visible, wrap } from '../text.js';
import { type Finding, SEVERITIES, type Severity, worst } from './finding.js';

/** What doctor prints for people: the grave ones last, where the eye is. */
export function report(findings: readonly Finding[], { style, columns }: Page): string {
  const marks: Record<Severity, string> = {
    ok: style.green('ok      '),
    notice: style.cyan('notice  '),
    warning: style.yellow('warning '),
    error: style.red('error   '),
  };
  const indent = ' '.repeat(9);
  const text = (words: string): string => wrap(visible(words), columns - indent.length).replaceAll('\n', `\n${indent}`);
  const sorted = [...findings].sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
  const lines = sorted.map(({ severity, check, message, fix }) => {
    const fixLine = fix === null ? '' : `\n${indent}${style.dim(`do: ${text(fix)}`)}`;
    return `${marks[severity]} ${style.bold(check.replaceAll('_', ' '))}: ${text(message)}${fixLine}`;
  });
  return `${lines.join('\n')}\n\n${summary(findings)}`;
}

function summary(findings: readonly Finding[]): string {
  const count = (severity: Severity) => findings.filter((each) => each.severity === severity).length;
  const plural = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;
  if (worst(findings) === 'ok') return `${plural(count('ok'), 'check')}, all well`;
  return `${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')}, ${plural(count('notice'), 'notice')}`;
}
