// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/top/view.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <sstream>
#include <utility>

#include "tools/output.h"
#include "tools/top/figures.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

namespace {

using State = StatisticsFile::State;

constexpr size_t kColumns = 80;
constexpr size_t kMostRows = 10;  // of a table
constexpr size_t kNameColumns = 10;
constexpr size_t kFamilyColumns = 24;

// Lines that are laid out for people.
class Block {
 public:
  // Facts, broken into lines: between those that are apart by "; ", if that will do.
  void Line(const std::string& facts) {
    const std::string text = Printable(facts);
    std::string indent = "  ";
    std::string line;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find("; ", begin), text.size() - 1) + 1;
      const std::string part = text.substr(begin, end - begin);
      if (!line.empty() && indent.size() + line.size() + 1 + part.size() > kColumns) {
        call_.text += Wrap(line, indent, "    ");
        indent = "    ";
        line.clear();
      }
      line += (line.empty() ? "" : " ") + part;
      begin = end + 1;
    }
    call_.text += Wrap(line, indent, "    ");
  }
  void Head(const std::string& line) { call_.Line(line); }
  // Rows below the names of columns; the first begins with two blanks. `all`: how many there are.
  void Rows(const Table& table, size_t all) {
    table.PrintTo(&call_);
    if (all > kMostRows) {
      Line("... and " + std::to_string(all - kMostRows) + " more");
    }
  }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    std::istringstream each(call_.text);
    for (std::string line; std::getline(each, line);) {
      lines.push_back(CutEnd(line, kColumns));
    }
    return lines;
  }

 private:
  Call call_;
};

std::string NameOf(const std::string& name) { return "  " + CutEnd(Printable(name), kNameColumns); }

void ShowTiers(const StatisticsFile& file, Block* block) {
  const std::vector<std::string> tiers = Figures::ValuesOf(file, "tier");
  Table table({"  tier", ">files", ">bytes", ">budget", ">reads", ">read", ">written"});
  for (size_t i = 0; i < std::min(tiers.size(), kMostRows); i++) {
    const Figures tier(file, "tier", tiers[i]);
    const double budget = tier.Value("tier_budget_bytes");
    table.Add({NameOf(tiers[i]), tier.Count("tier_files"), tier.Bytes("tier_bytes"),
               budget > 0 ? ShortBytes(budget) : "-", tier.Rate("tier_reads_total"),
               tier.ByteRate("tier_read_bytes_total"), tier.ByteRate("tier_written_bytes_total")});
  }
  block->Rows(table, tiers.size());
}

// A column family in a tier where it has a budget.
struct TieredFamily {
  std::string name;
  std::string tier;
  double bytes = 0;
  double budget = 0;

  double used() const { return budget > 0 ? bytes / budget : -1; }
};

// Returns those that have used most of their budget first.
std::vector<TieredFamily> FamiliesOf(const StatisticsFile& file) {
  std::map<std::pair<std::string, std::string>, TieredFamily> found;  // by tier and name
  for (const Figure& figure : file.figures) {
    const std::string* tier = figure.metric.Label("tier");
    const std::string* name = figure.metric.Label("cf");
    if (tier == nullptr || name == nullptr) {
      continue;
    }
    TieredFamily& family = found[{*tier, *name}];
    family.name = *name;
    family.tier = *tier;
    const bool is_bytes = figure.metric.name == "rocktier_tiered_env_family_bytes";
    const bool is_budget = figure.metric.name == "rocktier_tiered_env_family_budget_bytes";
    family.bytes += is_bytes ? figure.metric.value : 0;
    family.budget += is_budget ? figure.metric.value : 0;
  }
  std::vector<TieredFamily> families;
  for (auto& [key, family] : found) {
    families.push_back(std::move(family));
  }
  std::stable_sort(families.begin(), families.end(),
                   [](const auto& a, const auto& b) { return a.used() > b.used(); });
  return families;
}

