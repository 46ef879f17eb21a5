#include "launcher/supervise/replica_output.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/supervise/console_ends.hpp"

namespace forklift {
namespace {

using namespace std::string_view_literals;

constexpr auto output = OutputStream::standard_output;
constexpr auto error = OutputStream::standard_error;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

ConsoleSettings both_to(const Descriptor& descriptor) {
  ConsoleSettings settings;
  settings.standard_output = descriptor.get();
  settings.standard_error = descriptor.get();
  return settings;
}

/// The writing end of a replica's stream.
class Writer {
 public:
  explicit Writer(Descriptor pipe) : pipe_(std::move(pipe)) {}

  /// Writes what the pipe takes now. Returns how much that was.
  std::size_t offer(std::string_view bytes) {
    const ssize_t written = ::write(pipe_.get(), bytes.data(), bytes.size());
    return written < 0 ? 0 : static_cast<std::size_t>(written);
  }
  /// Writes everything, and lets the loop read meanwhile.
  void write(boost::asio::io_context& io, std::string_view bytes) {
    while (!bytes.empty()) {
      bytes.remove_prefix(offer(bytes));
      run_ready(io);
    }
  }
  void close() { pipe_.close(); }

 private:
  Descriptor pipe_;
};

class ReplicaOutputTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { ::signal(SIGPIPE, SIG_IGN); }

  /// A piped stream whose writing end the test keeps; `configure` may change what is handed over.
  template <class Configure>
  static Writer add(ReplicaOutput& replicas, int rank, OutputStream stream, Configure configure) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    never_block(ends[1]);
    PipedStream piped{Rank{rank}, stream, Descriptor(ends[0]), StreamRoute::console, {}, {}, {}};
    piped.prefix = "[" + std::to_string(rank) + "] ";
    configure(piped);
    replicas.add(std::move(piped));
    return Writer(Descriptor(ends[1]));
  }
  static Writer add(ReplicaOutput& replicas, int rank, OutputStream stream = output) {
    return add(replicas, rank, stream, [](PipedStream&) {});
  }
  static Writer add_with_copy(ReplicaOutput& replicas, int rank, Descriptor copy, const std::string& path) {
    return add(replicas, rank, output, [&](PipedStream& piped) {
      piped.route = StreamRoute::console_and_file;
      piped.copy = std::move(copy);
      piped.copy_path = path;
    });
  }

  boost::asio::io_context io;
};

// ---- lines --------------------------------------------------------------------------------------------------------

TEST_F(ReplicaOutputTest, SeveralStreams_EachLineHasItsPrefix) {
  const Ends ends = console_pipe();
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  Writer first = add(replicas, 0);
  Writer second = add(replicas, 1, error);
  first.write(io, "one\ntwo\n");
  second.write(io, "three\n");
  EXPECT_EQ(read_now(ends.far.get()), "[0] one\n[0] two\n[1] three\n");
}

TEST_F(ReplicaOutputTest, StandardError_GoesToStandardError) {
  const Ends to_output = console_pipe();
  const Ends to_error = console_pipe();
  ConsoleSettings settings;
  settings.standard_output = to_output.near.get();
  settings.standard_error = to_error.near.get();
  Console console(io, settings);
  ReplicaOutput replicas(io, console);
  add(replicas, 0, output).write(io, "out\n");
  add(replicas, 0, error).write(io, "err\n");
  EXPECT_EQ(read_now(to_output.far.get()), "[0] out\n");
  EXPECT_EQ(read_now(to_error.far.get()), "[0] err\n");
}

TEST_F(ReplicaOutputTest, EndOfStream_EndsThePartialLineAndCloses) {
  const Ends ends = console_pipe();
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  Writer writer = add(replicas, 0);
  writer.write(io, "partial");
  EXPECT_EQ(read_now(ends.far.get()), "");
  EXPECT_FALSE(replicas.all_closed());
  writer.close();
  run_until(io, [&] { return replicas.all_closed(); });
  EXPECT_EQ(read_now(ends.far.get()), "[0] partial\n");
  EXPECT_EQ(replicas.tail(Rank{0}, output), "partial");
}

