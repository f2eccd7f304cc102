import { InvalidOptionError } from '../errors.js';
import { DEADLINE, EPOCH, GATE, gateSql } from './postgres-gate.js';
import { limitsSql } from './postgres-limits.js';

/** What the server answered to one statement. */
export interface SqlResult {
  /** The rows, as the query says. */
  // biome-ignore lint/suspicious/noExplicitAny: rows are as the query says
  rows: any[];
  /** How many rows were written or read; null for statements that have none. */
  rowCount: number | null;
  /** The statement's kind, such as `COMMIT`. */
  command?: string;
}

/** The part of a `pg` client or pool that a migration needs. */
export interface SqlClient {
  /** Sends one statement; `values` are those of its `$1`, `$2`, …. Rejects with the server's error, its SQLSTATE in `code`. */
  // biome-ignore lint/suspicious/noExplicitAny: values are as the query says
  query(text: string, values?: any[]): Promise<SqlResult>;
}

/** SQLSTATEs that the functions raise: a class of their own, numbered like the HTTP status of the same refusal. */
export const STALE_TOKEN = 'TN409';
export const MISSING_TOKEN = 'TN428';
export const MALFORMED = 'TN400';
/** The fence is lower than its caller has seen it. Never leaves the guard. */
export const WENT_BACK = 'TN410';
/** This transaction holds no such fence. Never leaves the guard. */
export const NOT_HELD = 'TN412';

/** One part of the schema: what `migrate()` installs, and how it knows that it is there. */
export interface SchemaPart {
  readonly name: 'fence' | 'tasks';
  readonly version: number;
  readonly sql: (schema: string) => string;
}

/**
 * Quotes the schema's name for SQL.
 *
 * @throws {InvalidOptionError} when it can't name a schema.
 */
export function quoteSchema(schema: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) {
    throw new InvalidOptionError(
      'schema',
      `schema ${JSON.stringify(schema)}: up to 63 letters, digits and _ are allowed`,
    );
  }
  return `"${schema}"`;
}

