// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <cctype>
#include <unordered_map>

#include "options/options_helper.h"
#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/tier/placement.h"
#include "rocksdb/configurable.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {
namespace {

const std::string kTiers = "fast={path=/nvme/db;budget=40G};slow={path=/hdd/db}";
const std::string kPlacement = "0..2=fast;3..=slow";

std::vector<TierOptions> Tiers(const std::string& text) {
  std::vector<TierOptions> tiers;
  const Status s = ParseTiers(text, &tiers);
  EXPECT_OK(s) << text;
  return tiers;
}

std::string Reprinted(const std::string& text) { return PrintTiers(Tiers(text)); }

// The text is refused, with what the user has to mend.
void ExpectRefused(const std::string& text, const std::string& mentions) {
  std::vector<TierOptions> tiers(1);
  tiers[0].name = "before";
  const Status s = ParseTiers(text, &tiers);
  EXPECT_TRUE(s.IsInvalidArgument()) << text << ": " << s.ToString();
  EXPECT_NE(s.ToString().find(mentions), std::string::npos) << text << ": " << s.ToString();
  EXPECT_EQ(FindTier(tiers, "before"), 0) << text << ": the result is left as it was";
}

TEST(TieredGrammarTest, EverySettingIsRead) {
  const std::vector<TierOptions> tiers = Tiers(
      "pm-1={kind=pmem;path=/mnt/pmem;budget=3M;temperature=hot};"
      "Disk_2={kind=path;path=/hdd;temperature=cold;"
      "emulate={read_latency_us=80;iops=5000;bandwidth=100M;slowdown=2.5}}");
  ASSERT_EQ(tiers.size(), 3u);
  EXPECT_EQ(tiers[0].name, "pm-1");
  EXPECT_EQ(tiers[0].kind, TierKind::kPmem);
  EXPECT_EQ(tiers[0].path, "/mnt/pmem");
  EXPECT_EQ(tiers[0].budget, 3u << 20);
  EXPECT_EQ(tiers[0].temperature, Temperature::kHot);
  EXPECT_TRUE(tiers[0].emulate.none());
  EXPECT_EQ(tiers[1].name, "Disk_2");
  EXPECT_EQ(tiers[1].kind, TierKind::kPath);
  EXPECT_EQ(tiers[1].path, "/hdd");
  EXPECT_EQ(tiers[1].budget, 0u);
  EXPECT_EQ(tiers[1].temperature, Temperature::kCold);
  EXPECT_EQ(tiers[1].emulate.read_latency_us, 80u);
  EXPECT_EQ(tiers[1].emulate.iops, 5000u);
  EXPECT_EQ(tiers[1].emulate.bandwidth, 100u << 20);
  EXPECT_EQ(tiers[1].emulate.slowdown, 2.5);
}

TEST(TieredGrammarTest, TheOrderIsKeptAndHomeIsLastIfNotGiven) {
  const std::vector<std::string> given = {"z={path=/1}", "a={path=/2}", "m={path=/3}"};
  const std::vector<TierOptions> tiers = Tiers(given[0] + ";" + given[1] + ";" + given[2]);
  ASSERT_EQ(tiers.size(), 4u);
  EXPECT_EQ(FindTier(tiers, "z"), 0);
  EXPECT_EQ(FindTier(tiers, "a"), 1);
  EXPECT_EQ(FindTier(tiers, "m"), 2);
  EXPECT_EQ(FindTier(tiers, "home"), 3);
  EXPECT_EQ(FindTier(tiers, "M"), -1);
  EXPECT_TRUE(tiers[3].path.empty());

  const std::vector<TierOptions> first = Tiers("home={budget=1G};slow={path=/s}");
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].name, "home");
  EXPECT_EQ(first[0].budget, 1u << 30);

  for (const std::string none : {"", " ", "{}", "home={}"}) {
    const std::vector<TierOptions> home = Tiers(none);
    ASSERT_EQ(home.size(), 1u) << none;
    EXPECT_EQ(home[0].name, "home");
  }
}

