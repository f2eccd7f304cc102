import type { Operator } from './operator.js';

export interface Claim {
  readonly term: number;
  readonly token: bigint;
  readonly leaderId: string;
}

/** Every claim that a term record has shown since it is followed, or named as the one before: whatever its leader made of it. */
export class ClaimLog {
  readonly #claims = new Map<number, Claim>();

  private constructor() {}

  static async follow(operator: Operator, election: string): Promise<ClaimLog> {
    const log = new ClaimLog();
    const path = operator.termPath(election);
    const look = async (): Promise<void> => {
      const found = await operator.session.read(path, { watch: true }).catch(() => null);
      if (found === null) await operator.session.stat(path, { watch: true }).catch(() => null);
      else log.#note(JSON.parse(Buffer.from(found.data).toString()) as RecordJson);
    };
    operator.session.onNode(path, () => void look());
    operator.session.onState(() => void look());
    await look();
    return log;
  }

  /** In the order of their terms. */
  get all(): Claim[] {
    return [...this.#claims.values()].sort((a, b) => a.term - b.term);
  }

  #note({ term, token, leaderId, previous }: RecordJson): void {
    if (term === 0) return;
    this.#claims.set(term, { term, token: BigInt(token), leaderId });
    if (previous !== null && !this.#claims.has(previous.term)) {
      this.#claims.set(previous.term, { ...previous, token: BigInt(previous.token) });
    }
  }
}

interface ClaimJson {
  readonly term: number;
  readonly token: string;
  readonly leaderId: string;
}

type RecordJson = ClaimJson & { readonly previous: ClaimJson | null };
