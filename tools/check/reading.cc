// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/check/reading.h"

#include <array>
#include <memory>
#include <sstream>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/version.h"
#ifdef ROCKTIER_HAS_SECONDARY_CACHE_2Q
#include "plugin/secondary_cache_2q/block_cache.h"
#endif

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

namespace {

using Families = std::vector<ColumnFamilyDescriptor>;

constexpr char kUnknown[] =
    ": is not in this rocktier. In a program that has it not either, RocksDB passes over it "
    "without a word";

// Stands for a RocktierEnv: keeps the text of its FileSystem, and makes none. RocksDB prepares an
// Env that it has read, whatever invoke_prepare_options says, and that one would look for devices.
class EnvStandIn : public EnvWrapper {
 public:
  EnvStandIn() : EnvWrapper(Env::Default()) {}

  static const char* kClassName() { return "RocktierEnv"; }
  const char* Name() const override { return kClassName(); }

  bool is_named() const { return is_named_; }
  const std::string& file_system() const { return file_system_; }

 protected:
  Status ConfigureOptions(const ConfigOptions& /*config*/, const OptionMap& options,
                          OptionMap* /*unused*/) override {
    is_named_ = true;
    file_system_ = ValueOf(options, "file_system");
    for (const auto& [name, value] : options) {
      if (name != "file_system" && name != "clock") {
        return Status::InvalidArgument("RocktierEnv: " + name, "is no option; file_system is one");
      }
    }
    return file_system_.empty() ? Status::InvalidArgument("RocktierEnv: file_system", "is required")
                                : Status::OK();
  }

 private:
  bool is_named_ = false;
  std::string file_system_;
};

// Requires that `env` lives as long as what is read.
void AddStandIns(EnvStandIn* env, ObjectRegistry* registry) {
  const std::shared_ptr<ObjectLibrary> library = registry->AddLibrary("check");
  library->AddFactory<Env>(EnvStandIn::kClassName(),
                           [env](const std::string& /*uri*/, std::unique_ptr<Env>* /*guard*/,
                                 std::string* /*error*/) { return env; });
#ifdef ROCKTIER_HAS_SECONDARY_CACHE_2Q
  secondary_cache_2q::RegisterBlockCaches(*library, /*opens=*/false);
#endif
}

std::string OwnVersion() {
  return std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
         std::to_string(ROCKSDB_PATCH);
}

std::string VersionOf(const OptionsText& text) { return ValueOf(text.version, "rocksdb_version"); }

// Whether a later RocksDB has written the file: this one does not know all of its options.
bool IsNewer(const std::string& version) {
  std::array<int, 3> numbers = {};
  std::istringstream in(version);
  char dot = 0;
  in >> numbers[0] >> dot >> numbers[1] >> dot >> numbers[2];
  return numbers > std::array<int, 3>{ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH};
}

// `knows_all`: what names an object that this program has not is an error, too. RocksDB passes over
// it by default.
Status Load(const std::string& path, bool is_newer, bool knows_all, EnvStandIn* env,
            Families* families) {
  ConfigOptions config;
  AddStandIns(env, config.registry.get());
  config.invoke_prepare_options = false;
  config.ignore_unknown_options = is_newer;
  config.ignore_unsupported_options = !knows_all;
  DBOptions database;
  return LoadOptionsFromFile(config, path, &database, families);
}

// Objects of a program's own are not in this one: they are no mistake.
void NoteUnknown(const OptionsText& text, const Status& s, const Families& families,
                 Report* report) {
  if (!s.ok()) {
    report->notes.push_back(s.ToString() + kUnknown);
    return;
  }
  for (const ColumnFamilyDescriptor& family : families) {
    for (const FamilyText& known : text.families) {
      if (known.name == family.name && family.options.table_factory == nullptr) {
        report->notes.push_back("family " + family.name + ": no table factory " +
                                known.table_factory + kUnknown);
      }
    }
  }
}

}  // namespace

std::string ReadAsRocksDB(const std::string& path, const OptionsText& text, bool is_own,
                          Report* report) {
  EnvStandIn env;
  Families families;
  const bool is_newer = IsNewer(VersionOf(text));
  if (is_newer) {
    report->notes.push_back(path + " is of RocksDB " + VersionOf(text) + ", and this rocktier of " +
                            OwnVersion() + ": not all of its options are known");
  }
  const Status s = Load(path, is_newer, /*knows_all=*/false, &env, &families);
  const std::string named = ValueOf(text.database, "env");
  if (!s.ok()) {
    report->refused.push_back(s.ToString());
  } else if (!named.empty() && !env.is_named()) {
    report->refused.push_back("env=" + named +
                              ": is no RocktierEnv. RocksDB passes over it without a word, and "
                              "makes plain files");
  } else if (!is_own) {
    NoteUnknown(text, Load(path, is_newer, /*knows_all=*/true, &env, &families), families, report);
  }
  return env.file_system();
}

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
