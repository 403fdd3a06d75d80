// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The option `table`: another table factory behind HotPromotionTable.

#include "plugin/hot_promotion/inner.h"

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"
#include "table/block_based/block_based_table_builder.h"
#include "table/block_based/block_based_table_factory.h"
#include "test/hot_promotion/support.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

constexpr char kToken[] = "token";  // a value that stands for another one
std::string BehindToken() { return std::string(300, 'v'); }

// Writes another value to the SST than it is given.
class TokenBuilder : public BlockBasedTableBuilder {
 public:
  using BlockBasedTableBuilder::BlockBasedTableBuilder;
  void Add(const Slice& key, const Slice& value) override {
    BlockBasedTableBuilder::Add(key, value == kToken ? Slice(behind_) : value);
  }

 private:
  const std::string behind_ = BehindToken();
};

struct TokenOptions {
  static const char* kName() { return "TokenOptions"; }
  int number = 1;
};

// A factory with a builder and an option of its own.
class TokenTable : public BlockBasedTableFactory {
 public:
  TokenTable() {
    static const std::unordered_map<std::string, OptionTypeInfo> types = {
        {"number", {offsetof(TokenOptions, number), OptionType::kInt}}};
    RegisterOptions(&options_, &types);
  }
  static const char* kClassName() { return "TokenTable"; }
  const char* Name() const override { return kClassName(); }
  bool IsInstanceOf(const std::string& name) const override {
    return name == kBlockBasedTableName() || BlockBasedTableFactory::IsInstanceOf(name);
  }
  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<TokenTable>(*this);
  }
  TableBuilder* NewTableBuilder(const TableBuilderOptions& options,
                                WritableFileWriter* file) const override {
    return new TokenBuilder(*GetOptions<BlockBasedTableOptions>(), options, file);
  }
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override {
    return options_.number < 0 ? Status::InvalidArgument("TokenTable: number")
                               : BlockBasedTableFactory::ValidateOptions(db, family);
  }

  static void Register() {
    ObjectLibrary::Default()->AddFactory<TableFactory>(
        kClassName(),
        [](const std::string& /*uri*/, std::unique_ptr<TableFactory>* guard, std::string*) {
          guard->reset(new TokenTable());
          return guard->get();
        });
  }

 private:
  TokenOptions options_;
};

class InnerTest : public HotDb {
 protected:
  InnerTest() { TokenTable::Register(); }

  Status Create(const std::string& options, std::shared_ptr<TableFactory>* factory) {
    return TableFactory::CreateFromString(ConfigOptions(), "id=HotPromotionTable;" + options,
                                          factory);
  }
  std::shared_ptr<TableFactory> Made(const std::string& options) {
    std::shared_ptr<TableFactory> factory;
    EXPECT_OK(Create(options, &factory));
    return factory;
  }
  std::string Text() const {
    return "path=" + hot_.path + ";budget=8M;promotion_cache=1M;slow_read_micros=0;slow=" + path_ +
           ";";
  }
  static const BlockBasedTableOptions& TablesOf(const TableFactory& factory) {
    return *factory.GetOptions<BlockBasedTableOptions>();
  }
  static const BlockBasedTableOptions& TablesOfInner(const TableFactory& factory) {
    return *static_cast<const TableFactory*>(factory.Inner())->GetOptions<BlockBasedTableOptions>();
  }

  void ExpectRefused(const std::string& options, const std::string& message) {
    std::shared_ptr<TableFactory> factory;
    const Status s = Create(options, &factory);
    EXPECT_TRUE(s.IsInvalidArgument()) << options << ": " << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find("HotPromotionTable: " + message))
        << options << ": " << s.ToString();
  }
};

TEST_F(InnerTest, WithoutItThereIsNone) {
  for (const char* options :
       {"block_size=8K", "block_size=8K;table=nullptr", "block_size=8K;table="}) {
    const auto factory = Made(options);
    EXPECT_EQ(nullptr, factory->Inner());
    EXPECT_EQ(8u << 10, TablesOf(*factory).block_size);
    std::string text;
    ASSERT_OK(factory->GetOptionString(ConfigOptions(), &text));
    EXPECT_EQ(std::string::npos, text.find("table=")) << text;
  }
}

