#include "cli/config_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/file_io.hpp"
#include "core/toml_file.hpp"

namespace attnprof {
namespace {

class ConfigReader {
 public:
  ConfigReader(const TomlFile& file, Command& command)
      : file_(file), command_(command), options_(command.options()) {
    const auto itself = [](const Command::Declared& option) { return option.name == "config"; };
    options_.erase(std::remove_if(options_.begin(), options_.end(), itself), options_.end());
  }

  void read() {
    const TomlNode* own = nullptr;
    const std::vector<std::string> commands = command_.all_commands();
    for (const TomlNode& node : file_.entries()) {
      check_tables(node, commands);
      if (node.key == command_.name()) own = &node;
    }
    if (own != nullptr) {
      for (const TomlNode& node : own->as<TomlTable>()->entries) apply(node);
    }
    for (const TomlNode& node : file_.entries()) {
      if (!node.as<TomlTable>()) apply(node);
    }
  }

 private:
  /// Tables have the names of commands, and nothing else has.
  void check_tables(const TomlNode& node, const std::vector<std::string>& commands) const {
    const bool named = std::find(commands.begin(), commands.end(), node.key) != commands.end();
    if (named && !node.as<TomlTable>())
      file_.fail(node, fmt::format("a command has one table: write [{}]", node.key));
    if (!named && node.as<TomlTable>())
      file_.fail(node, fmt::format("no command has that name; tables are named as commands, e.g. [{}]",
                                   command_.name()));
  }

  /// What was typed wins, then what came first.
  void apply(const TomlNode& node) {
    Command::Declared& option = find(node);
    const std::vector<std::string> values = option.is_flag ? flag(node) : texts(node, option.is_list);
    if (option.given) return;
    option.given = true;
    if (values.empty()) return;
    try {
      command_.set(option.name, values);
    } catch (const UsageError& e) {
      file_.fail(node, e.what());
    }
  }

  Command::Declared& find(const TomlNode& node) {
    std::vector<std::string> names;
    for (Command::Declared& option : options_) {
      if (option.name == node.key) return option;
      names.push_back(option.name);
    }
    file_.unknown_key(node, names);
  }

  /// A flag that is off has no value.
  std::vector<std::string> flag(const TomlNode& node) const {
    const bool* on = node.as<bool>();
    if (on == nullptr) file_.fail(node, "takes true or false");
    return *on ? std::vector<std::string>{"true"} : std::vector<std::string>{};
  }

  std::vector<std::string> texts(const TomlNode& node, bool is_list) const {
    const TomlArray* array = node.as<TomlArray>();
    if (array == nullptr) return {text(node)};
    if (!is_list) file_.fail(node, "takes one value, not a list");
    if (array->items.empty()) file_.fail(node, "is an empty list");
    std::vector<std::string> all;
    for (const TomlNode& item : array->items) all.push_back(text(item));
    return all;
  }

  std::string text(const TomlNode& node) const {
    const auto text = node.text();
    if (!text || node.as<bool>()) file_.fail(node, "takes a string or a number");
    if (node.as<double>() && !node.number()) file_.fail(node, "is not a finite number");
    return *text;
  }

  const TomlFile& file_;
  Command& command_;
  std::vector<Command::Declared> options_;
};

}  // namespace

void apply_config_file(Command& command, const std::string& path) {
  if (path.empty()) return;
  apply_config(command, read_whole_file(path), path);
}

void apply_config(Command& command, std::string_view text, const std::string& name) {
  const TomlFile file(text, name);
  ConfigReader(file, command).read();
}

}  // namespace attnprof
