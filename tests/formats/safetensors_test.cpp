#include "worker/format/safetensors.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/formats/safetensors_reader.hpp"
#include "tests/support/safetensors_bytes.hpp"

namespace forklift {
namespace {

using support::length_bytes;
using support::read_safetensors;
using support::safetensors_file;

std::string one_tensor(std::string_view shape, std::string_view offsets, std::string_view dtype = "I32") {
  return fmt::format(R"({{"test":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
}

/// One sentence that names the file.
void expect_refused(const std::string& file, const std::string& reason) {
  const auto header = read_safetensors(file);
  ASSERT_FALSE(header.ok()) << reason;
  EXPECT_EQ(header.error().kind, ErrorKind::usage);
  EXPECT_EQ(header.error().message, "'m.safetensors' is no valid safetensors file: " + reason);
}

// The malformed files of the format's own tests (safetensors: src/tensor.rs), and what each is told.
TEST(Safetensors, MalformedFile_IsRefusedWithItsReason) {
  const std::string zeros(16, '\0');
  std::string all_at_zero = "{";
  for (int i = 0; i < 10; ++i) {
    all_at_zero +=
        fmt::format(R"({}"weight_{}":{{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})", i == 0 ? "" : ",", i);
  }
  all_at_zero += "}";
  const struct {
    std::string file;
    const char* reason;
  } table[] = {
      {"", "it has 0 bytes, the length of the header alone needs 8"},
      {"<\0\0", "it has 1 bytes, the length of the header alone needs 8"},
      {std::string("<\0\0\0\0\xff\xff\xff", 8) + one_tensor("[2,2]", "[0,16]") + zeros,
       "its first 8 bytes give the header 18446742974197923900 bytes, at most 100000000 are allowed"},
      {length_bytes(60), "its first 8 bytes give the header 60 bytes, but only 0 follow"},
      {safetensors_file("\xff"), "header: byte 1 is '\\xff', but a JSON object begins with '{'"},
      {safetensors_file("{"), "header, byte 2: no JSON at '{'"},
      {safetensors_file(one_tensor("[2,2]", "[0, 4]")),
       "tensor 'test' with data_offsets [0, 4] has 4 bytes, but I32 [2, 2] needs 16"},
      {safetensors_file(one_tensor("[2,18446744073709551614]", "[0,16]"), zeros),
       "tensor 'test' with data_offsets [0, 16]: the number of elements of shape [2, 18446744073709551614] is beyond "
       "2^64"},
      {safetensors_file(one_tensor("[2,9223372036854775807]", "[0,16]"), zeros),
       "tensor 'test' with data_offsets [0, 16]: the bits of I32 [2, 9223372036854775807] are beyond 2^64"},
      {safetensors_file(all_at_zero, zeros),
       "tensor 'weight_1' with data_offsets [0, 16] overlaps tensor 'weight_0', which ends at 16"},
      {safetensors_file(one_tensor("[2,2]", "[0,16]"), zeros + "extra_bogus_data_for_polyglot_file"),
       "the data begin at byte 68 of 118, and tensor 'test' ends at 16 of the data: 34 bytes behind it belong to no "
       "tensor"},
      {safetensors_file(one_tensor("[2,2]", "[0,16]"), zeros.substr(2)),
       "the data begin at byte 68 of 82, and tensor 'test' ends at 16 of the data: 2 bytes are missing, the file was "
       "cut "
       "short or is still being written"},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.reason);
    expect_refused(row.file, row.reason);
  }
}

TEST(Safetensors, OddButValidFile_IsRead) {
  const auto scalar = read_safetensors(safetensors_file(one_tensor("[]", "[0,4]"), "\0\0\0\0x"));
  EXPECT_FALSE(scalar.ok()) << "a byte too many";
  const auto whole = read_safetensors(safetensors_file(one_tensor("[]", "[0,4]"), "abcd"));
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole.value().data_begin, 64U);
  EXPECT_TRUE(whole.value().tensors.at(0).shape.empty());

