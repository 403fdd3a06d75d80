// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "plugin/tiered_env/tools/tier/verbs.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace tier {

using tiered_env::TieredAdoption;
using tiered_env::TieredLoss;

namespace {

// What was moved, or would be.
void Moved(uint64_t files, const std::string& then, Call* call) {
  call->json["moved"] = files;
  call->Line(std::to_string(files) + (call->dry_run ? " files would be moved" : " files moved") +
             (call->dry_run ? "" : "; " + then));
}

Status Salvage(FileSystem* fs, const Arguments& arguments, Call* call) {
  std::vector<std::string> given_up;
  const Status s = tiered_env::SalvageTiers(fs, arguments.directory, &given_up, arguments.lost);
  call->json["given_up"] = given_up;
  for (const std::string& file : given_up) {
    call->Line("given up: " + file);
  }
  if (s.ok()) {
    call->Line(arguments.directory + " has nothing in memory any more; " +
               std::to_string(given_up.size()) + " SSTs given up");
  }
  call->problems = !given_up.empty();
  return s;
}

// Without --salvage a loss for good is an error, as it would be.
Status Rehearse(FileSystem* fs, const Arguments& arguments, Call* call) {
  TieredLoss loss;
  const Status s = tiered_env::RehearseRecovery(fs, arguments.directory, &loss, arguments.lost);
  if (!s.ok()) {
    return s;
  }
  call->json["lost"] = loss.lost;
  call->json["given_up"] = loss.for_good;
  for (const std::string& file : loss.lost) {
    call->Line("is lost with its memory: " + file);
  }
  for (const std::string& file : loss.for_good) {
    call->Line("cannot be rebuilt: " + file);
  }
  if (arguments.salvage && !loss.refusal.empty()) {
    return Status::IOError(loss.refusal);
  }
  if (!arguments.salvage && !loss.for_good.empty()) {
    return Status::Corruption(std::to_string(loss.for_good.size()) + " SSTs cannot be rebuilt",
                              "--salvage gives them up");
  }
  call->Line(std::to_string(loss.lost.size() - loss.for_good.size()) + " SSTs would be rebuilt");
  call->problems = !loss.for_good.empty();
  return s;
}

}  // namespace

Status Move(FileSystem* fs, const Arguments& arguments, Call* call) {
  std::string later;
  const Status s = tiered_env::MoveToTier(fs, arguments.directory, arguments.file, arguments.tier,
                                          &later, call->dry_run);
  if (s.ok()) {
    call->json = {{"file", arguments.file}, {"tier", arguments.tier}, {"later", later}};
    call->Line(arguments.file + (call->dry_run ? " would be in " : " is in ") + arguments.tier +
               (later.empty() ? ""
                              : "; when the database is opened, the mover will put it into " +
                                    later + ", by placement and budgets"));
  }
  return s;
}

Status Drain(FileSystem* fs, const Arguments& arguments, Call* call) {
  uint64_t moved = 0;
  const Status s = tiered_env::DrainTier(fs, arguments.directory, arguments.tier, &moved,
                                         call->progress, call->dry_run);
  if (s.ok()) {
    Moved(moved, arguments.tier + " has nothing of " + arguments.directory + " any more", call);
  }
  return s;
}

Status Evacuate(FileSystem* fs, const Arguments& arguments, Call* call) {
  uint64_t moved = 0;
  const Status s =
      tiered_env::EvacuateTiers(fs, arguments.directory, &moved, call->progress, call->dry_run);
  if (s.ok()) {
    Moved(moved, arguments.directory + " has all its files", call);
  }
  return s;
}

Status Recover(FileSystem* fs, const Arguments& arguments, Call* call) {
  if (!arguments.lost.empty() && !arguments.salvage) {
    return Status::InvalidArgument("--lost goes with --salvage");
  }
  if (call->dry_run) {
    return Rehearse(fs, arguments, call);
  }
  if (arguments.salvage) {
    return Salvage(fs, arguments, call);
  }
  const Status s = tiered_env::RecoverTiers(fs, arguments.directory);
  if (s.ok()) {
    call->json["recovered"] = true;
    call->Line(arguments.directory + " has all its SSTs");
  }
  return s;
}

Status Purge(FileSystem* fs, const Arguments& arguments, Call* call) {
  uint64_t files = 0;
  uint64_t bytes = 0;
  const Status s = tiered_env::PurgeTiers(fs, arguments.directory, &files, &bytes,
                                          arguments.folders, call->dry_run);
  if (s.ok()) {
    call->json = {{"files", files}, {"bytes", bytes}};
    call->json["folders"] = arguments.folders;
    call->Line(std::to_string(files) + (call->dry_run ? " files would be" : " files") +
               " deleted, " + std::to_string(bytes) + " bytes");
    for (const std::string& folder : arguments.folders) {
      call->Line("folder " + folder + (call->dry_run ? " would be deleted" : " deleted"));
    }
  }
  return s;
}

Status Adopt(FileSystem* fs, const Arguments& arguments, Call* call) {
  TieredAdoption adoption;
  const Status s =
      tiered_env::AdoptTiers(fs, arguments.directory, arguments.force, &adoption, call->dry_run);
  call->json["missing"] = adoption.missing;
  call->json["unnamed"] = adoption.unnamed;
  for (const std::string& base : adoption.missing) {
    call->Line("is not there: " + base);
  }
  for (const std::string& path : adoption.unnamed) {
    call->Line("is not the database's, and will be put aside: " + path);
  }
  if (!s.ok()) {
    return s;
  }
  const bool in_doubt = !adoption.missing.empty() || !adoption.unnamed.empty();
  call->json["adopted"] = adoption.adopted;
  call->problems = in_doubt && !adoption.adopted;
  call->Line(adoption.adopted ? "adopted"
             : in_doubt       ? "nothing was changed; --force adopts anyway"
                              : "would be adopted");
  return s;
}

}  // namespace tier
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
