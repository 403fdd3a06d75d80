// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier blob: the command of blob_hybrid.

#include <map>
#include <memory>
#include <string>

#include "plugin/blob_hybrid/advice.h"
#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/verify.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using blob_hybrid::Advice;
using blob_hybrid::BlobCheck;
using blob_hybrid::BlobHybridSpace;

struct Arguments {
  std::string db;
  double space = 1.5;
};

// The answer has each family apart.
template <typename Family>
void PrintAll(const std::map<std::string, Family>& families, Call* call) {
  for (const auto& [name, family] : families) {
    call->json[name] = Json::parse(family.ToJson());
    call->Line("[" + name + "]");
    call->Facts(family.ToString());
  }
}

Status Stats(const Arguments& arguments, Call* call) {
  std::map<std::string, BlobHybridSpace> families;
  const Status s = blob_hybrid::InspectBlobHybrid(arguments.db, &families);
  if (s.ok()) {
    PrintAll(families, call);
  }
  return s;
}

Status Advise(const Arguments& arguments, Call* call) {
  std::map<std::string, Advice> families;
  const Status s = blob_hybrid::AdviseDatabase(arguments.db, arguments.space, &families);
  if (s.ok()) {
    PrintAll(families, call);
  }
  return s;
}

Status Verify(const Arguments& arguments, Call* call) {
  std::map<std::string, BlobCheck> families;
  const Status s = blob_hybrid::VerifyBlobs(arguments.db, &families, call->progress);
  if (!s.ok()) {
    return s;
  }
  for (const auto& [name, check] : families) {
    Json json;
    std::string text;
    const auto count = [&](const char* key, uint64_t value) {
      json[key] = value;
      text += std::string(key) + ": " + std::to_string(value) + "\n";
    };
    count("ssts", check.ssts);
    count("blob_files", check.blob_files);
    count("values", check.values);
    count("references", check.references);
    count("garbage", check.garbage);
    count("uncounted", check.uncounted);
    count("problem_count", check.problem_count);
    json["problems"] = check.problems;
    call->json[name] = std::move(json);
    call->Line("[" + name + "]");
    call->Facts(text);
    for (const std::string& problem : check.problems) {
      call->Line("problem: " + problem);
    }
    call->problems = call->problems || check.problem_count > 0;
  }
  return s;
}

Verb Of(const std::string& name, const std::string& summary,
        const std::shared_ptr<Arguments>& arguments, Status (*run)(const Arguments&, Call*)) {
  return Verb(name, summary)
      .Positional("DB", "the database's directory; it is opened for reading", &arguments->db)
      .Run([arguments, run](Call* call) { return run(*arguments, call); });
}

}  // namespace

Command BlobCommand() {
  const auto arguments = std::make_shared<Arguments>();
  Command command("blob", "files of blob_hybrid");
  command.Help(
      "Looks at the blob files of a database, each column family apart. Nothing is changed.");
  command.Add(Of("stats", "Counts files, live values, known and hidden garbage.", arguments, Stats)
                  .Help("What is hidden is an upper estimate: the entries above the last level, "
                        "each of which may overwrite a value.")
                  .MayBeOpen("yes")
                  .PrintsBytes());
  command.Add(Of("verify", "Checks each reference and each value.", arguments, Verify)
                  .Help("Reads everything. Each reference to a value is right, each value has its "
                        "checksum, and "
                        "there are as many as the MANIFEST says.")
                  .MayBeOpen("not written to")
                  .Problems("if problems were found"));
  command.Add(Of("advise", "Says which values are worth separating.", arguments, Advise)
                  .Help("By a sample of SSTs and the model of the Parallax paper: sizes from which "
                        "values are medium and large, settings, and what is written and taken for "
                        "each byte of data. What is overwritten is told by sequence numbers.")
                  .Number("space",
                          "bytes of files for each live byte that the settings may lead to, from 1 "
                          "on; 1.5 by default; space_kept is 0 if they have to lead to more",
                          1, &arguments->space)
                  .MayBeOpen("yes")
                  .PrintsBytes());
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
