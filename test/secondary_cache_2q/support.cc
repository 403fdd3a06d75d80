// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/secondary_cache_2q/support.h"

#include <cstring>

#include "rocksdb/convenience.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

void DeleteText(Cache::ObjectPtr object, MemoryAllocator* /*allocator*/) {
  delete static_cast<std::string*>(object);
}

size_t SizeOfText(Cache::ObjectPtr object) { return static_cast<std::string*>(object)->size(); }

Status SaveText(Cache::ObjectPtr object, size_t offset, size_t length, char* out) {
  memcpy(out, static_cast<std::string*>(object)->data() + offset, length);
  return Status::OK();
}

Status CreateText(const Slice& data, CompressionType type, CacheTier source,
                  Cache::CreateContext* context, MemoryAllocator* /*allocator*/,
                  Cache::ObjectPtr* object, size_t* charge) {
  auto* text_context = static_cast<TextContext*>(context);
  if (text_context->fail) {
    return Status::NotSupported("told to fail");
  }
  text_context->type = type;
  text_context->source = source;
  *object = new std::string(data.data(), data.size());
  *charge = data.size();
  return Status::OK();
}

}  // namespace

const Cache::CacheItemHelper* TextHelper() {
  static const Cache::CacheItemHelper basic(CacheEntryRole::kMisc, &DeleteText);
  static const Cache::CacheItemHelper helper(CacheEntryRole::kMisc, &DeleteText, &SizeOfText,
                                             &SaveText, &CreateText, &basic);
  return &helper;
}

std::string Key(uint64_t block, uint64_t file) {
  std::string key(16, '\0');
  memcpy(key.data(), &file, 8);
  memcpy(key.data() + 8, &block, 8);
  return key;
}

std::string Noise(uint64_t seed, size_t size) {
  Random64 random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) {
    c = static_cast<char>(random.Next() >> 32);
  }
  return bytes;
}

std::shared_ptr<SecondaryCache> NewCache(const std::string& options) {
  std::shared_ptr<SecondaryCache> cache;
  EXPECT_OK(SecondaryCache::CreateFromString(ConfigOptions(), "id=TwoQSecondaryCache;" + options,
                                             &cache));
  return cache;
}

TwoQSecondaryCache* AsOurs(const std::shared_ptr<SecondaryCache>& cache) {
  return cache->CheckedCast<TwoQSecondaryCache>();
}

void Offer(SecondaryCache* cache, const std::string& key, const std::string& value, bool force) {
  std::string object = value;
  EXPECT_OK(cache->Insert(key, &object, TextHelper(), force));
}

std::string Get(SecondaryCache* cache, const std::string& key, bool advise_erase, bool* kept) {
  TextContext context;
  bool kept_in_sec_cache = false;
  std::unique_ptr<SecondaryCacheResultHandle> handle =
      cache->Lookup(key, TextHelper(), &context, /*wait=*/true, advise_erase, /*stats=*/nullptr,
                    kept_in_sec_cache);
  if (kept != nullptr) {
    *kept = kept_in_sec_cache;
  }
  if (handle == nullptr) {
    return "<none>";
  }
  EXPECT_TRUE(handle->IsReady());
  std::unique_ptr<std::string> value(static_cast<std::string*>(handle->Value()));
  EXPECT_EQ(value->size(), handle->Size());
  return *value;
}

void Touch(SecondaryCache* cache, const std::string& key, const std::string& value) {
  if (Get(cache, key) == "<none>") {
    Offer(cache, key, value);
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
