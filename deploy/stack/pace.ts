/** How fast everything goes: the servers, the scrapes, and the alerts, whose windows are parameters of the mixin's config. */
export interface Pace {
  /** The ensemble's tick, in milliseconds. */
  readonly tickTimeMs: number;
  readonly sessionTimeoutMs: number;
  /** From one probe of the ensemble to the next. */
  readonly probeMs: number;
  /** Scrapes, and evaluations of rules. */
  readonly scrapeSeconds: number;
  /** What goes over the mixin's `alerts`, by alert. Everything else is as a site would have it. */
  readonly alerts: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** How long Alertmanager waits before it sends a first notification, and before it sends what has changed. */
  readonly group: { readonly wait: string; readonly interval: string };
}

/** For people: everything can be watched as it happens, and a page takes under a minute. */
export const NORMAL: Pace = {
  tickTimeMs: 2_000,
  sessionTimeoutMs: 6_000,
  probeMs: 5_000,
  scrapeSeconds: 5,
  alerts: {
    FrequentElections: { window: '2m', step: '5s', bridge: '30s', for: '10s', keepFiringFor: '30s' },
    QuorumLost: { for: '10s', keepFiringFor: '1m' },
    NoLeader: { for: '20s', keepFiringFor: '10s' },
    SessionExpirations: { window: '5m', for: '10s', keepFiringFor: '30s' },
    FencedWrites: { window: '5m', for: '10s', keepFiringFor: '30s' },
    DuplicateWork: { window: '5m', for: '10s', keepFiringFor: '30s' },
    NoStandby: { for: '30s', keepFiringFor: '10s' },
    QuorumAtRisk: { for: '30s', keepFiringFor: '10s' },
    StaleLeaderLingers: { for: '15s', keepFiringFor: '10s' },
  },
  group: { wait: '5s', interval: '10s' },
};

/**
 * For tests. The session timeout stays long enough for a busy machine; QuorumLost goes on until the first terms after the
 * quorum's return, or NoLeader would page in between.
 */
export const FAST: Pace = {
  tickTimeMs: 500,
  sessionTimeoutMs: 4_000,
  probeMs: 500,
  scrapeSeconds: 1,
  alerts: {
    FrequentElections: { window: '30s', step: '1s', bridge: '5s', for: '3s', keepFiringFor: '2s' },
    QuorumLost: { for: '3s', keepFiringFor: '20s' },
    NoLeader: { for: '5s', keepFiringFor: '2s' },
  },
  group: { wait: '1s', interval: '1s' },
};
