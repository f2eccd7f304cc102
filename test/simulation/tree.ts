import type { NodeChange, Stat } from '../../src/election/port.js';
import type { CoordinatorErrorKind } from '../../src/errors.js';
import type { Change, Outcome, Transaction, Write } from './transaction.js';

export interface TreeNode {
  data: Uint8Array;
  readonly czxid: bigint;
  mzxid: bigint;
  /** The last transaction that changed the children. */
  pzxid: bigint;
  readonly ctime: number;
  mtime: number;
  version: number;
  /** Children ever created: the next sequence number. ZooKeeper's visible cversion is derived from it. */
  creations: number;
  readonly owner: string | null;
  readonly children: Set<string>;
}

export type OnChange = (path: string, change: NodeChange) => void;

/** The znodes and sessions as of one transaction. Applying is the same on every server; deciding is the leader's. */
export class Tree {
  readonly #nodes = new Map<string, TreeNode>();
  readonly #sessions = new Map<string, number>();
  readonly #ephemerals = new Map<string, Set<string>>();
  #zxid = 0n;

  constructor() {
    this.#nodes.set('/', newNode(0n, 0, new Uint8Array(), null));
    this.#add('/zookeeper', newNode(0n, 0, new Uint8Array(), null));
  }

  /** The last transaction applied. */
  get zxid(): bigint {
    return this.#zxid;
  }

  /** Session ids and their timeouts. */
  get sessions(): ReadonlyMap<string, number> {
    return this.#sessions;
  }

  get(path: string): TreeNode | undefined {
    return this.#nodes.get(path);
  }

