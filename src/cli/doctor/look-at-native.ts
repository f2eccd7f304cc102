import { DriverUnavailableError } from '../../errors.js';
import { nativeDriver } from '../../zookeeper/native/driver.js';
import type { NativeFacts } from './facts.js';
import type { Surroundings } from './surroundings.js';

/** Opens a session by the native driver, which then shows whether child processes would inherit its socket. */
export async function lookAtNative(around: Surroundings, timeoutMs: number): Promise<NativeFacts> {
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  try {
    const { servers, sessionTimeoutMs } = around;
    const driver = await nativeDriver({ servers, sessionTimeoutMs, connectTimeoutMs: timeoutMs, onWarning });
    const session = await driver.open();
    await session.close();
  } catch (error) {
    if (error instanceof DriverUnavailableError) return { state: 'unavailable', message: error.message };
    // It loads; that it gets no session is the ensemble's matter.
  }
  const warning = warnings[0];
  if (warning !== undefined) return { state: 'inherits', message: warning.split('. Build it again')[0] ?? warning };
  return { state: 'good', message: 'the native driver loads, and child processes inherit no connection of it' };
}
