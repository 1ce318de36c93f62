// Natively and in wasm: curves, HMAC, ChaCha20-Poly1305 and memory are libsodium's.
#include "primitives.h"

// Not sodium.h: as wasm it would want more of the C library than a program of the page has.
#include <sodium/crypto_aead_chacha20poly1305.h>
#include <sodium/crypto_auth_hmacsha256.h>
#include <sodium/crypto_scalarmult_curve25519.h>
#include <sodium/crypto_sign_ed25519.h>
#include <sodium/utils.h>
#include <string.h>

int primitives_x25519(uint8_t shared[32], const uint8_t secret[32], const uint8_t point[32]) {
  if (crypto_scalarmult_curve25519(shared, secret, point) == 0) return 1;
  memset(shared, 0, 32);
  return 0;
}

void primitives_x25519_public_key(uint8_t key[32], const uint8_t secret[32]) {
  crypto_scalarmult_curve25519_base(key, secret);
}

void primitives_ed25519_public_key(uint8_t key[32], const uint8_t seed[32]) {
  uint8_t seed_and_key[64];
  crypto_sign_ed25519_seed_keypair(key, seed_and_key, seed);
  sodium_memzero(seed_and_key, sizeof seed_and_key);
}

void primitives_ed25519_sign(
  uint8_t signature[64], const uint8_t *message, size_t count, const uint8_t seed[32], const uint8_t key[32]) {
  uint8_t seed_and_key[64];
  memcpy(seed_and_key, seed, 32);
  memcpy(seed_and_key + 32, key, 32);
  crypto_sign_ed25519_detached(signature, NULL, message, count, seed_and_key);
  sodium_memzero(seed_and_key, sizeof seed_and_key);
}

int primitives_ed25519_verify(const uint8_t signature[64], const uint8_t *message, size_t count, const uint8_t key[32]) {
  return crypto_sign_ed25519_verify_detached(signature, message, count, key) == 0;
}

void primitives_hmac_sha256(uint8_t tag[32], const uint8_t *key, size_t key_count, const uint8_t *message, size_t count) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key, key_count);
  crypto_auth_hmacsha256_update(&state, message, count);
  crypto_auth_hmacsha256_final(&state, tag);
  sodium_memzero(&state, sizeof state);
}

void primitives_chacha20poly1305_seal(
  uint8_t *sealed, const uint8_t *bytes, size_t count, const uint8_t nonce[12], const uint8_t key[32]) {
  crypto_aead_chacha20poly1305_ietf_encrypt(sealed, NULL, bytes, count, NULL, 0, NULL, nonce, key);
}

int primitives_chacha20poly1305_open(
  uint8_t *bytes, const uint8_t *sealed, size_t count, const uint8_t nonce[12], const uint8_t key[32]) {
  return crypto_aead_chacha20poly1305_ietf_decrypt(bytes, NULL, NULL, sealed, count, NULL, 0, nonce, key) == 0;
}

int primitives_equal(const uint8_t *one, const uint8_t *other, size_t count) { return sodium_memcmp(one, other, count) == 0; }

void primitives_wipe(void *bytes, size_t count) { sodium_memzero(bytes, count); }
