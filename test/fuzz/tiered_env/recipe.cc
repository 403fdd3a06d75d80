// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Recipes: what MakeRecipe() makes of any bytes, an SST or not, is rebuilt as they were; a recipe
// that was changed makes nothing else, and does no harm.

#include <string>
#include <vector>

#include "file/writable_file_writer.h"
#include "plugin/tiered_env/recipe/format.h"
#include "plugin/tiered_env/recipe/make.h"
#include "plugin/tiered_env/recipe/rebuild.h"
#include "rocksdb/sst_file_writer.h"
#include "test/fuzz/memory.h"

using namespace rocktier;
namespace tiered = rocksdb::tiered_env;

namespace {

constexpr uint64_t kMostRebuilt = 1 << 20;  // bytes

// Has each entry that it is asked for, unless the input says otherwise.
class Entries : public tiered::ReferenceSource, public tiered::EntrySource {
 public:
  explicit Entries(uint8_t some) : some_(some) {}

  bool Take(const tiered::Entry& entry, tiered::Reference* reference) override {
    // No log has entries of other types.
    if (!rocksdb::IsExtendedValueType(entry.type) || (kept_.size() + asked_++) % 8 < some_ % 8) {
      return false;
    }
    reference->segment = 5 + kept_.size() / 4;
    reference->ordinal = static_cast<tiered::Ordinal>(kept_.size() % 4 * 3);
    reference->of_batch = (some_ & 8) != 0;
    kept_.push_back({entry, entry.key.ToString(), entry.value.ToString()});
    return true;
  }

  bool Get(const tiered::Reference& reference, tiered::Entry* entry) override {
    if (reference.segment < 5 || reference.ordinal % 3 != 0 || reference.ordinal > 9) {
      return false;
    }
    const uint64_t at = (reference.segment - 5) * 4 + reference.ordinal / 3;
    if (reference.segment - 5 > kept_.size() || at >= kept_.size()) {
      return false;
    }
    const Kept& kept = kept_[at];
    *entry = kept.entry;
    entry->key = kept.key;
    entry->value = kept.value;
    if (reference.of_batch) {
      entry->batch = entry->sequence;
    }
    return true;
  }

 private:
  struct Kept {
    tiered::Entry entry;
    std::string key;
    std::string value;
  };
  const uint8_t some_;
  size_t asked_ = 0;
  std::vector<Kept> kept_;
};

std::string MakeSst(Input* input) {
  rocksdb::Options options;
  options.compression = input->Byte() % 4 == 0 ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;
  const MemoryFiles files;
  options.env = files.env();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  Require(writer.Open(files.PathOf("sst")).ok(), "an SST is made");
  std::string key;
  for (int i = 0; i < 1 + input->Byte() % 40; i++) {
    key += static_cast<char>('a' + input->Byte() % 20);
    key.resize(std::min<size_t>(key.size(), 30), '\0');
    // Keys out of order are left out.
    const rocksdb::Status s = writer.Put(key + std::to_string(1000 + i), input->Bytes(60));
    s.PermitUncheckedError();
  }
  if (!writer.Finish().ok()) {
    return "no SST";
  }
  return files.Read("sst");
}

rocksdb::Status RebuildTo(const std::string& recipe, tiered::EntrySource* entries,
                          std::string* result) {
  tiered::RecipeSummary summary;
  rocksdb::Status s = tiered::DecodeSummary(recipe, &summary);
  if (s.ok() && summary.size > kMostRebuilt) {
    s = rocksdb::Status::Corruption("its size is not that of the SST in the MANIFEST");
  }
  if (s.ok()) {
    // A buffer of exactly this size, so that sanitizers see its end.
    const std::unique_ptr<char[]> sst(new char[summary.size]);
    s = tiered::Rebuild(recipe, entries, sst.get());
    result->assign(sst.get(), s.ok() ? summary.size : 0);
  }
  return s;
}

}  // namespace

FUZZ_TARGET(tiered_recipe_of_sst) {
  Input input(bytes);
  Entries entries(input.Byte());
  const Bytes sst = BytesFrom(&input, MakeSst);
  std::string recipe;
  tiered::RecipeSummary summary;
  tiered::MakeRecipe(sst.bytes, &entries, &recipe, &summary);
  std::string again;
  const rocksdb::Status s = RebuildTo(recipe, &entries, &again);
  Require(s.ok() && again == sst.bytes, "an SST is not rebuilt from its recipe");
}

FUZZ_TARGET(tiered_recipe) {
  Input input(bytes);
  Entries entries(input.Byte());
  const Bytes recipe = BytesFrom(&input, [&entries](Input* from) {
    std::string made;
    tiered::RecipeSummary summary;
    tiered::MakeRecipe(MakeSst(from), &entries, &made, &summary);
    return made;
  });
  const Bound bound(FitFor(recipe.bytes.size()) + 4 * kMostRebuilt);
  uint64_t visits = 0;
  const rocksdb::Status s =
      tiered::ForEachReference(recipe.bytes, [&visits](const auto&) { visits++; });
  tiered::RecipeParts parts;
  Require(tiered::DecodeRecipe(recipe.bytes, &parts).ok() == s.ok(), "a recipe is half right");
  Require(!s.ok() || visits == parts.summary.references, "references are not as many as it says");
  std::string sst;
  if (RebuildTo(recipe.bytes, &entries, &sst).ok()) {
    Require(s.ok(), "a recipe that is damaged makes an SST");
    std::string once;
    tiered::EncodeRecipe(parts, &once);
    std::string again;
    Require(RebuildTo(once, &entries, &again).ok() && again == sst, "a recipe changes");
  }
}
