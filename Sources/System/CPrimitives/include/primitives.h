#pragma once
// What Olm, Megolm, verification by short strings, backups and attachments need of cryptographic libraries, and nothing else.
//
// Natively libsodium and OpenSSL do the work, in wasm libsodium and BearSSL. What is refused is refused alike on both, because
// the curves are libsodium's everywhere. No function keeps state between calls, and none branches or indexes on secrets.
// Pointers may not be null, except of an empty message, salt or info.
#include <stddef.h>
#include <stdint.h>

// ---- Curves

/// RFC 7748. 0 if the result is zero, as it is for every point of small order: the "secret" is then known to everyone.
int primitives_x25519(uint8_t shared[32], const uint8_t secret[32], const uint8_t point[32]);
void primitives_x25519_public_key(uint8_t key[32], const uint8_t secret[32]);

/// RFC 8032. The seed is what the RFC calls the private key.
void primitives_ed25519_public_key(uint8_t key[32], const uint8_t seed[32]);
void primitives_ed25519_sign(
  uint8_t signature[64], const uint8_t *message, size_t count, const uint8_t seed[32], const uint8_t key[32]);
/// 1 if the signature is right. Keys and points of small order, and numbers that are not reduced, are refused: with them one
/// signature fits many messages.
int primitives_ed25519_verify(const uint8_t signature[64], const uint8_t *message, size_t count, const uint8_t key[32]);

// ---- Hashes and keys

/// A SHA-256 over bytes that come in parts.
struct primitives_sha256 {
  uint64_t words[14];
};
void primitives_sha256_begin(struct primitives_sha256 *state);
void primitives_sha256_add(struct primitives_sha256 *state, const uint8_t *bytes, size_t count);
void primitives_sha256_end(struct primitives_sha256 *state, uint8_t digest[32]);

void primitives_hmac_sha256(uint8_t tag[32], const uint8_t *key, size_t key_count, const uint8_t *message, size_t count);
/// RFC 5869. At most 8,160 bytes. An empty salt is one of 32 zeros.
void primitives_hkdf_sha256(
  uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count, const uint8_t *secret, size_t secret_count,
  const uint8_t *info, size_t info_count);
/// RFC 8018 with HMAC-SHA-512. At least one round.
void primitives_pbkdf2_sha512(
  uint8_t *key, size_t key_count, const uint8_t *password, size_t password_count, const uint8_t *salt, size_t salt_count,
  uint32_t rounds);

// ---- AES-256, in place

/// The count is a multiple of 16.
void primitives_aes256_cbc_encrypt(uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t iv[16]);
void primitives_aes256_cbc_decrypt(uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t iv[16]);
/// The counter is all of the 128 bits, the most significant byte first.
void primitives_aes256_ctr(uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t counter[16]);

// ---- ChaCha20-Poly1305, RFC 8439

/// The sealed bytes are 16 more. A nonce is used once with a key.
void primitives_chacha20poly1305_seal(
  uint8_t *sealed, const uint8_t *bytes, size_t count, const uint8_t nonce[12], const uint8_t key[32]);
/// 1 if the seal is right; otherwise the bytes are zeros. There are `count` sealed bytes, at least 16, and 16 fewer clear ones.
int primitives_chacha20poly1305_open(
  uint8_t *bytes, const uint8_t *sealed, size_t count, const uint8_t nonce[12], const uint8_t key[32]);

// ---- Memory

/// 1 if the bytes are equal; takes as long if they are not.
int primitives_equal(const uint8_t *one, const uint8_t *other, size_t count);
/// Overwrites the bytes, also where a compiler sees that nobody reads them again.
void primitives_wipe(void *bytes, size_t count);
/// From the operating system's generator, or the browser's.
void primitives_random(uint8_t *bytes, size_t count);
