import { existsSync, readdirSync } from 'node:fs';

/** The library that sets the wall clock of a process, where Debian puts it for this architecture; undefined where it isn't installed. */
export const FAKETIME: string | undefined = readdirSync('/usr/lib')
  .map((folder) => `/usr/lib/${folder}/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file));
