#include "confinement.h"

#include <sys/prctl.h>
#include <sys/resource.h>

int confine_resource(enum confinement_resource resource, uint64_t soft, uint64_t hard) {
  static const int numbers[] = {RLIMIT_AS, RLIMIT_CPU, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE};
  struct rlimit limit = {soft, hard};
  return setrlimit(numbers[resource], &limit);
}

int confine_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
