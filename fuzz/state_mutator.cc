// How libFuzzer changes states: half of the time a value in a row, by SQL, as flipped bytes seldom get
// past SQLite; otherwise the bytes.
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

constexpr const char* kPlaces[][2] = {
    {"config", "value"},
    {"config", "key"},
    {"classes", "id"},
    {"classes", "name"},
    {"workers", "id"},
    {"workers", "name"},
    {"workers", "correct"},
    {"workers", "seen"},
    {"workers", "ticks"},
    {"workers", "history_correct"},
    {"workers", "history_seen"},
    {"worker_counts", "worker"},
    {"worker_counts", "part"},
    {"worker_counts", "counts"},
    {"crowd", "truth"},
    {"crowd", "label"},
    {"crowd", "count"},
    {"tasks", "id"},
    {"tasks", "name"},
    {"tasks", "estimate"},
    {"tasks", "confidence"},
    {"tasks", "num_labels"},
    {"tasks", "truth"},
    {"tasks", "closed"},
    {"tasks", "reason"},
    {"tasks", "credits"},
    {"tasks", "hard"},
    {"tasks", "labels"},
    {"events", "id"},
};
constexpr const char* kValues[] = {
    "0",
    "1",
    "2",
    "3",
    "-1",
    "65534",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    ".5",
    "-.5",
    "1e300",
    "9e999",
    "-9e999",
    "NULL",
    "''",
    "'t1'",
    "'w1'",
    "'a'",
    "x'00'",
    "x'80ff'",
    "'[]'",
    "'{}'",
    "'[[0,0]]'",
    "'[[1,1],[0,0]]'",
    "'[[0,0],[0,1]]'",
    "'[[99,0]]'",
    "'[[0,99]]'",
    "'[[0,0,3]]'",
    "'[[-1,-1]]'",
    "'[[0,0,1e999]]'",
    "'[[0,0,-5,7]]'",
    "'[[0,65535,1]]'",
    "'[[65535,0,1]]'",
    "'{\"0\":1}'",
    "'{\"99\":65535}'",
    "'{\"-1\":-1}'",
    "'[['",
    "'[[0.5,\"x\"]]'",
    "value + 1",
    "value - 1",
    "value * 1000",
};
constexpr std::size_t kJournalBytes =
    18;  // in the header: 2 and 2 where there is a log, 1 and 1 where not

template <class List>
auto& one_of(const List& list, std::minstd_rand& random) {
  return list[random() % std::size(list)];
}

std::string a_change(std::minstd_rand& random) {
  const auto& [table, column] = one_of(kPlaces, random);
  const std::string from = std::string(" FROM ") + table;
  const std::string row = " WHERE rowid = (SELECT rowid" + from + " ORDER BY random() LIMIT 1)";
  const bool has_rows = table != std::string_view("config") &&
                        table != std::string_view("worker_counts") &&
                        table != std::string_view("crowd") && table != std::string_view("events");
  if (random() % 10 == 0)
    return std::string("DELETE FROM ") + table + (has_rows ? row : " WHERE random() % 2");
  std::string value = one_of(kValues, random);
  if (const std::size_t at = value.find("value "); at == 0) value.replace(0, 5, column);
  return std::string("UPDATE OR IGNORE ") + table + " SET " + column + " = " + value +
         (has_rows ? row : " WHERE random() % 3 = 0");
}

// The changed database; empty if it is none, or grew too much.
std::string changed(std::string_view bytes, std::minstd_rand& random) {
  if (bytes.size() < 512) return {};
  auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  std::memcpy(copy, bytes.data(), bytes.size());
  std::memset(copy + kJournalBytes, 1, 2);
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  sqlite3_deserialize(database, "main", copy, size, size,
                      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  for (std::uint32_t changes = 1 + random() % 3; changes > 0; --changes)
    sqlite3_exec(database, a_change(random).c_str(), nullptr, nullptr, nullptr);
  sqlite3_int64 new_size = 0;
  const unsigned char* const whole =
      sqlite3_serialize(database, "main", &new_size, SQLITE_SERIALIZE_NOCOPY);
  std::string result;
  if (whole != nullptr && new_size >= 512)
    result.assign(reinterpret_cast<const char*>(whole), static_cast<std::size_t>(new_size));
  sqlite3_close(database);
  if (!result.empty()) result.replace(kJournalBytes, 2, "\2\2");
  return result;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  std::minstd_rand random(seed);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  if (random() % 2 == 0 || line == input.npos) return LLVMFuzzerMutate(data, size, most);
  const std::string database = changed(input.substr(line + 1), random);
  if (database.empty() || line + 1 + database.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data + line + 1, database.data(), database.size());
  return line + 1 + database.size();
}