void ShowFamilies(const StatisticsFile& file, Block* block) {
  const std::vector<TieredFamily> families = FamiliesOf(file);
  if (families.empty()) {
    return;
  }
  Table table({"  family", "tier", ">bytes", ">budget", ">used"});
  for (size_t i = 0; i < std::min(families.size(), kMostRows); i++) {
    const TieredFamily& family = families[i];
    table.Add({"  " + CutEnd(Printable(family.name), kFamilyColumns),
               CutEnd(Printable(family.tier), kNameColumns), ShortBytes(family.bytes),
               ShortBytes(family.budget), Percent(family.used())});
  }
  block->Rows(table, families.size());
}

void ShowTieredEnv(const StatisticsFile& file, Block* block) {
  const Figures all(file);
  ShowTiers(file, block);
  block->Line("moves " + all.Rate("tier_moves_total") + ", " +
              all.ByteRate("tier_moved_bytes_total") + "; elsewhere than they belong " +
              all.Count("tier_misplaced_files") + " files, " + all.Bytes("tier_stranded_bytes") +
              "; no room " + all.Rate("tier_spills_total") + "; errors " +
              all.Count("tier_errors_total"));
  ShowFamilies(file, block);
  if (!all.Has("memory_bytes")) {
    return;
  }
  block->Line("memory: SSTs " + all.Bytes("memory_bytes") + ", index " +
              all.Bytes("memory_index_bytes") + "; recipes " + all.Count("memory_recipes") + ", " +
              all.Bytes("memory_recipe_bytes") + "; retained logs " + all.Count("memory_segments") +
              ", " + all.Bytes("memory_retained_bytes") + ", damaged " +
              all.Count("memory_damaged_logs_total") + "; bytes of logs per byte " +
              Ratio(all.Value("memory_wal_amplification_ratio")) + "; writes saved " +
              all.Bytes("memory_saved_bytes"));
  block->Line("recovery: rebuilt " + all.Count("memory_rebuilt_files_total") + " SSTs, " +
              all.Bytes("memory_rebuilt_bytes_total") + ", in " +
              Short(all.Value("memory_recovery_seconds_total")) + " s");
}

void ShowRawWalFs(const StatisticsFile& file, Block* block) {
  const Figures all(file);
  const double segments = all.Value("segments");
  block->Line("segments used " + all.Count("segments_used") + " of " + Short(segments) + " (" +
              Percent(segments > 0 ? all.Value("segments_used") / segments : -1) + "), damaged " +
              all.Count("segments_damaged") + "; logs created " + all.Rate("logs_created_total") +
              ", without room " + all.Rate("logs_spilled_total") + "; I/O errors " +
              all.Count("io_errors_total"));
  block->Line("appended " + all.ByteRate("appended_bytes_total") + ", written " +
              all.ByteRate("written_bytes_total") + "; syncs " + all.Rate("syncs_total") +
              ", median " + Milliseconds(all.Value("sync_p50_seconds")) + ", p99 " +
              Milliseconds(all.Value("sync_p99_seconds")) + ", longest " +
              Milliseconds(all.Value("sync_max_seconds")));
}

void ShowCache(const StatisticsFile& file, Block* block) {
  const Figures all(file);
  block->Line("hit rate " + Percent(ShareOf(file, {"hits_total"}, {"misses_total"})) + ": hits " +
              all.Rate("hits_total") + ", misses " + all.Rate("misses_total") + "; read " +
              all.ByteRate("read_bytes_total") + ", copied " + all.ByteRate("copied_bytes_total"));
  block->Line("usage " + BytesOf(all.Value("usage_bytes"), all.Value("capacity_bytes")) +
              ", blocks " + all.Count("blocks") + "; offers " + all.Rate("offers_total") +
              ", admitted " + all.Rate("admitted_total") + ", evictions " +
              all.Rate("evictions_total") + "; corrupt " + all.Count("corrupt_total") +
              ", I/O errors " + all.Count("io_errors_total"));
}

