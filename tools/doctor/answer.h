// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What `rocktier doctor` has found, as text and JSON.

#pragma once

#include <vector>

#include "tools/command.h"
#include "tools/doctor/advice.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

void AnswerMachine(const Machine& machine, Call* call);
void AnswerPlaces(const std::vector<Place>& places, Call* call);
void AnswerAdvice(const std::vector<Advice>& all, const Load& load, Call* call);
void AnswerMend(const std::vector<std::string>& mend, Call* call);

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
