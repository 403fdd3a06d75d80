// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier top: what a running database does, from its statistics files. The database is not
// opened.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/top/sample.h"
#include "tools/top/screen.h"
#include "tools/top/view.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

constexpr double kLeastInterval = 0.1;
constexpr double kMostInterval = 86400;

struct Arguments {
  std::string db;
  std::vector<std::string> files;
  bool once = false;
  double interval = 1;
};

Status CheckDirectory(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return Status::NotFound(path, strerror(errno));
  }
  return S_ISDIR(info.st_mode) ? Status::OK() : Status::InvalidArgument(path, "is no directory");
}

Status Run(const Arguments& arguments, Call* call) {
  Status s = CheckDirectory(arguments.db);
  if (!s.ok()) {
    return s;
  }
  top::Sampler sampler(arguments.db, arguments.files, arguments.interval);
  top::Sample sample = sampler.Take();
  if (sample.files.empty() && sample.process == 0) {
    return Status::NotFound(arguments.db,
                            "no statistics file: is the database open, and is metrics_interval "
                            "above 0? If its file is elsewhere, take --file");
  }
  const bool in_place = !arguments.once && !call->as_json && isatty(STDOUT_FILENO) != 0;
  top::Screen screen(in_place);
  while (true) {
    if (call->as_json) {
      call->Print("", sample.AsJson());
    } else {
      screen.Show(top::LinesOf(sample));
    }
    if (fflush(stdout) != 0) {
      return Status::IOError("stdout", strerror(errno));
    }
    if (arguments.once || !screen.Wait(arguments.interval)) {
      break;
    }
    sample = sampler.Take();
  }
  call->problems = arguments.once && sample.HasProblems();
  return s;
}

}  // namespace

Command TopCommand() {
  const auto arguments = std::make_shared<Arguments>();
  Command command("top", "what a running database does");
  command.Add(
      Verb("", "Shows what a running database does, from its statistics files.")
          .Help("The database is not opened, and nothing is locked. Files are found in DB, beside "
                "it if they are of the process that has DB open, and where its OPTIONS file says.")
          .Help("Counters are shown as rates between two samples, and errors, as well as all "
                "counters of the first sample, since they were opened. A file that its process "
                "does not renew is shown as stale.")
          .Help("On a terminal the view is refreshed until q or Ctrl-C is typed. Elsewhere a block "
                "is printed for each sample.")
          .Positional("DB", "the directory of the database", &arguments->db)
          .Texts("file", "PATH", "a statistics file that is elsewhere, as metrics_file says",
                 /*required=*/false, &arguments->files)
          .Switch("once", "take one sample", &arguments->once)
          .Number("interval", "seconds between two samples; 1 by default", kLeastInterval,
                  &arguments->interval)
          .MayBeOpen("yes")
          .PrintsLines("sample")
          .RunsUntilStopped()
          .Problems("with --once, if a file is stale or damaged, or there is none yet")
          .Check([arguments](const Call&) {
            return arguments->interval <= kMostInterval ? "" : "--interval: at most 86400 seconds";
          })
          .Run([arguments](Call* call) { return Run(*arguments, call); }));
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
