// Result<T>: a value, or one clear sentence about why there is none.
//
// Everything a user can cause (a wrong flag, a missing file, a full disk) is a Result. An exception that leaves
// forklift's code is a bug of ours. (std::expected does not exist in g++ 12; this is the part of it that we need.)
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace forklift {

/// What kind of thing went wrong; it decides the exit status of the command line.
enum class ErrorKind {
  usage,           ///< Wrong flag, value or configuration: exit status 2.
  not_found,       ///< PROGRAM does not exist: exit status 127.
  not_executable,  ///< PROGRAM exists but cannot be executed: exit status 126.
  system,          ///< The machine refused something (no descriptors, no memory, disk full): exit status 125.
  internal,        ///< A bug of forklift: exit status 125.
};

/// An error as a value. `message` is one sentence that names the place, what was seen and what was expected.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  int os_errno = 0;  ///< errno of the failed system call, or 0.
};

/// Exit status of the command line for an error that prevented the job from running.
constexpr int exit_status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::not_found:
      return 127;
    case ErrorKind::not_executable:
      return 126;
    case ErrorKind::system:
    case ErrorKind::internal:
      return 125;
  }
  return 125;
}

/// Either a T or an Error. Must be looked at. Asking for the side that is not there ends the process.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return ok() ? *std::get_if<0>(&content_) : stop<T&>(); }
  [[nodiscard]] const T& value() const& { return ok() ? *std::get_if<0>(&content_) : stop<const T&>(); }
  // By value: what is taken from a temporary outlives it, also in `for (… : f().value())`.
  [[nodiscard]] T value() && { return ok() ? std::move(*std::get_if<0>(&content_)) : stop<T>(); }
  [[nodiscard]] const Error& error() const { return ok() ? stop<const Error&>() : *std::get_if<1>(&content_); }

 private:
  template <class R>
  [[noreturn]] static R stop() {
    std::abort();
  }
  std::variant<T, Error> content_;
};

/// The Result of something that only succeeds or fails.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return error_.value(); }

 private:
  std::optional<Error> error_;
};

}  // namespace forklift
