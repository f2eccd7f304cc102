import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CLI_PAGE, cliPage } from '../../deploy/docs/cli.js';
import { COMMANDS } from '../../src/cli/commands.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../../src/cli/options.js';

const page = readFileSync(CLI_PAGE, 'utf8');

/** What the page says of one command, up to the next heading. */
function section(name: string): string {
  const [, after = ''] = page.split(`\n### tenure ${name}\n`);
  return after.split(/\n##+ /)[0] ?? '';
}

const common = page.slice(page.indexOf('## Common options'), page.indexOf('## Commands'));

describe('docs/cli.md', () => {
  it("is what 'npx tsx deploy/docs/cli.ts' writes", () => {
    expect(page).toBe(cliPage());
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    '%s: every option, operand and exit code',
    (name, command) => {
      const said = section(name);
      for (const option of Object.keys(command.options)) {
        expect(said + (option in COMMON_OPTIONS || option in CONNECTION_OPTIONS ? common : '')).toMatch(
          new RegExp(`^- \`(-\\w, )?--${option}( |\`)`, 'm'),
        );
      }
      for (const { name: operand } of command.operands ?? []) expect(said).toContain(`- \`${operand}\`: `);
      for (const code of Object.keys(command.exitCodes)) expect(said).toMatch(new RegExp(`^- \`${code}\`: \\S`, 'm'));
      for (const { line } of command.examples) expect(said).toContain(line);
    },
  );
});
