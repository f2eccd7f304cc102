/** A worker that trusts nothing but the guard: it writes with its token for as long as it lives, whatever its lease says. */
import { fileGuard } from '../../../src/fencing/file.js';
import { presenter } from '../../../src/fencing/presenter.js';
import { connect } from '../../../src/index.js';

const [servers = '', name = '', id = '', directory = ''] = process.argv.slice(2);
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const guard = fileGuard({ directory });
const tenure = await connect({ servers, sessionTimeoutMs: 10_000, lifeline: false });

await tenure.election(name, { id }).lead(async (term) => {
  say({ led: term.number, token: String(term.token) });
  let written = false;
  for (;;) {
    try {
      await guard.publish(presenter(term.token, { holder: id }), 'ledger', 'books.txt', `${id} ${term.token}`);
      if (!written) say({ wrote: String(term.token) });
      written = true;
    } catch (error) {
      say({ refused: (error as { code?: string }).code });
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
await tenure.close();
