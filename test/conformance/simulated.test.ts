import { simulatedWorld } from './simulated-world.js';
import { portConformance } from './suite.js';

for (const seed of [1, 2, 3]) {
  portConformance(`the simulated ensemble, seed ${seed}`, () => simulatedWorld(seed), { transactions: true });
}