  const auto empty = read_safetensors(safetensors_file(one_tensor("[2,0]", "[0, 0]")));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty.value().tensors.at(0).shape, (std::vector<std::uint64_t>{2, 0}));

  for (const char* header : {"{}", "{}\r \t\n", "\t\n{}\r ", R"({"__metadata__":{"framework":"pt"}}     )"}) {
    const auto none = read_safetensors(safetensors_file(header));
    ASSERT_TRUE(none.ok()) << header;
    EXPECT_TRUE(none.value().tensors.empty());
  }
}

TEST(Safetensors, EveryDtype_HasItsNameAndItsSize) {
  const struct {
    const char* name;
    Dtype dtype;
    std::uint64_t bits;
  } table[] = {
      {"BOOL", Dtype::boolean, 8},
      {"F4", Dtype::f4, 4},
      {"F6_E2M3", Dtype::f6_e2m3, 6},
      {"F6_E3M2", Dtype::f6_e3m2, 6},
      {"U8", Dtype::u8, 8},
      {"I8", Dtype::i8, 8},
      {"F8_E5M2", Dtype::f8_e5m2, 8},
      {"F8_E4M3", Dtype::f8_e4m3, 8},
      {"F8_E8M0", Dtype::f8_e8m0, 8},
      {"F8_E4M3FNUZ", Dtype::f8_e4m3fnuz, 8},
      {"F8_E5M2FNUZ", Dtype::f8_e5m2fnuz, 8},
      {"I16", Dtype::i16, 16},
      {"U16", Dtype::u16, 16},
      {"F16", Dtype::f16, 16},
      {"BF16", Dtype::bf16, 16},
      {"I32", Dtype::i32, 32},
      {"U32", Dtype::u32, 32},
      {"F32", Dtype::f32, 32},
      {"C64", Dtype::c64, 64},
      {"F64", Dtype::f64, 64},
      {"I64", Dtype::i64, 64},
      {"U64", Dtype::u64, 64},
  };
  ASSERT_EQ(std::size(table), dtype_table.size());
  for (const auto& row : table) {
    SCOPED_TRACE(row.name);
    const std::uint64_t bytes = row.bits * 8 / 8;  // of 8 elements
    const std::string header = one_tensor("[2,4]", fmt::format("[0,{}]", bytes), row.name);
    const auto read = read_safetensors(safetensors_file(header, std::string(bytes, 'x')));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read.value().tensors.at(0).dtype, row.dtype);
    EXPECT_EQ(name_of(row.dtype), row.name);
    EXPECT_EQ(facts_of(row.dtype).bits, row.bits);

    const std::string short_header = one_tensor("[2,4]", fmt::format("[0,{}]", bytes - 1), row.name);
    EXPECT_FALSE(read_safetensors(safetensors_file(short_header, std::string(bytes - 1, 'x'))).ok());
  }
  EXPECT_EQ(dtype_named("f32"), std::nullopt);
  EXPECT_EQ(dtype_named(""), std::nullopt);
}

TEST(Safetensors, ElementsOfPartOfAByte_MustFillTheirLastByte) {
  expect_refused(safetensors_file(one_tensor("[3]", "[0,2]", "F4"), "xx"),
                 "tensor 'test' with data_offsets [0, 2]: F4 [3] is not a whole number of bytes (4 bits an element)");
  expect_refused(
      safetensors_file(one_tensor("[2]", "[0,2]", "F6_E2M3"), "xx"),
      "tensor 'test' with data_offsets [0, 2]: F6_E2M3 [2] is not a whole number of bytes (6 bits an element)");
  EXPECT_TRUE(read_safetensors(safetensors_file(one_tensor("[4]", "[0,3]", "F6_E3M2"), "xxx")).ok());
}

std::string two_tensors(std::string_view first, std::string_view second) {
  return fmt::format(
      R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":{}}},"b":{{"dtype":"U8","shape":[4],"data_offsets":{}}}}})",
      first, second);
}

