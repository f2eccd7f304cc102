/** One instruction of a Dockerfile: `COPY`, and all that stands behind it. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

export interface ImageStage {
  readonly name: string;
  /** Another stage's name, or an image. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile, in their order. It knows what ours has: no here-documents, no ONBUILD. */
export function stages(text: string): ImageStage[] {
  const found: { name: string; from: string; instructions: Instruction[] }[] = [];
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n');
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    if (name === 'FROM') {
      const [, from = '', stage = ''] = /^(\S+) AS (\S+)$/.exec(rest) ?? [];
      if (stage === '') throw new Error(`a stage without a name: ${line}`);
      found.push({ name: stage, from, instructions: [] });
    } else if (name !== '') found.at(-1)?.instructions.push({ name, rest });
    else if (line.trim() !== '') throw new Error(`no instruction: ${line}`);
  }
  return found;
}
