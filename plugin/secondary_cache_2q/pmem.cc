// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/pmem.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cassert>

#ifdef TWOQ_LIBPMEM
#include <libpmem.h>
#endif

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

#ifdef TWOQ_LIBPMEM

bool IsDax(int fd) {
#if defined(MAP_SYNC) && defined(MAP_SHARED_VALIDATE)
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  munmap(memory, size);
  return true;
#else
  (void)fd;
  return false;
#endif
}

Status MapPmem(const std::string& path, char** memory, size_t* size) {
  void* mapped = pmem_map_file(path.c_str(), 0, 0, 0, size, nullptr);
  if (mapped == nullptr) {
    return Status::IOError("pmem_map_file " + path, pmem_errormsg());
  }
  *memory = static_cast<char*>(mapped);
  return Status::OK();
}

void UnmapPmem(char* memory, size_t size) {
  if (memory != nullptr) {
    pmem_unmap(memory, size);
  }
}

void CopyToPmem(char* to, const char* from, size_t size) {
  pmem_memcpy(to, from, size, PMEM_F_MEM_NONTEMPORAL);
}

#else

bool IsDax(int /*fd*/) { return false; }

Status MapPmem(const std::string& /*path*/, char** /*memory*/, size_t* /*size*/) {
  return Status::NotSupported("TwoQSecondaryCache: io=pmem", "this build has no libpmem");
}

void UnmapPmem(char* /*memory*/, size_t /*size*/) {}

void CopyToPmem(char* /*to*/, const char* /*from*/, size_t /*size*/) { assert(false); }

#endif

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
