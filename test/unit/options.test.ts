import { describe, expect, it } from 'vitest';
import { checkLead } from '../../src/election/lead.js';
import { InvalidOptionError } from '../../src/errors.js';
import { type ConnectOptions, resolveConnectOptions, resolveElectionOptions } from '../../src/options.js';

const servers = 'zk1:2181';
const DEFAULTS = { id: 'h:1:abc', nodePrefix: 'lock-' };

function refusal(act: () => unknown): InvalidOptionError {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    return error as InvalidOptionError;
  }
  throw new Error('it was accepted');
}

describe('options of connect', () => {
  it('have their documented defaults', () => {
    expect(resolveConnectOptions({ servers })).toMatchObject({
      sessionTimeoutMs: 10_000,
      leaseMs: undefined,
      connectTimeoutMs: 15_000,
      root: '/tenure',
      auth: [],
      clockJumpThresholdMs: 1_000,
    });
  });

  it.each<[string, unknown, string, RegExp]>([
    ['no object', 'zk1:2181', 'options', /"zk1:2181"/],
    [
      'an unknown one',
      { servers, sessionTimeout: 5 },
      'sessionTimeout',
      /there is no option "sessionTimeout".*sessionTimeoutMs/,
    ],
    ['text for a duration', { servers, sessionTimeoutMs: '10s' }, 'sessionTimeoutMs', /"10s"/],
    ['a negative duration', { servers, connectTimeoutMs: -1 }, 'connectTimeoutMs', /-1/],
    ['no number at all', { servers, sessionTimeoutMs: Number.NaN }, 'sessionTimeoutMs', /NaN|null/],
    [
      'a lease longer than T allows',
      { servers, sessionTimeoutMs: 4_000, leaseMs: 3_700 },
      'leaseMs',
      /3700.*4000.*3600/,
    ],
    ['a relative root', { servers, root: 'tenure' }, 'root', /"tenure"/],
    ['a root with a slash at its end', { servers, root: '/tenure/' }, 'root', /no slash at the end/],
    ['a root with dots', { servers, root: '/a/../b' }, 'root', /'\.\.'/],
    ['a logger without a method', { servers, logger: console.log }, 'logger', /no method debug/],
    ['a controller for a signal', { servers, signal: new AbortController() }, 'signal', /\.signal/],
    ['auth that is no list', { servers, auth: 'digest:u:p' }, 'auth', /list/],
    [
      'auth with a misspelt key',
      { servers, auth: [{ scheme: 'digest', credentials: 'u:p' }] },
      'credentials',
      /"credentials"/,
    ],
  ])('refuse %s, naming option, value and fix', (_, options, option, message) => {
    const error = refusal(() => resolveConnectOptions(options as ConnectOptions));
    expect(error.option).toBe(option);
    expect(error.message).toMatch(message);
  });

  it('never show a credential', () => {
    const secrets = [
      [{ scheme: '', credential: 'u:s3cret' }],
      's3cret',
      [{ scheme: 'digest', credential: 's3cret', x: 1 }],
    ];
    for (const auth of secrets) {
      expect(
        refusal(() => resolveConnectOptions({ servers, auth } as unknown as ConnectOptions)).message,
      ).not.toContain('s3cret');
    }
  });
});

describe('options of an election', () => {
  it('have their documented defaults', () => {
    expect(resolveElectionOptions({}, DEFAULTS)).toEqual({
      id: 'h:1:abc',
      metadata: {},
      drainTimeoutMs: 30_000,
      takeoverDelayMs: 0,
      queuePath: undefined,
      nodePrefix: 'lock-',
    });
  });

  it('take the words of other libraries for a node prefix', () => {
    for (const nodePrefix of ['lock-', 'latch-', '__lock__']) {
      expect(resolveElectionOptions({ nodePrefix }, DEFAULTS).nodePrefix).toBe(nodePrefix);
    }
  });

  it.each<[string, object, string]>([
    ['an empty id', { id: '' }, 'id'],
    ['an id that is no text', { id: 7 }, 'id'],
    ['metadata that is a list', { metadata: [1] }, 'metadata'],
    ['a prefix without its dash', { nodePrefix: 'latch' }, 'nodePrefix'],
    ['a prefix with a path in it', { nodePrefix: 'a/__lock__' }, 'nodePrefix'],
    ['a queue path that is none', { queuePath: 'queue' }, 'queuePath'],
    ['an unknown one', { meta: {} }, 'meta'],
  ])('refuse %s', (_, options, option) => {
    expect(refusal(() => resolveElectionOptions(options, DEFAULTS)).option).toBe(option);
  });
});

describe('options of lead', () => {
  const work = () => {};
  it.each<[string, unknown, object, string]>([
    ['no worker', undefined, {}, 'worker'],
    ['options in place of the worker', { again: true }, {}, 'worker'],
    ['an unknown one', work, { abortSignal: AbortSignal.timeout(1) }, 'abortSignal'],
    ['a word that is none', work, { onError: 'retry' }, 'onError'],
    ['text for a duration', work, { cooldownMs: 'x' }, 'cooldownMs'],
    ['a recover that is no function', work, { recover: 5 }, 'recover'],
    ['a yes that is no boolean', work, { again: 'yes' }, 'again'],
  ])('refuse %s, before anybody joins a queue', (_, worker, options, option) => {
    expect(refusal(() => checkLead(worker, options)).option).toBe(option);
  });

  it('take what they document', () => {
    expect(() =>
      checkLead(work, { signal: AbortSignal.abort(), recover: work, again: true, cooldownMs: 0, onError: 'rejoin' }),
    ).not.toThrow();
  });
});
