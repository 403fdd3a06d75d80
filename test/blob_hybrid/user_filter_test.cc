// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A user's filter behind ours is shown what it would be shown without the plugin, and its decisions
// have the same effect: of values, merge operands and entities. The oracle is stock RocksDB.

#include <algorithm>
#include <functional>

#include "rocksdb/version.h"
#include "test/blob_hybrid/support.h"
#include "utilities/merge_operators.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 240;

using Calls = std::vector<std::string>;

std::string Digest(const Slice& value) {
  return std::to_string(value.size()) + "#" +
         std::to_string(std::hash<std::string>()(value.ToString()));
}

std::string Digest(const WideColumns& columns) {
  std::string text;
  for (const WideColumn& column : columns) {
    text += column.name().ToString() + "=" + Digest(column.value()) + ",";
  }
  return text;
}

// Decides by the key. Keys of each kind of data have all decisions.
class DecidingFilter : public CompactionFilter {
 public:
  explicit DecidingFilter(Calls* calls) : calls_(calls) {}

 protected:
  using Columns = std::vector<std::pair<std::string, std::string>>;

  static int Number(const Slice& key) { return std::stoi(key.ToString().substr(3)); }

  void Note(const std::string& function, int level, const Slice& key,
            const std::string& what) const {
    calls_->push_back(function + " " + std::to_string(level) + " " + key.ToString() + " " + what);
  }

  // `columns`: null if the caller cannot return them.
  static Decision Decide(const Slice& key, bool operand, std::string* new_value, Columns* columns,
                         std::string* skip_until) {
    switch (Number(key) / 3 % 8) {
      case 0:
        return Decision::kRemove;
      case 1:
        *new_value = "changed small " + key.ToString();
        return Decision::kChangeValue;
      case 2:
        *new_value = "changed large " + key.ToString() + std::string(2000, 'x');
        return Decision::kChangeValue;
      case 3:
        *new_value = "rubbish that must not be used";
        return Decision::kKeep;
      case 4:
        *skip_until = key.ToString() + "\xff";
        return Decision::kRemoveAndSkipUntil;
      case 5:
        return operand ? Decision::kKeep : Decision::kPurge;
      case 6:
        if (columns == nullptr || operand) {
          return Decision::kKeep;
        }
        *columns = {{"made", "of " + key.ToString()}, {"", std::string(1000, 'y')}};
        return Decision::kChangeWideColumnEntity;
      default:
        return Decision::kKeep;
    }
  }

 private:
  Calls* const calls_;
};

// The oldest interface.
class FilterOfValues : public DecidingFilter {
 public:
  using DecidingFilter::DecidingFilter;
  const char* Name() const override { return "FilterOfValues"; }

  bool Filter(int level, const Slice& key, const Slice& value, std::string* new_value,
              bool* changed) const override {
    Note("value", level, key, Digest(value));
    std::string skip_until;
    const Decision decision = Decide(key, false, new_value, nullptr, &skip_until);
    *changed = decision == Decision::kChangeValue;
    return decision == Decision::kRemove;
  }

  bool FilterMergeOperand(int level, const Slice& key, const Slice& operand) const override {
    Note("operand", level, key, Digest(operand));
    return Number(key) % 5 == 0;
  }
};

class FilterOfTypes : public DecidingFilter {
 public:
  using DecidingFilter::DecidingFilter;
  const char* Name() const override { return "FilterOfTypes"; }

  // Of odd numbers: without a look at the value, but for a decision that needs columns.
  Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                           std::string* skip_until) const override {
    Note("key", level, key, "");
    return Number(key) % 2 == 0 || Number(key) / 3 % 8 == 6
               ? Decision::kUndetermined
               : Decide(key, false, new_value, nullptr, skip_until);
  }

  Decision FilterV3(int level, const Slice& key, ValueType type, const Slice* value,
                    const WideColumns* columns, std::string* new_value, Columns* new_columns,
                    std::string* skip_until) const override {
    return Notice(level, key, type, value, columns == nullptr ? "" : Digest(*columns), new_value,
                  new_columns, skip_until);
  }

 protected:
  Decision Notice(int level, const Slice& key, ValueType type, const Slice* value,
                  const std::string& columns, std::string* new_value, Columns* new_columns,
                  std::string* skip_until) const {
    const bool operand = type == ValueType::kMergeOperand;
    const bool entity = type == ValueType::kWideColumnEntity;
    EXPECT_TRUE(operand || entity || type == ValueType::kValue);
    Note(operand  ? "operand"
         : entity ? "entity"
                  : "value",
         level, key, value == nullptr ? columns : Digest(*value));
    return Decide(key, operand, new_value, new_columns, skip_until);
  }
};