  clone(): Tree {
    const copy = new Tree();
    for (const [path, node] of this.#nodes) copy.#nodes.set(path, { ...node, children: new Set(node.children) });
    for (const [session, timeout] of this.#sessions) copy.#sessions.set(session, timeout);
    for (const [session, paths] of this.#ephemerals) copy.#ephemerals.set(session, new Set(paths));
    copy.#zxid = this.#zxid;
    return copy;
  }

  /** What a write amounts to here, in the order in which ZooKeeper checks it. Changes nothing. */
  decide(write: Write, session: string | null): Change {
    switch (write.type) {
      case 'create': {
        const parent = this.#nodes.get(parentOf(write.path));
        if (parent === undefined) return refuse('no_node');
        const sequential = write.mode === 'ephemeral_sequential';
        const path = sequential ? write.path + String(parent.creations).padStart(10, '0') : write.path;
        if (this.#nodes.has(path)) return refuse('node_exists');
        if (parent.owner !== null) return refuse('no_children_for_ephemerals');
        return { type: 'create', path, data: write.data, owner: write.mode === 'persistent' ? null : session };
      }
      case 'remove': {
        const node = this.#nodes.get(write.path);
        if (node === undefined) return refuse('no_node');
        if (write.version !== -1 && write.version !== node.version) return refuse('bad_version');
        if (node.children.size > 0) return refuse('not_empty');
        return { type: 'remove', path: write.path };
      }
      case 'write': {
        const node = this.#nodes.get(write.path);
        if (node === undefined) return refuse('no_node');
        if (write.version !== -1 && write.version !== node.version) return refuse('bad_version');
        return { type: 'write', path: write.path, data: write.data };
      }
      case 'check': {
        const node = this.#nodes.get(write.path);
        if (node === undefined) return refuse('no_node');
        return write.version !== -1 && write.version !== node.version ? refuse('bad_version') : { type: 'nothing' };
      }
      case 'multi':
        return this.#decideAll(write.parts, session);
      case 'open':
        return { type: 'open', session: write.session, timeoutMs: write.timeoutMs };
      case 'close':
        return { type: 'close', session: write.session, ephemerals: [...(this.#ephemerals.get(write.session) ?? [])] };
    }
  }

  /** Each part by what the parts before it have made of the tree. */
  #decideAll(parts: readonly Write[], session: string | null): Change {
    const draft = this.clone();
    const changes: Change[] = [];
    for (const [part, write] of parts.entries()) {
      const change = draft.decide(write, session);
      if (change.type === 'refuse') return { ...change, part };
      draft.#change(change, draft.#zxid + 1n, 0, () => {});
      changes.push(change);
    }
    return { type: 'multi', changes };
  }

  apply({ change, zxid, time }: Transaction, onChange: OnChange): Outcome {
    this.#zxid = zxid;
    return this.#change(change, zxid, time, onChange);
  }

  #change(change: Change, zxid: bigint, time: number, onChange: OnChange): Outcome {
    switch (change.type) {
      case 'create': {
        const node = newNode(zxid, time, change.data, change.owner);
        this.#add(change.path, node);
        onChange(change.path, 'created');
        onChange(parentOf(change.path), 'children');
        return { ok: true, path: change.path, stat: statOf(node) };
      }
      case 'remove':
        this.#remove(change.path, zxid, onChange);
        return { ok: true, path: change.path, stat: null };
      case 'write': {
        const node = this.#existing(change.path);
        node.data = change.data;
        node.mzxid = zxid;
        node.mtime = time;
        node.version++;
        onChange(change.path, 'changed');
        return { ok: true, path: change.path, stat: statOf(node) };
      }
      case 'open':
        this.#sessions.set(change.session, change.timeoutMs);
        return { ok: true, path: '', stat: null };
      case 'close':
        this.#sessions.delete(change.session);
        for (const path of change.ephemerals) if (this.#nodes.has(path)) this.#remove(path, zxid, onChange);
        this.#ephemerals.delete(change.session);
        return { ok: true, path: '', stat: null };
      case 'nothing':
        return { ok: true, path: '', stat: null };
      case 'multi':
        for (const each of change.changes) this.#change(each, zxid, time, onChange);
        return { ok: true, path: '', stat: null };
      case 'refuse': {
        const { type: _, ...refusal } = change;
        return { ok: false, ...refusal };
      }
    }
  }

  #existing(path: string): TreeNode {
    const node = this.#nodes.get(path);
    if (node === undefined) throw new Error(`the log and the tree disagree about ${path}`);
    return node;
  }

  #add(path: string, node: TreeNode): void {
    const parent = this.#existing(parentOf(path));
    this.#nodes.set(path, node);
    parent.children.add(nameOf(path));
    parent.creations++;
    parent.pzxid = node.czxid;
    if (node.owner === null) return;
    const owned = this.#ephemerals.get(node.owner) ?? new Set();
    this.#ephemerals.set(node.owner, owned.add(path));
  }

  #remove(path: string, zxid: bigint, onChange: OnChange): void {
    const node = this.#existing(path);
    const parent = this.#existing(parentOf(path));
    this.#nodes.delete(path);
    parent.children.delete(nameOf(path));
    parent.pzxid = zxid;
    if (node.owner !== null) this.#ephemerals.get(node.owner)?.delete(path);
    onChange(path, 'deleted');
    onChange(parentOf(path), 'children');
  }
}

export function statOf(node: TreeNode): Stat {
  return {
    czxid: node.czxid,
    mzxid: node.mzxid,
    ctime: node.ctime,
    mtime: node.mtime,
    version: node.version,
    // Each creation counts one and each deletion one more; every child that is gone has had both.
    cversion: node.creations * 2 - node.children.size,
    owner: node.owner,
    children: node.children.size,
  };
}

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function newNode(zxid: bigint, time: number, data: Uint8Array, owner: string | null): TreeNode {
  return {
    data,
    czxid: zxid,
    mzxid: zxid,
    pzxid: zxid,
    ctime: time,
    mtime: time,
    version: 0,
    creations: 0,
    owner,
    children: new Set(),
  };
}

function refuse(kind: CoordinatorErrorKind): Change {
  return { type: 'refuse', kind };
}