void ShowHotPromotion(const StatisticsFile& file, Block* block) {
  const Figures all(file);
  block->Line(
      "records on slow storage: from copies " +
      Percent(ShareOf(file, {"served_memory_total", "served_store_total"}, {"served_slow_total"})) +
      ": memory " + all.Rate("served_memory_total") + ", store " + all.Rate("served_store_total") +
      "; slow " + all.Rate("served_slow_total") + "; on fast storage " +
      all.Rate("served_fast_total"));
  block->Line("store " + BytesOf(all.Value("store_bytes"), all.Value("store_budget_bytes")) +
              ", records " + all.Count("store_records") + "; promoted " +
              all.Rate("promoted_total") + ", retained " + all.Rate("retained_total") + ", lost " +
              all.Rate("lost_total"));
  block->Line("memory: promotion cache " + all.Bytes("cache_bytes") + ", store " +
              all.Bytes("store_memory_bytes") + ", access table " +
              all.Bytes("access_table_memory_bytes") + "; errors " +
              Short(all.Value("errors_total") + all.Value("access_table_errors_total")));
}

void ShowBlobHybrid(const StatisticsFile& file, Block* block) {
  std::vector<std::string> families = Figures::ValuesOf(file, "cf");
  std::stable_sort(families.begin(), families.end(), [&](const auto& a, const auto& b) {
    return Figures(file, "cf", a).Value("blob_file_bytes") >
           Figures(file, "cf", b).Value("blob_file_bytes");
  });
  Table table(
      {"  family", ">blobs", ">garbage", ">space", ">moved", ">jobs", ">missed", ">errors"});
  for (size_t i = 0; i < std::min(families.size(), kMostRows); i++) {
    const Figures family(file, "cf", families[i]);
    table.Add({NameOf(families[i]), family.Bytes("blob_file_bytes"),
               family.Bytes("large_garbage_bytes"),
               Ratio(family.Value("space_amplification_ratio")) + "x",
               family.ByteRate("moved_bytes_total"), family.Rate("jobs_total"),
               family.Count("bound_missed_total"),
               Short(family.Value("read_errors_total") + family.Value("job_errors_total"))});
  }
  block->Rows(table, families.size());
}

// What a plugin's file is of besides the database, and how it is shown.
struct View {
  const char* plugin;
  const char* owner;  // a label; empty: it has none
  void (*show)(const StatisticsFile& file, Block* block);
};

constexpr View kViews[] = {
    {"tiered_env", "", ShowTieredEnv},          {"raw_wal_fs", "device", ShowRawWalFs},
    {"secondary_cache_2q", "cache", ShowCache}, {"hot_promotion", "path", ShowHotPromotion},
    {"blob_hybrid", "", ShowBlobHybrid},
};

std::string StateOf(const StatisticsFile& file) {
  char age[32];
  snprintf(age, sizeof(age), "%.1f s old", std::min(file.age, 1e9));
  return file.state == State::kStale ? "STALE, " + std::string(age) + ": " + file.reason
                                     : std::string(age);
}

void ShowFile(const StatisticsFile& file, Block* block) {
  if (file.state == State::kDamaged) {
    block->Head("DAMAGED: " + file.path);
    block->Line(file.reason);
    return;
  }
  const auto* view = std::find_if(std::begin(kViews), std::end(kViews),
                                  [&](const View& each) { return each.plugin == file.plugin; });
  if (view == std::end(kViews)) {
    block->Head(file.plugin + ", " + StateOf(file));
    return;
  }
  const std::string owner = Figures::Owner(file, view->owner);
  const std::string head = file.plugin + ", " + StateOf(file);
  block->Head(head + (owner.empty() ? "" : ", " + CutBegin(owner, 40)));
  view->show(file, block);
}

std::string TimeOf(const Sample& sample) {
  const auto seconds = static_cast<time_t>(sample.time);
  tm local{};
  char text[32] = "";
  if (localtime_r(&seconds, &local) != nullptr) {
    strftime(text, sizeof(text), "%H:%M:%S", &local);
  }
  return text;
}

}  // namespace

std::vector<std::string> LinesOf(const Sample& sample) {
  Block block;
  block.Head(TimeOf(sample) + "  " + CutBegin(sample.db, 50) +
             (sample.process == 0 ? "" : ", process " + std::to_string(sample.process)));
  if (sample.IsSilent()) {
    block.Line(
        "The process has written no statistics yet: it opens or recovers the database, or "
        "metrics_interval is 0.");
  } else if (sample.files.empty()) {
    block.Line("There are no statistics files any more: the database is closed.");
  }
  for (const StatisticsFile& file : sample.files) {
    ShowFile(file, &block);
  }
  return block.Lines();
}

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
