#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

// A macro that Swift does not import: which parts of a key EVP_PKEY_fromdata takes.
static inline int cryptoPublicKeySelection(void) { return EVP_PKEY_PUBLIC_KEY; }

// SHA-256 of bytes that lie together. SHA256() of OpenSSL 3 finds the algorithm by its name and allocates a context in each
// call, which takes longer than the hash of a token. These are the functions it ends in, deprecated in favour of such contexts.
static inline void cryptoSHA256(const void *bytes, size_t count, unsigned char *digest) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes, count);
  SHA256_Final(digest, &state);
#pragma clang diagnostic pop
}