TEST_F(InnerTest, OptionsInItAndBesideItAreItsOwn) {
  for (const char* options :
       {"table={id=TokenTable;number=5;block_size=8K;filter_policy=bloomfilter:10}",
        "block_size=8K;table={id=TokenTable;number=5};filter_policy=bloomfilter:10",
        "block_size=8K;filter_policy=bloomfilter:10;table={id=TokenTable;number=5;block_size="
        "8K}"}) {
    const auto factory = Made(options);
    ASSERT_NE(nullptr, factory->Inner()) << options;
    EXPECT_EQ(5, factory->GetOptions<TokenOptions>()->number);
    EXPECT_EQ(&TablesOf(*factory), &TablesOfInner(*factory));
    EXPECT_EQ(8u << 10, TablesOf(*factory).block_size);
    ASSERT_NE(nullptr, TablesOf(*factory).filter_policy);
    EXPECT_NE(nullptr, TablesOf(*factory).block_cache);
    EXPECT_EQ(TablesOf(*factory).block_cache.get(),
              factory->GetOptions<Cache>(TableFactory::kBlockCacheOpts()));
    EXPECT_TRUE(factory->IsInstanceOf(TableFactory::kBlockBasedTableName()));
    EXPECT_FALSE(factory->IsInstanceOf("TokenTable"));
    EXPECT_NE(nullptr, factory->CheckedCast<TokenTable>());
  }
}

TEST_F(InnerTest, TextRoundTrips) {
  const auto first = Made(Text() +
                          "block_size=8K;filter_policy=bloomfilter:10;"
                          "table={id=TokenTable;number=5}");
  std::string text;
  ASSERT_OK(first->GetOptionString(ConfigOptions(), &text));
  EXPECT_NE(std::string::npos, text.find("table={id=TokenTable;number=5}")) << text;
  const auto second = Made(text);
  EXPECT_EQ(5, second->GetOptions<TokenOptions>()->number);
  EXPECT_EQ(8u << 10, TablesOf(*second).block_size);
  EXPECT_NE(nullptr, TablesOf(*second).filter_policy);
  ConfigOptions exact;
  exact.sanity_level = ConfigOptions::kSanityLevelExactMatch;
  std::string mismatch;
  EXPECT_TRUE(first->AreEquivalent(exact, second.get(), &mismatch)) << mismatch;
  for (const char* other : {"table={id=TokenTable;number=6}", "table=BlockBasedTable", "",
                            "table={id=TokenTable;number=5};block_size=16K"}) {
    const auto different = Made(Text() + "filter_policy=bloomfilter:10;" + other);
    EXPECT_FALSE(first->AreEquivalent(exact, different.get(), &mismatch)) << other;
  }
}

TEST_F(InnerTest, ACloneHasOneOfItsOwn) {
  const auto first = Made("table=TokenTable;block_size=8K");
  const std::unique_ptr<TableFactory> clone = first->Clone();
  ASSERT_OK(clone->ConfigureFromString(ConfigOptions(), "block_size=16K"));
  ASSERT_OK(clone->ConfigureOption(ConfigOptions(), "whole_key_filtering", "false"));
  EXPECT_EQ(8u << 10, TablesOf(*first).block_size);
  EXPECT_EQ(16u << 10, TablesOf(*clone).block_size);
  EXPECT_EQ(&TablesOf(*clone), &TablesOfInner(*clone));
  EXPECT_FALSE(TablesOf(*clone).whole_key_filtering);
  EXPECT_TRUE(TablesOf(*first).whole_key_filtering);
}

TEST_F(InnerTest, WrongOnesAreRefused) {
  ExpectRefused("table=NoSuchTable", "table=NoSuchTable: no table factory of this name");
  ExpectRefused("table={id=NoSuchTable;block_size=8K}", "table=NoSuchTable: no table factory");
  ExpectRefused("table=PlainTable", "table=PlainTable: is not derived from BlockBasedTable");
  ExpectRefused("table=HotPromotionTable", "table=HotPromotionTable: cannot be");
  ExpectRefused("table={id=HotPromotionTable;table=TokenTable}", "table=HotPromotionTable: cannot");
  ExpectRefused("table={id=TokenTable;no_such=1}", "table=TokenTable: ");
  ExpectRefused("block_size=4K;table={id=TokenTable;block_size=8K}",
                "table=TokenTable: block_size is given in it and beside it");

  std::shared_ptr<TableFactory> factory;
  std::shared_ptr<TableFactory> inner;
  EXPECT_TRUE(NewHotPromotionTableFactory(hot_, inner, &factory).IsInvalidArgument());
  inner.reset(NewPlainTableFactory());
  EXPECT_TRUE(NewHotPromotionTableFactory(hot_, inner, &factory).IsInvalidArgument());
  inner = Made("");
  EXPECT_TRUE(NewHotPromotionTableFactory(hot_, inner, &factory).IsInvalidArgument());
  EXPECT_EQ(nullptr, factory);
  inner = std::make_shared<TokenTable>();
  ASSERT_OK(NewHotPromotionTableFactory(hot_, inner, &factory));
  EXPECT_EQ(inner.get(), factory->Inner());
}

