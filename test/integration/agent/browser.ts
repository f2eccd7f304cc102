import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findCommand } from '../../../deploy/local/process.js';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const CHROMIUM = findCommand('chromium') ?? findCommand('chromium-browser') ?? findCommand('google-chrome');

/** A real browser, with a profile of its own that goes with it. */
export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    if (CHROMIUM === undefined) throw new Error('no chromium found: install it (Debian: apt-get install chromium)');
    return new TestBrowser(await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: 60_000 }));
  }

  /** A page, and what went wrong in it. */
  async page(options: BrowserContextOptions = {}): Promise<{ page: Page; errors: string[] }> {
    const context = await this.#browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      // That a connection is refused, or a token asked for, is what some tests are about.
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) errors.push(message.text());
    });
    return { page, errors };
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
