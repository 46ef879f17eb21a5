// The other ends of a console under test: pipes, sockets, terminals and files that the test reads when it likes.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "worker/descriptor.hpp"

namespace forklift {

/// `near` is given to the code under test, `far` is the test's; reading it never blocks.
struct Ends {
  Descriptor near;
  Descriptor far;
};

inline void never_block(int descriptor) { ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

inline Ends console_pipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  never_block(ends[0]);
  return {Descriptor(ends[1]), Descriptor(ends[0])};
}

inline Ends console_socket() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  never_block(ends[1]);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// A raw terminal of 10 rows: what is written is what is read.
inline Ends console_terminal() {
  int master = -1;
  int slave = -1;
  termios raw{};
  ::cfmakeraw(&raw);
  winsize size{};
  size.ws_row = 10;
  size.ws_col = 80;
  EXPECT_EQ(::openpty(&master, &slave, nullptr, &raw, &size), 0);
  never_block(master);
  return {Descriptor(slave), Descriptor(master)};
}

/// What can be read now.
inline std::string read_now(int descriptor) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t count = 1; count > 0;) {
    count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

/// A file in a directory of its own, both gone at the end.
class TemporaryFile {
 public:
  TemporaryFile() {
    EXPECT_NE(::mkdtemp(directory_.data()), nullptr);
    path_ = directory_ + "/output.log";
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    ::unlink(path_.c_str());
    ::rmdir(directory_.c_str());
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Descriptor open(int flags = 0) const {
    Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600));
    EXPECT_TRUE(file.valid());
    return file;
  }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
  }

 private:
  std::string directory_ = "/tmp/forklift-test-XXXXXX";
  std::string path_;
};

/// Turns the loop until `condition` holds; gives up, and fails the test, only when something is badly wrong.
template <class Condition>
void run_until(boost::asio::io_context& io, Condition condition) {
  while (!condition()) {
    io.restart();
    if (io.run_one_for(std::chrono::seconds(30)) == 0) {
      ADD_FAILURE() << "the loop has nothing to do and the condition does not hold";
      return;
    }
  }
}

/// Turns the loop as long as there is something to do at once. Returns how many handlers ran.
inline std::size_t run_ready(boost::asio::io_context& io) {
  io.restart();
  return io.poll();
}

inline std::string numbered_lines(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += "line " + std::to_string(i) + " of a long output\n";
  return text;
}

}  // namespace forklift
