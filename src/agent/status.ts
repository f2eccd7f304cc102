import type { Sidecar } from './sidecar.js';

/** How the sidecar and its ensemble do. */
export function statusBody(sidecar: Sidecar): object {
  const { connection, stopping, options } = sidecar;
  const { tenure } = connection;
  const ensemble = tenure?.ensemble ?? null;
  const session = tenure?.session ?? null;
  return {
    id: options.id,
    connected: connection.connected,
    stopping,
    held: sidecar.held,
    session: session === null ? null : { timeoutMs: session.timeoutMs, leaseMs: session.leaseMs },
    quorum:
      ensemble === null
        ? null
        : {
            ok: ensemble.quorumOk,
            voters: ensemble.voters,
            healthyVoters: ensemble.healthyVoters,
            servers: ensemble.servers.map(({ server, mode, healthy }) => ({ server, mode, healthy })),
            findings: ensemble.findings,
          },
  };
}
