import assert from 'node:assert/strict';

/* The block waits for what it asks for, and ends what it started; this hears what it is told meanwhile. */

const told: string[] = [];
console.error = (line: string) => void told.push(line);

export async function afterwards(): Promise<void> {
  assert.match(told.join('\n'), /starting 3 ZooKeeper servers[\s\S]*ZooKeeper serves at \S+,\S+,\S+ after/);
}
