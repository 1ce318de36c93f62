#pragma once
#include <sqlite3.h>

// sqlite3_db_config is variadic, too. For connections that leave checkpoints to another process, also the one of the last close.
static inline void sqlite3_never_checkpoint(sqlite3 *database) {
  sqlite3_wal_autocheckpoint(database, 0);
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// sqlite3_config is variadic, which Swift does not import. Without statistics, allocations of several threads share no mutex.
static inline int sqlite3_config_without_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
