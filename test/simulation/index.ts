export { SimulatedClient } from './client.js';
export type { HistoryEntry } from './history.js';
export type { Server } from './server.js';
export type { Outcome, Transaction } from './transaction.js';
export { createWorld, type ProcessOptions, type World, type WorldOptions } from './world.js';