/** A string as an SQL expression that no setting of the server can reinterpret. */
export function literal(text: string): string {
  // Plain where it is plain: it is parsed at each transaction.
  if (/^[\w ./:@{}[\]",-]*$/.test(text)) return `'${text}'`;
  return `convert_from(decode('${Buffer.from(text).toString('hex')}','hex'),'UTF8')`;
}

/**
 * The guard's table and functions as plain SQL, for those who run their own migrations. Idempotent.
 *
 * @param schema default `tenure`
 */
export function fenceSchema(schema = 'tenure'): string {
  return script(FENCE, schema);
}

export const FENCE: SchemaPart = { name: 'fence', version: 4, sql: fenceSql };

/** The whole script of a part: one transaction's worth of statements. */
export function script(part: SchemaPart, schema: string): string {
  const s = quoteSchema(schema);
  return `CREATE SCHEMA IF NOT EXISTS ${s};
${part.sql(s)}
CREATE OR REPLACE FUNCTION ${s}.${part.name}_version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT ${part.version}';
`;
}

/**
 * Installs a part where it is absent or older. Needs the right to create in the database only then;
 * a newer version that is installed already is left alone, so old and new workers can start side by side.
 */
export async function install(client: SqlClient, part: SchemaPart, schema: string): Promise<void> {
  const s = quoteSchema(schema);
  const present = await client.query(
    `SELECT to_regprocedure(${literal(`${s}.${part.name}_version()`)}) IS NOT NULL AS present`,
  );
  if (present.rows[0]?.present === true) {
    const installed = await client.query(`SELECT ${s}.${part.name}_version() AS version`);
    if (Number(installed.rows[0]?.version) >= part.version) return;
  }
  // CREATE … IF NOT EXISTS and CREATE OR REPLACE race with themselves: one installer at a time. Sent as one simple query, the whole is
  // one transaction. The lock on the catalogue makes this session forget that it found no such schema a moment ago.
  const turn = `SELECT pg_advisory_xact_lock(hashtextextended('tenure.migrate', 0)); LOCK TABLE pg_catalog.pg_namespace IN ACCESS SHARE MODE;`;
  await client.query(`${turn} ${script(part, schema)}`);
}

/** tenure.held is `{"<resource>": ["<token>", "<holder>"]}`: the fences of this transaction, and of no other. */
const HELD = "coalesce(nullif(current_setting('tenure.held', true), ''), '{}')::jsonb";

function fenceSql(s: string): string {
  return `
CREATE TABLE IF NOT EXISTS ${s}.fence (
  resource    text COLLATE "C" PRIMARY KEY CHECK (octet_length(resource) BETWEEN 1 AND 512),
  token       bigint NOT NULL CHECK (token > 0),
  holder      text,
  accepted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
${gateSql(s)}
${limitsSql(s)}
-- Accepts the token for the rest of this transaction, or raises ${STALE_TOKEN} (a higher one has been accepted) or ${MALFORMED}.
-- Transactions of one token run side by side; a higher token waits until the lower ones' transactions have ended.
-- With remaining_ms (what remains of the caller's lease) neither the wait nor the transaction lasts longer, and with hold_ms the
-- transaction no longer than that after the wait.
CREATE OR REPLACE FUNCTION ${s}.fence(resource text, token bigint, holder text DEFAULT NULL, remaining_ms integer DEFAULT NULL, hold_ms integer DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $tenure$
#variable_conflict use_column
DECLARE
  name       ALIAS FOR $1;
  presented  ALIAS FOR $2;
  presenter  ALIAS FOR $3;
  -- Heavyweight locks are granted in order of arrival: a newer token waiting here is never starved by a stream of older ones.
  gate       bigint := hashtextextended(name, ${GATE});
  highest    bigint;
  who        text;
  lock_limit text;
  waited     integer;
BEGIN
  IF name IS NULL OR presented IS NULL THEN
    RAISE EXCEPTION 'a resource and a fencing token are needed' USING ERRCODE = '${MISSING_TOKEN}';
  END IF;
  IF presented < 1 OR octet_length(name) NOT BETWEEN 1 AND 512 THEN
    RAISE EXCEPTION 'not a fencing token or not a resource: %', presented USING ERRCODE = '${MALFORMED}';
  END IF;
  IF remaining_ms IS NOT NULL THEN
    lock_limit := current_setting('lock_timeout');
    IF lock_limit = '0' OR lock_limit::interval > make_interval(secs => remaining_ms / 1000.0) THEN
      PERFORM set_config('lock_timeout', greatest(1, remaining_ms - CASE WHEN hold_ms < remaining_ms THEN hold_ms ELSE 10 END)::text, true);
    END IF;
  END IF;

  -- Which of the two locks is needed must be known before one is taken: two that hold the shared one and want the other would wait for each other.
  SELECT f.token, f.holder INTO highest, who FROM ${s}.fence f WHERE f.resource = name;
  IF highest = presented THEN
    PERFORM ${s}.pass_gate(gate, false);
    -- Looked at again under the lock. Where the snapshot is older than the lock, it is the row lock that notices a newer token.
    SELECT f.token, f.holder INTO highest, who FROM ${s}.fence f WHERE f.resource = name FOR SHARE;
  ELSIF highest IS NULL OR highest < presented THEN
    PERFORM ${s}.pass_gate(gate, true);
    INSERT INTO ${s}.fence AS f (resource, token, holder) VALUES (name, presented, presenter)
      ON CONFLICT (resource) DO UPDATE SET token = excluded.token, holder = excluded.holder, accepted_at = clock_timestamp()
      WHERE f.token < excluded.token
      RETURNING f.token INTO highest;
    IF FOUND THEN
      -- That this token was accepted must survive a crash, whatever the session thinks of its other commits.
      IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
    ELSE
      SELECT f.token, f.holder INTO highest, who FROM ${s}.fence f WHERE f.resource = name FOR SHARE;
    END IF;
  END IF;
  IF highest IS NULL THEN
    RAISE EXCEPTION 'the fence of % was deleted meanwhile', quote_literal(name) USING ERRCODE = 'serialization_failure';
  END IF;
  IF highest > presented THEN
    RAISE EXCEPTION '% refused token %: it has accepted %', quote_literal(name), presented, highest
      USING ERRCODE = '${STALE_TOKEN}',
            DETAIL = json_build_object('resource', name, 'token', presented::text, 'highest', highest::text, 'holder', who)::text;
  END IF;
  IF remaining_ms IS NOT NULL THEN
    PERFORM set_config('lock_timeout', lock_limit, true);
    waited := extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000;
    PERFORM ${s}.limit_transaction(greatest(1, least(hold_ms, remaining_ms - waited)));
  ELSE
    -- For a call with limits later on: once anything is held, it is too late to see whose they are.
    PERFORM ${s}.own_limits();
  END IF;
  PERFORM set_config('tenure.held', (${HELD} || jsonb_build_object(name, jsonb_build_array(presented::text, presenter)))::text, true);
END
$tenure$;

-- What ${s}.fence() does, for a caller that has seen this token accepted for this resource before: where that is still so, and nobody waits,
-- two statements are enough. In every other case it leaves the work to ${s}.fence(). A procedure: CALL has no row to send back, and is
-- cheaper to read than a query is to plan. held is what tenure.held becomes, made by the caller once and not here each time.
CREATE OR REPLACE PROCEDURE ${s}.fence_repeated(resource text, token text, held text, remaining_ms text, hold_ms text)
LANGUAGE plpgsql AS $tenure$
#variable_conflict use_column
DECLARE
  name    ALIAS FOR $1;
  highest bigint;
BEGIN
  -- Plain expressions and one query: this is in the way of every transaction.
  IF pg_try_advisory_xact_lock_shared(hashtextextended(name, ${GATE})) THEN
    IF current_setting('transaction_isolation') = 'read committed' AND current_setting('transaction_timeout', true) = '0' THEN
      -- The snapshot of this query is younger than the lock: it shows whatever was accepted, and nothing can be until we end. Where it finds
      -- the token it does the rest: limits the transaction, notes what it holds, publishes the deadline.
      PERFORM set_config('transaction_timeout', hold_ms, true), set_config('tenure.held', held, true),
        pg_advisory_xact_lock_shared(${DEADLINE}, ceil(date_part('epoch', clock_timestamp()) + hold_ms::float8 / 1000 - ${EPOCH})::integer)
      FROM ${s}.fence f WHERE f.resource = name AND f.token = $2::bigint;
      IF FOUND THEN
        RETURN;
      END IF;
    END IF;
    IF current_setting('transaction_isolation') = 'read committed' THEN
      SELECT f.token INTO highest FROM ${s}.fence f WHERE f.resource = name;
    ELSE
      -- A snapshot that may be older than the lock: it is the row lock that notices a newer token.
      SELECT f.token INTO highest FROM ${s}.fence f WHERE f.resource = name FOR SHARE;
    END IF;
    IF highest = $2::bigint THEN
      PERFORM ${s}.limit_transaction(hold_ms::integer), set_config('tenure.held', held, true);
      RETURN;
    END IF;
    IF highest IS NULL OR highest < $2::bigint THEN
      -- Lower than the caller has seen it: restored, or deleted. fence() would want the other lock while we hold this one.
      RAISE EXCEPTION 'the fence of % went back', quote_literal(name) USING ERRCODE = '${WENT_BACK}';
    END IF;
  END IF;
  PERFORM ${s}.fence(name, $2::bigint, held::jsonb -> name ->> 1, remaining_ms::integer, hold_ms::integer);
END
$tenure$;

-- Raises ${NOT_HELD} unless this very transaction holds the fence with this token. Sent together with COMMIT: a transaction that was
-- ended and followed by another by hand holds nothing. held is what ${s}.fence_repeated() was given: mostly that is still all there is.
CREATE OR REPLACE PROCEDURE ${s}.still_held(resource text, token text, held text) LANGUAGE plpgsql AS $tenure$
BEGIN
  IF current_setting('tenure.held', true) = held THEN
    RETURN;
  END IF;
  IF (${HELD} -> $1 ->> 0) IS DISTINCT FROM $2 THEN
    RAISE EXCEPTION 'this transaction does not hold %', quote_literal($1) USING ERRCODE = '${NOT_HELD}';
  END IF;
END
$tenure$;

-- For a trigger on a protected table: CREATE TRIGGER … BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON t
--   FOR EACH STATEMENT EXECUTE FUNCTION ${s}.require_fence('resource');
-- The token is SET LOCAL tenure.token = '…' (and tenure.holder), or what ${s}.fence() was given for this resource in this transaction.
CREATE OR REPLACE FUNCTION ${s}.require_fence() RETURNS trigger LANGUAGE plpgsql AS $tenure$
DECLARE
  held      jsonb := ${HELD} -> TG_ARGV[0];
  presented text := coalesce(nullif(current_setting('tenure.token', true), ''), held ->> 0);
  presenter text := coalesce(nullif(current_setting('tenure.holder', true), ''), held ->> 1);
BEGIN
  IF presented IS NULL THEN
    RAISE EXCEPTION 'writes to % need a fencing token for %', TG_TABLE_NAME, quote_literal(TG_ARGV[0])
      USING ERRCODE = '${MISSING_TOKEN}', HINT = 'SET LOCAL tenure.token, or call ${s}.fence() for this resource first in the transaction.';
  END IF;
  IF presented !~ '^[1-9][0-9]{0,18}$' OR presented::numeric > 9223372036854775807 THEN
    RAISE EXCEPTION 'not a fencing token: %', quote_literal(left(presented, 40)) USING ERRCODE = '${MALFORMED}';
  END IF;
  PERFORM ${s}.fence(TG_ARGV[0], presented::bigint, presenter);
  RETURN NULL;
END
$tenure$;
`;
}
