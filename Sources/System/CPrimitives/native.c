// Natively: SHA-256, AES, HKDF and PBKDF2 are OpenSSL's, which uses the processor's instructions for them. Random bytes are the system's, by
// libsodium.
#if !defined(__wasm__)
#include "primitives.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/sha.h>
#include <sodium.h>
#include <stdlib.h>

// OpenSSL fails here only if there is no memory.
static void require(int succeeded) {
  if (!succeeded) abort();
}

// Fetched once: finding it by name takes longer than its work.
static EVP_KDF *hkdf;

__attribute__((constructor)) static void start(void) {
  require(sodium_init() >= 0);
  hkdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
}

_Static_assert(sizeof(struct primitives_sha256) >= sizeof(SHA256_CTX), "the state has room for OpenSSL's");

// Deprecated in favour of contexts, which are allocated and find the algorithm by its name: longer than the hash of a key takes.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
void primitives_sha256_begin(struct primitives_sha256 *state) { SHA256_Init((SHA256_CTX *)state); }

void primitives_sha256_add(struct primitives_sha256 *state, const uint8_t *bytes, size_t count) {
  SHA256_Update((SHA256_CTX *)state, bytes, count);
}

void primitives_sha256_end(struct primitives_sha256 *state, uint8_t digest[32]) { SHA256_Final(digest, (SHA256_CTX *)state); }
#pragma clang diagnostic pop

void primitives_hkdf_sha256(
  uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count, const uint8_t *secret, size_t secret_count,
  const uint8_t *info, size_t info_count) {
  OSSL_PARAM parameters[5], *next = parameters;
  *next++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, "SHA256", 0);
  *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_count);
  if (salt_count > 0) *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count);
  if (info_count > 0) *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count);
  *next = OSSL_PARAM_construct_end();
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(hkdf);
  require(context != NULL && EVP_KDF_derive(context, key, key_count, parameters) == 1);
  EVP_KDF_CTX_free(context);
}

void primitives_pbkdf2_sha512(
  uint8_t *key, size_t key_count, const uint8_t *password, size_t password_count, const uint8_t *salt, size_t salt_count,
  uint32_t rounds) {
  require(
    PKCS5_PBKDF2_HMAC(
      (const char *)password, (int)password_count, salt, (int)salt_count, (int)rounds, EVP_sha512(), (int)key_count, key) == 1);
}

static void aes(
  const EVP_CIPHER *mode, int encrypts, uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t iv[16]) {
  // EVP counts in int.
  const size_t part_limit = 1 << 30;
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  require(context != NULL && EVP_CipherInit_ex(context, mode, NULL, key, iv, encrypts) == 1);
  EVP_CIPHER_CTX_set_padding(context, 0);
  while (count > 0) {
    int part = (int)(count < part_limit ? count : part_limit), written;
    require(EVP_CipherUpdate(context, bytes, &written, bytes, part) == 1 && written == part);
    bytes += part;
    count -= (size_t)part;
  }
  EVP_CIPHER_CTX_free(context);
}

void primitives_aes256_cbc_encrypt(uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t iv[16]) {
  aes(EVP_aes_256_cbc(), 1, bytes, count, key, iv);
}

void primitives_aes256_cbc_decrypt(uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t iv[16]) {
  aes(EVP_aes_256_cbc(), 0, bytes, count, key, iv);
}

void primitives_aes256_ctr(uint8_t *bytes, size_t count, const uint8_t key[32], const uint8_t counter[16]) {
  aes(EVP_aes_256_ctr(), 1, bytes, count, key, counter);
}

void primitives_random(uint8_t *bytes, size_t count) { randombytes_buf(bytes, count); }
#endif
