/** Any number; with the resource's name it makes the number of an advisory lock. */
export const GATE = '7310868735422';

/** Any number that fits in 32 bits: the first half of the advisory locks that publish deadlines. */
export const DEADLINE = '1952804450';

/** Deadlines are seconds since 2020, so that they fit in 31 bits until 2088. */
export const EPOCH = '1577836800';

/** What a transaction at the gate tells those who wait behind it, and how they wait. */
export function gateSql(s: string): string {
  return `
-- Publishes until when this transaction may hold what it holds, for whoever waits for it: as a lock that conflicts with nothing, and
-- goes when the transaction goes. In whole seconds; coarser the longer it lasts, so that one that is extended for hours keeps few locks.
CREATE OR REPLACE FUNCTION ${s}.publish_deadline(limit_ms integer) RETURNS void LANGUAGE plpgsql AS $tenure$
DECLARE
  elapsed double precision := extract(epoch FROM clock_timestamp() - now());
  grain   double precision := CASE WHEN elapsed < 32 THEN 1 ELSE power(2, floor(ln(elapsed / 16) / ln(2))) END;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(${DEADLINE},
    (ceil((extract(epoch FROM clock_timestamp()) + limit_ms / 1000.0 - ${EPOCH}) / grain) * grain)::integer);
END
$tenure$;

-- Takes the gate's lock, alone or shared. Most transactions that outlive their deadline are ended by their own timers; but no timer ends one
-- whose client sends COPY data, or is to. So whoever waits ends it: the same role may.
CREATE OR REPLACE FUNCTION ${s}.pass_gate(gate bigint, alone boolean) RETURNS void LANGUAGE plpgsql AS $tenure$
DECLARE
  lock_limit text := current_setting('lock_timeout');
  patience   timestamptz := CASE WHEN lock_limit = '0' THEN 'infinity' ELSE clock_timestamp() + lock_limit::interval END;
  look       timestamptz;
  holder     record;
  passed     boolean;
BEGIN
  passed := CASE WHEN alone THEN pg_try_advisory_xact_lock(gate) ELSE pg_try_advisory_xact_lock_shared(gate) END;
  IF passed THEN
    RETURN;
  END IF;
  LOOP
    -- Somebody before us in the queue may hold it next: look again in any case.
    look := clock_timestamp() + interval '5 s';
    FOR holder IN
      -- One look at the locks, or a deadline of one transaction could be taken for that of the next.
      WITH advisory AS MATERIALIZED (
        SELECT l.pid, l.classid::bigint AS high, l.objid::bigint AS low, l.objsubid AS kind FROM pg_catalog.pg_locks l
        WHERE l.locktype = 'advisory' AND l.granted
          AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())
      )
      SELECT a.pid, to_timestamp(max(b.low) + ${EPOCH}) AS deadline FROM advisory a
      JOIN advisory b ON b.pid = a.pid AND b.kind = 2 AND b.high = ${DEADLINE}
      WHERE a.kind = 1 AND a.high = ((gate >> 32) & 4294967295) AND a.low = (gate & 4294967295) AND a.pid <> pg_backend_pid()
      GROUP BY a.pid
    LOOP
      IF holder.deadline > clock_timestamp() THEN
        look := least(look, holder.deadline + interval '10 ms');
      ELSE
        BEGIN
          PERFORM pg_terminate_backend(holder.pid);
        EXCEPTION WHEN insufficient_privilege THEN
          NULL; -- Another role's: wait.
        END;
      END IF;
    END LOOP;
    PERFORM set_config('lock_timeout',
      greatest(1, ceil(extract(epoch FROM least(look, patience) - clock_timestamp()) * 1000))::bigint::text, true);
    BEGIN
      IF alone THEN
        PERFORM pg_advisory_xact_lock(gate);
      ELSE
        PERFORM pg_advisory_xact_lock_shared(gate);
      END IF;
      PERFORM set_config('lock_timeout', lock_limit, true);
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      IF clock_timestamp() >= patience THEN
        RAISE;
      END IF;
    END;
  END LOOP;
END
$tenure$;
`;
}
