// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/openmetrics.h"

#include "tools/small_file.h"
#include "tools/units.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

constexpr char kEnd[] = "# EOF";
constexpr char kTotal[] = "_total";
constexpr size_t kMaxLabels = 16;

bool IsNameCharacter(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         (!first && c >= '0' && c <= '9');
}

// Takes a line apart, from its beginning.
class LineReader {
 public:
  explicit LineReader(const std::string& line) : line_(line) {}

  bool Take(char c) {
    const bool found = at_ < line_.size() && line_[at_] == c;
    at_ += found ? 1 : 0;
    return found;
  }

  // A name of a metric or of a label.
  bool TakeName(std::string* name) {
    const size_t begin = at_;
    while (at_ < line_.size() && IsNameCharacter(line_[at_], at_ == begin)) {
      at_++;
    }
    *name = line_.substr(begin, at_ - begin);
    return at_ > begin;
  }

  // A value of a label, in quotes.
  bool TakeQuoted(std::string* value) {
    if (!Take('"')) {
      return false;
    }
    while (at_ < line_.size() && line_[at_] != '"') {
      if (line_[at_] != '\\') {
        *value += line_[at_++];
      } else if (++at_ < line_.size()) {
        *value += line_[at_] == 'n' ? '\n' : line_[at_];
        at_++;
      }
    }
    return Take('"');
  }

  std::string Rest() const { return line_.substr(at_); }

 private:
  const std::string& line_;
  size_t at_ = 0;
};

bool ParseLabels(LineReader* line, MetricSample* sample) {
  if (!line->Take('{') || line->Take('}')) {
    return true;
  }
  do {
    std::string name;
    std::string value;
    if (sample->labels.size() == kMaxLabels || !line->TakeName(&name) || !line->Take('=') ||
        !line->TakeQuoted(&value)) {
      return false;
    }
    sample->labels.emplace_back(name, value);
  } while (line->Take(','));
  return line->Take('}');
}

bool ParseSample(const std::string& text, MetricSample* sample) {
  LineReader line(text);
  return line.TakeName(&sample->name) && ParseLabels(&line, sample) && line.Take(' ') &&
         ParseDouble(line.Rest(), &sample->value);
}

}  // namespace

bool MetricSample::IsCounter() const {
  const size_t length = sizeof(kTotal) - 1;
  return name.size() > length && name.compare(name.size() - length, length, kTotal) == 0;
}

const std::string* MetricSample::Label(const std::string& label) const {
  for (const auto& [known, text] : labels) {
    if (known == label) {
      return &text;
    }
  }
  return nullptr;
}

Status ParseMetrics(const std::string& text, std::vector<MetricSample>* samples) {
  samples->clear();
  size_t number = 1;
  for (size_t begin = 0; begin < text.size(); number++) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      break;
    }
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line == kEnd) {
      return begin == text.size() ? Status::OK() : Status::Corruption("goes on behind # EOF");
    }
    if (line[0] == '#') {
      continue;
    }
    MetricSample sample;
    if (!ParseSample(line, &sample)) {
      return Status::Corruption("line " + std::to_string(number) + " is no sample");
    }
    if (samples->size() == kMaxMetricSamples) {
      return Status::Corruption("more than " + std::to_string(kMaxMetricSamples) + " samples");
    }
    samples->push_back(std::move(sample));
  }
  return Status::Corruption("is cut short: there is no # EOF");
}

Status ReadMetrics(const std::string& path, std::vector<MetricSample>* samples) {
  std::string text;
  Status s = ReadSmallFile(path, kMaxMetricsBytes, &text);
  if (!s.ok()) {
    return s;
  }
  s = ParseMetrics(text, samples);
  return s.ok() ? s : Status::Corruption(path, s.getState());
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
