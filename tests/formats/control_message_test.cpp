// The packets between a supervisor and what it forks from: their wire form, and what is said of malformed ones.
#include "worker/format/control_message.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace forklift::control {
namespace {

const Rank rank_3{3};
const Attempt attempt_1{1};

Returned a_return(Returned::Value value, Returned::Payload payload = Returned::Payload::none) {
  return {attempt_1, rank_3, value, payload};
}

struct Form {
  const char* name;
  Message message;
  const char* wire;
};

const std::vector<Form>& every_type() {
  static const std::vector<Form> all{
      {"InMemory", InMemory{}, R"({"type":"in_memory","v":1})"},
      {"Ready", Ready{{"loader", "cuda-EvtHandlr"}}, R"({"threads":["loader","cuda-EvtHandlr"],"type":"ready","v":1})"},
      {"ForkGroup", ForkGroup{attempt_1, 2, 4711, {{"A", "1"}, {"B", ""}}, {"C"}},
       R"({"attempt":1,"replicas":2,"set":[["A","1"],["B",""]],"supervisor":4711,"type":"fork_group","unset":["C"],"v":1})"},
      {"ForkReplica", ForkReplica{rank_3, LocalRank{1}, {{"RANK", "3"}}, {0, 7}, Foreground::yes},
       R"({"cpus":[0,7],"foreground":true,"local_rank":1,"rank":3,"set":[["RANK","3"]],"type":"fork_replica","v":1})"},
      {"Forked", Forked{attempt_1}, R"({"attempt":1,"type":"forked","v":1})"},
      {"Hello", Hello{attempt_1, rank_3}, R"({"attempt":1,"rank":3,"type":"hello","v":1})"},
      {"ForkFailed", ForkFailed{11}, R"({"errno":11,"type":"fork_failed","v":1})"},
      {"Go", Go{4711}, R"({"supervisor":4711,"type":"go","v":1})"},
      {"ReturnedNothing", a_return(std::monostate{}),
       R"({"attempt":1,"payload":"none","rank":3,"type":"returned","v":1,"value":null})"},
      {"ReturnedTruth", a_return(true),
       R"({"attempt":1,"payload":"none","rank":3,"type":"returned","v":1,"value":{"bool":true}})"},
      {"ReturnedText", a_return(std::monostate{}, Returned::Payload::text),
       R"({"attempt":1,"payload":"text","rank":3,"type":"returned","v":1,"value":null})"},
      {"ReturnedBytes", a_return(std::monostate{}, Returned::Payload::bytes),
       R"({"attempt":1,"payload":"bytes","rank":3,"type":"returned","v":1,"value":null})"},
      {"HostStop", HostStop{15}, R"({"signal":15,"type":"stop","v":1})"},
      {"HostRefused", HostRefused{ErrorKind::usage, "no such flag"},
       R"({"kind":0,"message":"no such flag","type":"refused","v":1})"},
      {"HostNote", HostNote{"a \"note\""}, R"({"text":"a \"note\"","type":"note","v":1})"},
      {"RunEnded", RunEnded{"/runs/x"}, R"({"run_directory":"/runs/x","type":"run_ended","v":1})"},
  };
  return all;
}

std::string error_of(std::string_view packet) {
  const auto message = decode(packet);
  return message ? "none" : message.error().message;
}

/// What a packet becomes by reading and writing it again.
std::string again(const std::string& packet) {
  const auto message = decode(packet);
  return message ? encode(message.value()) : message.error().message;
}

// ---- round trips --------------------------------------------------------------------------------------------------

TEST(ControlMessage, EveryType_HasItsWireFormAndReadsBack) {
  for (const Form& form : every_type()) {
    SCOPED_TRACE(form.name);
    const std::string packet = encode(form.message);
    EXPECT_EQ(packet, form.wire);
    const auto read = decode(packet);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read.value().index(), form.message.index());
    EXPECT_EQ(encode(read.value()), packet);
  }
}

