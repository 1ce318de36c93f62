#pragma once
// The raw SHA-1 states are deprecated but the only ones that can be copied without an allocation, once per packet.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdint.h>

// Macros and variadic functions that Swift does not import.
static inline EVP_PKEY *ssl_new_p256_key(void) { return EVP_EC_gen("P-256"); }

/// AES-128-GCM, for as long as the process lives. For each packet OpenSSL 3.0 looks up parameters of its provider by their names; the copy of a
/// method does without. Of other versions it was not measured.
static inline const EVP_CIPHER *ssl_aes_128_gcm(void) {
#if OPENSSL_VERSION_MAJOR == 3 && OPENSSL_VERSION_MINOR == 0 && !defined(OPENSSL_NO_DEPRECATED_3_0)
  EVP_CIPHER *copy = OPENSSL_version_minor() == 0 ? EVP_CIPHER_meth_dup(EVP_aes_128_gcm()) : NULL;
  if (copy) return copy;
#endif
  return EVP_aes_128_gcm();
}

/// The largest datagram DTLS may make; the path is not asked.
static inline void ssl_set_datagram_limit(SSL *ssl, long bytes) {
  SSL_set_options(ssl, SSL_OP_NO_QUERY_MTU);
  DTLS_set_link_mtu(ssl, bytes);
}

static inline size_t ssl_pending_bytes(BIO *bio) { return BIO_ctrl_pending(bio); }

/// Throws away what a memory BIO holds.
static inline void ssl_empty(BIO *bio) { (void)BIO_reset(bio); }

/// Any certificate is taken: the fingerprint of the signalling decides, not a chain.
static inline int ssl_accept_certificate(int preverified, X509_STORE_CTX *context) {
  (void)preverified;
  (void)context;
  return 1;
}

/// What a server's TLS is: 1.2 at least, without renegotiation, and without memory of clients that have gone.
static inline int ssl_limit_server(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  // Who is silent holds no record buffers.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

static inline int ssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

/// Nobody is asked for a password at the terminal, as OpenSSL would.
static inline int ssl_no_password(char *buffer, int size, int is_for_writing, void *context) {
  (void)buffer;
  (void)size;
  (void)is_for_writing;
  (void)context;
  return -1;
}

static inline void ssl_allow_only(SSL_CTX *context, int version) {
  SSL_CTX_set_min_proto_version(context, version);
  SSL_CTX_set_max_proto_version(context, version);
}
