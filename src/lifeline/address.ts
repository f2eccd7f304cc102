/** Where a server may be reached, by an address that needs no more looking up. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** The host as it was given, which a certificate is made out to. */
  readonly name: string;
}
