// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier cache: the command of secondary_cache_2q, over InspectCacheFile() and VerifyCacheFile().

#include <memory>
#include <string>

#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using secondary_cache_2q::CacheFileInfo;

Status Look(const std::string& file, bool verify, Call* call) {
  CacheFileInfo info;
  const Status s = verify ? secondary_cache_2q::VerifyCacheFile(file, &info, call->progress)
                          : secondary_cache_2q::InspectCacheFile(file, &info);
  if (s.ok()) {
    call->json = Json::parse(info.ToJson());
    call->Facts(info.ToString());
    call->problems = verify && info.corrupt + info.bad_slots > 0;
  }
  return s;
}

}  // namespace

Command CacheCommand() {
  const auto file = std::make_shared<std::string>();
  Command command("cache", "files of secondary_cache_2q");
  command.Help(
      "Looks at a cache file of secondary_cache_2q (storage=file). The file is not changed.");
  command.Add(Verb("info", "Prints what a cache file says of itself.")
                  .Help("Sizes are in bytes. blocks: those that the index names; bad_slots: "
                        "entries of the index that fail their checksum, cannot be read or name no "
                        "block. The contents of blocks are not read. A cache in use may be looked "
                        "at; the counts are then approximate.")
                  .Positional("FILE", "the option path of the cache", file.get())
                  .MayBeOpen("yes")
                  .PrintsBytes()
                  .Run([file](Call* call) { return Look(*file, /*verify=*/false, call); }));
  command.Add(Verb("verify", "Checks every block against the index.")
                  .Help("verified: intact blocks; corrupt: blocks that do not match the index or "
                        "cannot be read; bad_slots: entries of the index that fail their checksum, "
                        "cannot be read or name no block. The cache answers what is not intact as "
                        "a miss: nothing needs to be repaired. In a cache in use blocks change "
                        "while they are read, and may be counted as corrupt; verify it after it "
                        "was closed.")
                  .Positional("FILE", "the option path of the cache", file.get())
                  .MayBeOpen("approximate")
                  .Problems("if a block is corrupt or a slot is bad")
                  .PrintsBytes()
                  .Run([file](Call* call) { return Look(*file, /*verify=*/true, call); }));
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
