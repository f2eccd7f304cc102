import { type SchemaPart, script } from './postgres-schema.js';

export const TASKS: SchemaPart = { name: 'tasks', version: 1, sql: tasksSql };

/**
 * The tables of tasks and schedules as plain SQL, for those who run their own migrations. Idempotent.
 *
 * @param schema default `tenure`
 */
export function tasksSchema(schema = 'tenure'): string {
  return script(TASKS, schema);
}

function tasksSql(s: string): string {
  return `
-- One row for each task that has begun (in steps) or is done. JSON is kept as the text that was given.
CREATE TABLE IF NOT EXISTS ${s}.task (
  resource   text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 512),
  token      bigint NOT NULL,
  holder     text,
  attempts   integer NOT NULL DEFAULT 1,
  progress   json,
  result     json,
  begun_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  done_at    timestamptz,
  PRIMARY KEY (resource, key)
);
CREATE INDEX IF NOT EXISTS task_unfinished ON ${s}.task (resource, begun_at) WHERE done_at IS NULL;
CREATE INDEX IF NOT EXISTS task_done ON ${s}.task (resource, done_at) WHERE done_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS ${s}.task_step (
  resource   text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  step       text COLLATE "C" NOT NULL CHECK (octet_length(step) BETWEEN 1 AND 512),
  token      bigint NOT NULL,
  result     json,
  done_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (resource, key, step),
  FOREIGN KEY (resource, key) REFERENCES ${s}.task ON DELETE CASCADE
);

-- How far each scheduled job has come: periods up to this one are done or were skipped.
CREATE TABLE IF NOT EXISTS ${s}.schedule (
  resource     text COLLATE "C" NOT NULL,
  job          text COLLATE "C" NOT NULL,
  period       timestamptz NOT NULL,
  succeeded_at timestamptz,
  PRIMARY KEY (resource, job)
);
`;
}