// What it refuses is refused through HotPromotionTable.
TEST_F(InnerTest, ItValidatesOptions) {
  options_.table_factory = Made(Text() + "table={id=TokenTable;number=-1}");
  const Status s = OpenDb(options_, path_, &db_);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("TokenTable: number")) << s.ToString();
}

// The collector sees what is in the SST, not what the inner factory's builder was given.
TEST_F(InnerTest, CopiesAreOfWhatTheSstHas) {
  options_.table_factory = Made(Text() + "table=TokenTable");
  Open();
  Fill(0, 50);
  ASSERT_OK(db_->Put(WriteOptions(), KeyOf(50), kToken));
  Flush();
  Heat(0, 51);
  EXPECT_EQ(BehindToken(), Get(50));
  EXPECT_EQ(1u, TakeServed().store);
  ASSERT_OK(db_->Put(WriteOptions(), KeyOf(7), kToken));
  Flush();
  Compact();
  EXPECT_GE(Stats().retained, 51u);
  for (int i = 0; i < 51; i++) {
    EXPECT_EQ(i == 7 || i == 50 ? BehindToken() : ValueOf(i), Get(i));
  }
  EXPECT_EQ(51u, TakeServed().store);
  CloseAll();
  HotStoreInfo info;
  ASSERT_OK(VerifyHotStore(hot_.path, &info));
  EXPECT_GE(info.equal, 51u);
  EXPECT_EQ(0u, info.different);
}

TEST_F(InnerTest, OptionsFileRoundTrip) {
  options_.table_factory =
      Made(Text() + "table={id=TokenTable;number=5};block_size=8K;cache_index_and_filter_blocks=1");
  // As db_bench does.
  options_.table_factory->GetOptions<BlockBasedTableOptions>()->filter_policy.reset(
      NewBloomFilterPolicy(10));
  options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_cache = NewLRUCache(1 << 20);
  Open();
  Fill(0, 10);
  Flush();
  Heat(0, 10);
  CloseAll();
  ConfigOptions config;
  config.ignore_unknown_options = false;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(config, path_, &db_options, &families));
  options_ = Options(db_options, families.at(0).options);
  const TableFactory& factory = *options_.table_factory;
  ASSERT_NE(nullptr, factory.CheckedCast<TokenTable>());
  EXPECT_EQ(5, factory.GetOptions<TokenOptions>()->number);
  EXPECT_EQ(hot_.budget, factory.GetOptions<HotPromotionOptions>()->budget);
  EXPECT_EQ(8u << 10, TablesOf(factory).block_size);
  EXPECT_TRUE(TablesOf(factory).cache_index_and_filter_blocks);
  EXPECT_NE(nullptr, TablesOf(factory).filter_policy);
  Open();
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().store);
  families[0].options = options_;
  ASSERT_OK(CheckOptionsCompatibility(config, path_, db_options, families));
}

TEST_F(InnerTest, SetOptionsReachesIt) {
  options_.table_factory = Made(Text() + "table=TokenTable;block_size=1K");
  Open();
  const auto blocks_of_newest = [&] {
    Fill(0, 200);
    Flush();
    TablePropertiesCollection all;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&all));
    uint64_t most = 0;
    uint64_t blocks = 0;
    for (const auto& [name, properties] : all) {
      if (properties->orig_file_number > most) {
        most = properties->orig_file_number;
        blocks = properties->num_data_blocks;
      }
    }
    return blocks;
  };
  EXPECT_GT(blocks_of_newest(), 10u);
  ASSERT_OK(db_->SetOptions({{"table_factory.block_size", "1M"}}));
  EXPECT_EQ(1u, blocks_of_newest());
  EXPECT_EQ(1u << 20, TablesOf(*db_->GetOptions().table_factory).block_size);
  const Status s = db_->SetOptions({{"table_factory.table", "BlockBasedTable"}});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  ASSERT_OK(db_->SetOptions({{"table_factory.scan_records", "3"}}));
  ASSERT_NE(nullptr, db_->GetOptions().table_factory->CheckedCast<TokenTable>());
  Close();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path_, &db_options, &families));
  EXPECT_EQ(1u << 20, TablesOf(*families.at(0).options.table_factory).block_size);
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
