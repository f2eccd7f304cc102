const TOKEN = 'tenure.token';

let token = sessionStorage.getItem(TOKEN) ?? '';

/** Kept for this tab alone. */
export function useToken(text) {
  token = text;
  sessionStorage.setItem(TOKEN, text);
}

/** What the sidecar answers; its problems are thrown, with `status` and `code`. */
export async function ask(method, path, body) {
  const response = await send(method, path, body, AbortSignal.timeout(10_000));
  return response.json();
}

async function send(method, path, body, signal) {
  const response = await fetch(path, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw Object.assign(new Error(problem.detail ?? `the sidecar answers ${response.status}`), {
    status: response.status,
    code: problem.code,
  });
}

/** Silent for so long: a beat comes each second. */
export const STALE_MS = 3_500;

/**
 * Follows a stream of events until the returned function is called, and begins again where it breaks. EventSource can send no
 * token, and doesn't show the beats by which a stream that is stuck is told from a quiet one.
 */
export function follow(path, { onEvent, onOpen = () => {}, onTrouble = () => {}, onBeat = () => {} }) {
  const stop = new AbortController();
  let wait = 500;
  const once = async () => {
    const broken = new AbortController();
    let heard = performance.now();
    const watch = setInterval(() => {
      if (performance.now() - heard > STALE_MS) broken.abort(new Error('the sidecar is silent'));
    }, 500);
    try {
      const response = await send('GET', path, undefined, AbortSignal.any([stop.signal, broken.signal]));
      wait = 500;
      onOpen();
      let rest = '';
      for await (const text of texts(response.body)) {
        heard = performance.now();
        onBeat();
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop();
        for (const block of blocks) tell(block, onEvent);
      }
      throw new Error('the sidecar has closed the stream');
    } finally {
      clearInterval(watch);
    }
  };
  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        await once();
      } catch (error) {
        if (!stop.signal.aborted) onTrouble(error);
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(5_000, wait * 2);
    }
  };
  void run();
  return () => stop.abort();
}

async function* texts(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function tell(block, onEvent) {
  let event = '';
  let data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice(7);
    if (line.startsWith('data: ')) data = line.slice(6);
  }
  if (event !== '') onEvent(event, JSON.parse(data));
}
