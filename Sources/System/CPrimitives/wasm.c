// In wasm: AES is BearSSL's bit-sliced one, which has no tables. SHA-256, HKDF and PBKDF2 are libsodium's or made of its parts.
// Scripts/build-primitives makes both libraries.
#if defined(__wasm__)
#include "primitives.h"

#include <bearssl_block.h>
#include <sodium/crypto_auth_hmacsha512.h>
#include <sodium/crypto_hash_sha256.h>
#include <sodium/crypto_kdf_hkdf_sha256.h>
#include <sodium/utils.h>
#include <string.h>

// The C library's own declarations are for WASI's target only, and its functions work here, too.
int getentropy(void *bytes, size_t count);

_Static_assert(sizeof(struct primitives_sha256) >= sizeof(crypto_hash_sha256_state), "the state has room for libsodium's");

void primitives_sha256_begin(struct primitives_sha256 *state) { crypto_hash_sha256_init((crypto_hash_sha256_state *)state); }

void primitives_sha256_add(struct primitives_sha256 *state, const uint8_t *bytes, size_t count) {
  crypto_hash_sha256_update((crypto_hash_sha256_state *)state, bytes, count);
}

void primitives_sha256_end(struct primitives_sha256 *state, uint8_t digest[32]) {
  crypto_hash_sha256_final((crypto_hash_sha256_state *)state, digest);
}

void primitives_hkdf_sha256(
  uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count, const uint8_t *secret, size_t secret_count,
  const uint8_t *info, size_t info_count) {
  uint8_t extracted[crypto_kdf_hkdf_sha256_KEYBYTES];
  crypto_kdf_hkdf_sha256_extract(extracted, salt, salt_count, secret, secret_count);
  crypto_kdf_hkdf_sha256_expand(key, key_count, (const char *)info, info_count, extracted);
  sodium_memzero(extracted, sizeof extracted);
}

// One block of RFC 8018, §5.2. `keyed` is an HMAC that has its key.
static void pbkdf2_block(
  uint8_t block[64], const crypto_auth_hmacsha512_state *keyed, const uint8_t *salt, size_t salt_count, uint32_t rounds,
  uint32_t number) {
  const uint8_t suffix[4] = {number >> 24 & 0xff, number >> 16 & 0xff, number >> 8 & 0xff, number & 0xff};
  uint8_t round[64];
  crypto_auth_hmacsha512_state state = *keyed;
  crypto_auth_hmacsha512_update(&state, salt, salt_count);
  crypto_auth_hmacsha512_update(&state, suffix, sizeof suffix);
  crypto_auth_hmacsha512_final(&state, round);
  memcpy(block, round, sizeof round);
  for (uint32_t done = 1; done < rounds; done++) {
    state = *keyed;
    crypto_auth_hmacsha512_update(&state, round, sizeof round);
    crypto_auth_hmacsha512_final(&state, round);
    for (int i = 0; i < 64; i++) block[i] ^= round[i];
  }
  sodium_memzero(round, sizeof round);
  sodium_memzero(&state, sizeof state);
}

void primitives_pbkdf2_sha512(
  uint8_t *key, size_t key_count, const uint8_t *password, size_t password_count, const uint8_t *salt, size_t salt_count,
  uint32_t rounds) {
  crypto_auth_hmacsha512_state keyed;
  crypto_auth_hmacsha512_init(&keyed, password, password_count);
  uint8_t block[64];
  for (uint32_t number = 1; key_count > 0; number++) {
    size_t part = key_count < sizeof block ? key_count : sizeof block;
    pbkdf2_block(block, &keyed, salt, salt_count, rounds, number);
    memcpy(key, block, part);
    key += part;
    key_count -= part;
  }
  sodium_memzero(block, sizeof block);
  sodium_memzero(&keyed, sizeof keyed);
}

void primitives_aes256_cbc_encrypt(uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t iv[16]) {
  br_aes_ct64_cbcenc_keys keys;
  uint8_t chained[16];
  memcpy(chained, iv, sizeof chained);
  br_aes_ct64_cbcenc_init(&keys, key, 32);
  br_aes_ct64_cbcenc_run(&keys, chained, bytes, count);
  sodium_memzero(&keys, sizeof keys);
}

void primitives_aes256_cbc_decrypt(uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t iv[16]) {
  br_aes_ct64_cbcdec_keys keys;
  uint8_t chained[16];
  memcpy(chained, iv, sizeof chained);
  br_aes_ct64_cbcdec_init(&keys, key, 32);
  br_aes_ct64_cbcdec_run(&keys, chained, bytes, count);
  sodium_memzero(&keys, sizeof keys);
}

// BearSSL counts in the last 32 bits only. A run ends where they overflow, and the other 96 bits take the carry.
void primitives_aes256_ctr(uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t counter[16]) {
  br_aes_ct64_ctr_keys keys;
  uint8_t high[12];
  memcpy(high, counter, sizeof high);
  uint32_t low = (uint32_t)counter[12] << 24 | (uint32_t)counter[13] << 16 | (uint32_t)counter[14] << 8 | counter[15];
  br_aes_ct64_ctr_init(&keys, key, 32);
  while (count > 0) {
    uint64_t room = (0x100000000 - low) * 16;
    size_t run = count < room ? count : (size_t)room;
    low = br_aes_ct64_ctr_run(&keys, high, low, bytes, run);
    bytes += run;
    count -= run;
    for (int i = 11; i >= 0 && ++high[i] == 0; i--) {}
  }
  sodium_memzero(&keys, sizeof keys);
}

// WASI's generator: the host answers with crypto.getRandomValues. It gives 256 bytes at a time.
void primitives_random(uint8_t *bytes, size_t count) {
  while (count > 0) {
    size_t part = count < 256 ? count : 256;
    if (getentropy(bytes, part) != 0) __builtin_trap();
    bytes += part;
    count -= part;
  }
}

// What libsodium's objects refer to.
void sodium_misuse(void);
void randombytes_buf(void *const bytes, const size_t count);
void randombytes_buf(void *const bytes, const size_t count) { primitives_random(bytes, count); }
void sodium_misuse(void) { __builtin_trap(); }
#endif
