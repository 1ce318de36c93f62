#define _GNU_SOURCE 1
#include "clinux.h"

int clinux_name_thread(pthread_t thread, const char *name) { return pthread_setname_np(thread, name); }