TEST_F(ReplicaOutputTest, GarbageBytes_PassUnchangedToConsoleAndCopy) {
  const Ends ends = console_pipe();
  const TemporaryFile file;
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  const std::string_view garbage = "\0a\xff\xc3\x28\n\x80\0\n"sv;
  add_with_copy(replicas, 0, file.open(), file.path()).write(io, garbage);
  EXPECT_EQ(read_now(ends.far.get()), "[0] \0a\xff\xc3\x28\n[0] \x80\0\n"sv);
  EXPECT_EQ(file.content(), garbage);
}

TEST_F(ReplicaOutputTest, LineOfSixtyFourMebibytes_IsWholeInTheCopyAndInMarkedPiecesOnTheConsole) {
  const TemporaryFile console_file;
  const TemporaryFile copy;
  const Descriptor to_console = console_file.open();
  Console console(io, both_to(to_console));
  ReplicaOutput replicas(io, console);
  Writer writer = add_with_copy(replicas, 3, copy.open(), copy.path());
  const std::string line(64 * mebibyte, 'x');
  writer.write(io, line);
  writer.write(io, "\nnext\n");
  writer.close();
  run_until(io, [&] { return replicas.all_closed(); });
  EXPECT_TRUE(copy.content() == line + "\nnext\n");
  const std::string shown = console_file.content();
  EXPECT_TRUE(shown.starts_with("[3] xxxx"));
  EXPECT_TRUE(shown.ends_with("xxxx\n[3] next\n"));
  const std::size_t piece = 4 + LinePrefixer::max_line + LinePrefixer::piece_mark.size() + 1;
  EXPECT_EQ(shown.size(), 63 * piece + 4 + LinePrefixer::max_line + 1 + 9);
}

// ---- progress -----------------------------------------------------------------------------------------------------

TEST_F(ReplicaOutputTest, ProgressInAFile_IsOneLine) {
  const TemporaryFile file;
  const Descriptor to_console = file.open();
  Console console(io, both_to(to_console));
  ReplicaOutput replicas(io, console);
  Writer writer = add(replicas, 0, error);
  for (int step = 1; step <= 5000; ++step) writer.write(io, "\rstep " + std::to_string(step));
  EXPECT_EQ(file.content(), "");
  writer.write(io, "\ndone\n");
  EXPECT_EQ(file.content(), "[0] step 5000\n[0] done\n");
}

TEST_F(ReplicaOutputTest, ProgressOnATerminal_IsShownLiveAndThenAsALine) {
  const Ends terminal = console_terminal();
  ConsoleSettings settings = both_to(terminal.near);
  settings.colour = Colour::never;
  Console console(io, settings);
  ReplicaOutput replicas(io, console);
  Writer writer = add(replicas, 0, error);
  writer.write(io, "\r 10%");
  EXPECT_EQ(read_now(terminal.far.get()), "\x1b[?7l[0]  10%\x1b[?7h");
  writer.write(io, "\r100%\n");
  EXPECT_EQ(read_now(terminal.far.get()), "\r\x1b[J[0] 100%\n");
  EXPECT_EQ(replicas.tail(Rank{0}, error), "100%\n");
}

TEST_F(ReplicaOutputTest, Terminal_ColoursThePrefix) {
  const Ends terminal = console_terminal();
  Console console(io, both_to(terminal.near));
  ReplicaOutput replicas(io, console);
  add(replicas, 1).write(io, "line\n");
  EXPECT_EQ(read_now(terminal.far.get()), "\x1b[33m[1] \x1b[0mline\n");
}

// ---- slow and dead readers ----------------------------------------------------------------------------------------

