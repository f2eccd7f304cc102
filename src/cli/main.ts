#!/usr/bin/env node
import { program } from './program.js';

// The module warns twice, as its users may have given no logger. A command has one, which knows --quiet and --log-level.
const printers = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning: Error & { code?: string }) => {
  if (warning.code?.startsWith('TENURE_') === true) return;
  for (const print of printers) print(warning);
});

// No process.exit(): what was written to a pipe may still be on its way.
process.exitCode = await program(process.argv.slice(2), process);
