import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * The SHA-256 of a source in UTF-8, hexadecimal, as the server computes it.
 *
 * The browser's own `crypto.subtle` is asynchronous and absent over plain HTTP.
 */
export function hashSource(source: string): string {
  return bytesToHex(sha256(utf8ToBytes(source)));
}
