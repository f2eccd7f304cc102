// For HEALTHCHECK: the image has no curl. HEALTH_URL says what to ask.
const url = process.env.HEALTH_URL;
try {
  const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(3_000) });
  if (!ok) throw new Error(`status ${status}`);
} catch (error) {
  console.error(`${url}: ${error.message}`);
  process.exitCode = 1;
}