TEST_F(ReplicaOutputTest, StuckReader_HoldsTheReplicaBackAndLosesNothing) {
  const Ends ends = console_pipe();
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  Writer writer = add(replicas, 0, output, [](PipedStream& piped) { piped.prefix.clear(); });
  const std::string lines = numbered_lines(16 * mebibyte);
  std::string_view left = lines;
  for (std::size_t taken = 1; taken > 0;) {
    taken = writer.offer(left);
    left.remove_prefix(taken);
    run_ready(io);
  }
  EXPECT_LT(lines.size() - left.size(), 3 * mebibyte) << "the replica was not held back";
  EXPECT_EQ(run_ready(io), 0U) << "a stuck reader must not keep the loop awake";

  std::string read;
  run_until(io, [&] {
    left.remove_prefix(writer.offer(left));
    if (left.empty()) writer.close();
    read += read_now(ends.far.get());
    return read.size() >= lines.size();
  });
  EXPECT_TRUE(read == lines);
}

TEST_F(ReplicaOutputTest, StuckReaderWithCopy_FileIsCompleteAndTheConsoleSaysWhatIsMissing) {
  const Ends ends = console_pipe();
  const TemporaryFile file;
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  Writer writer = add_with_copy(replicas, 0, file.open(), file.path());
  const std::string lines = numbered_lines(16 * mebibyte);
  writer.write(io, lines);
  EXPECT_TRUE(file.content() == lines);

  std::string shown;
  run_until(io, [&] {
    shown += read_now(ends.far.get());
    return shown.find("bytes not shown: the reader is slow; they are in " + file.path() + "]\n") != std::string::npos;
  });
  writer.write(io, "after\n");
  shown += read_now(ends.far.get());
  EXPECT_TRUE(shown.ends_with("]\n[0] after\n"));

  const std::size_t note_at = shown.rfind("[0] [");
  const std::size_t not_shown = std::stoul(shown.substr(note_at + 5));
  const auto count = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  EXPECT_EQ(note_at + not_shown, lines.size() + 4 * count);
}

TEST_F(ReplicaOutputTest, StuckReader_StreamsThatAreNotShownAreReadOn) {
  const Ends ends = console_pipe();
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  console.write(output, numbered_lines(2 * mebibyte));
  Writer writer = add(replicas, 1, output, [](PipedStream& piped) { piped.route = StreamRoute::kept_only; });
  const std::string lines = numbered_lines(4 * mebibyte);
  writer.write(io, lines);
  EXPECT_EQ(replicas.tail(Rank{1}, output), lines.substr(lines.size() - Tail::usual_bytes));
}

TEST_F(ReplicaOutputTest, DeadReader_CopyAndTailAreComplete) {
  Ends ends = console_pipe();
  const TemporaryFile file;
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  ends.far.close();
  Writer writer = add_with_copy(replicas, 0, file.open(), file.path());
  const std::string lines = numbered_lines(4 * mebibyte);
  writer.write(io, lines);
  EXPECT_TRUE(file.content() == lines);
  EXPECT_EQ(replicas.tail(Rank{0}, output), lines.substr(lines.size() - Tail::usual_bytes));
  EXPECT_EQ(console.notes().size(), 1U);
  EXPECT_TRUE(replicas.notes().empty());
}

TEST_F(ReplicaOutputTest, FullDiskUnderTheCopies_IsOneNoteWithThePath) {
  const Ends ends = console_pipe();
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  for (int rank = 0; rank < 3; ++rank) {
    Writer writer = add_with_copy(replicas, rank, Descriptor(::open("/dev/full", O_WRONLY | O_CLOEXEC)),
                                  "/log/" + std::to_string(rank) + "/stdout.log");
    writer.write(io, "one\n");
    writer.write(io, "two\n");
  }
  EXPECT_EQ(read_now(ends.far.get()), "[0] one\n[0] two\n[1] one\n[1] two\n[2] one\n[2] two\n");
  ASSERT_EQ(replicas.notes().size(), 1U);
  EXPECT_TRUE(replicas.notes().front().starts_with("/log/0/stdout.log (and 2 more): No space left on device"))
      << replicas.notes().front();
}

// ---- the end of an attempt ----------------------------------------------------------------------------------------

