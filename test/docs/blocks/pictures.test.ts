import { describe, expect, it } from 'vitest';
import { at, claimedBy } from './claims.js';

/* Pictures have no other truth than their syntax. */

const NODE = String.raw`\w+(?:(?:\["[^"]*"\])|(?:\[\("[^"]*"\)\])|(?:\{"[^"]*"\}))?`;
const EDGE = String.raw`(?:-->|-- (?:"[^"]*"|\w+) -->|-\. "[^"]*" \.->)`;

/** The lines that the two kinds of diagrams of ours are made of, after their first one. */
const LINES: Readonly<Record<string, RegExp>> = {
  'flowchart LR': new RegExp(
    String.raw`^(?:subgraph \w+ \["[^"]*"\]|direction (?:RL|LR|TB)|end|${NODE}(?: ${EDGE} ${NODE})+)$`,
  ),
  sequenceDiagram: /^(?:participant \w+ as .+|Note over \w+: .+|\w+(?:->>|-->>|--xh?|->)\w*: .+)$/,
};

/** What is wrong with a diagram, a line each. */
function wrong(code: string): string[] {
  const [kind = '', ...lines] = code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const like = LINES[kind];
  if (like === undefined) return [kind];
  const open =
    lines.filter((line) => line.startsWith('subgraph')).length - lines.filter((line) => line === 'end').length;
  const named = new Set(lines.flatMap((line) => /^participant (\w+)/.exec(line)?.[1] ?? []));
  const strangers = lines.flatMap((line) => {
    const [, from, to] = /^(\w+?)(?:->>|--x|-->>)(\w+):/.exec(line) ?? [];
    return [from, to].filter((name) => name !== undefined && !named.has(name)).map((name) => `who is ${name}?`);
  });
  return [...lines.filter((line) => !like.test(line)), ...strangers, ...(open === 0 ? [] : ['subgraph without end'])];
}

const mermaid = claimedBy('picture', ['mermaid']);
const drawn = claimedBy('picture', ['text']);

describe('Pictures on the pages', () => {
  it.each(mermaid.map((each) => [at(each.block), each.block] as const))('%s: mermaid can read it', (_, block) => {
    expect(wrong(block.code)).toEqual([]);
  });

  it.each(drawn.map((each) => [at(each.block), each.block] as const))('%s: fits, and has no tabs', (_, block) => {
    expect(block.code.split('\n').filter((line) => line.length > 120 || /[\t\r]/.test(line))).toEqual([]);
  });

  it('are found wrong where they are', () => {
    expect(mermaid.length).toBeGreaterThan(1);
    expect(wrong('flowchart LR\n  a["b"] --> c["d\n')).toEqual(['a["b"] --> c["d']);
    expect(wrong('flowchart LR\n  subgraph a ["b"]\n')).toEqual(['subgraph without end']);
    expect(wrong('sequenceDiagram\n  participant a as A\n  a->>b: hello\n')).toEqual(['who is b?']);
    expect(wrong('pie\n')).toEqual(['pie']);
  });
});