TEST(Safetensors, Tensors_FollowEachOtherFromZero) {
  const std::string eight(8, 'x');
  EXPECT_TRUE(read_safetensors(safetensors_file(two_tensors("[0,4]", "[4,8]"), eight)).ok());
  expect_refused(safetensors_file(two_tensors("[0,4]", "[5,9]"), eight + "x"),
                 "tensor 'b' with data_offsets [5, 9] leaves a hole behind tensor 'a', which ends at 4");
  expect_refused(safetensors_file(two_tensors("[0,4]", "[3,7]"), eight),
                 "tensor 'b' with data_offsets [3, 7] overlaps tensor 'a', which ends at 4");
  expect_refused(safetensors_file(two_tensors("[1,5]", "[5,9]"), eight + "x"),
                 "tensor 'a' with data_offsets [1, 5] is the first, but begins at 1 and not at 0");
  expect_refused(safetensors_file(two_tensors("[0,4]", "[4,2]"), eight),
                 "tensor 'b' with data_offsets [4, 2] ends before it begins");
  expect_refused(
      safetensors_file(two_tensors("[0,4]", "[4,18446744073709551615]"), eight),
      "tensor 'b' with data_offsets [4, 18446744073709551615] has 18446744073709551611 bytes, but U8 [4] needs 4");
}

TEST(Safetensors, TextOrder_IsNotTheOrderOfTheData) {
  const auto read = read_safetensors(safetensors_file(two_tensors("[4,8]", "[0,4]"), std::string(8, 'x')));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().tensors.at(0).name, "b");
  EXPECT_EQ(read.value().tensors.at(1).name, "a");
}

TEST(Safetensors, Metadata_IsTextToText) {
  const auto read = read_safetensors(safetensors_file(R"({"__metadata__":{"format":"pt","":"\u00e9\n"}})"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().metadata, (std::map<std::string, std::string>{{"format", "pt"}, {"", "\u00e9\n"}}));
}

// What a header must not be, and where the sentence points.
TEST(Safetensors, HostileHeader_IsRefusedByItsPlace) {
  const struct {
    std::string header;
    const char* reason;
  } table[] = {
      {"   ", "header: there is nothing but blanks, a JSON object was expected"},
      {"[]", "header: byte 1 is '[', but a JSON object begins with '{'"},
      {"\xEF\xBB\xBF{}", "header: byte 1 is '\\xef', but a JSON object begins with '{'"},
      {std::string("{}\0junk", 7), "header: byte 3 is NUL"},
      {"{} {}", "header, byte 4: no JSON at '{} {'"},
      {R"({"a":3})", "the entry 'a' is 3, expected an object"},
      {R"({"a":null})", "the entry 'a' is 'null', expected an object"},
      {R"({"a":[{}]})", "the entry 'a' is a list, expected an object"},
      {R"({"a":{}})", "tensor 'a' has no dtype"},
      {R"({"a":{"dtype":"U8","shape":[0]}})", "tensor 'a' has no data_offsets"},
      {R"({"a":{"dtype":"U8","data_offsets":[0,0]}})", "tensor 'a' has no shape"},
      {R"({"a":{"dtype":"F128"}})", "tensor 'a': dtype is 'F128', which is none of the format's 22"},
      {R"({"a":{"dtype":3}})", "tensor 'a': dtype is 3, expected a type in quotes"},
      {R"({"a":{"shape":4}})", "tensor 'a': shape is 4, expected a list of whole numbers from 0 to 2^64 - 1"},
      {R"({"a":{"shape":[-1]}})", "tensor 'a': shape is '-1', expected a list of whole numbers from 0 to 2^64 - 1"},
      {R"({"a":{"shape":[1.0]}})", "tensor 'a': shape is '1.0', expected a list of whole numbers from 0 to 2^64 - 1"},
      {R"({"a":{"shape":[18446744073709551616]}})",
       "tensor 'a': shape is '18446744073709551616', expected a list of whole numbers from 0 to 2^64 - 1"},
      {R"({"a":{"shape":["1"]}})", "tensor 'a': shape is '1', expected a list of whole numbers from 0 to 2^64 - 1"},
      {R"({"a":{"shape":[[1]]}})", "tensor 'a': shape is a list, expected a list of whole numbers from 0 to 2^64 - 1"},
      {R"({"a":{"shape":[true]}})", "tensor 'a': shape is 'true', expected a list of whole numbers from 0 to 2^64 - 1"},
      {R"({"a":{"data_offsets":[0]}})", "tensor 'a': data_offsets has 1 numbers, expected 2"},
      {R"({"a":{"data_offsets":[0,1,2]}})", "tensor 'a': data_offsets has 3 numbers, expected 2"},
      {R"({"a":{"data_offsets":{}}})",
       "tensor 'a': data_offsets is an object, expected two whole numbers from 0 to 2^64 - 1"},
      {R"({"a":{"dtype":"U8","dtype":"U8"}})", "tensor 'a' has its dtype twice"},
      {R"({"a":{"strides":[1]}})", "tensor 'a' has the field 'strides', which the format does not know"},
      {R"({"__metadata__":{"a":1}})", "__metadata__, 'a' is 1, expected a text in quotes"},
      {R"({"__metadata__":{"a":{}}})", "__metadata__, 'a' is an object, expected a text in quotes"},
      {R"({"__metadata__":{"a":"1","a":"1"}})", "__metadata__ has the key 'a' twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", "__metadata__ is there twice"},
      {R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
       "tensor 'a' is there twice"},
      {"{\"\\n\x01\":3}", "header, byte 5: no JSON at '\"\\n<U+0001>'"},
      {"{\"\xff\":3}", "header, byte 3: no JSON at '\"\\xff'"},
      {R"({"line\nbreak":3})", "the entry 'line\\x0abreak' is 3, expected an object"},
      {std::string(100000, '{'), "header, byte 2: no JSON at '{{'"},
      {R"({"a":)" + std::string(100000, '['), "the entry 'a' is a list, expected an object"},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.header.substr(0, 80));
    expect_refused(safetensors_file(row.header), row.reason);
  }
}