TEST_F(ReplicaOutputTest, Drain_ReadsWhatIsThereWithoutTheLoop) {
  const Ends ends = console_pipe();
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  Writer ended = add(replicas, 0);
  Writer held_by_a_descendant = add(replicas, 1);
  ended.offer("one\npartial");
  ended.close();
  held_by_a_descendant.offer("two\nunfinished");
  replicas.drain();
  EXPECT_EQ(read_now(ends.far.get()), "[0] one\n[0] partial\n[1] two\n[1] unfinished\n");
  EXPECT_FALSE(replicas.all_closed());
  held_by_a_descendant.close();
  replicas.drain();
  EXPECT_TRUE(replicas.all_closed());
}

TEST_F(ReplicaOutputTest, DrainWithAStuckReader_LosesNothing) {
  const Ends ends = console_pipe();
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  const std::string before = numbered_lines(2 * mebibyte);
  console.write(output, before);
  Writer writer = add(replicas, 0);
  writer.offer("last words\n");
  writer.close();
  run_ready(io);
  EXPECT_FALSE(replicas.all_closed()) << "held back by the stuck reader";
  replicas.drain();
  EXPECT_TRUE(replicas.all_closed());
  EXPECT_EQ(replicas.tail(Rank{0}, output), "last words\n");

  bool flushed = false;
  console.when_flushed([&] { flushed = true; });
  std::string read;
  run_until(io, [&] {
    read += read_now(ends.far.get());
    return flushed;
  });
  read += read_now(ends.far.get());
  EXPECT_TRUE(read == before + "[0] last words\n");
}

TEST_F(ReplicaOutputTest, CloseAll_MakesRoomForTheNextAttempt) {
  const Ends ends = console_pipe();
  Console console(io, both_to(ends.near));
  ReplicaOutput replicas(io, console);
  Writer first = add(replicas, 0);
  first.write(io, "first\nunfinished");
  replicas.close_all();
  EXPECT_TRUE(replicas.all_closed());
  EXPECT_EQ(replicas.tail(Rank{0}, output), "");
  EXPECT_EQ(first.offer("nobody reads this\n"), 0U);
  Writer second = add(replicas, 0);
  second.write(io, "second\n");
  EXPECT_EQ(read_now(ends.far.get()), "[0] first\n[0] unfinished\n[0] second\n");
  EXPECT_EQ(replicas.tail(Rank{0}, output), "second\n");
}

TEST_F(ReplicaOutputTest, UnknownStream_HasNoTail) {
  const Ends ends = console_pipe();
  Console console(io, both_to(ends.near));
  const ReplicaOutput replicas(io, console);
  EXPECT_EQ(replicas.tail(Rank{7}, error), "");
}

// ---- scale --------------------------------------------------------------------------------------------------------

TEST_F(ReplicaOutputTest, TwoThousandIdleReplicas_WakeNothingAndCostLittleMemory) {
  constexpr int replica_count = 2048;
  constexpr rlim_t descriptors = 4 * replica_count + 100;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < descriptors) GTEST_SKIP() << "needs " << descriptors << " descriptors";
  rlimit raised = limit;
  raised.rlim_cur = std::max(limit.rlim_cur, descriptors);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &raised), 0);
  {
    const TemporaryFile file;
    const Descriptor to_console = file.open();
    Console console(io, both_to(to_console));
    ReplicaOutput replicas(io, console);
    std::vector<Writer> writers;
    writers.reserve(std::size_t{2} * replica_count);
    const std::size_t before = ::mallinfo2().uordblks;
    for (int rank = 0; rank < replica_count; ++rank) {
      writers.push_back(add(replicas, rank, output));
      writers.push_back(add(replicas, rank, error));
    }
    run_ready(io);
    EXPECT_LE((::mallinfo2().uordblks - before) / replica_count, 2048U) << "bytes for the two streams of a replica";
    EXPECT_EQ(run_ready(io), 0U);

    for (Writer& writer : writers) writer.offer("one line\n");
    for (Writer& writer : writers) writer.close();
    run_until(io, [&] { return replicas.all_closed(); });
    const std::string shown = file.content();
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 2 * replica_count);
    EXPECT_NE(shown.find("[2047] one line\n"), std::string::npos);
  }
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace
}  // namespace forklift
