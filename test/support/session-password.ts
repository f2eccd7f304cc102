/** What ZooKeeper's servers mix into the seed; in SessionTrackerImpl and ZooKeeperServer it is called superSecret. */
const MIXED_IN = 0xb3415c00n;
const MASK = (1n << 48n) - 1n;

/**
 * The password of a session, which ZooKeeper derives from its number alone, by java.util.Random: whoever can see a number
 * in a znode's owner can go on with its session.
 */
export function sessionPassword(id: bigint): Uint8Array {
  let seed = (BigInt.asUintN(64, id ^ MIXED_IN) ^ 0x5deece66dn) & MASK;
  const password = new Uint8Array(16);
  for (let i = 0; i < password.length; i += 4) {
    seed = (seed * 0x5deece66dn + 0xbn) & MASK;
    let word = Number(BigInt.asIntN(32, seed >> 16n));
    for (let j = 0; j < 4; j++) {
      password[i + j] = word & 0xff;
      word >>= 8;
    }
  }
  return password;
}
