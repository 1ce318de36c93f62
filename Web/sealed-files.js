// Files of encrypted rooms: AES-256-CTR, with the SHA-256 of the ciphertext. Spec: "Sending encrypted attachments". The server has neither names nor
// types of them. What the program calls them by is an address with the keys behind a '#', which go to no server.

export const largest = 100 << 20;

// What is not the file that its sender encrypted.
export class DamagedFile extends Error {}

const word = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/=+$/, '');
const bytesOf = text => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), sign => sign.charCodeAt(0));

// The ciphertext of a file, and key, first counter and hash as an event has them. A new key each time.
export async function encryptFile(file) {
  if (!crypto.subtle || file.size > largest) throw new Error('this file cannot be encrypted here');
  const key = await crypto.subtle.generateKey({ name: 'AES-CTR', length: 256 }, true, ['encrypt']);
  const counter = new Uint8Array(16);
  // The other half counts.
  crypto.getRandomValues(counter.subarray(0, 8));
  const ciphertext = await crypto.subtle.encrypt({ name: 'AES-CTR', counter, length: 64 }, key, await file.arrayBuffer());
  const [digest, { k }] = await Promise.all([crypto.subtle.digest('SHA-256', ciphertext), crypto.subtle.exportKey('jwk', key)]);
  return { blob: new Blob([ciphertext], { type: 'application/octet-stream' }), keys: [k, word(counter), word(digest)] };
}

// Throws where it is not the file of these keys: not a byte of it is shown then.
export async function decryptFile(source, blob) {
  const [k, iv, hash, type] = source.slice(source.indexOf('#') + 1).split('&').map(decodeURIComponent);
  if (blob.size > largest) throw new Error('too large');
  const ciphertext = await blob.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', ciphertext)), wanted = bytesOf(hash);
  if (digest.length !== wanted.length || digest.some((byte, index) => byte !== wanted[index])) throw new DamagedFile('the file is damaged');
  const key = await crypto.subtle.importKey('raw', bytesOf(k), { name: 'AES-CTR' }, false, ['decrypt']);
  return new Blob([await crypto.subtle.decrypt({ name: 'AES-CTR', counter: bytesOf(iv), length: 64 }, key, ciphertext)], { type });
}
