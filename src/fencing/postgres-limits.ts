/** How long a transaction may hold what it holds, by timers of the server. */
export function limitsSql(s: string): string {
  return `
-- The names of the limits: that of a pause, and that of the whole transaction. Before PostgreSQL 17 nothing bounds the whole: it is each
-- statement, and each pause between two.
CREATE OR REPLACE FUNCTION ${s}.limit_names() RETURNS text[] LANGUAGE plpgsql AS $tenure$
BEGIN
  RETURN ARRAY['idle_in_transaction_session_timeout',
    CASE WHEN current_setting('server_version_num')::integer >= 170000 THEN 'transaction_timeout' ELSE 'statement_timeout' END];
END
$tenure$;

-- The user's own limits, in milliseconds: what they were before ours. Noted in tenure.limits by the first call in a transaction.
CREATE OR REPLACE FUNCTION ${s}.own_limits() RETURNS text[] LANGUAGE plpgsql AS $tenure$
DECLARE
  names  text[] := ${s}.limit_names();
  limits text[] := string_to_array(nullif(current_setting('tenure.limits', true), ''), ' ');
BEGIN
  IF limits IS NOT NULL THEN
    RETURN limits;
  END IF;
  IF nullif(current_setting('tenure.held', true), '') IS NOT NULL THEN
    -- ${s}.fence_repeated() has set a limit where the user had none, and noted nothing.
    RETURN '{0,0}';
  END IF;
  FOR i IN 1..2 LOOP
    limits[i] := round(extract(epoch FROM current_setting(names[i])::interval) * 1000)::bigint::text;
  END LOOP;
  PERFORM set_config('tenure.limits', array_to_string(limits, ' '), true);
  RETURN limits;
END
$tenure$;

-- Bounds how long this transaction may hold what it holds, whatever becomes of its client. Safe to call again: the limit counts from
-- now. Shorter limits of the user's own stay.
CREATE OR REPLACE FUNCTION ${s}.limit_transaction(limit_ms integer) RETURNS void LANGUAGE plpgsql AS $tenure$
DECLARE
  names   text[] := ${s}.limit_names();
  users   text[] := ${s}.own_limits();
  present text;
  own     numeric;
  wanted  numeric;
BEGIN
  PERFORM ${s}.publish_deadline(limit_ms);
  FOR i IN 1..2 LOOP
    -- A limit of the whole transaction bounds its pauses, too.
    CONTINUE WHEN i = 1 AND names[2] = 'transaction_timeout';
    own := users[i]::numeric;
    present := round(extract(epoch FROM current_setting(names[i])::interval) * 1000)::bigint::text;
    -- A timer of the user's own that runs already, and ends sooner, isn't wound up.
    CONTINUE WHEN own > 0 AND own <= limit_ms AND present = users[i];
    wanted := limit_ms;
    IF own > 0 THEN
      IF names[i] = 'transaction_timeout' THEN
        -- It counts from now when it is set, and the user's counted from the beginning.
        own := greatest(1, round(own - extract(epoch FROM clock_timestamp() - now()) * 1000));
      END IF;
      wanted := least(own, limit_ms);
    END IF;
    -- A running timer isn't wound up again by a new value alone: stop it first.
    PERFORM set_config(names[i], '0', true), set_config(names[i], wanted::text, true);
  END LOOP;
END
$tenure$;
`;
}
