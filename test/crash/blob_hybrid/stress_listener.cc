// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Linked into RocksDB's db_stress with --wrap, adds the plugin's listener to each database that is
// opened: db_stress drops the listeners of its options file. And one that notes what the plugin has
// done.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {

#if ROCKSDB_MAJOR >= 11
using OpenedDb = std::unique_ptr<DB>;
#define RESULT "PSt10unique_ptrIS0_St14default_deleteIS0_EE"
#else
using OpenedDb = DB*;
#define RESULT "PPS0_"
#endif
#define OPEN                                                                                   \
  "_ZN7rocksdb2DB4OpenERKNS_9DBOptionsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE" \
  "RKSt6vectorINS_22ColumnFamilyDescriptorESaISD_EEPSC_IPNS_18ColumnFamilyHandleESaISJ_EE" RESULT
#define OPEN_TRANSACTIONS                                                                        \
  "_ZN7rocksdb13TransactionDB4OpenERKNS_9DBOptionsERKNS_20TransactionDBOptionsERKNSt7__cxx1112"  \
  "basic_stringIcSt11char_traitsIcESaIcEEERKSt6vectorINS_22ColumnFamilyDescriptorESaISG_EEPSF_I" \
  "PNS_18ColumnFamilyHandleESaISM_EEPPS0_"

namespace {

// Writes the plugin's counters to $TEST_TMPDIR/counters.PID after each compaction, for the process
// may be killed at any time. All families of db_stress share a factory and its counters.
class Notes : public EventListener {
 public:
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& /*info*/) override {
    std::lock_guard<std::mutex> lock(mutex_);
    blob_hybrid::BlobHybridStats stats;
    const Status s = blob_hybrid::GetBlobHybridStats(db, db->DefaultColumnFamily(), &stats);
    if (!s.ok() && !s.IsShutdownInProgress()) {
      fprintf(stderr, "error: no statistics: %s\n", s.ToString().c_str());
      return;
    }
    std::string text;
#define X(name, unit, description) text += #name ": " + std::to_string(stats.name) + "\n";
    BLOB_HYBRID_COUNTERS(X)
#undef X
    Write(text);
  }

 private:
  // Counters do not become less: nothing of an earlier text is left behind a later one.
  static void Write(const std::string& text) {
    const std::string path =
        std::string(getenv("TEST_TMPDIR")) + "/counters." + std::to_string(getpid());
    const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (file < 0 || pwrite(file, text.data(), text.size(), 0) < 0) {
      perror(path.c_str());
    }
    if (file >= 0) {
      close(file);
    }
  }

  std::mutex mutex_;
};

}  // namespace

// The linker's --wrap=SYMBOL sends the callers of SYMBOL to __wrap_SYMBOL, and those of
// __real_SYMBOL to SYMBOL.
Status RealOpen(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, OpenedDb* db) __asm__("__real_" OPEN);
Status WrapOpen(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, OpenedDb* db) __asm__("__wrap_" OPEN);

// The same for pessimistic transactions, which open databases in another way.
Status RealOpenTransactions(const DBOptions& options, const TransactionDBOptions& of_transactions,
                            const std::string& name,
                            const std::vector<ColumnFamilyDescriptor>& families,
                            std::vector<ColumnFamilyHandle*>* handles,
                            TransactionDB** db) __asm__("__real_" OPEN_TRANSACTIONS);
Status WrapOpenTransactions(const DBOptions& options, const TransactionDBOptions& of_transactions,
                            const std::string& name,
                            const std::vector<ColumnFamilyDescriptor>& families,
                            std::vector<ColumnFamilyHandle*>* handles,
                            TransactionDB** db) __asm__("__wrap_" OPEN_TRANSACTIONS);

namespace {

DBOptions WithListeners(const DBOptions& options) {
  DBOptions result = options;
  result.listeners.push_back(blob_hybrid::NewBlobHybridListener());
  result.listeners.push_back(std::make_shared<Notes>());
  return result;
}

}  // namespace

Status WrapOpen(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, OpenedDb* db) {
  return RealOpen(WithListeners(options), name, families, handles, db);
}

Status WrapOpenTransactions(const DBOptions& options, const TransactionDBOptions& of_transactions,
                            const std::string& name,
                            const std::vector<ColumnFamilyDescriptor>& families,
                            std::vector<ColumnFamilyHandle*>* handles, TransactionDB** db) {
  return RealOpenTransactions(WithListeners(options), of_transactions, name, families, handles, db);
}

}  // namespace ROCKSDB_NAMESPACE
