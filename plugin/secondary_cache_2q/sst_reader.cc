// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/sst_reader.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "plugin/secondary_cache_2q/block_form.h"
#include "plugin/secondary_cache_2q/metered_fs.h"
#include "rocksdb/advanced_cache.h"
#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// Bytes of the last blocks that are kept, for one that is soon read again. Two are, of any size:
// those at the ends of a range.
constexpr size_t kKept = 1 << 20;

// For index blocks; what an iterator uses stays besides.
constexpr size_t kIndexMemory = 8 << 20;  // bytes

}  // namespace

// A block cache that keeps copies of what is put into it: of index blocks, as long as they are
// wanted, and of the last data block. Data blocks do not stay in it, so that each read of one comes
// by.
class BlockCatcher : public CacheWrapper {
 public:
  BlockCatcher() : CacheWrapper(Target()) {}
  const char* Name() const override { return "TwoQBlockCatcher"; }

  Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority, const Slice& compressed,
                CompressionType type) override {
    if (helper->IsSecondaryCacheCompatible() && value != nullptr) {
      const bool is_data = helper->role == CacheEntryRole::kDataBlock;
      if (is_data) {
        data_ = CaughtBlock();
        Copy(key, value, helper, &data_);
        data_.compressed = compressed.ToString();
        data_.type = type;
      } else if (helper->role == CacheEntryRole::kIndexBlock && wants_index_) {
        index_.emplace_back();
        Copy(key, value, helper, &index_.back());
      }
      if (is_data && handle != nullptr) {
        *handle = target_->CreateStandalone(key, value, helper, charge, /*allow_uncharged=*/true);
        return Status::OK();
      }
    }
    return target_->Insert(key, value, helper, charge, handle, priority, compressed, type);
  }

  // The blocks of the index, in the order in which they were read.
  std::vector<CaughtBlock> TakeIndex() {
    wants_index_ = false;
    return std::move(index_);
  }
  CaughtBlock TakeData() { return std::move(data_); }
  void Forget() { data_ = CaughtBlock(); }

 private:
  static std::shared_ptr<Cache> Target() {
    LRUCacheOptions options;
    options.capacity = kIndexMemory;
    options.num_shard_bits = 0;
    options.strict_capacity_limit = false;
    return options.MakeSharedCache();
  }

  static void Copy(const Slice& key, ObjectPtr value, const CacheItemHelper* helper,
                   CaughtBlock* to) {
    to->bytes.resize(helper->size_cb(value));
    if (helper->saveto_cb(value, 0, to->bytes.size(), to->bytes.data()).ok()) {
      to->key = key.ToString();
    }
  }

  bool wants_index_ = true;
  std::vector<CaughtBlock> index_;
  CaughtBlock data_;
};

