// A TOML file as plain data, each key with its place. Only toml_file.cpp includes toml++, which takes seconds
// to compile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attnprof {

struct TomlNode;

struct TomlArray {
  std::vector<TomlNode> items;
};

struct TomlTable {
  std::vector<TomlNode> entries;  ///< in the order of the file
};

struct TomlDate {};  ///< a date or a time, which nothing here takes

/// A value with its key and place. Items of an array have the array's key and a place of their own.
struct TomlNode {
  std::string key;
  int line = 0, column = 0;
  std::variant<bool, int64_t, double, std::string, TomlDate, TomlArray, TomlTable> value;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  /// An integer or a finite float.
  std::optional<double> number() const;
  /// A string as it is, a number so that nothing is lost, "true" or "false"; nothing for anything else.
  std::optional<std::string> text() const;
};

/// A whole file. Every error is a UsageError "NAME:LINE:COLUMN: ...".
class TomlFile {
 public:
  TomlFile(std::string_view text, std::string name);

  const std::vector<TomlNode>& entries() const { return root_.entries; }
  std::string place(const TomlNode& node) const;  ///< "NAME:LINE:COLUMN"
  /// "PLACE: key 'x': what"
  [[noreturn]] void fail(const TomlNode& node, const std::string& what) const;
  /// Names the one of `known` that is nearest to what was written.
  [[noreturn]] void unknown_key(const TomlNode& node, const std::vector<std::string>& known) const;

 private:
  std::string name_;
  TomlTable root_;
};

}  // namespace attnprof
