#pragma once
// What a process does to bind its own hands: prctl is variadic, RLIMIT_* are enumerators of a type Swift names differently.
// No header of the system is included here: under _GNU_SOURCE its types would differ from those of the Glibc module.
#include <stdint.h>

enum confinement_resource {
  CONFINE_ADDRESS_SPACE_BYTES,
  CONFINE_CPU_SECONDS,
  CONFINE_OPEN_FILES,
  CONFINE_FILE_BYTES,
  CONFINE_CORE_BYTES,
};

/// Sets the soft and hard limit of this process. 0, or -1 with errno.
int confine_resource(enum confinement_resource resource, uint64_t soft, uint64_t hard);

/// No privilege is ever gained again (execve of a set-user-ID program), here or in children. 0, or -1 with errno.
int confine_no_new_privileges(void);