#if ROCKSDB_MAJOR >= 11
// Reads columns in blob files itself.
class FilterOfColumns : public FilterOfTypes {
 public:
  using FilterOfTypes::FilterOfTypes;
  const char* Name() const override { return "FilterOfColumns"; }
  bool SupportsFilterV4() const override { return true; }

  Decision FilterV4(int level, const Slice& key, ValueType type, const Slice* value,
                    const WideColumns* columns, std::string* new_value, Columns* new_columns,
                    std::string* skip_until, WideColumnBlobResolver* resolver) const override {
    std::string text = resolver == nullptr ? "" : "resolved ";
    for (size_t i = 0; columns != nullptr && i < columns->size(); i++) {
      Slice resolved = (*columns)[i].value();
      if (resolver != nullptr) {
        text += resolver->IsBlobColumn(i) ? "*" : "";
        EXPECT_OK(resolver->ResolveColumn(i, &resolved));
      }
      text += (*columns)[i].name().ToString() + "=" + Digest(resolved) + ",";
    }
    return Notice(level, key, type, value, text, new_value, new_columns, skip_until);
  }
};
#endif

std::unique_ptr<CompactionFilter> NewFilter(const std::string& name, Calls* calls) {
#if ROCKSDB_MAJOR >= 11
  if (name == "columns") {
    return std::make_unique<FilterOfColumns>(calls);
  }
#endif
  if (name == "types") {
    return std::make_unique<FilterOfTypes>(calls);
  }
  return std::make_unique<FilterOfValues>(calls);
}

std::vector<std::string> Filters() {
#if ROCKSDB_MAJOR >= 11
  return {"values", "types", "columns"};
#else
  return {"values", "types"};
#endif
}

class UserFilterCallsTest : public HybridDb, public testing::WithParamInterface<std::string> {
 protected:
  UserFilterCallsTest() {
    hybrid_.gc_garbage_ratio = 0.1;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  }

  // By the key: a value, operands over a value, an entity, or operands over nothing.
  void Write(int from, int version, int step) {
    for (int i = from; i < kKeys; i += step) {
      if (i % 3 == 2) {
        const std::string small = ValueOf(i, version, 50);
        const std::string large = ValueOf(i, version, 1000);
        ASSERT_OK(db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), KeyOf(i),
                                 {{kDefaultWideColumnName, small}, {"large", large}}));
      } else if (i % 3 == 1 && (version > 0 || i >= kKeys / 2)) {
        ASSERT_OK(db_->Merge(WriteOptions(), KeyOf(i), ValueOf(i, version, i % 2 == 0 ? 50 : 900)));
      } else {
        Put(i, version);
      }
    }
    Flush();
  }

  std::vector<std::string> Answers() {
    std::vector<std::string> answers;
    for (int i = 0; i < kKeys; i++) {
      PinnableWideColumns columns;
      const Status s =
          db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), KeyOf(i), &columns);
      answers.push_back(s.ok() ? Digest(columns.columns()) : s.ToString());
    }
    return answers;
  }

  // With answers after each compaction.
  std::vector<std::string> Run() {
    std::vector<std::string> all;
    const auto add = [&] {
      Compact();
      const auto answers = Answers();
      all.insert(all.end(), answers.begin(), answers.end());
    };
    Write(0, 0, 1);
    Write(0, 1, 2);
    add();
    Write(1, 2, 5);
    add();
    add();
    return all;
  }

  static bool Has(const Calls& calls, const std::string& function) {
    return std::any_of(calls.begin(), calls.end(), [&](const auto& call) {
      return call.compare(0, function.size(), function) == 0;
    });
  }
};

TEST_P(UserFilterCallsTest, AreThoseOfStockRocksDb) {
  Calls expected_calls;
  const auto stock = NewFilter(GetParam(), &expected_calls);
  options_.compaction_filter = stock.get();
  OpenWithoutPlugin();
  const auto expected = Run();
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  for (const char* function : {"value", "operand"}) {
    EXPECT_TRUE(Has(expected_calls, function)) << function;
  }
  for (const char* function : {"key", "entity"}) {
    EXPECT_EQ(GetParam() != "values", Has(expected_calls, function)) << function;
  }

  options_.compaction_filter = nullptr;
  Calls calls;
  const auto ours = NewFilter(GetParam(), &calls);
  hybrid_.user_filter = ours.get();
  Open();
  EXPECT_EQ(expected, Run());
  EXPECT_EQ(expected_calls, calls);
  EXPECT_GT(Stats().moved_values, 0u);
  EXPECT_EQ(0u, Stats().read_errors);
  Close();
}

INSTANTIATE_TEST_CASE_P(Filters, UserFilterCallsTest, testing::ValuesIn(Filters()));

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
