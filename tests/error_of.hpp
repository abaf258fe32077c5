// What a refusal says.
#pragma once

#include <functional>
#include <string>

#include "core/error.hpp"

/// What the UsageError that `action` throws says.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const attnprof::UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}
