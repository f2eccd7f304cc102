import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Router } from 'express';

/** In this order: each may use what stands before it. */
const SCRIPTS = ['format', 'server', 'list', 'dialogs', 'detail', 'main'];

const read = (file: string) => readFileSync(new URL(`./page/${file}`, import.meta.url), 'utf8');

/** The status page: one document with nothing outside it, and a policy that runs what is in it and nothing else. */
export function pageRoute(router: Router): void {
  const style = read('page.css');
  // Modules for whoever reads them; in the page they are one.
  const script = SCRIPTS.map((name) =>
    read(`${name}.mjs`)
      .replace(/^import [^;]*;\n/gm, '')
      .replace(/^export /gm, ''),
  ).join('\n');
  const page = read('page.html')
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script type="module">${script}</script>`);
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash(style)}'`,
    `script-src 'sha256-${hash(script)}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  router.get('/', (_request, response) => {
    response.set('content-security-policy', policy).type('html').send(page);
  });
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
