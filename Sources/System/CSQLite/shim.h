#pragma once
#include <sqlite3.h>

// sqlite3_config is variadic, which Swift does not import. Without statistics, allocations of several threads share no mutex.
static inline int sqlite3_config_without_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
