#include "launcher/request/split_command.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "launcher/request/flag_lookup.hpp"
#include "launcher/request/option_text.hpp"
#include "worker/format/digits.hpp"

namespace forklift {
namespace {

// "-1" and "-.5" are values (wrong ones, mostly, but the message about the number is the helpful one).
bool looks_like_negative_number(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  return is_digit(word[1]) || (word.size() > 2 && word[1] == '.' && is_digit(word[2]));
}

// A single dash is a word (many programs' name for standard input), not a flag.
bool looks_like_flag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !looks_like_negative_number(word);
}

/// Reads the head word by word. Stops at the first error.
class HeadReader {
 public:
  explicit HeadReader(const std::vector<std::string>& words) : words_(words) {}

  Result<SplitCommand> read() {
    while (next_ < words_.size() && !error_ && split_.help == HelpWish::none) {
      const std::string& word = words_[next_];
      if (word == "--") {
        ++next_;
        break;
      }
      if (!looks_like_flag(word)) break;
      ++next_;
      if (word.starts_with("--"))
        read_long(std::string_view(word).substr(2));
      else
        read_letters(std::string_view(word).substr(1));
    }
    if (!error_ && split_.help == HelpWish::none) take_program();
    if (error_) return *error_;
    return std::move(split_);
  }

 private:
  void read_long(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const Flag* flag = find_flag(name);
    if (flag == nullptr) return fail(unknown_flag_sentence(name));
    const std::string spelled = fmt::format("--{}", name);
    if (equals == std::string_view::npos)
      take(*flag, spelled, std::nullopt);
    else
      take(*flag, spelled, word.substr(equals + 1));
  }

  // Letters without a value may stand together; a letter with one takes the rest of the word, else the next word.
  void read_letters(std::string_view letters) {
    for (std::size_t i = 0; i < letters.size() && !error_ && split_.help == HelpWish::none; ++i) {
      const std::string spelled = fmt::format("-{}", letters[i]);
      const Flag* flag = find_flag(letters[i]);
      if (flag == nullptr)
        return fail(fmt::format("unknown flag {}; forklift launch --help lists the flags", quoted(spelled)));
      std::string_view rest = letters.substr(i + 1);
      const bool separated = rest.starts_with('=');
      if (rest.empty() || (!flag->takes_value() && !separated)) {
        take(*flag, spelled, std::nullopt);
        continue;
      }
      if (separated) rest.remove_prefix(1);
      return take(*flag, spelled, rest);
    }
  }

  void take(const Flag& flag, const std::string& spelled, std::optional<std::string_view> attached) {
    if (!flag.takes_value()) {
      if (attached) return fail(fmt::format("{} takes no value, but {} was given", spelled, quoted(*attached)));
      if (flag.name == "help")
        split_.help = HelpWish::asked;
      else
        split_.head.push_back({&flag, {}});
      return;
    }
    if (attached) return split_.head.push_back({&flag, std::string(*attached)});
    if (next_ == words_.size())
      return fail(fmt::format("{} needs a value ({}), but the command line ends there", spelled, flag.value));
    const std::string& word = words_[next_];
    if (looks_like_flag(word))
      return fail(fmt::format("{0} needs a value ({1}), but {2} follows; write {0}=VALUE if that is the value", spelled,
                              flag.value, quoted(word)));
    ++next_;
    split_.head.push_back({&flag, word});
  }

  void take_program() {
    if (next_ == words_.size()) return;
    split_.program = words_[next_];
    if (split_.program.empty()) return fail("the name of the program is empty");
    const auto first_argument = words_.begin() + static_cast<std::ptrdiff_t>(next_) + 1;
    split_.arguments.assign(first_argument, words_.end());
  }

  void fail(std::string sentence) { error_ = usage_error(std::move(sentence)); }

  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  SplitCommand split_;
  std::optional<Error> error_;
};

}  // namespace

Result<SplitCommand> split_command(const std::vector<std::string>& words) { return HeadReader(words).read(); }

}  // namespace forklift
