import { describe, expect, it } from 'vitest';
import { ElectionLabels, Labels } from '../../../src/telemetry/labels.js';

describe('labels', () => {
  it('keeps the first names that come, and tells the rest together', () => {
    const labels = new Labels(2);
    expect(['a', 'b', 'c', 'a', 'd'].map((name) => labels.of(name))).toEqual(['a', 'b', 'other', 'a', 'other']);
  });

  it('keeps only the names that were given', () => {
    const labels = new Labels(10, ['b']);
    expect(['a', 'b'].map((name) => labels.of(name))).toEqual(['other', 'b']);
  });

  it('never keeps more of the names given than there may be', () => {
    const labels = new Labels(1, ['a', 'b']);
    expect(['a', 'b'].map((name) => labels.of(name))).toEqual(['a', 'other']);
  });

  it('names fewer elections in histograms, and none there that has no name elsewhere', () => {
    const labels = new ElectionLabels({ elections: ['a', 'b'], maxElectionsInHistograms: 1 });
    expect(['x', 'a', 'b'].map((name) => [labels.of(name), labels.inHistograms(name)])).toEqual([
      ['other', 'other'],
      ['a', 'a'],
      ['b', 'other'],
    ]);
  });

  it('names 10,000 elections at most, whatever is asked for', () => {
    const labels = new ElectionLabels({ maxElections: 1e9 });
    for (let i = 0; i < 10_000; i++) labels.of(`e${i}`);
    expect(labels.of('e9999')).toBe('e9999');
    expect(labels.of('one more')).toBe('other');
  });
});
