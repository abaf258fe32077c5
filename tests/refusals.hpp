// Texts that a reader refuses: each names its place, and says what is wrong.
#pragma once

#include <initializer_list>
#include <string>

#include "catch.hpp"
#include "text.hpp"

struct BadText {
  const char* text;
  const char* place;  ///< "f.toml:2:1: key 'x'"
  const char* piece;  ///< of the reason
};

/// `refusal` gives what the reader says of a text.
template <class Refusal>
void check_refusals(std::initializer_list<BadText> all, Refusal&& refusal) {
  for (const BadText& bad : all) {
    INFO(bad.text);
    const std::string message = refusal(bad.text);
    INFO(message);
    CHECK(has(message, bad.place));
    CHECK(has(message, bad.piece));
  }
}
