#include "worker/format/safetensors_index.hpp"

#include <gtest/gtest.h>

#include "worker/format/safetensors.hpp"

namespace forklift {
namespace {

constexpr const char* two_files = R"({"metadata":{"total_size":12,"format":{"deep":[1,{"total_size":9}]}},
  "weight_map":{"b":"m-00002.safetensors","a":"m-00001.safetensors","c":"m-00002.safetensors"},"more":[[{}]]})";

SafetensorsHeader header_of(std::vector<std::string> names) {
  SafetensorsHeader header;
  std::uint64_t end = 0;
  for (std::string& name : names) {
    header.tensors.push_back({std::move(name), Dtype::f32, {1}, end, end + 4});
    end += 4;
  }
  return header;
}

std::string reason_of(const Error& error) {
  constexpr std::string_view beginning = "'i.json' is no valid index of safetensors files: ";
  EXPECT_TRUE(error.message.starts_with(beginning)) << error.message;
  return error.message.substr(beginning.size());
}

TEST(SafetensorsIndex, WeightMap_IsReadInOrder) {
  const auto index = parse_safetensors_index(two_files, "i.json");
  ASSERT_TRUE(index.ok()) << index.error().message;
  EXPECT_EQ(index.value().files, (std::vector<std::string>{"m-00001.safetensors", "m-00002.safetensors"}));
  EXPECT_EQ(index.value().weight_map,
            (std::vector<std::pair<std::string, std::uint32_t>>{{"a", 0}, {"b", 1}, {"c", 1}}));
  EXPECT_EQ(index.value().total_size, "12");
}

TEST(SafetensorsIndex, HostileText_IsRefusedByItsPlace) {
  const struct {
    const char* text;
    const char* reason;
  } table[] = {
      {"", "there is nothing but blanks, a JSON object was expected"},
      {"[]", "byte 1 is '[', but a JSON object begins with '{'"},
      {"{}", "it has no weight_map"},
      {R"({"weight_map":{}})", "its weight_map names no tensor"},
      {R"({"weight_map":[]})", "weight_map is a list, expected an object {tensor: file}"},
      {R"({"weight_map":3})", "weight_map is 3, expected an object {tensor: file}"},
      {R"({"weight_map":"f"})", "weight_map is 'f', expected an object {tensor: file}"},
      {R"({"weight_map":{"a":3}})", "weight_map: tensor 'a' is 3, expected the name of a file"},
      {R"({"weight_map":{"a":["f"]}})", "weight_map: tensor 'a' is an object or list, expected the name of a file"},
      {R"({"weight_map":{"a":"f"},"weight_map":{}})", "weight_map is there twice"},
      {R"({"weight_map":{"a":"f","a":"f"}})", "weight_map has tensor 'a' twice"},
      {R"({"weight_map":{"a":"f","a":"g"}})", "weight_map has tensor 'a' twice"},
      {R"({"weight_map":{"a":"/etc/passwd"}})",
       "weight_map names the file '/etc/passwd'; expected one in the folder of the index"},
      {R"({"weight_map":{"a":"x/../../f"}})",
       "weight_map names the file 'x/../../f'; expected one in the folder of the index"},
      {R"({"weight_map":{"a":""}})", "weight_map names the file ''; expected one in the folder of the index"},
      {R"({"weight_map":{"a":"f\u0000g"}})",
       "weight_map names the file 'f\\x00g'; expected one in the folder of the index"},
      {R"({"weight_map":{"a":"f")", "byte 23: no JSON at '\"f\"'"},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.text);
    const auto index = parse_safetensors_index(row.text, "i.json");
    ASSERT_FALSE(index.ok());
    EXPECT_EQ(reason_of(index.error()), row.reason);
  }
}

TEST(SafetensorsIndex, NameWithDots_IsNoWayOut) {
  EXPECT_TRUE(parse_safetensors_index(R"({"weight_map":{"a":"..f","b":"shards/f..safetensors"}})", "i.json").ok());
}

class IndexAgainstFiles : public ::testing::Test {
 protected:
  SafetensorsIndex index_ = parse_safetensors_index(two_files, "i.json").value();
};

TEST_F(IndexAgainstFiles, Agreement_SaysNothing) {
  const auto note = check_safetensors_index(index_, {header_of({"a"}), header_of({"b", "c"})}, "i.json");
  ASSERT_TRUE(note.ok()) << note.error().message;
  EXPECT_EQ(note.value(), std::nullopt);
}

TEST_F(IndexAgainstFiles, EachDisagreement_NamesTensorAndFile) {
  const struct {
    std::vector<SafetensorsHeader> headers;
    const char* reason;
  } table[] = {
      {{header_of({"a"}), header_of({"b"})},
       "weight_map places tensor 'c' in file 'm-00002.safetensors', which does not have it"},
      {{header_of({}), header_of({"b", "c"})},
       "weight_map places tensor 'a' in file 'm-00001.safetensors', which does not have it"},
      {{header_of({"a", "d"}), header_of({"b", "c"})},
       "file 'm-00001.safetensors' has tensor 'd', which weight_map does not place there"},
      {{header_of({"a", "b"}), header_of({"b", "c"})},
       "file 'm-00001.safetensors' has tensor 'b', which weight_map does not place there"},
      {{header_of({"a"}), header_of({"0", "b", "c"})},
       "file 'm-00002.safetensors' has tensor '0', which weight_map does not place there"},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.reason);
    const auto note = check_safetensors_index(index_, row.headers, "i.json");
    ASSERT_FALSE(note.ok());
    EXPECT_EQ(reason_of(note.error()), row.reason);
  }
}

TEST_F(IndexAgainstFiles, WrongTotalSize_IsOnlyANote) {
  const std::vector<SafetensorsHeader> headers{header_of({"a"}), header_of({"b", "c"})};
  const struct {
    const char* written;
    bool noted;
  } table[] = {{"12", false},  {"12.0", false}, {"", false},  {"13", true},
               {"12.5", true}, {"null", true},  {"-12", true}};
  for (const auto& row : table) {
    index_.total_size = row.written;
    const auto note = check_safetensors_index(index_, headers, "i.json");
    ASSERT_TRUE(note.ok()) << row.written;
    EXPECT_EQ(note.value().has_value(), row.noted) << row.written;
  }
  index_.total_size = "13";
  EXPECT_EQ(check_safetensors_index(index_, headers, "i.json").value(),
            "'i.json': total_size is 13, but the files hold 12 bytes of tensors");
}

}  // namespace
}  // namespace forklift
