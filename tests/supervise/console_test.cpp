#include "launcher/supervise/console.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <memory>
#include <string>

#include "tests/supervise/console_ends.hpp"

namespace forklift {
namespace {

constexpr auto output = OutputStream::standard_output;
constexpr auto error = OutputStream::standard_error;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

ConsoleSettings settings_for(const Descriptor& to_output, const Descriptor& to_error) {
  ConsoleSettings settings;
  settings.standard_output = to_output.get();
  settings.standard_error = to_error.get();
  return settings;
}

class ConsoleTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { ::signal(SIGPIPE, SIG_IGN); }

  boost::asio::io_context io;
};

// ---- every kind of reader that can be slow ------------------------------------------------------------------------

struct Reader {
  const char* name;
  Ends (*open)();
};

const Reader readers[] = {
    {"Pipe", console_pipe},
    {"Socket", console_socket},
    {"Terminal", console_terminal},
};

class ConsoleReader : public testing::TestWithParam<Reader> {
 protected:
  static void SetUpTestSuite() { ::signal(SIGPIPE, SIG_IGN); }

  boost::asio::io_context io;
  Ends ends = GetParam().open();
};

TEST_P(ConsoleReader, Lines_ArriveAtOnce) {
  Console console(io, settings_for(ends.near, ends.near));
  console.write(output, "one\n");
  console.write(error, "two\n");
  EXPECT_EQ(read_now(ends.far.get()), "one\ntwo\n");
}

TEST_P(ConsoleReader, InheritedDescriptor_IsNotMadeNonBlocking) {
  const int before = ::fcntl(ends.near.get(), F_GETFL);
  Console console(io, settings_for(ends.near, ends.near));
  console.write(output, numbered_lines(2 * mebibyte));
  run_ready(io);
  EXPECT_EQ(::fcntl(ends.near.get(), F_GETFL), before);
  EXPECT_EQ(::fcntl(ends.near.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_P(ConsoleReader, SlowReader_GetsEverythingInTheEnd) {
  Console console(io, settings_for(ends.near, ends.near));
  int told = 0;
  console.on_accepting([&] { ++told; });
  const std::string lines = numbered_lines(3 * mebibyte);
  console.write(output, lines);
  EXPECT_FALSE(console.accepts(output));
  bool flushed = false;
  console.when_flushed([&] { flushed = true; });
  run_ready(io);
  EXPECT_FALSE(flushed);

  std::string read;
  run_until(io, [&] {
    read += read_now(ends.far.get());
    return flushed;
  });
  read += read_now(ends.far.get());
  EXPECT_TRUE(read == lines);
  EXPECT_TRUE(console.accepts(output));
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(console.notes().empty());
}

TEST_P(ConsoleReader, NobodyReads_NothingWakesTheLoop) {
  Console console(io, settings_for(ends.near, ends.near));
  console.write(output, numbered_lines(2 * mebibyte));
  run_ready(io);
  EXPECT_EQ(run_ready(io), 0U);
}

TEST_P(ConsoleReader, Abandoned_SaysHowMuchWasWaiting) {
  Console console(io, settings_for(ends.near, ends.near));
  const std::string lines = numbered_lines(2 * mebibyte);
  console.write(output, lines);
  bool flushed = false;
  console.when_flushed([&] { flushed = true; });
  const std::size_t dropped = console.abandon();
  EXPECT_EQ(dropped + read_now(ends.far.get()).size(), lines.size());
  EXPECT_EQ(console.abandon(), 0U);
  run_until(io, [&] { return flushed; });
}

TEST_P(ConsoleReader, ReaderGone_IsNotedOnceAndNothingWaits) {
  Console console(io, settings_for(ends.near, ends.near));
  console.write(output, numbered_lines(2 * mebibyte));
  ends.far.close();
  bool flushed = false;
  console.when_flushed([&] { flushed = true; });
  run_until(io, [&] { return flushed; });
  console.write(output, "more\n");
  console.write(error, "more\n");
  ASSERT_EQ(console.notes().size(), 1U);
  EXPECT_TRUE(console.notes().front().starts_with("standard output and standard error: ")) << console.notes().front();
  EXPECT_TRUE(console.accepts(output));
  EXPECT_EQ(console.queued(output), 0U);
}

TEST_P(ConsoleReader, DestroyedWhileWaiting_LeavesTheLoopClean) {
  auto console = std::make_unique<Console>(io, settings_for(ends.near, ends.near));
  console->write(output, numbered_lines(2 * mebibyte));
  console->when_flushed([] { ADD_FAILURE() << "called for a console that is gone"; });
  run_ready(io);
  read_now(ends.far.get());
  console.reset();
  run_ready(io);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ConsoleReader, testing::ValuesIn(readers),
                         [](const auto& test) { return std::string(test.param.name); });

// ---- descriptors --------------------------------------------------------------------------------------------------

TEST_F(ConsoleTest, TwoPipes_AreTwoSinks) {
  Ends first = console_pipe();
  Ends second = console_pipe();
  Console console(io, settings_for(first.near, second.near));
  console.write(output, numbered_lines(2 * mebibyte));
  EXPECT_FALSE(console.accepts(output));
  EXPECT_TRUE(console.accepts(error));
  console.write(error, "error\n");
  EXPECT_EQ(read_now(second.far.get()), "error\n");
  first.far.close();
  second.far.close();
  run_ready(io);
  console.write(error, "error\n");
  EXPECT_EQ(console.notes().size(), 2U);
}

TEST_F(ConsoleTest, SamePipeForBoth_KeepsTheOrderAlsoWhenItIsStuck) {
  const Ends ends = console_pipe();
  const Descriptor duplicate(::dup(ends.near.get()));
  Console console(io, settings_for(ends.near, duplicate));
  std::string expected;
  for (int i = 0; i < 40'000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    console.write(i % 2 == 0 ? output : error, line);
    expected += line;
  }
  std::string read;
  run_until(io, [&] {
    read += read_now(ends.far.get());
    return read.size() >= expected.size();
  });
  EXPECT_TRUE(read == expected);
}

TEST_F(ConsoleTest, File_KeepsTheOffsetSharedWithItsOtherHolders) {
  const TemporaryFile file;
  const Descriptor ours = file.open();
  const Descriptor shared(::dup(ours.get()));
  Console console(io, settings_for(ours, ours));
  console.write(output, "one\n");
  EXPECT_EQ(::write(shared.get(), "two\n", 4), 4);
  console.write(error, "three\n");
  EXPECT_EQ(file.content(), "one\ntwo\nthree\n");
}

TEST_F(ConsoleTest, FileOpenedTwice_LosesNothing) {
  const TemporaryFile file;
  const Descriptor first = file.open();
  const Descriptor second = file.open();
  Console console(io, settings_for(first, second));
  console.write(output, "one\n");
  console.write(error, "two\n");
  console.write(output, "three\n");
  EXPECT_EQ(file.content(), "one\ntwo\nthree\n");
}

TEST_F(ConsoleTest, FullDisk_IsNotedOnce) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  Console console(io, settings_for(full, full));
  console.write(output, "one\n");
  console.write(error, "two\n");
  ASSERT_EQ(console.notes().size(), 1U);
  EXPECT_NE(console.notes().front().find("No space left on device"), std::string::npos);
  EXPECT_TRUE(console.accepts(output));
  EXPECT_EQ(console.queued(output), 0U);
}

TEST_F(ConsoleTest, ClosedDescriptors_AreNotedWhenSomethingIsWritten) {
  Console console(io, settings_for(Descriptor(), Descriptor()));
  EXPECT_TRUE(console.notes().empty());
  console.write(error, "lost\n");
  EXPECT_EQ(console.notes().size(), 1U);
}

TEST_F(ConsoleTest, PipeThatMayNotBeOpenedAgain_IsStillNeverBlockedOn) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a pipe that it may not open again";
  const Ends ends = console_pipe();
  ASSERT_EQ(::seteuid(65534), 0);
  Console console(io, settings_for(ends.near, ends.near));
  ASSERT_EQ(::seteuid(0), 0);
  ::prctl(PR_SET_DUMPABLE, 1);
  const std::string lines = numbered_lines(2 * mebibyte);
  console.write(output, lines);
  EXPECT_FALSE(console.accepts(output));
  std::string read;
  run_until(io, [&] {
    read += read_now(ends.far.get());
    return read.size() >= lines.size();
  });
  EXPECT_TRUE(read == lines);
  EXPECT_EQ(::fcntl(ends.near.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(ConsoleTest, NothingWaiting_FlushIsStillToldFromTheLoop) {
  const Ends ends = console_pipe();
  Console console(io, settings_for(ends.near, ends.near));
  int flushed = 0;
  console.when_flushed([&] { ++flushed; });
  EXPECT_EQ(flushed, 0);
  run_until(io, [&] { return flushed > 0; });
  run_ready(io);
  EXPECT_EQ(flushed, 1);
}

// ---- terminals ----------------------------------------------------------------------------------------------------

TEST_F(ConsoleTest, Terminal_IsColouredAndLive_PipeIsNot) {
  const Ends terminal = console_terminal();
  const Ends pipe = console_pipe();
  ConsoleSettings settings = settings_for(pipe.near, terminal.near);
  const Console console(io, settings);
  EXPECT_FALSE(console.is_terminal(output));
  EXPECT_TRUE(console.is_terminal(error));
  EXPECT_FALSE(console.coloured(output));
  EXPECT_TRUE(console.coloured(error));
  EXPECT_EQ(console.progress_style(output), ProgressStyle::last_only);
  EXPECT_EQ(console.progress_style(error), ProgressStyle::live);

  settings.colour = Colour::never;
  settings.terminal_progress = ProgressStyle::last_only;
  const Console plain(io, settings);
  EXPECT_FALSE(plain.coloured(error));
  EXPECT_EQ(plain.progress_style(error), ProgressStyle::last_only);
  settings.colour = Colour::always;
  EXPECT_TRUE(Console(io, settings).coloured(output));
}

TEST_F(ConsoleTest, LiveText_IsErasedBeforeLinesAndDrawnAgainAfterThem) {
  const Ends terminal = console_terminal();
  Console console(io, settings_for(terminal.near, terminal.near));
  console.show_live(error, Rank{0}, "10%");
  EXPECT_EQ(read_now(terminal.far.get()), "\x1b[?7l10%\x1b[?7h");
  console.write(output, "line\n");
  EXPECT_EQ(read_now(terminal.far.get()), "\r\x1b[Jline\n");
  std::string redrawn;
  run_until(io, [&] { return !(redrawn += read_now(terminal.far.get())).empty(); });
  EXPECT_EQ(redrawn, "\x1b[?7l10%\x1b[?7h");
}

TEST_F(ConsoleTest, ManyLiveUpdates_AreDrawnOnceWithTheLastText) {
  const Ends terminal = console_terminal();
  Console console(io, settings_for(terminal.near, terminal.near));
  console.show_live(error, Rank{0}, "0%");
  read_now(terminal.far.get());
  for (int percent = 1; percent <= 1000; ++percent) {
    console.show_live(error, Rank{0}, std::to_string(percent) + " of 1000");
  }
  std::string drawn;
  run_until(io, [&] {
    drawn += read_now(terminal.far.get());
    return drawn.find("1000 of 1000") != std::string::npos;
  });
  // A draw or two may have come between where the machine was slow; a thousand never.
  EXPECT_LT(drawn.size(), 1000U);
}

TEST_F(ConsoleTest, LiveTextThatDoesNotChange_NeedsNoTimer) {
  const Ends terminal = console_terminal();
  Console console(io, settings_for(terminal.near, terminal.near));
  console.show_live(error, Rank{0}, "10%");
  run_ready(io);
  io.restart();
  EXPECT_EQ(io.run(), 0U) << "the loop still has something to wait for";
}

TEST_F(ConsoleTest, Flushed_RemovesTheLiveArea) {
  const Ends terminal = console_terminal();
  Console console(io, settings_for(terminal.near, terminal.near));
  console.show_live(error, Rank{0}, "10%");
  bool flushed = false;
  console.when_flushed([&] { flushed = true; });
  run_until(io, [&] { return flushed; });
  EXPECT_TRUE(read_now(terminal.far.get()).ends_with("\r\x1b[J"));
}

TEST_F(ConsoleTest, LiveTextForAPipe_IsIgnored) {
  const Ends pipe = console_pipe();
  Console console(io, settings_for(pipe.near, pipe.near));
  console.show_live(output, Rank{0}, "10%");
  EXPECT_EQ(read_now(pipe.far.get()), "");
}

}  // namespace
}  // namespace forklift