TEST(TieredGrammarTest, PrintedTiersAreTheSameWhenRead) {
  const struct {
    const char* given;
    const char* printed;
  } kCases[] = {
      {"", "home={}"},
      {"fast={path=/a}", "fast={path=/a};home={}"},
      {" fast = { path = /a ; budget = 1024K } ; ", "fast={path=/a;budget=1M};home={}"},
      {"{fast={path=/a}}", "fast={path=/a};home={}"},
      {"home={temperature=cold;budget=2T};x={path=/}",
       "home={budget=2T;temperature=cold};x={path=/}"},
      {"x={path=//a//b/./c/;kind=path}", "x={path=/a/b/c};home={}"},
      {"x={path=/a=b/c d;kind=pmem;budget=0}", "x={kind=pmem;path=/a=b/c d};home={}"},
      {"x={budget=18446744073709551615;path=/a}",
       "x={path=/a;budget=18446744073709551615};home={}"},
      {"x={path=/a;budget=1k};y={path=/ab;budget=1025}",
       "x={path=/a;budget=1K};y={path=/ab;budget=1025};home={}"},
      {"x={path=/a;emulate={}}", "x={path=/a};home={}"},
      {"x={cf:log_*=2048K;path=/a;cf:*=0;budget=1G}",
       "x={path=/a;budget=1G;cf:log_*=2M;cf:*=0};home={}"},
      {"home={cf:[!a]?#:=7}", "home={cf:[!a]?#:=7}"},
      {"x={path=/a,/b/,//c;budget=1K};y={path=/d,e}",
       "x={path=/a,/b,/c;budget=1K};y={path=/d,e};home={}"},
      {"x={path=/a;emulate={slowdown=1.1;iops=7}}",
       "x={path=/a;emulate={iops=7;slowdown=1.1}};home={}"},
      {"x={path=/a;emulate={slowdown=3.0000000001;bandwidth=1G;read_latency_us=9}}",
       "x={path=/a;emulate={read_latency_us=9;bandwidth=1G;slowdown=3.0000000001}};home={}"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Reprinted(c.given), c.printed);
    EXPECT_EQ(Reprinted(c.printed), c.printed);
  }
}

TEST(TieredGrammarTest, DirectoriesOfATierAreNextToEachOther) {
  const std::vector<TierOptions> tiers =
      Tiers("a={path=/a};b={path=/1,/2,/3;budget=7};c={path=/c}");
  ASSERT_EQ(tiers.size(), 6u);
  const std::vector<std::string> names = {"a", "b", "b.2", "b.3", "c", "home"};
  for (size_t i = 0; i < names.size(); i++) {
    EXPECT_EQ(tiers[i].name, names[i]);
    EXPECT_EQ(tiers[i].first, i == 2 || i == 3 ? "b" : "");
    EXPECT_EQ(tiers[i].budget, i >= 1 && i <= 3 ? 7u : 0u);
  }
  EXPECT_EQ(tiers[2].path, "/2");
  ExpectRefused("b={path=/1,/1}", "has the path of b");
  ExpectRefused("a={path=/2};b={path=/1,/2}", "has the path of a");
  ExpectRefused("b={path=/1,/../2}", "must be a path without ..");
  ExpectRefused("m={kind=memory;path=/1,/2}", "a tier in memory has one directory");
  ExpectRefused(std::string(63, 'x') + "={path=/1,/2}", "the name is too long");
}

TEST(TieredGrammarTest, BudgetsOfColumnFamilies) {
  const std::vector<TierOptions> tiers =
      Tiers("fast={cf:vip=0;path=/a,/b;cf:log_*=2G; cf:[ab]? = 5K ;budget=8G;cf:*=1G}");
  ASSERT_EQ(tiers.size(), 3u);
  for (size_t i = 0; i < 2; i++) {
    ASSERT_EQ(tiers[i].family_budgets.size(), 4u);
    EXPECT_EQ(tiers[i].budget, uint64_t{8} << 30);
    EXPECT_EQ(FamilyBudgetOf(tiers[i], "log_1"), uint64_t{2} << 30);
    EXPECT_EQ(FamilyBudgetOf(tiers[i], "b1"), 5u << 10);
    EXPECT_EQ(FamilyBudgetOf(tiers[i], "log"), uint64_t{1} << 30);
    EXPECT_EQ(FamilyBudgetOf(tiers[i], "default"), uint64_t{1} << 30);
    EXPECT_EQ(FamilyBudgetOf(tiers[i], "vip"), 0u) << "no limit";
    EXPECT_EQ(FamilyBudgetOf(tiers[i], ""), 0u) << "not known";
    EXPECT_EQ(FindFamilyBudget(tiers[i], "b1"), &tiers[i].family_budgets[2]);
    EXPECT_EQ(FindFamilyBudget(tiers[i], ""), nullptr);
  }
  EXPECT_EQ(FamilyBudgetOf(tiers[2], "log_1"), 0u);
  ExpectRefused("a={path=/a;cf:=1G}", "tiers: a: cf:=1G: must be cf: and a pattern");
  ExpectRefused("a={path=/a;cf:a/blob=1G}", "tiers: a: cf:a/blob=1G: must be cf: and a pattern");
  ExpectRefused("a={path=/a;cf:a=1;cf:b=1;cf:a=2}", "tiers: a: cf:a=2: is there twice");
  ExpectRefused("a={path=/a;cf=1G}", "tiers: a: cf=1G: there is no such setting");
  ExpectRefused("a={path=/a;Cf:a=1G}", "tiers: a: Cf:a=1G: there is no such setting");
  ExpectRefused("a={path=/a;cf:a={1G;2G}}", "tiers: a: cf:a=1G;2G: must be a num");
  for (const std::string size : {"", "-1", "1.5G", "10%", "1GB", "18446744073709551616"}) {
    ExpectRefused("a={path=/a;cf:a=" + size + "}", "tiers: a: cf:a=" + size + ": must be a num");
  }
}

