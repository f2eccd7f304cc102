export type { SimulatedClient } from './client.js';
export type { Server } from './server.js';
export { createWorld, type World } from './world.js';