TEST(Safetensors, LongName_IsCutInTheSentence) {
  const auto read = read_safetensors(safetensors_file("{\"" + std::string(5000, 'n') + "\":3}"));
  ASSERT_FALSE(read.ok());
  EXPECT_LT(read.error().message.size(), 250U);
}

TEST(Safetensors, OtherFormats_AreNamed) {
  const struct {
    std::string file;
    const char* part;
  } table[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "git lfs pull"},
      {std::string("PK\x03\x04\x00\x00\x08\x08\x00\x00\x00\x00", 12), "torch.save"},
      {std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20", 10), "pickle"},
      {std::string("GGUF\x03\x00\x00\x00", 8), "GGUF"},
      {"<!DOCTYPE html>", "web page"},
  };
  for (const auto& row : table) {
    const auto read = read_safetensors(row.file);
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message.find(row.part), std::string::npos) << read.error().message;
  }
  // A header of 640 bytes begins like a pickle, and is none.
  const std::string header = "{}" + std::string(638, ' ');
  EXPECT_TRUE(read_safetensors(safetensors_file(header)).ok());
}

TEST(Safetensors, LengthOfTheHeader_HasItsLimit) {
  const auto length = [](std::uint64_t header, std::uint64_t file) {
    return safetensors_header_length(length_bytes(header), file, "m");
  };
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(length(longest_safetensors_header, most).ok());
  EXPECT_FALSE(length(longest_safetensors_header + 1, most).ok());
  EXPECT_FALSE(length(most, most).ok());
  EXPECT_TRUE(length(2, 10).ok());
  EXPECT_FALSE(length(3, 10).ok());
}

TEST(Safetensors, HundredThousandTensors_AreAllRead) {
  std::string header = "{";
  for (int i = 0; i < 100'000; ++i) {
    header += fmt::format(R"({}"layer.{}.weight":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})",
                          i == 0 ? "" : ",", i, i, i + 1);
  }
  header += "}";
  const auto read = read_safetensors(safetensors_file(header, std::string(100'000, 'x')));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().tensors.size(), 100'000U);
  EXPECT_EQ(read.value().tensors.back().name, "layer.99999.weight");
}

}  // namespace
}  // namespace forklift
