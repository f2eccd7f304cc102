import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { curatorProgram, goProgram, javaClasses, kazooPython } from '../../deploy/local/toolchains/index.js';
import { missing } from '../../test/support/tools.js';
import { compileSource } from '../compiled.js';
import { noEtcd } from './etcd.js';

export type ContenderName = 'tenure' | 'tenure-alone' | 'curator' | 'kazoo' | 'go' | 'etcd' | 'etcd-leader';

/** Where a program stands. */
export interface Stand {
  /** `host:port,…` of its coordinator. */
  readonly servers: string;
  readonly election: string;
  readonly timeoutMs: number;
}

/** Of one queue, each with a session of its own; or one in each of many queues, all on one session. */
export type CrowdMode = 'one' | 'many';

/** A library, used as its documentation says, with the settings that are named. */
export interface Contender {
  readonly name: ContenderName;
  readonly label: string;
  readonly setting: string;
  readonly coordinator: 'zookeeper' | 'etcd';
  candidate(stand: Stand, id: string): readonly string[];
  crowd(stand: Stand, count: number, mode: CrowdMode): readonly string[];
  /** Where its candidates lie; in a crowd of many elections, those of one of them. */
  queue(election: string, index?: number): string;
}

const place = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What can't be run here, in a line; undefined where all can. */
export const lacking = missing('python3', 'javac', 'mvn', 'go') ?? noEtcd();

/** The virtual machine's own defaults, as a service would have them. */
const JAVA = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=off'];

/** All of them, their libraries fetched and their programs compiled. */
export async function contenders(): Promise<readonly Contender[]> {
  const curatorPom = place('../../deploy/local/toolchains/curator.xml');
  const [python, single, crowd, goSingle, goCrowd, etcd] = await Promise.all([
    kazooPython(),
    curatorProgram(place('../../test/interop/curator')),
    javaClasses([place('./curator')], curatorPom),
    goProgram(place('../../test/interop/go')),
    goProgram(place('./go')),
    goProgram(place('./etcd')),
  ]);
  const module = pathToFileURL(join(compileSource(), 'index.js')).href;
  const lock = (election: string, index?: number): string =>
    `/peers/${election}${index === undefined ? '' : `/${index}`}`;
  const after = ({ servers, election, timeoutMs }: Stand, who: string, path = lock(election)): string[] => [
    servers,
    path,
    who,
    String(timeoutMs),
  ];
  const tenure = (lifeline: boolean): Pick<Contender, 'coordinator' | 'candidate' | 'crowd' | 'queue'> => {
    const run = [process.execPath, '--import', 'tsx', place('./programs/tenure.ts'), module, String(lifeline)];
    return {
      coordinator: 'zookeeper',
      candidate: (stand, id) => [...run, ...after(stand, id, stand.election), 'candidate'],
      crowd: (stand, count, mode) => [...run, ...after(stand, String(count), stand.election), mode],
      queue: (election, index) => `/tenure/${election}${index === undefined ? '' : `/${index}`}/queue`,
    };
  };
  const etcdElection = (more: readonly string[]): Pick<Contender, 'coordinator' | 'candidate' | 'crowd' | 'queue'> => ({
    coordinator: 'etcd',
    candidate: (stand, id) => [etcd, 'candidate', ...after(stand, id), ...more],
    crowd: (stand, count, mode) => [etcd, 'crowd', ...after(stand, String(count)), mode],
    queue: lock,
  });
  return [
    { name: 'tenure', label: 'Tenure', setting: 'defaults', ...tenure(true) },
    { name: 'tenure-alone', label: 'Tenure, no lifeline', setting: 'lifeline: false', ...tenure(false) },
    {
      name: 'curator',
      label: 'Curator LeaderLatch',
      setting:
        '5.9.0; LeaderLatchListener; the standard error policy, by which SUSPENDED ends the leadership (the default)',
      coordinator: 'zookeeper',
      candidate: (stand, id) => ['java', ...JAVA, '-cp', single, 'Candidate', ...after(stand, id), 'latch'],
      crowd: (stand, count, mode) => [
        ...['java', ...JAVA, '-cp', crowd, 'Crowd'],
        ...after(stand, String(count)),
        mode,
      ],
      queue: lock,
    },
    {
      name: 'kazoo',
      label: 'kazoo Election',
      setting: '2.11.0; a listener ends the leadership on SUSPENDED and LOST, as its documentation says',
      coordinator: 'zookeeper',
      candidate: (stand, id) => [
        python,
        place('../../test/interop/kazoo/candidate.py'),
        ...after(stand, id),
        'default',
      ],
      crowd: (stand, count, mode) => [python, place('./kazoo/crowd.py'), ...after(stand, String(count)), mode],
      queue: lock,
    },
    {
      name: 'go',
      label: 'go-zookeeper Lock',
      setting: '1.0.4; any session event but StateHasSession ends the leadership',
      coordinator: 'zookeeper',
      candidate: (stand, id) => [goSingle, ...after(stand, id)],
      crowd: (stand, count, mode) => [goCrowd, ...after(stand, String(count)), mode],
      queue: lock,
    },
    {
      name: 'etcd',
      label: 'etcd Election',
      setting: 'concurrency of client 3.5.35; Session.Done ends the leadership',
      ...etcdElection([]),
    },
    {
      name: 'etcd-leader',
      label: 'etcd Election, WithRequireLeader',
      setting: "the same, the session's context by WithRequireLeader",
      ...etcdElection(['leader']),
    },
  ];
}