TEST(ControlMessage, EveryTypeOfTheVariant_IsAmongThem) {
  std::vector<bool> seen(std::variant_size_v<Message>);
  for (const Form& form : every_type()) seen[form.message.index()] = true;
  for (std::size_t type = 0; type < seen.size(); ++type) EXPECT_TRUE(seen[type]) << "the " << type << "th type";
}

TEST(ControlMessage, EveryKindOfRefusal_ReadsBack) {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind) {
    const auto read = decode(encode(HostRefused{static_cast<ErrorKind>(kind), "no"}));
    ASSERT_TRUE(read);
    EXPECT_EQ(std::get<HostRefused>(read.value()).kind, static_cast<ErrorKind>(kind));
    EXPECT_EQ(std::get<HostRefused>(read.value()).message, "no");
  }
}

TEST(ControlMessage, NumbersAtTheirLimits_ReadBack) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t value : {lowest, std::int64_t{-1}, std::int64_t{0}, highest}) {
    const auto read = decode(encode(a_return(value)));
    ASSERT_TRUE(read);
    EXPECT_EQ(std::get<std::int64_t>(std::get<Returned>(read.value()).value), value);
  }
  for (const std::uint64_t value : {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()}) {
    const auto read = decode(encode(a_return(value)));
    ASSERT_TRUE(read);
    EXPECT_EQ(std::get<std::uint64_t>(std::get<Returned>(read.value()).value), value);
  }
}

TEST(ControlMessage, EveryReal_ReadsBackExactly) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, -0.0, 0.1, 3.0, -1e300, Limits::denorm_min(), Limits::max(), Limits::lowest(),
                             Limits::infinity(), -Limits::infinity()}) {
    const auto read = decode(encode(a_return(value)));
    ASSERT_TRUE(read) << value;
    const double seen = std::get<double>(std::get<Returned>(read.value()).value);
    EXPECT_EQ(seen, value);
    EXPECT_EQ(std::signbit(seen), std::signbit(value)) << value;
  }
  const auto read = decode(encode(a_return(Limits::quiet_NaN())));
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::isnan(std::get<double>(std::get<Returned>(read.value()).value)));
}

// ---- bytes --------------------------------------------------------------------------------------------------------

