import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { T } from '../../src/verify/fault.js';
import { sleep } from '../../src/verify/monotonic.js';
import { type Nemesis, onVictim } from './nemesis.js';

/** What is done to the hosts of workers. */
export const HOST_FAULTS: Readonly<Record<string, Nemesis>> = {
  cut_worker: onVictim(({ field, random, victim }) => {
    victim.host.block(field.hosts);
    return { on: [victim], ms: random.between(100, 3 * T(field)), end: () => victim.host.unblock(field.hosts) };
  }),
  mute_worker: onVictim(({ field, random, victim }) => {
    // Its packets are lost on the way to the servers; theirs arrive.
    for (const host of field.hosts) host.block([victim.host]);
    const end = () => {
      for (const host of field.hosts) host.unblock([victim.host]);
    };
    return { on: [victim], ms: random.between(100, 3 * T(field)), end };
  }),
  flapping: onVictim(({ field, random, victim }) => {
    let over = false;
    const flap = async (): Promise<void> => {
      while (!over) {
        victim.host.block(field.hosts);
        await sleep(random.between(50, 600));
        victim.host.unblock(field.hosts);
        await sleep(random.between(50, 600));
      }
    };
    const done = flap();
    const end = async () => {
      over = true;
      await done;
    };
    return { on: [victim], ms: random.between(1_000, 2 * T(field)), end };
  }),
  lossy_worker: onVictim(({ field, random, victim }) => {
    const percent = Math.round(random.between(20, 70));
    victim.host.lose(percent);
    const ms = random.between(500, 2 * T(field));
    return { on: [victim], ms, detail: `${victim.name} ${percent} %`, end: () => victim.host.lose(0) };
  }),
  jump_wall_clock: onVictim(({ random, victim }) => {
    const seconds = Math.round(random.between(-100_000, 100_000));
    writeFileSync(victim.clockFile, `${seconds < 0 ? '' : '+'}${seconds}`);
    return { detail: `${victim.name} ${seconds} s` };
  }),
  starve: ({ random }) => {
    const burners = Array.from({ length: 4 }, () =>
      spawn('setpriv', ['--pdeathsig', 'KILL', 'sh', '-c', 'while :; do :; done'], { stdio: 'ignore' }),
    );
    const end = () => {
      for (const burner of burners) burner.kill('SIGKILL');
    };
    return { stalls: true, ms: random.between(500, 4_000), end };
  },
};
