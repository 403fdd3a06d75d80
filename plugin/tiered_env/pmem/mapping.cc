// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/pmem/mapping.h"

#include <sys/mman.h>

#include <cassert>
#include <cstring>

#include "env/io_posix.h"
#include "plugin/tiered_env/pmem/posix.h"
#include "port/port.h"

#ifdef TIERED_LIBPMEM
#include <libpmem.h>
#endif

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

static_assert(port::kLittleEndian, "words in mapped files are little-endian");

#ifdef TIERED_LIBPMEM

bool HaveLibpmem() { return true; }

namespace {

// MAP_SYNC is granted by DAX alone. Then a page that can be written is in the file for good: the
// file system's own data of it were made durable before.
void* MapSync(size_t size, int protection, int fd, uint64_t offset) {
#if defined(MAP_SYNC) && defined(MAP_SHARED_VALIDATE)
  return mmap(nullptr, size, protection, MAP_SHARED_VALIDATE | MAP_SYNC, fd,
              static_cast<off_t>(offset));
#else
  return MAP_FAILED;
#endif
}

// PMEM_IS_PMEM_FORCE, for memory of which libpmem cannot know.
bool IsPmem(const void* data, size_t size) { return pmem_is_pmem(data, size) != 0; }

void CopyPast(char* to, const char* from, size_t n) {
  pmem_memcpy(to, from, n, PMEM_F_MEM_NONTEMPORAL | PMEM_F_MEM_NODRAIN);
}

void DrainPast() { pmem_drain(); }

void PersistLines(const char* data, size_t n) { pmem_persist(data, n); }

}  // namespace

#else

bool HaveLibpmem() { return false; }

namespace {

void* MapSync(size_t, int, int, uint64_t) { return MAP_FAILED; }
bool IsPmem(const void*, size_t) { return false; }
void CopyPast(char*, const char*, size_t) { assert(false); }
void DrainPast() {}
void PersistLines(const char*, size_t) {}

}  // namespace

#endif

IOStatus Mapping::Map(int fd, const std::string& path, uint64_t offset, size_t size, bool writable,
                      std::unique_ptr<Mapping>* result) {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = writable ? MapSync(size, protection, fd, offset) : MAP_FAILED;
  bool pmem = data != MAP_FAILED;
  if (!pmem) {
    data = mmap(nullptr, size, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (data == MAP_FAILED) {
      return IOError("While mapping", path, errno);
    }
    pmem = writable && IsPmem(data, size);
  }
  result->reset(new Mapping(static_cast<char*>(data), size, pmem));
  return IOStatus::OK();
}

Mapping::~Mapping() { munmap(data_, size_); }

void Mapping::Copy(size_t at, const char* from, size_t n) const {
  assert(at + n <= size_);
  if (pmem_) {
    CopyPast(data_ + at, from, n);
  } else {
    memcpy(data_ + at, from, n);
  }
}

void Mapping::Drain() const {
  if (pmem_) {
    DrainPast();
  }
}

void Mapping::Persist(size_t at, size_t n) const {
  if (pmem_) {
    PersistLines(data_ + at, n);
  }
}

void Mapping::StoreWord(size_t at, uint64_t word) const {
  __atomic_store_n(reinterpret_cast<uint64_t*>(data_ + at), word, __ATOMIC_RELEASE);
}

uint64_t Mapping::LoadWord(size_t at) const {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(data_ + at), __ATOMIC_ACQUIRE);
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