TEST(TieredGrammarTest, ErrorsNameTheTierAndTheSetting) {
  ExpectRefused("fast", "tiers: fast");
  ExpectRefused("fast;slow={path=/a}", "tiers: fast;slow");
  ExpectRefused("={path=/a}", "tiers: ={path=/a}");
  ExpectRefused("a={path=/a};;b={path=/b}", "tiers: ;b={path=/b}");
  ExpectRefused("{a={path=/a}};b={path=/b}", "must be name=value");
  ExpectRefused("fast={path=/a", "Mismatched curly braces");
  ExpectRefused("fast={path=/a}}", "Unexpected chars after nested options");
  ExpectRefused("fa st={path=/a}", "tiers: fa st=");
  ExpectRefused("f.st={path=/a}", "letters, digits");
  ExpectRefused("a={path=/a};a={path=/b}", "tiers: a=path=/b: there is a tier of this name");
  ExpectRefused("a={path=/a};b={path=//a/}", "tiers: b=path=//a/: has the path of a");
  ExpectRefused("a={}", "tiers: a=: has no path");
  ExpectRefused("a={budget=1}", "tiers: a=budget=1: has no path");
  ExpectRefused("a={path=}", "tiers: a: path=");
  ExpectRefused("a={path=b/c}", "tiers: a: path=b/c: must be an absolute path");
  ExpectRefused("a={path=/b/../c}", "tiers: a: path=/b/../c: must be a path without ..");
  ExpectRefused("a={path={/b;c}}", "tiers: a: path=/b;c");
  ExpectRefused("a={path=/b;path=/c}", "tiers: a: path=/c: is there twice");
  ExpectRefused("a={path=/a;kind=tape}", "tiers: a: kind=tape: must be path, pmem or memory");
  ExpectRefused("home={path=/a}", "tiers: home: path=/a: home is the database directory");
  ExpectRefused("home={kind=path}", "tiers: home: kind=path: home is the database directory");
  ExpectRefused("a={path=/a;speed=1}", "tiers: a: speed=1: there is no such setting");
  ExpectRefused("a={path=/a;temperature=Hot}", "temperature=Hot: must be one of: unknown hot warm");
  ExpectRefused("a={path=/a;temperature=tepid}", "tiers: a: temperature=tepid");
  for (const std::string size : {"", "-1", "+1", "1.5G", "G", "1GB", "0x10", "1 K", "1KK",
                                 "18446744073709551616", "16777216T"}) {
    ExpectRefused("a={path=/a;budget=" + size + "}",
                  "tiers: a: budget=" + size + ": must be a num");
    ExpectRefused("a={path=/a;emulate={bandwidth=" + size + "}}",
                  "tiers: a: emulate: bandwidth=" + size + ": must be a num");
  }
  for (const std::string number : {"1K", "-1", "", "2.0"}) {
    ExpectRefused("a={path=/a;emulate={iops=" + number + "}}", "a: emulate: iops=" + number);
    ExpectRefused("a={path=/a;emulate={read_latency_us=" + number + "}}",
                  "a: emulate: read_latency_us=" + number);
  }
  for (const std::string factor : {"0.5", "0", "-2", "nan", "inf", "1e999", "2x", "", "2,5"}) {
    ExpectRefused("a={path=/a;emulate={slowdown=" + factor + "}}",
                  "a: emulate: slowdown=" + factor + ": must be a number from 1 on");
  }
  ExpectRefused("a={path=/a;emulate={delay=1}}", "tiers: a: emulate: delay=1: there is no such");
  ExpectRefused("a={path=/a;emulate=7}", "tiers: a: emulate: 7: must be name=value");
}