namespace {

Options ReaderOptions(const Comparator* comparator, Env* env,
                      const std::shared_ptr<BlockCatcher>& catcher) {
  BlockBasedTableOptions table;
  table.block_cache = catcher;
  table.cache_index_and_filter_blocks = true;  // so that index blocks come by
  table.max_auto_readahead_size = 0;
  Options options;
  options.env = env;
  options.comparator = comparator;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

// The index type, which is 32 bits in a property of its own; 0 if there is none.
uint32_t IndexTypeOf(const TableProperties& properties) {
  const auto& collected = properties.user_collected_properties;
  const auto it = collected.find(BlockBasedTablePropertyNames::kIndexType);
  return it == collected.end() || it->second.size() < sizeof(uint32_t)
             ? 0
             : DecodeFixed32(it->second.data());
}

SstIndex::Form FormOf(const TableProperties& properties) {
  SstIndex::Form form;
  form.user_keys = properties.index_key_is_user_key != 0;
  form.delta_values = properties.index_value_is_delta_encoded != 0;
  form.first_keys = IndexTypeOf(properties) == BlockBasedTableOptions::kBinarySearchWithFirstKey;
  return form;
}

// Puts what the index blocks say into one. The top level of an index of two levels was read first.
bool Collect(const std::vector<CaughtBlock>& blocks, const TableProperties& properties,
             const FileKeys& keys, SstIndex* index) {
  const SstIndex::Form form = FormOf(properties);
  if (blocks.empty()) {
    return false;
  }
  if (IndexTypeOf(properties) != BlockBasedTableOptions::kTwoLevelIndexSearch) {
    return index->Add(blocks[0].bytes, form);
  }
  std::unordered_map<std::string, const CaughtBlock*> by_key;
  for (const CaughtBlock& block : blocks) {
    by_key[block.key] = &block;
  }
  std::vector<SstIndex::Place> parts;
  if (!SstIndex::ReadTopLevel(blocks[0].bytes, form, &parts)) {
    return false;
  }
  return std::all_of(parts.begin(), parts.end(), [&](const SstIndex::Place& part) {
    const auto it = by_key.find(keys.KeyOf(part.offset));
    return it != by_key.end() && index->Add(it->second->bytes, form);
  });
}

}  // namespace

bool SstReader::Source::IsClosed() const {
  return fs.expired() || std::any_of(held.begin(), held.end(),
                                     [](const std::weak_ptr<void>& it) { return it.expired(); });
}

SstReader::SstReader(const std::shared_ptr<FileSystem>& fs, const Comparator* comparator,
                     std::string path)
    : path_(std::move(path)),
      env_(NewCompositeEnv(NewMeteredFileSystem(fs, &read_bytes_))),
      catcher_(std::make_shared<BlockCatcher>()),
      reader_(new SstFileReader(ReaderOptions(comparator, env_.get(), catcher_))) {}

SstReader::~SstReader() {
  iterator_.reset();
  reader_.reset();
}

Status SstReader::Open(const Source& source, const std::string& path,
                       std::unique_ptr<SstReader>* result) {
  const std::shared_ptr<FileSystem> fs = source.fs.lock();
  if (fs == nullptr || source.IsClosed()) {
    return Status::Aborted(path, "its database is closed");
  }
  std::unique_ptr<SstReader> sst(new SstReader(fs, source.comparator, path));
  Status s = sst->reader_->Open(path);
  if (s.ok()) {
    s = sst->ReadIndex();
  }
  if (s.ok() && sst->index_.size() > 0) {
    s = sst->ReadFirstKey();
  }
  if (s.ok()) {
    *result = std::move(sst);
  }
  return s;
}

Status SstReader::ReadIndex() {
  const std::shared_ptr<const TableProperties> properties = reader_->GetTableProperties();
  if (properties == nullptr) {
    return Status::NotSupported(path_, "has no properties");
  }
  keys_ = FindFileKeys(properties->db_id, properties->db_session_id, properties->orig_file_number);
  if (keys_.file == 0) {
    return Status::NotSupported(path_, "has no unique id");
  }
  const std::vector<CaughtBlock> blocks = catcher_->TakeIndex();
  if (!Collect(blocks, *properties, keys_, &index_)) {
    return Status::Corruption(path_, "its index cannot be read");
  }
  index_.ShrinkToFit();
  return Status::OK();
}

Status SstReader::ReadFirstKey() {
  const CaughtBlock* first;
  Status s = Read(0, &first);
  if (s.ok()) {
    DataBlockEntries entries(first->bytes);
    s = entries.Next() ? Status::OK() : Status::Corruption(path_, "has an empty block");
    if (s.ok()) {
      index_.SetFirstKey(entries.UserKey());
    }
  }
  return s;
}

// A Seek() to the separator of a block goes to that block, and no further: the upper bound, which
// is the separator, too, says that the next one is beyond it.
Status SstReader::Seek(size_t block) {
  bound_ = index_.Separator(block);
  if (iterator_ == nullptr) {
    ReadOptions options;
    options.total_order_seek = true;
    options.auto_readahead_size = false;
    options.iterate_upper_bound = &bound_;
    iterator_.reset(reader_->NewIterator(options));
  }
  catcher_->Forget();
  iterator_->Seek(bound_);
  return iterator_->status();
}

Status SstReader::Read(size_t block, const CaughtBlock** result) {
  for (const auto& [number, caught] : read_) {
    if (number == block) {
      *result = &caught;
      return Status::OK();
    }
  }
  Status s = Seek(block);
  CaughtBlock caught = catcher_->TakeData();
  if (caught.key != keys_.KeyOf(index_.Offset(block))) {
    // The status may be of what is in the block, as of operands without a merge operator.
    return s.IsCorruption() || s.IsIOError() ? s
                                             : Status::NotFound(path_, "a block is not reached");
  }
  Keep(block, std::move(caught));
  *result = &read_.back().second;
  return Status::OK();
}

void SstReader::Keep(size_t block, CaughtBlock&& caught) {
  kept_bytes_ += caught.memory();
  read_.emplace_back(block, std::move(caught));
  while (read_.size() > 2 && kept_bytes_ > kKept) {
    kept_bytes_ -= read_.front().second.memory();
    read_.pop_front();
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
