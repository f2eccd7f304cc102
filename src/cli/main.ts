#!/usr/bin/env node
import { program } from './program.js';

// No process.exit(): what was written to a pipe may still be on its way.
process.exitCode = await program(process.argv.slice(2), process);
