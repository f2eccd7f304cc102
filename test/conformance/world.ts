import type { Driver, Session } from '../../src/election/port.js';

export interface PartyOptions {
  /** Default 6,000. */
  readonly sessionTimeoutMs?: number;
  /** Default 15,000. */
  readonly connectTimeoutMs?: number;
}

/** One client of the ensemble, with a network of its own that can be harmed: done when the promise resolves. It knows every server. */
export interface Party {
  readonly driver: Driver;
  /** Nothing passes, either way, and nobody hangs up: what is sent waits. */
  cut(): Promise<void>;
  /** What the servers send waits; they still hear the client. */
  deafen(): Promise<void>;
  /** Ends either. */
  heal(): Promise<void>;
  /** Breaks the connection; nothing keeps the client from coming back at once. */
  drop(): Promise<void>;
  /** The next reply is lost, and the connection with it. */
  loseNextReply(): Promise<void>;
}

/** An ensemble of three servers, and what the suite needs to do to it: the same for a real one and a simulated one. */
export interface ConformanceWorld {
  readonly tickMs: number;
  /** Runs a test's body; where time is virtual, it passes only in here. */
  drive(body: () => Promise<void>): Promise<void>;
  sleep(ms: number): Promise<void>;
  party(options: PartyOptions): Promise<Party>;
  /** Closes the session as another holder of its id and password can, without asking its client. */
  closeSession(session: Session): Promise<void>;
  close(): Promise<void>;
}
