import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import { EXIT } from '../exit-codes.js';
import { askFence, FENCE_URL_HELP } from '../fences.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { table, visible } from '../text.js';

export const fence = defineCommand({
  name: 'fence',
  summary: 'show the floor of tokens, and what resources have accepted',
  description: [
    "A token is the floor plus the number of the transaction that made the leader's znode. After an ensemble was restored " +
      'from a backup or rebuilt, transactions begin again in the past, and resources refuse the tokens. Then raise the ' +
      'floor: tenure fence raise.',
    'A resource of which the URL is given is asked for the highest token that it has accepted. Over HTTP that takes a ' +
      'GET with the token 1: give an address behind the guard whose GET changes nothing.',
  ],
  operands: [
    { name: 'ELECTION', required: true, help: 'the name of an election' },
    { name: 'URL', repeated: true, help: `the fence of a resource: ${FENCE_URL_HELP}` },
  ],
  options: { ...CONNECTION_OPTIONS, ...COMMON_OPTIONS },
  examples: [
    { what: 'The floor', line: 'tenure fence settlement' },
    { what: 'And what the books have accepted', line: 'tenure fence settlement postgres://ops@db/books#ledger' },
  ],
  exitCodes: {
    [EXIT.ok]: 'shown',
    [EXIT.failure]: 'there is no such election, or a resource can not be reached; the message says which',
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name = '', ...urls] }) {
    const fences = [];
    for (const url of urls) {
      const { shown, resource, accepted } = await askFence(url);
      fences.push({ url: shown, resource, ...(accepted ?? { token: null, holder: undefined }) });
    }
    await using tenure = await openTenure(context, options);
    const election = tenure.election(name);
    const floor = await election.floor({ signal: context.signal });
    const { token } = await election.current({ signal: context.signal });
    const { out } = context;
    if (context.json) {
      out.json({ election: name, floor, token, fences });
      return EXIT.ok;
    }
    out.line(
      table([
        ['floor', String(floor)],
        ['token of the last term', token === null ? 'none yet' : String(token)],
      ]),
    );
    if (fences.length > 0) {
      const heading = ['RESOURCE', 'HIGHEST', 'FROM', 'AT'].map(out.style.bold);
      const rows = fences.map((each) => [
        visible(each.resource),
        each.token === null ? 'none yet' : String(each.token),
        visible(each.holder ?? '-'),
        visible(each.url),
      ]);
      out.line(`\n${table([heading, ...rows])}`);
    }
    const highest = fences.reduce((most, each) => (each.token !== null && each.token > most ? each.token : most), 0n);
    if (highest > (token ?? 0n)) {
      out.line(
        `\nA resource has accepted a token above that of the last term. Unless an operator has raised that fence, tokens ` +
          `went backwards:\n  tenure fence raise ${visible(name)} --to ${highest} --reason '…'`,
      );
    }
    return EXIT.ok;
  },
});
