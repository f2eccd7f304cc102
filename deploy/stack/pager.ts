/** Prints what Alertmanager sends, at the address that alerts/site.libsonnet leaves its receivers at: the pager of docker-compose.yml. */
import { Inbox } from './inbox.js';
import { told } from './telling.js';

const inbox = new Inbox((notification) => process.stdout.write(`${told(notification).join('\n')}\n`));
await inbox.listen(9099);
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => void inbox[Symbol.asyncDispose]());
