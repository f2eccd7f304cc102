import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, MissingToolError, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { CHROMIUM, TestBrowser } from './browser.js';
import { type Client, SidecarProcess } from './sidecar-process.js';

/* The status page, in a real browser. With TENURE_SCREENSHOTS=DIR it leaves pictures there, for docs/images. */

const TTL = { hold: 'ttl', ttlMs: 600_000 };
const MANY = 2_000;
const MISSING = CHROMIUM === undefined ? ' (skipped: no chromium found; Debian: apt-get install chromium)' : '';

if (MISSING !== '' && process.env['TENURE_REQUIRE_ALL']) throw new MissingToolError(`the status page${MISSING}`);

// Real processes on a machine that may be busy with others.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

describe.skipIf(MISSING !== '')(`the status page${MISSING}`, () => {
  let ensemble: Ensemble;
  let sidecar: SidecarProcess;
  let browser: TestBrowser;

  beforeAll(async () => {
    ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
    sidecar = await (
      await SidecarProcess.start(ensemble.connectString, { args: ['--observe', 'audit/nightly'] })
    ).ready();
    browser = await TestBrowser.start();
  });

  afterAll(async () => {
    await browser?.close();
    await sidecar?.kill();
    await ensemble?.close();
  });

  const open = async (options: Parameters<TestBrowser['page']>[0] = {}, { url } = sidecar) => {
    const opened = await browser.page(options);
    await opened.page.goto(`${url}/`);
    await opened.page.getByText(/session, T/).waitFor();
    return opened;
  };

  const picture = async (page: Awaited<ReturnType<typeof open>>['page'], name: string) => {
    const directory = process.env['TENURE_SCREENSHOTS'];
    if (directory !== undefined) await page.screenshot({ path: join(directory, `${name}.png`) });
  };

  it('shows elections, and follows one: leader, term, token, queue in order, lease, history', async () => {
    const clients = await sidecar.line('settlement', ['worker-a', 'worker-b', 'worker-c'], {
      ...TTL,
      metadata: { zone: 'a' },
    });
    const [a, b] = clients as [Client, Client];
    const led = (await a.get()).body;
    const { page, errors } = await open();
    const row = page.getByRole('row', { name: /settlement/ });
    await row.getByText('worker-a').waitFor();
    const cells = await row.getByRole('cell').allTextContents();
    expect(cells.slice(0, 6)).toEqual(['settlement', 'led', 'worker-a', '1', led.token, '3']);
    await page
      .getByRole('row', { name: /audit\/nightly/ })
      .getByText('vacant')
      .waitFor();
    await page.getByText('quorum: 1 of 1 voters').waitFor();
    // What is left of the lease runs, and is renewed.
    const lease = async () => (await row.locator('td').last().textContent())?.trim();
    const seen = new Set<string>();
    await waitFor(async () => seen.add((await lease()) ?? '').size > 3, { what: 'the lease to run', intervalMs: 100 });
    expect([...seen].every((text) => /^(\d+ ms|\d\.\d s)$/.test(text))).toBe(true);

    await page.getByRole('button', { name: 'settlement' }).click();
    const detail = page.getByRole('region', { name: 'One election' });
    await detail.getByText('{"zone":"a"}').waitFor();
    const queue = async () =>
      (await detail.getByRole('list', { name: 'Queue' }).getByRole('listitem').allInnerTexts()).map(
        (text) => text.split(/\s/)[0],
      );
    expect(await queue()).toEqual(['worker-a', 'worker-b', 'worker-c']);
    await a.leave();
    await detail.getByText('term 1').waitFor();
    await waitFor(async () => (await queue()).join() === 'worker-b,worker-c', { what: 'the queue to move up' });
    const past = detail.getByRole('list', { name: 'History' });
    await past.getByText(/^term 1 worker-a: resigned; then nobody led for (\d+ ms|\d+\.\d s)/).waitFor();
    await row.getByText('worker-b').waitFor();
    expect(errors).toEqual([]);
    for (const client of clients) await client.leave();
    expect((await b.get()).status).toBe(404);
  });

  it('pauses, resumes and transfers, once that is confirmed with a reason', async () => {
    const clients = await sidecar.line('moved', ['one', 'two', 'three'], TTL);
    const [one] = clients as [Client];
    const { page, errors } = await open();
    await page.getByRole('button', { name: 'moved' }).click();
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Pause …' }).click();
    // Nothing without a reason, and nothing after a cancel.
    await dialog.getByRole('button', { name: 'Pause it' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await sidecar.ask('GET', '/v1/elections/moved')).body.paused).toBeNull();
    await page.getByRole('button', { name: 'Pause …' }).click();
    await dialog.getByLabel(/Why/).fill('the ledger <b>is</b> wrong');
    await dialog.getByLabel(/Who/).fill('ann');
    await dialog.getByRole('button', { name: 'Pause it' }).click();
    await one.until('draining');
    await page.getByRole('region', { name: 'One election' }).getByText('pausing').waitFor();
    await one.put({ settled: true });
    await page.getByText(/by ann, .*the ledger <b>is<\/b> wrong/).waitFor();
    await page.getByRole('button', { name: 'Resume …' }).click();
    expect(await dialog.getByLabel(/Who/).inputValue()).toBe('ann');
    await dialog.getByRole('button', { name: 'Resume it' }).click();
    const leader = await waitFor(
      async () => {
        const standings = await Promise.all(
          clients.map(async (client) => ((await client.get()).body.leading ? client : null)),
        );
        return standings.find((client) => client !== null) ?? false;
      },
      { what: 'somebody to lead again' },
    );
    await page.getByRole('button', { name: 'Transfer …' }).click();
    const target = leader.id === 'three' ? 'two' : 'three';
    await dialog.getByRole('combobox').selectOption({ label: target });
    await dialog.getByLabel(/Why/).fill('rack 7');
    await dialog.getByRole('button', { name: 'Transfer it' }).click();
    await leader.until('draining');
    await leader.put({ settled: true });
    await page.getByRole('row', { name: /moved/ }).getByText(target).waitFor();
    await page.getByText('transfer by ann: rack 7').waitFor();
    expect(errors).toEqual([]);
    for (const client of clients) await client.leave();
  });

  it('takes nothing that others have written for code', async () => {
    const evil = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>`;
    const client = await sidecar.join('<b>bold</b>', evil, { ...TTL, metadata: { text: evil, '</script>': evil } });
    await client.until('leading');
    const paused = await sidecar.ask('POST', '/v1/elections/%3Cb%3Ebold%3C%2Fb%3E/pause', {
      body: { by: evil.slice(0, 200), reason: evil },
    });
    // A slash in a tag parts the name: it is an election all the same.
    expect(paused.status).toBe(200);
    const { page, errors } = await open();
    await page.getByRole('button', { name: '<b>bold</b>' }).click();
    const detail = page.getByRole('region', { name: 'One election' });
    await detail.getByText(`${evil}: draining`).waitFor();
    await detail.getByText(/^\{"text"/).waitFor();
    expect(await page.locator('main img, main script, main b').count()).toBe(0);
    expect(await page.evaluate('window.hurt')).toBeUndefined();
    // And if something did get in, the policy would not run it.
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.hurt=1">')`);
    const inline = `const s = document.createElement('script'); s.textContent = 'window.hurt=1'; document.body.append(s)`;
    await page.evaluate(inline);
    await page.waitForTimeout(300);
    expect(await page.evaluate('window.hurt')).toBeUndefined();
    expect(errors.every((error) => /Content Security Policy/.test(error))).toBe(true);
    expect(errors.length).toBeGreaterThan(0);
    await client.leave();
  });

  it('says so when it is stale, and when ZooKeeper is away', async () => {
    const client = await sidecar.join('still', 'one', TTL);
    await client.until('leading');
    const { page } = await open();
    const row = page.getByRole('row', { name: /still/ });
    await row.getByText('one').waitFor();
    sidecar.signal('SIGSTOP');
    await page.getByText(/^Stale: no word from the sidecar/).waitFor();
    await waitFor(async () => (await row.locator('td').last().textContent())?.trim() === '', {
      what: 'the lease to be unknown',
    });
    sidecar.signal('SIGCONT');
    await page.getByText(/^Stale:/).waitFor({ state: 'detached' });
    const [server] = ensemble.servers;
    await server?.kill();
    await page.getByText(/^ZooKeeper is away/).waitFor();
    await server?.start();
    await page.getByText(/^ZooKeeper is away/).waitFor({ state: 'detached' });
    await sidecar.ready();
    await client.leave();
  });

  it(`finds its way among ${MANY} elections by paging, filter and keyboard`, async () => {
    const args = ['--max-elections', String(MANY), '--max-candidacies', String(MANY)];
    await using crowded = await SidecarProcess.start(ensemble.connectString, { args });
    await crowded.ready();
    for (let i = 0; i < MANY; i += 50) {
      const names = Array.from({ length: 50 }, (_, j) => `tenant-${String(i + j).padStart(4, '0')}/job`);
      await Promise.all(names.map((name) => crowded.join(name, 'worker', TTL)));
    }
    const { page, errors } = await open({}, crowded);
    await page.getByText('2,000 elections').waitFor();
    expect(await page.locator('#rows tr').count()).toBe(50);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('2 of 40').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('tenant-1234');
    await page.getByText('1 of 2,000 elections').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'tenant-1234/job' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('region', { name: 'One election' }).count()).toBe(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('tenant-1234/job');
    expect(errors).toEqual([]);
  });

  it('is readable on a phone, in the light and in the dark', async () => {
    const clients: Client[] = [];
    for (const name of [
      'ledger/close',
      'mail/outbox',
      'payments/tenant-1/shard-0',
      'payments/tenant-1/shard-1',
      'report/daily',
      'settlement',
    ]) {
      for (const id of ['worker-a', 'worker-b', 'worker-c'])
        clients.push(await sidecar.join(name, id, { ...TTL, metadata: { zone: id.slice(-1) } }));
    }
    const settlement = clients.filter(({ election }) => election === 'settlement');
    for (const client of settlement.slice(0, 2)) {
      await client.until('leading');
      await client.leave();
    }
    await sidecar.ask('POST', '/v1/elections/mail%2Foutbox/pause', {
      body: { by: 'ann', reason: 'the provider asks us to wait' },
    });
    const looks = [
      { name: 'status-light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
      { name: 'status-dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
      { name: 'status-phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
      { name: 'narrow', colorScheme: 'dark', viewport: { width: 320, height: 640 } },
    ] as const;
    for (const { name, ...options } of looks) {
      const { page, errors } = await open(options);
      await page
        .getByRole('row', { name: /settlement/ })
        .getByText('worker-')
        .waitFor();
      if (name === 'status-phone') await picture(page, 'status-phone-list');
      await page.getByRole('button', { name: 'settlement' }).click();
      await page.getByText('term 1').waitFor();
      const [wide, screen] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [
        number,
        number,
      ];
      expect(wide, name).toBeLessThanOrEqual(screen);
      const back = (await page.evaluate('getComputedStyle(document.body).backgroundColor')) as string;
      const light = Number(/\d+/.exec(back)?.[0]) > 127;
      expect(light, name).toBe(options.colorScheme === 'light');
      if (name !== 'narrow') await picture(page, name);
      expect(errors).toEqual([]);
    }
    for (const client of clients) await client.leave();
  });

  it('asks for the token where there is one', async () => {
    const token = 'correct-horse-battery-staple';
    await using guarded = await SidecarProcess.start(ensemble.connectString, { env: { TENURE_AGENT_TOKEN: token } });
    const { page } = await browser.page();
    await page.goto(`${guarded.url}/`);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/Token/).fill('a wrong one');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByLabel(/Token/).fill(token);
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await page.getByText(/session, T/).waitFor();
    await page.reload();
    await page.getByText(/session, T/).waitFor();
    expect(await dialog.isVisible()).toBe(false);
  });
});
