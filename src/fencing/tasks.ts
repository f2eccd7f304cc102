/**
 * Tasks that run once across failovers, and jobs that only the leader runs; both beside a PostgresGuard's fences.
 *
 * @module tenure/fencing/tasks
 */
export { type Missed, nextPeriod } from './periods.js';
export { type TaskResult, Tasks, type TasksOptions, tasks, type UnfinishedTask } from './run-once.js';
export { type Job, type JobBase, type Period, type Schedule, type ScheduleOptions, schedule } from './scheduler.js';
export type { TaskSteps } from './task-steps.js';
export { tasksSchema } from './tasks-schema.js';
