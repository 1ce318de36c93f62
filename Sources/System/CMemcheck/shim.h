#pragma once
// What a program under valgrind says to it; outside it costs some instructions and does nothing. Without valgrind's header, too.
#include <stddef.h>
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>

/// From now on a branch or an index that depends on the bytes, or on what is computed of them, is an error.
static inline void memcheck_make_secret(const void *bytes, size_t count) { VALGRIND_MAKE_MEM_UNDEFINED(bytes, count); }
/// The bytes are no secret, such as a public key.
static inline void memcheck_make_public(const void *bytes, size_t count) { VALGRIND_MAKE_MEM_DEFINED(bytes, count); }
static inline unsigned memcheck_errors(void) { return VALGRIND_COUNT_ERRORS; }
static inline int memcheck_is_running(void) { return RUNNING_ON_VALGRIND != 0; }
#else
static inline void memcheck_make_secret(const void *bytes, size_t count) {}
static inline void memcheck_make_public(const void *bytes, size_t count) {}
static inline unsigned memcheck_errors(void) { return 0; }
static inline int memcheck_is_running(void) { return 0; }
#endif