TEST(ControlMessage, EnvironmentThatIsNoUtf8_KeepsItsBytes) {
  std::string every_byte;
  for (int byte = 1; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::vector<std::string> values{"\xff\xfe", "half \xc3", "\xed\xa0\x80", "\xc0\x80",
                                        "grün",     "a\nb",      every_byte};
  for (const std::string& value : values) {
    const auto group = decode(encode(ForkGroup{attempt_1, 1, 4711, {{"NAME\xff", value}}, {value}}));
    ASSERT_TRUE(group) << group.error().message;
    EXPECT_EQ(std::get<ForkGroup>(group.value()).set.at(0).name, "NAME\xff");
    EXPECT_EQ(std::get<ForkGroup>(group.value()).set.at(0).value, value);
    EXPECT_EQ(std::get<ForkGroup>(group.value()).unset.at(0), value);
    const auto replica = decode(encode(ForkReplica{rank_3, {}, {{"N", value}}, {}, Foreground::no}));
    ASSERT_TRUE(replica) << replica.error().message;
    EXPECT_EQ(std::get<ForkReplica>(replica.value()).set.at(0).value, value);
    const auto ended = decode(encode(RunEnded{value}));
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(std::get<RunEnded>(ended.value()).run_directory, value);
  }
}

TEST(ControlMessage, TextThatIsNoUtf8_IsMended) {
  const auto note = decode(encode(HostNote{"half \xc3"}));
  ASSERT_TRUE(note);
  EXPECT_EQ(std::get<HostNote>(note.value()).text, "half \xEF\xBF\xBD");
  const auto ready = decode(encode(Ready{{"\xff"}}));
  ASSERT_TRUE(ready);
  EXPECT_EQ(std::get<Ready>(ready.value()).threads.at(0), "\xff") << "a thread's name is bytes";
}

// ---- malformed ----------------------------------------------------------------------------------------------------

TEST(ControlMessage, MalformedPacket_IsOneSentenceThatNamesTheField) {
  const std::string lead = "a control message is malformed: ";
  const struct {
    std::string packet;
    std::string complaint;
  } table[] = {
      {"", "expected a JSON object"},
      {"rubbish", "expected a JSON object"},
      {"[]", "expected a JSON object"},
      {"null", "expected a JSON object"},
      {"{\"v\":1,\"type\":\"note\",\"text\":\"\xff\"}", "expected a JSON object"},
      {R"({"v":1,"type":"forked","attempt":0} and more)", "expected a JSON object"},
      {"{}", "v: expected to be there"},
      {R"({"v":1})", "type: expected to be there"},
      {R"({"v":"1","type":"go"})", "v: expected a whole number within its range"},
      {R"({"v":1,"type":3})", "type: expected a text"},
      {R"({"v":2,"type":"go","supervisor":1})", "v: saw 2, expected 1"},
      {R"({"v":1,"type":"dance"})", "type: saw 'dance', which nobody sends"},
      {R"({"v":1,"type":""})", "type: saw '', which nobody sends"},
      {R"({"v":1,"type":"two\nlines"})", "type: saw 'two?lines', which nobody sends"},
      {R"({"v":1,"type":"\u0001"})", "type: saw '?', which nobody sends"},
      {R"({"v":1,"type":"forked"})", "forked: attempt: expected to be there"},
      {R"({"v":1,"type":"forked","attempt":-1})", "forked: attempt: expected a whole number within its range"},
      {R"({"v":1,"type":"forked","attempt":1.5})", "forked: attempt: expected a whole number within its range"},
      {R"({"v":1,"type":"forked","attempt":2147483648})", "forked: attempt: expected a whole number within its range"},
      {R"({"v":1,"type":"forked","attempt":18446744073709551615})",
       "forked: attempt: expected a whole number within its range"},
      {R"({"v":1,"type":"hello","attempt":0,"rank":null})", "hello: rank: expected a whole number within its range"},
      {R"({"v":1,"type":"fork_failed","errno":0})", "fork_failed: errno: expected a whole number within its range"},
      {R"({"v":1,"type":"go","supervisor":0})", "go: supervisor: expected a whole number within its range"},
      {R"({"v":1,"type":"stop","signal":65})", "stop: signal: expected a whole number within its range"},
      {R"({"v":1,"type":"stop","signal":0})", "stop: signal: expected a whole number within its range"},
      {R"({"v":1,"type":"ready","threads":3})", "ready: threads: expected a list"},
      {R"({"v":1,"type":"ready","threads":[3]})", "ready: threads: expected a text or a list of bytes"},
      {R"({"v":1,"type":"ready","threads":[[0]]})", "ready: threads: expected a whole number within its range"},
      {R"({"v":1,"type":"ready","threads":[[256]]})", "ready: threads: expected a whole number within its range"},
      {R"({"v":1,"type":"ready","threads":["a\u0000b"]})", "ready: threads: expected text without NUL"},
      {R"({"v":1,"type":"fork_group","attempt":0,"replicas":0,"set":[],"unset":[]})",
       "fork_group: replicas: expected a whole number within its range"},
      {R"({"v":1,"type":"fork_group","attempt":0,"replicas":1,"set":[],"unset":[]})",
       "fork_group: supervisor: expected to be there"},
      {R"({"v":1,"type":"fork_group","attempt":0,"replicas":1,"supervisor":1,"set":{},"unset":[]})",
       "fork_group: set: expected a list"},
      {R"({"v":1,"type":"fork_group","attempt":0,"replicas":1,"supervisor":1,"set":["A=1"],"unset":[]})",
       "fork_group: set: expected pairs of name and value"},
      {R"({"v":1,"type":"fork_group","attempt":0,"replicas":1,"supervisor":1,"set":[["A"]],"unset":[]})",
       "fork_group: set: expected pairs of name and value"},
      {R"({"v":1,"type":"fork_group","attempt":0,"replicas":1,"supervisor":1,"set":[["","x"]],"unset":[]})",
       "fork_group: set: expected names of variables"},
      {R"({"v":1,"type":"fork_group","attempt":0,"replicas":1,"supervisor":1,"set":[["A=B","x"]],"unset":[]})",
       "fork_group: set: expected names of variables"},
      {R"({"v":1,"type":"fork_group","attempt":0,"replicas":1,"supervisor":1,"set":[["A","x\u0000"]],"unset":[]})",
       "fork_group: set: expected text without NUL"},
      {R"({"v":1,"type":"fork_replica","rank":0,"local_rank":0,"set":[],"cpus":[-1],"foreground":false})",
       "fork_replica: cpus: expected a whole number within its range"},
      {R"({"v":1,"type":"fork_replica","rank":0,"local_rank":0,"set":[],"cpus":[1048577],"foreground":false})",
       "fork_replica: cpus: expected a whole number within its range"},
      {R"({"v":1,"type":"fork_replica","rank":0,"local_rank":0,"set":[],"cpus":[],"foreground":1})",
       "fork_replica: foreground: expected true or false"},
      {R"({"v":1,"type":"returned","attempt":0,"rank":0,"payload":"none"})", "returned: value: expected to be there"},
      {R"({"v":1,"type":"returned","attempt":0,"rank":0,"payload":"none","value":3})",
       "returned: value: expected null, or one of bool, int, uint, real"},
      {R"({"v":1,"type":"returned","attempt":0,"rank":0,"payload":"none","value":{"int":1,"uint":1}})",
       "returned: value: expected null, or one of bool, int, uint, real"},
      {R"({"v":1,"type":"returned","attempt":0,"rank":0,"payload":"none","value":{"int":9223372036854775808}})",
       "returned: value: expected null, or one of bool, int, uint, real"},
      {R"({"v":1,"type":"returned","attempt":0,"rank":0,"payload":"none","value":{"uint":-1}})",
       "returned: value: expected null, or one of bool, int, uint, real"},
      {R"({"v":1,"type":"returned","attempt":0,"rank":0,"payload":"none","value":{"real":"NaN"}})",
       "returned: value: expected null, or one of bool, int, uint, real"},
      {R"({"v":1,"type":"returned","attempt":0,"rank":0,"payload":"pickle","value":null})",
       "returned: payload: expected none, text or bytes"},
      {R"({"v":1,"type":"refused","kind":99,"message":"x"})",
       "refused: kind: expected a whole number within its range"},
      {R"({"v":1,"type":"refused","kind":0,"message":["x"]})", "refused: message: expected a text"},
      {R"({"v":1,"type":"note"})", "note: text: expected to be there"},
      {R"({"v":1,"type":"run_ended","run_directory":{}})",
       "run_ended: run_directory: expected a text or a list of bytes"},
  };
  for (const auto& row : table) EXPECT_EQ(error_of(row.packet), lead + row.complaint) << row.packet;
}

TEST(ControlMessage, LongWordInThePlaceOfAType_IsShortened) {
  const std::string packet = R"({"v":1,"type":")" + std::string(5000, 'x') + R"("})";
  EXPECT_LT(error_of(packet).size(), 120U) << error_of(packet);
}

TEST(ControlMessage, UnknownKeys_AreIgnored) {
  EXPECT_EQ(again(R"({"v":1,"type":"go","supervisor":7,"later":[1,{"x":2}]})"),
            R"({"supervisor":7,"type":"go","v":1})");
}

TEST(ControlMessage, LongerThanAnybodySends_IsRefusedUnread) {
  const std::string packet(largest_message + 1, ' ');
  EXPECT_EQ(error_of(packet), "a control message is malformed: it is longer than 64 MiB");
}

TEST(ControlMessage, DeepNesting_IsRefused) {
  EXPECT_EQ(error_of(std::string(1 << 20, '[')), "a control message is malformed: expected a JSON object");
  std::string closed = R"({"v":1,"type":"note","text":)" + std::string(1 << 18, '[') + std::string(1 << 18, ']') + "}";
  EXPECT_EQ(error_of(closed), "a control message is malformed: note: text: expected a text");
}

}  // namespace
}  // namespace forklift::control