TEST(TieredGrammarTest, TemperaturesAreRocksDBsOwn) {
  for (const auto& known : temperature_to_string) {
    std::string name = known.second.substr(1);
    name[0] = static_cast<char>(tolower(name[0]));
    EXPECT_EQ("k" + known.second.substr(1), known.second);
    EXPECT_EQ(PrintTemperature(known.first), name);
    Temperature read = Temperature::kLastTemperature;
    EXPECT_TRUE(ParseTemperature(name, &read)) << name;
    EXPECT_EQ(read, known.first);
    EXPECT_FALSE(ParseTemperature(known.second, &read)) << known.second;
  }
  EXPECT_EQ(PrintTemperature(Temperature::kWarm), "warm");
  EXPECT_EQ(PrintTemperature(Temperature::kLastTemperature), "unknown");
  Temperature read = Temperature::kHot;
  EXPECT_FALSE(ParseTemperature("", &read));
  EXPECT_EQ(read, Temperature::kHot);
}

// What RocksDB makes of an option string, and what it is made into again.
std::unordered_map<std::string, std::string> Map(const std::string& text) {
  std::unordered_map<std::string, std::string> map;
  EXPECT_OK(StringToMap(text, &map)) << text;
  return map;
}

void ExpectExample(const std::unordered_map<std::string, std::string>& options) {
  ASSERT_EQ(options.count("tiers"), 1u);
  ASSERT_EQ(options.count("placement"), 1u);
  EXPECT_EQ(Reprinted(options.at("tiers")), kTiers + ";home={}");
  Placement placement;
  ASSERT_OK(Placement::Parse(options.at("placement"), {"fast", "slow", "home"}, &placement));
  Facts facts;
  facts.content = Content::kTable;
  facts.level = 3;
  EXPECT_EQ(placement.TierOf(facts, 2), 1);
}

TEST(TieredGrammarTest, SurvivesRocksDBsOptionStrings) {
  const std::string text =
      "id=TieredFileSystem;tiers={" + kTiers + "};placement={" + kPlacement + "}";
  std::unordered_map<std::string, std::string> options = Map(text);
  EXPECT_EQ(options["id"], "TieredFileSystem");
  ExpectExample(options);
  ExpectExample(Map("tiers={" + Reprinted(options["tiers"]) + "};placement={" + kPlacement + "}"));
  // As the target of another FileSystem.
  ExpectExample(Map(Map("id=CountedFileSystem;target={" + text + "};other=1")["target"]));
}

class Holder : public Configurable {
 public:
  Holder() {
    static const std::unordered_map<std::string, OptionTypeInfo> kTypes = {
        {"tiers", NestedText(offsetof(TieredOptions, tiers))},
        {"placement", NestedText(offsetof(TieredOptions, placement))},
        {"mover", {offsetof(TieredOptions, mover), OptionType::kBoolean}},
    };
    RegisterOptions(&options, &kTypes);
  }

  TieredOptions options;
};

TEST(TieredGrammarTest, OptionsAreReadWrittenAndReadAgain) {
  const ConfigOptions config;
  for (const std::string& tiers :
       {kTiers, std::string("x={path=/a;emulate={iops=1}}"), std::string("x={path=/a#b:c\\d}"),
        std::string(), std::string("x={path=/a;cf:log_*=2G;cf:a#b:c\\*=1}")}) {
    Holder first;
    first.options.tiers = tiers;
    first.options.placement = kPlacement;
    first.options.mover = false;
    std::string text;
    ASSERT_OK(first.GetOptionString(config, &text));
    Holder second;
    ASSERT_OK(second.ConfigureFromString(config, text)) << text;
    EXPECT_EQ(second.options.tiers, tiers) << text;
    EXPECT_EQ(second.options.placement, kPlacement) << text;
    EXPECT_FALSE(second.options.mover);
    std::string mismatch;
    EXPECT_TRUE(first.AreEquivalent(config, &second, &mismatch)) << mismatch;
    second.options.tiers += ";y={path=/y}";
    EXPECT_FALSE(first.AreEquivalent(config, &second, &mismatch));
    EXPECT_EQ(mismatch, "tiers");
  }
}

}  // namespace
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
